"""Bottom-up merging of clusters of bounded size, without a matrix of distances.

Clusters lie in slots in the order of their age. Each remembers its best partner among the older
ones only, so that every pair is known to exactly one of its two clusters. Clusters never change,
they only vanish into new ones; hence a remembered key is a lower bound on what the cluster can
still find, for every linkage and every ranking, also where merging brings clusters nearer to
others. The loop takes the lowest key: if its partner still exists the pair is the best of all,
otherwise the cluster looks again.

A look measures the distances between centres first, side by side, and works out the linkage of
those only that could win: no linkage is smaller than the distance between the centres, except
single linkage, which is smaller by the two radii at most.

When one cluster was the best partner of many, all of them would look again, each at everything. So
a cluster also remembers, from the looks of the younger ones, how near any of them comes at least.
If few clusters come as near as the best pair known demands, the many look at those few only, and
learn either their best partner or that it lies beyond that pair.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.kernels.compile import kernel
from microagg.kernels.distances import squared_distance

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

SINGLE, COMPLETE, AVERAGE, CENTROID, WARD = range(5)
LINKAGES = {
    "single": SINGLE,
    "complete": COMPLETE,
    "average": AVERAGE,
    "centroid": CENTROID,
    "ward": WARD,
}

UNKNOWN = -1.0  # the key of a cluster that has not looked yet: below every real one
GONE = 0  # the size of a cluster that was merged
CHUNK = 256  # slots measured together: their running sums stay in the fastest cache
PATIENCE = 8  # looks without a merge before the next tries to spare others theirs
FEW = 64  # few clusters: this part of all
USED, ALIVE, TURN = range(3)  # the counts


class Clusters(NamedTuple):
    """Clusters under way; a cluster is a chain of rows in ascending order, from its lowest."""

    X: Floats
    next_row: Rows  # by row: the next member, -1 after the last
    labels: Rows  # by row: lowest row of its cluster
    counts: Rows  # slots in use, clusters below the cap, clusters that looked at the younger
    lowest: Rows  # by slot, as everything below: lowest row
    sizes: Rows
    centers: Floats  # column x slot
    radii: Floats  # with single linkage the largest distance from the centre, otherwise 0
    keys: Floats
    partners: Rows  # slot of the best partner among the older, -1 if it is gone
    partner_rows: Rows  # lowest row of that partner: decides between equal keys
    lowest_keys: Floats  # at most that of any pair with a younger cluster
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
        counts=np.array([used, used, 0], dtype=np.intp),
        lowest=np.zeros(slots, dtype=np.intp),
        sizes=np.full(slots, GONE, dtype=np.intp),
        centers=np.empty((d, slots)),
        radii=np.zeros(slots),
        keys=np.full(slots, UNKNOWN),
        partners=np.full(slots, -1, dtype=np.intp),
        partner_rows=np.zeros(slots, dtype=np.intp),
        lowest_keys=np.full(slots, np.inf),
        squares=np.empty(slots),
        margin=1e-15 * (cap + d + 10) * float(np.abs(X).max(axis=0).sum()),
    )
    clusters.lowest[:used] = alive
    clusters.sizes[:used] = sizes[alive]
    clusters.centers[:, :used] = X[alive].T
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


@kernel
def merge_rounds(clusters: Clusters, cap: int, linkage: int, priority: bool, work: int) -> bool:
    """Merge until no two clusters fit under the cap; True when that is so.

    Comes back early after looking at about `work` values; call again to go on.
    """
    counts, keys, partners = clusters.counts, clusters.keys, clusters.partners
    d = clusters.X.shape[1]
    looks, patience = 0, PATIENCE  # looks since the last merge
    while work > 0:
        slot = first_in_line(clusters)
        if slot < 0:
            return True
        work -= counts[USED]
        if has_partner(clusters, slot):
            merge(clusters, slot, partners[slot], cap, linkage)
            if counts[USED] >= 2 * counts[ALIVE]:
                tidy_up(clusters)
            looks = 0
            continue
        looks += keys[slot] != UNKNOWN
        spared = 0
        if looks >= patience:
            spared = look_at_few(clusters, cap, linkage, priority)
            patience = PATIENCE if spared > 0 else min(2 * patience, 16 * PATIENCE)
            looks = 0
        if spared == 0:
            look_for_partner(clusters, slot, cap, linkage, priority)
        work -= max(slot, spared) * d
    return False


@kernel
def has_partner(clusters: Clusters, slot: int) -> bool:
    """Whether the partner that the cluster remembers still exists."""
    partner = clusters.partners[slot]
    return partner >= 0 and clusters.sizes[partner] != GONE


@kernel
def first_in_line(clusters: Clusters) -> int:
    """Slot with the lowest key, the lowest pair of rows among equals; -1 if no pair is left.

    What a cluster remembers of a partner that is gone comes no later than what it will find.
    """
    keys, lowest, partner_rows = clusters.keys, clusters.lowest, clusters.partner_rows
    best = np.inf
    found = -1
    for slot in range(clusters.counts[USED]):
        key = keys[slot]
        if key > best or key == np.inf:
            continue
        if key == UNKNOWN:
            return slot
        if key < best:
            best = key
            found = slot
        else:
            row, other = lowest[slot], partner_rows[slot]
            best_row, best_other = lowest[found], partner_rows[found]
            low, best_low = min(row, other), min(best_row, best_other)
            if low < best_low or (low == best_low and max(row, other) < max(best_row, best_other)):
                found = slot
    return found


@kernel
def look_for_partner(clusters: Clusters, slot: int, cap: int, linkage: int, priority: bool) -> None:
    """Remember the best partner among the older clusters; ties go to the lowest row."""
    sizes, lowest, radii = clusters.sizes, clusters.lowest, clusters.radii
    squares, lowest_keys = clusters.squares, clusters.lowest_keys
    size = sizes[slot]
    is_first_look = clusters.keys[slot] == UNKNOWN
    best = np.inf
    partner = -1
    near = measure_centers(clusters, slot, 0, slot, cap - size)
    for visit in range(-1, slot):
        other = near if visit < 0 else visit
        if other < 0 or sizes[other] == GONE or sizes[other] > cap - size:
            continue
        limit = max(best, lowest_keys[other]) if is_first_look else best
        reach = clusters.margin + radii[slot] + radii[other]
        reach += reach_of_key(limit, size, sizes[other], linkage, priority)
        if visit == near or squares[other] > reach * reach:
            continue
        key = key_of_pair(clusters, slot, other, linkage, priority)
        lowest_keys[other] = min(lowest_keys[other], key)
        if key < best or (key == best and lowest[other] < lowest[partner]):
            best = key
            partner = other
    clusters.keys[slot] = best
    clusters.partners[slot] = partner
    if partner >= 0:
        clusters.partner_rows[slot] = lowest[partner]


@kernel
def look_at_few(clusters: Clusters, cap: int, linkage: int, priority: bool) -> int:
    """Let all clusters that would look before the best known pair is merged look at few others.

    Those are the clusters that may have a younger partner as near as that pair. If they are not
    few, nothing is done, but one of them finds out how near its younger ones are by now. Returns
    the number of distances measured; 0 if nothing was done.
    """
    counts, sizes, keys = clusters.counts, clusters.sizes, clusters.keys
    best = np.inf
    for slot in range(counts[USED]):
        if keys[slot] < best and has_partner(clusters, slot):
            best = keys[slot]
    if best == np.inf:
        return 0
    few = np.empty(counts[USED], dtype=np.intp)
    n_few = 0
    for slot in range(counts[USED]):
        if clusters.lowest_keys[slot] <= best and sizes[slot] != GONE:
            few[n_few] = slot
            n_few += 1
    if n_few * FEW > counts[USED]:
        look_at_younger(clusters, few[counts[TURN] % n_few], cap, linkage, priority)
        counts[TURN] += 1
        return 0
    measured = 1
    for slot in range(counts[USED]):
        if keys[slot] <= best and not has_partner(clusters, slot):
            look_among(clusters, slot, few[:n_few], best, cap, linkage, priority)
            measured += n_few
    return measured


@kernel
def look_at_younger(clusters: Clusters, slot: int, cap: int, linkage: int, priority: bool) -> None:
    """Find the lowest key that a pair with a younger cluster has by now."""
    sizes, radii, stop = clusters.sizes, clusters.radii, clusters.counts[USED]
    size = sizes[slot]
    best = np.inf
    near = measure_centers(clusters, slot, slot + 1, stop, cap - size)
    for visit in range(slot, stop):
        other = near if visit == slot else visit
        if other < 0 or sizes[other] == GONE or sizes[other] > cap - size:
            continue
        reach = clusters.margin + radii[slot] + radii[other]
        reach += reach_of_key(best, size, sizes[other], linkage, priority)
        if clusters.squares[other] <= reach * reach:
            best = min(best, key_of_pair(clusters, slot, other, linkage, priority))
    clusters.lowest_keys[slot] = best


@kernel
def look_among(
    clusters: Clusters, slot: int, few: Rows, bound: float, cap: int, linkage: int, priority: bool
) -> None:
    """Remember the best partner if its key is at most `bound`, otherwise that it is not.

    Among the older clusters only those given can have such a key.
    """
    centers, sizes, lowest = clusters.centers, clusters.sizes, clusters.lowest
    best = np.nextafter(bound, np.inf)
    partner, partner_row = -1, -1
    for other in few:
        if other >= slot or sizes[other] > cap - sizes[slot]:
            continue
        clusters.squares[other] = squared_distance(centers[:, other], centers[:, slot])
        key = key_of_pair(clusters, slot, other, linkage, priority)
        if key <= bound and (key < best or (key == best and lowest[other] < partner_row)):
            best = key
            partner, partner_row = other, lowest[other]
    clusters.keys[slot] = best
    clusters.partners[slot] = partner
    clusters.partner_rows[slot] = partner_row


@kernel
def measure_centers(clusters: Clusters, slot: int, start: int, stop: int, room: int) -> int:
    """Squared distances to the centres in a range of slots; returns the nearest that fits."""
    centers, squares, sizes = clusters.centers, clusters.squares, clusters.sizes
    best = np.inf
    near = -1
    for begin in range(start, stop, CHUNK):
        end = min(begin + CHUNK, stop)
        first, last = np.uint64(begin), np.uint64(end)  # unsigned: cannot count from the end
        for i in range(first, last):
            squares[i] = 0.0
        for j in range(centers.shape[0]):
            value = centers[j, slot]
            for i in range(first, last):
                gap = centers[j, i] - value
                squares[i] += gap * gap
        for other in range(begin, end):
            if squares[other] < best and sizes[other] <= room and sizes[other] != GONE:
                best = squares[other]
                near = other
    return near


@kernel
def reach_of_key(key: float, size: int, other_size: int, linkage: int, priority: bool) -> float:
    """Distance between centres, less radii, beyond which no pair of these sizes has this key."""
    reach = key * (size + other_size) if priority else key
    if linkage == WARD:
        reach /= np.sqrt(2.0 * size * other_size / (size + other_size))
    return reach * (1.0 + 1e-12)


@kernel
def key_of_pair(clusters: Clusters, slot: int, other: int, linkage: int, priority: bool) -> float:
    """What pairs are ranked by: their distance or, with `priority`, distance / joint size."""
    size, other_size = clusters.sizes[slot], clusters.sizes[other]
    if linkage == CENTROID:
        distance = np.sqrt(clusters.squares[other])
    elif linkage == WARD:
        weight = 2.0 * size * other_size / (size + other_size)
        distance = np.sqrt(weight * clusters.squares[other])
    else:
        first = min(clusters.lowest[slot], clusters.lowest[other])
        second = max(clusters.lowest[slot], clusters.lowest[other])
        distance = distance_of_members(clusters.X, clusters.next_row, first, second, linkage)
        if linkage == AVERAGE:
            distance /= size * other_size
    return distance / (size + other_size) if priority else distance


@kernel
def distance_of_members(X: Floats, next_row: Rows, first: int, second: int, linkage: int) -> float:
    """Smallest, largest or summed distance between the members of two chains."""
    result = np.inf if linkage == SINGLE else 0.0
    a = first
    while a >= 0:
        b = second
        while b >= 0:
            square = squared_distance(X[a], X[b])
            if linkage == SINGLE:
                result = min(result, square)
            elif linkage == COMPLETE:
                result = max(result, square)
            else:
                result += np.sqrt(square)
            b = next_row[b]
        a = next_row[a]
    return result if linkage == AVERAGE else np.sqrt(result)


@kernel
def merge(clusters: Clusters, slot: int, other: int, cap: int, linkage: int) -> None:
    """Join two clusters to a new one, the youngest; one at the cap gets no slot any more."""
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
        clusters.keys[gone] = np.inf
        clusters.centers[0, gone] = np.inf
    if size == cap:
        counts[ALIVE] -= 2
        return
    counts[ALIVE] -= 1
    new = counts[USED]
    counts[USED] += 1
    lowest[new] = first
    sizes[new] = size
    clusters.keys[new] = UNKNOWN
    clusters.partners[new] = -1
    clusters.lowest_keys[new] = np.inf
    place_center(clusters, new, linkage)


@kernel
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


@kernel
def place_center(clusters: Clusters, slot: int, linkage: int) -> None:
    """Mean and, with single linkage, radius of a cluster, from its members."""
    X, next_row, centers = clusters.X, clusters.next_row, clusters.centers
    size = clusters.sizes[slot]
    first = clusters.lowest[slot]
    for j in range(X.shape[1]):
        total = 0.0  # about the first member: the mean of equal records must be exact
        row = next_row[first]
        while row >= 0:
            total += X[row, j] - X[first, j]
            row = next_row[row]
        centers[j, slot] = X[first, j] + total / size
    widest = 0.0
    row = first if linkage == SINGLE else -1
    while row >= 0:
        widest = max(widest, squared_distance(X[row], centers[:, slot]))
        row = next_row[row]
    clusters.radii[slot] = np.sqrt(widest)


@kernel
def tidy_up(clusters: Clusters) -> None:
    """Move the clusters together, in their order, so that no slot is empty."""
    counts, sizes, partners = clusters.counts, clusters.sizes, clusters.partners
    moved_to = np.full(counts[USED], -1, dtype=np.intp)
    at = 0
    for slot in range(counts[USED]):
        if sizes[slot] == GONE:
            continue
        moved_to[slot] = at
        clusters.lowest[at] = clusters.lowest[slot]
        sizes[at] = sizes[slot]
        clusters.radii[at] = clusters.radii[slot]
        clusters.lowest_keys[at] = clusters.lowest_keys[slot]
        clusters.keys[at] = clusters.keys[slot]
        clusters.partner_rows[at] = clusters.partner_rows[slot]
        partners[at] = moved_to[partners[slot]] if partners[slot] >= 0 else -1
        for j in range(clusters.centers.shape[0]):
            clusters.centers[j, at] = clusters.centers[j, slot]
        at += 1
    counts[USED] = at
