"""IL = 100 * SSE / SST: the share of the variation that grouping removes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from microagg.core.arrays import Floats, Labels
from microagg.core.validation import check_labels, check_matrix
from microagg.kernels.basics.group_sums import squared_error, summarise


class Errors(NamedTuple):
    """Squared errors of a partition, in the squared units of the data."""

    sse: float
    sst: float

    @property
    def information_loss(self) -> float:
        """IL in per cent; 0 where the records do not differ at all."""
        return 100.0 * self.sse / self.sst if self.sst > 0 else 0.0


def information_loss(X: ArrayLike, labels: ArrayLike) -> float:
    """Return 100 * SSE / SST in per cent: 0 loses nothing, 100 leaves only the overall mean.

    SSE is the sum of squared distances between the records and the mean of their group, SST that
    between the records and the overall mean. X is taken as it is: standardise it first if its
    columns have different units, as `protect` does.

    >>> round(information_loss([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1]), 2)
    0.99
    """
    matrix = check_matrix(X)
    return squared_errors(matrix, check_labels(labels, n_records=len(matrix))).information_loss


def squared_errors(
    X: Floats,
    labels: Labels,
    centers: Floats | None = None,
    weights: Floats | None = None,
) -> Errors:
    """SSE of the groups about their means, or about other centers, and SST of all records.

    With weights the means are weighted, and a record of weight 2 counts as two.
    """
    everyone = np.zeros(len(X), dtype=np.intp)
    if weights is not None:
        return Errors(_weighted_error(X, labels, weights), _weighted_error(X, everyone, weights))
    mean = summarise(X, everyone).centers
    sse = summarise(X, labels).sse if centers is None else squared_error(X, labels, centers)
    return Errors(sse=sse, sst=squared_error(X, everyone, mean))


def _weighted_error(X: Floats, labels: Labels, weights: Floats) -> float:
    total = np.bincount(labels, weights=weights)
    error = 0.0
    for column in X.T:
        center = np.bincount(labels, weights=weights * column) / total
        error += float((weights * np.square(column - center[labels])).sum())
    return error
