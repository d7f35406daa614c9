"""mu-Approx: a forest of nearest-neighbour edges, large trees taken apart."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Floats, Labels
from microagg.core.progress import report
from microagg.kernels.basics.rounding import without_offset
from microagg.kernels.construction.forest import join_trees, make_forest, take_apart
from microagg.orderings.neighbours import nearest_neighbours
from microagg.partitions.base import Partitioner
from microagg.partitions.fixed_size import squared_distances
from microagg.partitions.splitting import split_large

# Records a loop may look at before it comes back to report: a fraction of a second.
_WORK_PER_CALL = 10_000_000


class MuApprox(Partitioner):
    """Groups of k to 2k-1 records: trees of a forest of short edges, the large ones taken apart.

    At first every record is a tree. A tree of fewer than k records is joined, by an edge from its
    root, to the nearest record outside; the longest such edge comes first. When all trees have k
    records or more, those of more than max(2k-1, 3k-5) are divided at a record where both sides
    keep k. MDAV splits what is still above 2k-1. Of two edges of the same length, such as those of
    records that are nearest to each other, that of the record farther from the mean comes first,
    then that of the lower row.

    Time O(n^2 d) at worst, nearly all of it for neighbours, memory O(n (d + k)). Source: [1]_.

    References
    ----------
    .. [1] J. Domingo-Ferrer, F. Sebe and A. Solanas, "A polynomial-time approximation to optimal
       multivariate microaggregation", Computers and Mathematics with Applications 55(4), 2008.

    Examples
    --------
    >>> MuApprox(k=2).fit_predict([[0.0], [9.0], [1.0], [8.0], [2.0]]).tolist()
    [0, 1, 0, 1, 0]
    """

    def __init__(self, k: int = 3) -> None:
        self.k = k

    def _group(self, X: NDArray[Any], k: int) -> Labels:
        X = without_offset(X)
        from_mean = squared_distances(X, X.mean(axis=0))
        order = np.argsort(-from_mean, kind="stable")
        labels = np.empty(len(X), dtype=np.intp)
        labels[order] = tree_groups(X[order], k)
        return split_large(X, labels, k)


def tree_groups(X: Floats, k: int) -> Labels:
    """Return the trees after large ones were taken apart: k to max(2k-1, 3k-5) records in each.

    Ties go to the lower row.
    """
    n = len(X)
    if k == 1:
        return np.arange(n)
    near = nearest_neighbours(X, k - 1)
    parents = np.empty(n, dtype=np.intp)
    join_trees(near.distances, near.rows, k, parents)
    forest = make_forest(X, parents)
    while forest.state[0]:
        take_apart(forest, k, _WORK_PER_CALL)
        report("taking trees apart", int(forest.state[2]), n)
    return forest.labels
