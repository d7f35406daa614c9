"""k-means for microaggregation: split until groups fit, then reassign within the size limits."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Floats, Labels
from microagg.core.progress import report
from microagg.kernels.basics.group_sums import squared_error
from microagg.kernels.basics.rounding import without_offset
from microagg.kernels.construction.two_means import split_groups
from microagg.partitions.base import Partitioner
from microagg.partitions.transport import Transport

# Records that a loop processes before it returns to report progress: a fraction of a second.
_RECORDS_PER_CALL = 50_000
# How much of a record's pull on its own mean is removed, from all of it to nothing.
_PULL_REMOVED = (1.0, 0.8, 0.6, 0.4, 0.2, 0.0)
# A round is accepted if it lowers the error by more than the first share; if by less than the
# second, the next weight is tried.
_ROUNDING, _WORTHWHILE = 1e-9, 1e-3


class KMeansMicro(Partitioner):
    """Groups of k to 2k-1 records by k-means, with an optimal assignment within these sizes.

    The records are split in two by 2-means, and so on, until every group has fewer than 2k. Then,
    as in k-means, records are assigned to the means of the groups and the means recomputed, again
    and again; the assignment is the cheapest of all that give every mean k to 2k-1 records, found
    by a min-cost flow. A round is kept only if it lowers the error. In the end, no assignment to
    the groups' means within these sizes is cheaper than the one returned.

    A record pulls the mean of its group towards itself; in such small groups k-means would hardly
    ever move it. So in the first rounds it is compared with the mean of the others in its group,
    and in later ones with points between that and the mean.

    Deterministic. Time about O(n^1.5 d) in practice, memory O(n d). Source: [1]_ for splitting
    until groups fit and repairing the sizes; the flow, the rule for the cuts and the removal of a
    record's own pull are this project's.

    Parameters
    ----------
    k : least number of records in a group

    References
    ----------
    .. [1] M. E. Kabir, A. N. Mahmood and A. K. Mustafa, "K-means clustering microaggregation for
       statistical disclosure control", Proc. International Conference on Advances in Computing,
       2012.

    Examples
    --------
    >>> KMeansMicro(k=2).fit_predict([[0.0], [9.0], [1.0], [8.0], [5.0]]).tolist()
    [0, 1, 0, 1, 1]
    """

    def __init__(self, k: int = 3) -> None:
        self.k = k

    def _group(self, X: NDArray[Any], k: int) -> Labels:
        if k == 1:
            return np.arange(len(X))
        X = without_offset(X)
        labels = split(X, k)
        for better, _ in rounds(X, labels, k):
            labels = better
        return labels


def split(X: Floats, k: int) -> Labels:
    """Return groups of k to 2k-1 records: all records, split in two until the parts fit."""
    n = len(X)
    order, waiting = np.arange(n), np.empty((n // k + 1, 2), dtype=np.intp)
    waiting[0] = 0, n
    state = np.array([1, 0])
    while state[0]:
        split_groups(X, k, order, waiting, state, _RECORDS_PER_CALL)
        report("splitting", int(state[1]), n)
    begins = order < 0
    labels = np.empty(n, dtype=np.intp)
    labels[np.where(begins, -1 - order, order)] = np.cumsum(begins) - 1
    return labels


def rounds(X: Floats, labels: Labels, k: int) -> Iterator[tuple[Labels, float]]:
    """Yield better and better groups of k to 2k-1 records, for k >= 2, with their squared error.

    In a group of s records, the squared distance from the mean of the others is (s / (s-1))^2 times
    that from the mean of all. Such a round need not lower the error; if it does not, less of the
    pull is removed. With all of it left in, no round can raise the error, and only these rounds
    need proof that the assignment is the cheapest.
    """
    transport = Transport(X, int(labels.max()) + 1, k, 2 * k - 1)
    centres, sizes = means(X, labels)
    error = squared_error(X, labels, centres)
    if error == 0.0:
        return
    for done, weight in enumerate(_PULL_REMOVED):
        transport.forget_candidates()
        gain = np.inf
        while gain > (_WORTHWHILE if weight else _ROUNDING) * error:
            own = sizes[labels]
            stretch = 1.0 + weight * ((own / (own - 1)) ** 2 - 1.0)
            new = transport.assign(centres, labels, stretch, proven=weight == 0)
            new_centres, new_sizes = means(X, new)
            gain = error - squared_error(X, new, new_centres)
            if gain > _ROUNDING * error:
                labels, centres, sizes, error = new, new_centres, new_sizes, error - gain
                yield labels, error
        report("improving", done + 1, len(_PULL_REMOVED))


def means(X: Floats, labels: Labels) -> tuple[Floats, Labels]:
    """Return the mean and size of every group."""
    sizes = np.bincount(labels)
    sums = [np.bincount(labels, column) for column in X.T]
    return np.column_stack(sums) / sizes[:, None], sizes
