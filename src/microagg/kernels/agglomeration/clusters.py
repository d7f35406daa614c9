"""Clusters that grow from single records to groups, and the joining of two of them.

Clusters are stored in slots, oldest first. A cluster never changes: when two are joined, both are
removed and the new one gets the last slot. A cluster stores its best older partner and its best
younger one separately, so that every pair is known from both sides.
"""

from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.kernels.compile import allocating_inner_kernel, inner_kernel

UNKNOWN = -1.0  # the key of a cluster that has not searched yet: below every real one
GONE = 0  # the size of a cluster that was merged
USED, ALIVE, FIRST = range(3)  # the counts
OLDER, YOUNGER = range(2)  # the sides


class Clusters(NamedTuple):
    """The clusters; each is a linked list of rows in ascending order."""

    X: Floats
    next_row: Rows  # by row: the next member, -1 after the last
    labels: Rows  # by row: lowest row of its cluster
    counts: Rows  # slots in use, clusters below the cap, lowest row of these
    lowest: Rows  # by slot, as everything below: lowest row
    sizes: Rows
    centers: Floats  # column x slot
    radii: Floats  # with single linkage the largest distance from the centre, otherwise 0
    keys: Floats  # side x slot: at most the key of any pair with a cluster on that side
    partners: Rows  # side x slot: the partner with this key, -1 if it is gone
    partner_rows: Rows  # side x slot: lowest row of that partner, which decides ties
    squares: Floats  # scratch of a search: squared distances between centres
    margin: float  # more than the rounding error of a distance between centres


def make_clusters(X: Floats, cap: int) -> Clusters:
    """Make a cluster of every record, with equal records merged up to the cap.

    Equal records have distance zero with every linkage and would be merged first, lower rows before
    higher ones. Pair by pair, that would take time cubic in their number.
    """
    n, d = X.shape
    labels, next_row = _merge_equal_records(X, cap)
    sizes = np.bincount(labels, minlength=n)
    alive = np.flatnonzero((sizes > 0) & (sizes < cap))
    used = len(alive)
    # Slots are compacted when half of them are empty, for the first time at 4/3 of these.
    slots = used + used // 2 + 2
    clusters = Clusters(
        X=X,
        next_row=next_row,
        labels=labels,
        counts=np.array([used, used, alive[0] if used else 0], dtype=np.intp),
        lowest=np.zeros(slots, dtype=np.intp),
        sizes=np.full(slots, GONE, dtype=np.intp),
        centers=np.empty((d, slots)),
        radii=np.zeros(slots),
        keys=np.full((2, slots), np.inf),
        partners=np.full((2, slots), -1, dtype=np.intp),
        partner_rows=np.zeros((2, slots), dtype=np.intp),
        squares=np.empty(slots),
        margin=1e-15 * (cap + d + 10) * float(np.abs(X).max(axis=0).sum()),
    )
    clusters.lowest[:used] = alive
    clusters.sizes[:used] = sizes[alive]
    clusters.centers[:, :used] = X[alive].T
    clusters.keys[OLDER, :used] = UNKNOWN
    return clusters


def _merge_equal_records(X: Floats, cap: int) -> tuple[Rows, Rows]:
    """Return labels and lists of clusters of at most `cap` equal records, in row order."""
    n = len(X)
    order = np.lexsort(X.T)
    is_first = np.ones(n, dtype=np.bool_)
    is_first[1:] = (X[order[1:]] != X[order[:-1]]).any(axis=1)
    place = np.arange(n)
    place_in_run = place - place[is_first][np.cumsum(is_first) - 1]
    start = place - place_in_run % cap
    labels, next_row = np.empty(n, dtype=np.intp), np.full(n, -1, dtype=np.intp)
    labels[order] = order[start]
    next_row[order[:-1]] = np.where(start[1:] == start[:-1], order[1:], -1)
    return labels, next_row


@inner_kernel
def has_partner(clusters: Clusters, side: int, slot: int) -> bool:
    """Whether the cluster's stored partner on that side still exists."""
    partner = clusters.partners[side, slot]
    return partner >= 0 and clusters.sizes[partner] != GONE


@inner_kernel
def join_clusters(clusters: Clusters, slot: int, other: int, cap: int) -> int:
    """Join two clusters into a new one; return its slot, or -1 if it has reached the cap."""
    counts, lowest, sizes = clusters.counts, clusters.lowest, clusters.sizes
    size = sizes[slot] + sizes[other]
    first = min(lowest[slot], lowest[other])
    join_lists(clusters.next_row, first, max(lowest[slot], lowest[other]))
    row = first
    while row >= 0:
        clusters.labels[row] = first
        row = clusters.next_row[row]
    for gone in (slot, other):
        sizes[gone] = GONE
        clusters.keys[:, gone] = np.inf
        clusters.centers[0, gone] = np.inf
    if size == cap:
        counts[ALIVE] -= 2
        if first == counts[FIRST]:
            counts[FIRST] = lowest_row(clusters)
        return -1
    counts[ALIVE] -= 1
    new = counts[USED]
    counts[USED] += 1
    lowest[new] = first
    sizes[new] = size
    clusters.keys[OLDER, new] = UNKNOWN
    clusters.keys[YOUNGER, new] = np.inf
    clusters.partners[:, new] = -1
    place_center(clusters, new)
    return new


@inner_kernel
def lowest_row(clusters: Clusters) -> int:
    """Lowest row of all clusters below the cap."""
    row = clusters.X.shape[0]
    for slot in range(clusters.counts[USED]):
        if clusters.sizes[slot] != GONE:
            row = min(row, clusters.lowest[slot])
    return row


@inner_kernel
def join_lists(next_row: Rows, first: int, second: int) -> None:
    """Merge the second list into the first, which has the lower start; rows stay ascending."""
    last = first
    left, right = next_row[first], second
    while left >= 0 and right >= 0:
        if left < right:
            next_row[last] = left
            last, left = left, next_row[left]
        else:
            next_row[last] = right
            last, right = right, next_row[right]
    next_row[last] = left if left >= 0 else right


@inner_kernel
def place_center(clusters: Clusters, slot: int) -> None:
    """Mean of a cluster, from its members."""
    X, next_row = clusters.X, clusters.next_row
    first = clusters.lowest[slot]
    for j in range(X.shape[1]):
        total = 0.0  # relative to the first member, so that the mean of equal records is exact
        row = next_row[first]
        while row >= 0:
            total += X[row, j] - X[first, j]
            row = next_row[row]
        clusters.centers[j, slot] = X[first, j] + total / clusters.sizes[slot]


@allocating_inner_kernel
def compact(clusters: Clusters) -> None:
    """Close the gaps between slots, keeping the order of the clusters."""
    counts, sizes = clusters.counts, clusters.sizes
    moved_to = np.full(counts[USED], -1, dtype=np.intp)
    alive = 0
    for slot in range(counts[USED]):
        if sizes[slot] != GONE:
            moved_to[slot] = alive
            alive += 1
    for slot in range(counts[USED]):
        at = moved_to[slot]
        if at < 0:
            continue
        clusters.lowest[at] = clusters.lowest[slot]
        sizes[at] = sizes[slot]
        clusters.radii[at] = clusters.radii[slot]
        for side in (OLDER, YOUNGER):
            partner = clusters.partners[side, slot]
            clusters.keys[side, at] = clusters.keys[side, slot]
            clusters.partners[side, at] = moved_to[partner] if partner >= 0 else -1
            clusters.partner_rows[side, at] = clusters.partner_rows[side, slot]
        for j in range(clusters.centers.shape[0]):
            clusters.centers[j, at] = clusters.centers[j, slot]
    counts[USED] = alive
