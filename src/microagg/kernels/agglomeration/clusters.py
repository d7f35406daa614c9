"""Clusters on their way from single records to groups, and the joining of two of them.

Clusters lie in slots in the order of their age. A cluster never changes: joined with another it
vanishes, and the youngest slot is that of the new one. What a cluster remembers of the older ones
and of the younger ones is kept apart, so that every pair is known from both of its ends.
"""

from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.kernels.compile import inner_kernel

UNKNOWN = -1.0  # the key of a cluster that has not looked yet: below every real one
GONE = 0  # the size of a cluster that was merged
USED, ALIVE, FIRST = range(3)  # the counts
OLDER, YOUNGER = range(2)  # the sides


class Clusters(NamedTuple):
    """Clusters under way; a cluster is a chain of rows in ascending order, from its lowest."""

    X: Floats
    next_row: Rows  # by row: the next member, -1 after the last
    labels: Rows  # by row: lowest row of its cluster
    counts: Rows  # slots in use, clusters below the cap, lowest row of these
    lowest: Rows  # by slot, as everything below: lowest row
    sizes: Rows
    centers: Floats  # column x slot
    radii: Floats  # with single linkage the largest distance from the centre, otherwise 0
    keys: Floats  # side x slot: at most the key of any pair with a cluster on that side
    partners: Rows  # side x slot: the partner that had this key, -1 if there is none any more
    partner_rows: Rows  # side x slot: lowest row of that partner, which decides between equal keys
    squares: Floats  # scratch of a look: squared distances between centres
    margin: float  # more than all roundings of a distance between centres


def make_clusters(X: Floats, cap: int) -> Clusters:
    """Every record a cluster, equal records merged up to the cap.

    Equal records have distance zero under every linkage and would be merged first, the lower rows
    before the others. To find that out pair by pair would take the cube of their number.
    """
    n, d = X.shape
    labels, next_row = _merge_equal_records(X, cap)
    sizes = np.bincount(labels, minlength=n)
    alive = np.flatnonzero((sizes > 0) & (sizes < cap))
    used = len(alive)
    # Slots are tidied up when half of them are empty, for the first time at 4/3 of these.
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
    """Labels and chains of clusters of at most `cap` equal records, in the order of their rows."""
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
    """Whether the partner that the cluster remembers on that side still exists."""
    partner = clusters.partners[side, slot]
    return partner >= 0 and clusters.sizes[partner] != GONE


@inner_kernel
def join_clusters(clusters: Clusters, slot: int, other: int, cap: int) -> int:
    """Join two clusters to a new one, the youngest; returns its slot, -1 if it is at the cap."""
    counts, lowest, sizes = clusters.counts, clusters.lowest, clusters.sizes
    size = sizes[slot] + sizes[other]
    first = min(lowest[slot], lowest[other])
    join_chains(clusters.next_row, first, max(lowest[slot], lowest[other]))
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
def join_chains(next_row: Rows, first: int, second: int) -> None:
    """Hang the second chain into the first, which has the lower start; rows stay ascending."""
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
        total = 0.0  # about the first member: the mean of equal records must be exact
        row = next_row[first]
        while row >= 0:
            total += X[row, j] - X[first, j]
            row = next_row[row]
        clusters.centers[j, slot] = X[first, j] + total / clusters.sizes[slot]


@inner_kernel
def tidy_up(clusters: Clusters) -> None:
    """Move the clusters together, in their order, so that no slot is empty."""
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
