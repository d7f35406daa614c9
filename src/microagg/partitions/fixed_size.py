"""Methods that form groups of exactly k from the outside in: MD, CBFS, and the basis of MDAV."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Floats, Labels
from microagg.core.progress import report
from microagg.kernels.basics.rounding import without_offset
from microagg.kernels.construction.fixed_size import (
    add_to_total,
    md_rounds,
    mean_of_total,
    reach_of_box,
    rounds_from_mean,
)
from microagg.kernels.neighbours.blocks import ONE_BLOCK, Blocks, make_blocks
from microagg.partitions.base import Partitioner

Rounds = Callable[..., int]

# Values that a loop reads before it returns to report progress: a fraction of a second.
_WORK_PER_CALL = 50_000_000


class Peeling:
    """A grouping in progress: groups of k are peeled off until few enough records are left.

    `labels` is -1 for records that are not grouped yet; groups are numbered as they are formed.
    """

    def __init__(self, X: Floats, k: int) -> None:
        self.X = without_offset(X)
        self.k = k
        self.labels: Labels = np.full(len(X), -1, dtype=np.intp)
        self.left = len(X)
        self.total = np.zeros((2, X.shape[1]))
        add_to_total(self.total, self.X, np.arange(len(X)), 1.0)

    @property
    def rest(self) -> Labels:
        """Rows of the records that are not grouped yet."""
        return np.flatnonzero(self.labels < 0)

    @property
    def n_groups(self) -> int:
        """Groups formed so far."""
        return (len(self.X) - self.left) // self.k

    def lay_out(self) -> Blocks:
        """Lay out the records that are left."""
        return make_blocks(self.X, self.rest)

    def peel(self, rounds: Rounds, argument: Any, *, while_left: int) -> None:
        """Run `rounds`, with `argument` as its last one, while at least `while_left` are left."""
        n, d = self.X.shape
        while self.left >= while_left:
            blocks = self.lay_out()
            # Blocks empty unevenly: lay them out again at each halving, as long as that pays off.
            relayout_at = max(while_left, self.left // 2 if self.left > ONE_BLOCK else 0)
            while self.left >= relayout_at:
                records = self.k * max(1, _WORK_PER_CALL // (self.left * d))
                stop_at = max(relayout_at, self.left - records + 1)
                self.left = rounds(
                    self.X, self.k, blocks, self.total, self.left, stop_at, self.labels, argument
                )
                report("grouping", n - self.left, n)

    def close_with_one_or_two_groups(self) -> None:
        """Group the last records, fewer than 3k: a group of k if 2k are left, then the rest."""
        if self.left >= 2 * self.k:
            rest = self.rest
            mean = np.empty(self.X.shape[1])
            mean_of_total(self.total, self.left, mean)
            first = rest[squared_distances(self.X[rest], mean).argmax()]
            near = squared_distances(self.X[rest], self.X[first]).argsort(kind="stable")
            self.labels[rest[near[: self.k]]] = self.n_groups
            self.left -= self.k
        self._close_with_rest()

    def close_with_nearest(self) -> None:
        """Group the last records, fewer than 2k; if fewer than k, each joins the nearest group.

        Distances are to the mean of a group's first k records; ties go to the group formed first.
        """
        if self.left >= self.k:
            self._close_with_rest()
        elif self.left:
            rest, formed = self.rest, self.labels >= 0
            sums = [np.bincount(self.labels[formed], column) for column in self.X[formed].T]
            centers = np.column_stack(sums) / self.k
            for row in rest:
                self.labels[row] = squared_distances(centers, self.X[row]).argmin()
            self.left = 0

    def _close_with_rest(self) -> None:
        self.labels[self.rest] = self.n_groups
        self.left = 0


def squared_distances(X: Floats, point: Floats) -> Floats:
    """Squared distances of the records of X from a point, summed in the order that kernels use."""
    distances = np.zeros(len(X))
    for column, value in zip(X.T, point, strict=True):
        distances += (column - value) ** 2
    return distances


class MD(Partitioner):
    """Groups of k to 2k-1 records; the two most distant are each grouped with their k-1 nearest.

    When fewer than 3k records are left, the one farthest from their mean is grouped with its k-1
    nearest if that leaves k, and the others are the last group. Ties go to the lower row or pair.

    Time O(n^3 d / k) at worst, near O(n^2 d / k) in practice: the farthest record is looked up
    again only for records that could be one of the pair. Memory O(n d). Source: [1]_.

    References
    ----------
    .. [1] J. Domingo-Ferrer and J. M. Mateo-Sanz, "Practical data-oriented microaggregation for
       statistical disclosure control", IEEE TKDE 14(1), 2002.

    Examples
    --------
    >>> MD(k=2).fit_predict([[0.0], [9.0], [1.0], [8.0], [5.0]]).tolist()
    [0, 1, 0, 1, 1]
    """

    def __init__(self, k: int = 3) -> None:
        self.k = k

    def _group(self, X: NDArray[Any], k: int) -> Labels:
        peeling = Peeling(X, k)
        reach = np.empty(len(X))
        reach_of_box(peeling.X, reach)
        peeling.peel(md_rounds, reach, while_left=3 * k)
        peeling.close_with_one_or_two_groups()
        return peeling.labels


class CBFS(Partitioner):
    """Groups of k to 2k-1 records; the one farthest from the mean is grouped with its k-1 nearest.

    The mean is that of the records not grouped yet. At the end fewer than k records are left;
    each joins the group with the nearest mean. Ties go to the lower row.

    Time O(n^2 d / k) at worst, memory O(n d). Source: [1]_.

    References
    ----------
    .. [1] M. Laszlo and S. Mukherjee, "Minimum spanning tree partitioning algorithm for
       microaggregation", IEEE TKDE 17(7), 2005.

    Examples
    --------
    >>> CBFS(k=2).fit_predict([[0.0], [9.0], [1.0], [8.0], [5.0]]).tolist()
    [0, 1, 0, 1, 1]
    """

    def __init__(self, k: int = 3) -> None:
        self.k = k

    def _group(self, X: NDArray[Any], k: int) -> Labels:
        peeling = Peeling(X, k)
        peeling.peel(rounds_from_mean, False, while_left=k)
        peeling.close_with_nearest()
        return peeling.labels
