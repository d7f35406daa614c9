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

# Values the merging may look at before it comes back to report: a fraction of a second.
_WORK_PER_CALL = 100_000_000


class HAC(Partitioner):
    """Groups of k to 2k-1 records, merged from single records, the nearest clusters first.

    The nearest two clusters whose joint size stays within `max_size` are merged, again and again,
    until no two fit. Groups that stayed below k are then repaired: with `max_size="k"` their
    records are grouped anew as `MDAV` does, the fewer than k that are over go where they do least
    harm, and the new groups exchange records, or pass some on, while that lowers the error; with
    `max_size="2k-1"` at most one group stays small, and it is filled up from others or dissolved,
    whichever costs less. Ties go to the pair of clusters with the lower rows.

    Time O(n^2 d) as a rule, O(n^3 d) at worst; memory O(n d): no matrix of distances is kept.
    Source: [1]_.

    Parameters
    ----------
    k : records in a group, at least
    linkage : how far apart two clusters are: "single", "complete" and "average" are the smallest,
        largest and mean Euclidean distance between their records, "centroid" is that between
        their means, "ward" that times sqrt(2ab / (a+b)) for clusters of a and b records
    max_size : "k" makes the most groups, floor(n/k); "2k-1" lets clusters grow on
    priority : rank pairs by distance / (a+b), so that groups under way are completed first

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
    """Clusters of at most `cap` records when no two can be merged any more."""
    clusters = make_clusters(X, cap)
    while not merge_rounds(clusters, cap, LINKAGES[linkage], priority, _WORK_PER_CALL):
        report("merging", len(X) - int(clusters.counts[ALIVE]), len(X))
    report("merging", len(X), len(X))
    return clusters.labels


def with_sizes_repaired(X: Floats, labels: Labels, k: int) -> Labels:
    """Bring clusters of at most 2k-1 records to k to 2k-1, at little cost.

    If clusters below k hold fewer than k records together, the others keep k: either all of them
    hold k, or this is one cluster that fitted none, so that every other can spare what it lacks.
    """
    rest = np.flatnonzero(np.bincount(labels)[labels] < k)
    if len(rest) >= k:
        return _grouped_anew(X, labels, rest, k)
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
    """A partition whose records move one by one, always where the squared error gains most."""

    def __init__(self, X: Floats, labels: Labels, k: int) -> None:
        groups = summarise(X, labels)
        self.X, self.k = X, k
        self.labels, self.sizes, self.centers = groups.labels, groups.sizes, groups.centers

    def dissolve(self, group: int) -> bool:
        """Send all records of a group to others; False if these have no room for them."""
        room = (2 * self.k - 1 - self.sizes).sum() - (2 * self.k - 1 - self.sizes[group])
        if room < self.sizes[group]:
            return False
        self._send_out(group, down_to=0)
        return True

    def shed(self, group: int) -> None:
        """Send out records of a group above k while that lowers the error."""
        self._send_out(group, down_to=self.k, only_gains=True)

    def fill_up(self, group: int) -> bool:
        """Take records from groups above k until the group has k; False if these are too few."""
        while self.sizes[group] < self.k:
            rows = np.flatnonzero((self.sizes[self.labels] > self.k) & (self.labels != group))
            if len(rows) == 0:
                return False
            size = self.sizes[group]
            cost = size / (size + 1) * squared_distances(self.X[rows], self.centers[group])
            change = cost - self._gain_of_leaving(rows)
            self._move(int(rows[change.argmin()]), group)
        return True

    def _send_out(self, group: int, *, down_to: int, only_gains: bool = False) -> None:
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


def _grouped_anew(X: Floats, labels: Labels, rest: Labels, k: int) -> Labels:
    """Make groups of k of the given records, which are too few to a cluster.

    Of more than a multiple of k the worst placed move to any group, the clusters included, if
    that gains.
    """
    parts = MDAV(k=k)._group(X[rest], k)  # checks of a whole table do not fit a part of it
    labels[rest] = rest[np.unique(parts, return_index=True)[1]][parts]
    moves = Moves(X, labels, k)
    anew = np.unique(moves.labels[rest])
    moves.shed(int(anew[moves.sizes[anew].argmax()]))
    rows = np.flatnonzero(np.isin(moves.labels, anew))
    names, groups = np.unique(moves.labels[rows], return_inverse=True)
    exchanging = Exchanging(X[rows], groups, k)
    while exchanging.make_pool():
        pass
    moves.labels[rows] = names[exchanging.assignment.labels]
    return moves.labels
