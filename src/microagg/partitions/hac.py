"""HAC: hierarchical agglomerative clustering with groups of bounded size."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Floats, Labels
from microagg.core.progress import report
from microagg.core.validation import check_choice, check_flag
from microagg.kernels.agglomeration.clusters import ALIVE, make_clusters
from microagg.kernels.agglomeration.linkage import LINKAGES
from microagg.kernels.agglomeration.merging import merge_rounds
from microagg.kernels.basics.group_sums import summarise
from microagg.kernels.basics.rounding import without_offset
from microagg.partitions.base import Partitioner
from microagg.partitions.fixed_size import squared_distances
from microagg.partitions.mdav import MDAV
from microagg.partitions.search.exchanging import Exchanging

# Values that merging reads before it returns to report progress: a fraction of a second.
_WORK_PER_CALL = 100_000_000


class HAC(Partitioner):
    """Groups of k to 2k-1 records, merged from single records, the nearest clusters first.

    The nearest two clusters whose joint size is within `max_size` are merged, again and again,
    until no two fit. Groups with fewer than k records are then repaired: with `max_size="k"` their
    records are regrouped by `MDAV`, fewer than k left over go where they do least harm, and the new
    groups exchange or move records while that lowers the error; with `max_size="2k-1"` at most one
    group is too small, and it is filled up from others or dissolved, whichever costs less. Ties go
    to the pair of clusters with the lower rows.

    Time O(n^2 d) in practice, O(n^3 d) at worst; memory O(n d): no distance matrix is stored.
    Source: [1]_.

    Parameters
    ----------
    k : least number of records in a group
    linkage : how far apart two clusters are: "single", "complete" and "average" are the smallest,
        largest and mean Euclidean distance between their records, "centroid" is that between
        their means, "ward" that times sqrt(2ab / (a+b)) for clusters of a and b records
    max_size : "k" makes the most groups, floor(n/k); "2k-1" lets clusters grow further
    priority : rank pairs by distance / (a+b), so that larger clusters are completed first

    References
    ----------
    .. [1] J. Alarte Aleixandre, "Application of clustering techniques to privacy protection",
       master thesis, Universitat Oberta de Catalunya, 2018.

    Examples
    --------
    >>> HAC(k=2).fit_predict([[0.0], [9.0], [1.0], [8.0], [5.0]]).tolist()
    [0, 1, 0, 1, 1]
    """

    def __init__(
        self,
        k: int = 3,
        *,
        linkage: str = "single",
        max_size: str = "k",
        priority: bool = False,
    ) -> None:
        self.k = k
        self.linkage = linkage
        self.max_size = max_size
        self.priority = priority

    def _group(self, X: NDArray[Any], k: int) -> Labels:
        linkage = check_choice("linkage", self.linkage, LINKAGES)
        max_size = check_choice("max_size", self.max_size, ("k", "2k-1"))
        priority = check_flag("priority", self.priority)
        X = without_offset(X)
        cap = k if max_size == "k" else 2 * k - 1
        return with_sizes_repaired(X, merged(X, cap, linkage, priority), k)


def merged(X: Floats, cap: int, linkage: str, priority: bool) -> Labels:
    """Merge clusters of at most `cap` records until no two fit."""
    clusters = make_clusters(X, cap)
    while not merge_rounds(clusters, cap, LINKAGES[linkage], priority, _WORK_PER_CALL):
        report("merging", len(X) - int(clusters.counts[ALIVE]), len(X))
    report("merging", len(X), len(X))
    return clusters.labels


def with_sizes_repaired(X: Floats, labels: Labels, k: int) -> Labels:
    """Turn clusters of at most 2k-1 records into groups of k to 2k-1, at little cost.

    If all clusters below k together have fewer than k records, the others still keep k: either they
    all have exactly k, or there is one small cluster that fits no other, so each of the others can
    spare what it lacks.
    """
    rest = np.flatnonzero(np.bincount(labels)[labels] < k)
    if len(rest) >= k:
        return _regrouped(X, labels, rest, k)
    if len(rest) == 0:
        return labels
    labels[rest] = rest[0]
    repaired = []
    for repair in (Moves.dissolve, Moves.fill_up):
        moves = Moves(X, labels, k)
        if repair(moves, int(moves.labels[rest[0]])):
            repaired.append(moves.labels)
    return min(repaired, key=lambda labels: summarise(X, labels).sse)


class Moves:
    """A partition whose records move one by one, always by the best move for the squared error."""

    def __init__(self, X: Floats, labels: Labels, k: int) -> None:
        groups = summarise(X, labels)
        self.X, self.k = X, k
        self.labels, self.sizes, self.centers = groups.labels, groups.sizes, groups.centers

    def dissolve(self, group: int) -> bool:
        """Move all records of a group to others; False if there is no room for them."""
        room = (2 * self.k - 1 - self.sizes).sum() - (2 * self.k - 1 - self.sizes[group])
        if room < self.sizes[group]:
            return False
        self._move_out(group, down_to=0)
        return True

    def shed(self, group: int) -> None:
        """Move records out of a group larger than k while that lowers the error."""
        self._move_out(group, down_to=self.k, only_gains=True)

    def fill_up(self, group: int) -> bool:
        """Take records from groups larger than k until the group has k; False if too few can be."""
        while self.sizes[group] < self.k:
            rows = np.flatnonzero((self.sizes[self.labels] > self.k) & (self.labels != group))
            if len(rows) == 0:
                return False
            size = self.sizes[group]
            cost = size / (size + 1) * squared_distances(self.X[rows], self.centers[group])
            change = cost - self._gain_of_leaving(rows)
            self._move(int(rows[change.argmin()]), group)
        return True

    def _move_out(self, group: int, *, down_to: int, only_gains: bool = False) -> None:
        rows = np.flatnonzero(self.labels == group)
        squares = np.array([squared_distances(self.centers, self.X[row]) for row in rows])
        while len(rows) > down_to:
            cost = squares * (self.sizes / (self.sizes + 1))
            cost[:, self.sizes >= 2 * self.k - 1] = np.inf
            cost[:, group] = np.inf
            change = cost - self._gain_of_leaving(rows)[:, None]
            at, to = divmod(int(change.argmin()), len(self.sizes))
            if only_gains and change[at, to] >= 0:
                return
            self._move(int(rows[at]), to)
            rows, squares = np.delete(rows, at), np.delete(squares, at, axis=0)
            squares[:, to] = squared_distances(self.X[rows], self.centers[to])

    def _gain_of_leaving(self, rows: Labels) -> Floats:
        groups = self.labels[rows]
        sizes = self.sizes[groups]
        weights = sizes / np.maximum(sizes - 1, 1)  # a record alone is its own centre
        gaps = self.X[rows] - self.centers[groups]
        gain: Floats = weights * (gaps**2).sum(axis=1)
        return gain

    def _move(self, row: int, to: int) -> None:
        home = self.labels[row]
        self.labels[row] = to
        for group, sign in ((home, -1), (to, 1)):
            self.sizes[group] += sign
            step = sign * (self.X[row] - self.centers[group])
            self.centers[group] += step / max(self.sizes[group], 1)


def _regrouped(X: Floats, labels: Labels, rest: Labels, k: int) -> Labels:
    """Regroup the records of clusters that are too small.

    If their number is not a multiple of k, the extra ones move to any group, also to a cluster,
    where that gains.
    """
    parts = MDAV(k=k)._group(X[rest], k)  # the checks of `fit` were made on all of X
    labels[rest] = rest[np.unique(parts, return_index=True)[1]][parts]
    moves = Moves(X, labels, k)
    new = np.unique(moves.labels[rest])
    moves.shed(int(new[moves.sizes[new].argmax()]))
    rows = np.flatnonzero(np.isin(moves.labels, new))
    names, groups = np.unique(moves.labels[rows], return_inverse=True)
    exchanging = Exchanging(X[rows], groups, k)
    while exchanging.make_pool():
        pass
    moves.labels[rows] = names[exchanging.assignment.labels]
    return moves.labels
