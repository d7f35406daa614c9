"""Orderings that sort the records along a line."""

import numpy as np
from numpy.typing import ArrayLike

from microagg.core.arrays import Order
from microagg.core.validation import check_matrix
from microagg.kernels.basics.sorting import stable_sort


def pca(X: ArrayLike) -> Order:
    """Sort by the first principal component; ties go to the lower row.

    X is taken as it is: a column with a larger spread has more weight. The order is that in which
    the column with the largest loading increases. Time O(n d^2).

    >>> pca([[0.0, 0.0], [2.0, 2.1], [1.0, 0.9]]).tolist()
    [0, 2, 1]
    """
    matrix = check_matrix(X)
    centred = matrix - matrix.mean(axis=0)
    largest = np.abs(centred).max(initial=0.0)
    if largest > 0:  # covariances of very large or small numbers must not over- or underflow
        centred /= largest
    _, directions = np.linalg.eigh(centred.T @ centred)
    direction = directions[:, -1]
    if direction[np.abs(direction).argmax()] < 0:
        direction = -direction
    return stable_sort(centred @ direction)[1]


def zscore(X: ArrayLike) -> Order:
    """Sort by the sum of the standardised columns; ties go to the lower row. Time O(n d).

    >>> zscore([[0.0, 500.0], [2.0, 700.0], [1.0, 650.0]]).tolist()
    [0, 2, 1]
    """
    matrix = check_matrix(X)
    centred = matrix - matrix.mean(axis=0)
    spread = np.sqrt([np.square(column).mean() for column in centred.T])
    np.divide(centred, spread, out=centred, where=spread > 0)  # constant columns are 0 already
    return stable_sort(centred.sum(axis=1))[1]
