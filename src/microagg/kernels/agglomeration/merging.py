"""Bottom-up merging of clusters of bounded size, without a distance matrix.

Each cluster stores its best partner among the older ones. Clusters never change, they are only
replaced by new ones; so a stored key is a lower bound on what the cluster can still find, for every
linkage and ranking, even if merging brings clusters nearer to others. The loop takes the lowest
key: if its partner still exists, the pair is the best of all; otherwise the cluster searches again.

If one cluster was the best partner of many, all of them would search again, merge after merge. But
each cluster also has a lower bound for the younger ones, from their first searches, and a pair
comes no earlier than either bound says. So after a few searches without a merge the loop takes the
pair that comes first by both bounds, and both of its clusters search, each on its own side.
"""

import numpy as np

from microagg.kernels.agglomeration.clusters import (
    ALIVE,
    FIRST,
    GONE,
    OLDER,
    UNKNOWN,
    USED,
    YOUNGER,
    Clusters,
    compact,
    has_partner,
    join_clusters,
)
from microagg.kernels.agglomeration.linkage import (
    SINGLE,
    key_of_pair,
    measure_centers,
    measure_radius,
    reach_of_key,
)
from microagg.kernels.compile import allocating_inner_kernel, inner_kernel, kernel

PATIENCE = 8  # searches without a merge before both bounds of the pairs are used


@kernel
def merge_rounds(clusters: Clusters, cap: int, linkage: int, priority: bool, work: int) -> bool:
    """Merge until no two clusters fit under the cap; True if that is reached.

    Returns early after reading about `work` values; call again to continue.
    """
    counts, keys, d = clusters.counts, clusters.keys, clusters.X.shape[1]
    searches = 0  # since the last merge
    while work > 0:
        work -= counts[USED]
        slot, other = first_in_line(clusters), -1
        if slot >= 0 and searches >= PATIENCE and keys[OLDER, slot] != UNKNOWN:
            slot, other = first_by_both_sides(clusters, cap)
        if slot < 0:
            return True
        if has_partner(clusters, OLDER, slot):
            merge(clusters, OLDER, slot, cap, linkage)
            searches = 0
        elif other >= 0 and has_partner(clusters, YOUNGER, other):
            merge(clusters, YOUNGER, other, cap, linkage)
            searches = 0
        else:
            searches += keys[OLDER, slot] != UNKNOWN
            find_partner(clusters, OLDER, slot, cap, linkage, priority)
            work -= slot * d
            if other >= 0:
                find_partner(clusters, YOUNGER, other, cap, linkage, priority)
                work -= (counts[USED] - other) * d
    return False


@inner_kernel
def merge(clusters: Clusters, side: int, slot: int, cap: int, linkage: int) -> None:
    """Join a cluster with its stored partner on that side."""
    new = join_clusters(clusters, slot, clusters.partners[side, slot], cap)
    if new >= 0 and linkage == SINGLE:
        measure_radius(clusters, new)
    if clusters.counts[USED] >= 2 * clusters.counts[ALIVE]:
        compact(clusters)


@inner_kernel
def first_in_line(clusters: Clusters) -> int:
    """The slot whose stored pair with an older cluster is best; -1 if no pair is left.

    The key of a partner that is gone comes no later than any that the cluster will find.
    """
    keys = clusters.keys
    best = np.inf
    found = -1
    for slot in range(clusters.counts[USED]):
        key = keys[OLDER, slot]
        if key > best or key == np.inf:
            continue
        if key == UNKNOWN:
            return slot
        if key < best or pair_comes_before(clusters, OLDER, slot, OLDER, found):
            best = key
            found = slot
    return found


@allocating_inner_kernel
def first_by_both_sides(clusters: Clusters, cap: int) -> tuple[int, int]:
    """Younger and older cluster of the pair that comes first by what both remember; -1 if none.

    The bound on a pair is the later of those of its two clusters. Nothing can come before the pair
    found, so if either cluster still has its partner, that is the best pair of all.
    """
    keys, sizes = clusters.keys, clusters.sizes
    found, found_older = -1, -1
    best_side, best = OLDER, -1  # the later bound of the pair found
    earliest = np.full(cap, -1, dtype=np.intp)  # by room: of the older clusters that fit
    for slot in range(clusters.counts[USED]):
        if sizes[slot] == GONE:
            continue
        older = earliest[cap - sizes[slot]]
        if older >= 0:
            side, later = OLDER, slot
            if pair_comes_before(clusters, OLDER, slot, YOUNGER, older):
                side, later = YOUNGER, older
            is_pair = keys[side, later] != np.inf
            if is_pair and (best < 0 or pair_comes_before(clusters, side, later, best_side, best)):
                found, found_older = slot, older
                best_side, best = side, later
        for room in range(sizes[slot], cap):
            at = earliest[room]
            if at >= 0 and not pair_comes_before(clusters, YOUNGER, slot, YOUNGER, at):
                break  # nor would it in more room
            earliest[room] = slot
    return found, found_older


@inner_kernel
def pair_comes_before(
    clusters: Clusters, side: int, slot: int, other_side: int, other: int
) -> bool:
    """Whether one stored pair has the lower key or, at equal keys, the lower rows.

    A partner that is gone counts as the lowest row still present: no other can come before.
    """
    key, other_key = clusters.keys[side, slot], clusters.keys[other_side, other]
    if key != other_key:
        return key < other_key
    first = clusters.counts[FIRST]
    rows = clusters.lowest[slot], max(first, clusters.partner_rows[side, slot])
    other_rows = clusters.lowest[other], max(first, clusters.partner_rows[other_side, other])
    low, other_low = min(rows), min(other_rows)
    return low < other_low or (low == other_low and max(rows) < max(other_rows))


@inner_kernel
def find_partner(
    clusters: Clusters, side: int, slot: int, cap: int, linkage: int, priority: bool
) -> None:
    """Find and store the best partner on one side; ties go to the lowest row.

    The first search of a cluster, among the older ones, also offers itself to each as a partner.
    """
    sizes, lowest, radii, keys = clusters.sizes, clusters.lowest, clusters.radii, clusters.keys
    start, stop = (0, slot) if side == OLDER else (slot + 1, clusters.counts[USED])
    size, is_first = sizes[slot], keys[side, slot] == UNKNOWN
    best = np.inf
    partner = -1
    near = measure_centers(clusters, slot, start, stop, cap - size)
    for visit in range(start - 1, stop):
        other = near if visit < start else visit
        if other < 0 or sizes[other] == GONE or sizes[other] > cap - size:
            continue
        limit = max(best, keys[YOUNGER, other]) if is_first else best
        reach = clusters.margin + radii[slot] + radii[other]
        reach += reach_of_key(limit, size, sizes[other], linkage, priority)
        if visit == near or clusters.squares[other] > reach * reach:
            continue
        key = key_of_pair(clusters, slot, other, linkage, priority)
        if key < best or (key == best and lowest[other] < lowest[partner]):
            best = key
            partner = other
        if is_first:
            offer_partner(clusters, other, slot, key)
    keys[side, slot] = best
    clusters.partners[side, slot] = partner
    if partner >= 0:
        clusters.partner_rows[side, slot] = lowest[partner]


@inner_kernel
def offer_partner(clusters: Clusters, slot: int, younger: int, key: float) -> None:
    """Store a younger cluster as partner if it comes before the stored one."""
    known, row = clusters.keys[YOUNGER, slot], clusters.lowest[younger]
    if key < known or (key == known and row < clusters.partner_rows[YOUNGER, slot]):
        clusters.keys[YOUNGER, slot] = key
        clusters.partners[YOUNGER, slot] = younger
        clusters.partner_rows[YOUNGER, slot] = row
