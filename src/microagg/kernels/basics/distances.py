"""Distances, and the mean and the error of a few records."""

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.kernels.compile import inner_kernel


@inner_kernel
def squared_distance(point: Floats, other: Floats) -> float:
    """Squared distance between two points."""
    total = 0.0
    for j in range(point.shape[0]):
        gap = point[j] - other[j]
        total += gap * gap
    return total


@inner_kernel
def distance_between(X: Floats, a: int, b: int) -> float:
    """Euclidean distance between two records."""
    return np.sqrt(squared_distance(X[a], X[b]))


@inner_kernel
def mean_and_error(X: Floats, rows: Rows, out_center: Floats) -> float:
    """Compute the mean of the records; return their squared error.

    Sums are relative to the first record, so that an offset costs no digits: the error of close
    records is accurate to almost all digits, and that of equal ones is zero.
    """
    squares = 0.0
    for j in range(X.shape[1]):
        out_center[j] = 0.0
    for row in rows:
        for j in range(X.shape[1]):
            gap = X[row, j] - X[rows[0], j]
            squares += gap * gap
            out_center[j] += gap
    for j in range(X.shape[1]):
        mean = out_center[j] / rows.shape[0]
        squares -= out_center[j] * mean
        out_center[j] = X[rows[0], j] + mean
    return max(squares, 0.0)
