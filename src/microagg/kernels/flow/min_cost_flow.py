"""The cheapest assignment of records to centres of limited sizes, as a min-cost flow.

Every centre has a price, its dual variable: a record prefers the centre of least squared distance
minus price. The solution is optimal when every record has the centre it prefers and the price is
at least 0 where a centre holds the fewest allowed, at most 0 where it holds the most, and 0 in
between. Initially all of this holds, except that a centre may have more (`excess` > 0) or fewer
(< 0) records than it is to keep. Each step removes one unit of that along a shortest path: records
move from centre to centre, and the prices near the path rise or fall so that the rest still holds.
Nothing is approximate: the paths are found by Dijkstra's algorithm with the prices as potentials,
and end at the first centre that can give or take a record.
"""

from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Floats, Mask, Rows
from microagg.kernels.basics.distances import squared_distance
from microagg.kernels.compile import allocating_kernel, inner_kernel, kernel
from microagg.kernels.flow.candidates import holds_nearer
from microagg.kernels.neighbours.blocks import Blocks

# Far above the rounding of distances and prices, far below any difference that matters.
TOLERANCE = 1e-10
VISITED = -1
UNTOUCHED = -2


class Flow(NamedTuple):
    """An assignment in progress; `centre` and `distance` list the candidates of every record."""

    centre: Rows  # record x candidate
    distance: Floats  # record x candidate: squared
    owner: Rows  # centre of every record
    paid: Floats  # squared distance of every record from it
    price: Floats
    kept: Rows  # records that a centre is to keep, from `fewest` to `most`
    excess: Rows  # records that it has beyond those
    first: Rows  # first member of every centre, -1 for none
    after: Rows  # next member of the same centre
    before: Rows
    reverse_start: Rows  # candidates by centre: reverse[reverse_start[g] : reverse_start[g + 1]]
    reverse: Rows  # record * width + candidate
    reverse_row: Rows  # its record and its distance, side by side for the searches
    reverse_distance: Floats


class PathSearch(NamedTuple):
    """Scratch of a shortest path: labels of the centres and a heap of those to visit."""

    length: Floats
    state: Rows  # UNTOUCHED, VISITED, or the place in the heap
    via: Rows  # record * width + candidate of the move that leads here
    heap: Rows
    touched: Rows
    counts: Rows  # centres in the heap, centres touched


def make_path_search(n_centres: int) -> PathSearch:
    """Scratch for this many centres."""
    return PathSearch(
        length=np.empty(n_centres),
        state=np.full(n_centres, UNTOUCHED, dtype=np.intp),
        via=np.empty(n_centres, dtype=np.intp),
        heap=np.empty(n_centres, dtype=np.intp),
        touched=np.empty(n_centres, dtype=np.intp),
        counts=np.zeros(2, dtype=np.intp),
    )


@allocating_kernel
def prefer_another(
    X: Floats,
    lifted: Blocks,
    flow: Flow,
    home: Rows,
    begin: int,
    stop: int,
    out_unhappy: Mask,
) -> None:
    """Mark the records that prefer another of all centres to the one they have.

    A record's `home` does not count: it is always a candidate, with a stretched distance. Nor does
    a preference within the rounding of the prices.
    """
    highest = flow.price.max()
    rounding = TOLERANCE * np.abs(flow.price).max()
    point = np.zeros(X.shape[1] + 1)
    for i in range(begin, stop):
        point[:-1] = X[i]
        limit = flow.paid[i] + (highest - flow.price[flow.owner[i]])
        limit -= TOLERANCE * limit + rounding
        out_unhappy[i] = holds_nearer(lifted, point, limit, home[i])


@kernel
def measure_candidates(
    X: Floats, centres: Floats, home: Rows, stretch: Floats, centre: Rows, out_distance: Floats
) -> None:
    """Squared distances of the candidates; that of a record's home is stretched."""
    n, width = centre.shape
    for i in range(n):
        for s in range(width):
            g = centre[i, s]
            distance = squared_distance(X[i], centres[g])
            out_distance[i, s] = distance * stretch[i] if g == home[i] else distance


@kernel
def take_preferred(flow: Flow, rows: Rows) -> None:
    """Give the records of these rows the candidate they prefer; the first of equals."""
    width = flow.centre.shape[1]
    for i in rows:
        best = 0
        value = flow.distance[i, 0] - flow.price[flow.centre[i, 0]]
        for s in range(1, width):
            other = flow.distance[i, s] - flow.price[flow.centre[i, s]]
            if other < value:
                best, value = s, other
        flow.owner[i], flow.paid[i] = flow.centre[i, best], flow.distance[i, best]


@allocating_kernel
def index_by_centre(flow: Flow) -> None:
    """List the candidates by centre; `reverse_start` must be zero at first."""
    centre, out_start = flow.centre, flow.reverse_start
    n, width = centre.shape
    for i in range(n):
        for s in range(width):
            out_start[centre[i, s] + 1] += 1
    for g in range(out_start.shape[0] - 1):
        out_start[g + 1] += out_start[g]
    at = out_start[:-1].copy()
    for i in range(n):
        for s in range(width):
            g = centre[i, s]
            flow.reverse[at[g]] = i * width + s
            flow.reverse_row[at[g]] = i
            flow.reverse_distance[at[g]] = flow.distance[i, s]
            at[g] += 1


@kernel
def link_members(flow: Flow, fewest: int, most: int) -> None:
    """Link the members of every centre, and set what it keeps by the sign of its price."""
    price, kept, excess = flow.price, flow.kept, flow.excess
    flow.first[:] = -1
    excess[:] = 0
    for i in range(flow.owner.shape[0] - 1, -1, -1):
        link(flow, i, flow.owner[i])
        excess[flow.owner[i]] += 1
    for g in range(price.shape[0]):
        if price[g] > 0.0:
            kept[g] = fewest
        elif price[g] < 0.0:
            kept[g] = most
        else:
            kept[g] = min(max(excess[g], fewest), most)
        excess[g] -= kept[g]


@inner_kernel
def link(flow: Flow, i: int, g: int) -> None:
    """Put record i first among the members of centre g."""
    head = flow.first[g]
    flow.after[i] = head
    flow.before[i] = -1
    if head >= 0:
        flow.before[head] = i
    flow.first[g] = i


@inner_kernel
def unlink(flow: Flow, i: int, g: int) -> None:
    """Take record i out of the members of centre g."""
    before, after = flow.before[i], flow.after[i]
    if before >= 0:
        flow.after[before] = after
    else:
        flow.first[g] = after
    if after >= 0:
        flow.before[after] = before


@kernel
def rebalance(flow: Flow, search: PathSearch, fewest: int, most: int, at: int, work: int) -> int:
    """Rebalance the centres from `at` on, those with too few records first, within `work`.

    If `at` is g, centre g is checked for too few records, and if it is c + g for too many. Returns
    where to continue, 2c at the end. Work is counted in candidates examined.
    """
    c = flow.price.shape[0]
    while at < 2 * c and work > 0:
        lacking = at < c
        g = at if lacking else at - c
        if (lacking and flow.excess[g] < 0) or (not lacking and flow.excess[g] > 0):
            work -= shift_one(flow, search, fewest, most, g, lacking)
        else:
            at += 1
    return at


@inner_kernel
def shift_one(
    flow: Flow, search: PathSearch, fewest: int, most: int, start: int, lacking: bool
) -> int:
    """Move a record to a centre with too few, or from one with too many, along a shortest path.

    The path ends at a centre with too many (or too few), or at one that can keep one fewer (or one
    more). Returns the number of candidates examined.
    """
    price, kept, excess = flow.price, flow.kept, flow.excess
    length, state, counts = search.length, search.state, search.counts
    sign = 1 if lacking else -1
    counts[:] = 0
    end, bound, by_keeping = -1, np.inf, False
    offer_path(search, start, 0.0, -1)
    work = 1
    while counts[0] > 0 and length[search.heap[0]] < bound:
        g = search.heap[0]
        remove_first(search)
        if sign * excess[g] > 0:
            end, bound, by_keeping = g, length[g], False
            break
        if (lacking and kept[g] > fewest) or (not lacking and kept[g] < most):
            last = length[g] + max(-sign * price[g], 0.0)
            if last < bound:
                end, bound, by_keeping = g, last, True
        if lacking:
            work += reach_givers(flow, search, g, bound)
        else:
            work += reach_takers(flow, search, g, bound)
    for t in range(counts[1]):
        g = search.touched[t]
        if state[g] == VISITED and length[g] < bound:
            price[g] += sign * (bound - length[g])
        state[g] = UNTOUCHED
    if by_keeping:
        kept[end] -= sign
    else:
        excess[end] -= sign
    excess[start] += sign
    move_along(flow, search, start, end, lacking)
    return work


@inner_kernel
def reach_givers(flow: Flow, search: PathSearch, g: int, bound: float) -> int:
    """Extend the path that ends at g to every centre with a record that g could take."""
    begin, stop = flow.reverse_start[g], flow.reverse_start[g + 1]
    for r in range(begin, stop):
        i = flow.reverse_row[r]
        other = flow.owner[i]
        loss = (flow.reverse_distance[r] - flow.price[g]) - (flow.paid[i] - flow.price[other])
        total = search.length[g] + max(loss, 0.0)
        if total < bound:
            offer_path(search, other, total, flow.reverse[r])
    return stop - begin


@inner_kernel
def reach_takers(flow: Flow, search: PathSearch, g: int, bound: float) -> int:
    """Extend the path that ends at g to every centre that could take a record of g."""
    width = flow.centre.shape[1]
    work = 0
    i = flow.first[g]
    while i >= 0:
        for s in range(width):
            other = flow.centre[i, s]
            loss = (flow.distance[i, s] - flow.price[other]) - (flow.paid[i] - flow.price[g])
            total = search.length[g] + max(loss, 0.0)
            if total < bound:
                offer_path(search, other, total, i * width + s)
        work += width
        i = flow.after[i]
    return work


@inner_kernel
def move_along(flow: Flow, search: PathSearch, start: int, end: int, lacking: bool) -> None:
    """Move the records of the path, one from each centre to the next."""
    width = flow.centre.shape[1]
    g = end
    while g != start:
        i, s = divmod(search.via[g], width)
        old, new = flow.owner[i], flow.centre[i, s]
        unlink(flow, i, old)
        link(flow, i, new)
        flow.owner[i], flow.paid[i] = new, flow.distance[i, s]
        g = new if lacking else old


@inner_kernel
def offer_path(search: PathSearch, g: int, length: float, slot: int) -> None:
    """Label centre g with a path, if it is shorter, and move it up in the heap."""
    heap, state = search.heap, search.state
    at = state[g]
    if at == VISITED or (at >= 0 and length >= search.length[g]):
        return
    if at == UNTOUCHED:
        at = search.counts[0]
        search.counts[0] += 1
        search.touched[search.counts[1]] = g
        search.counts[1] += 1
    search.length[g] = length
    search.via[g] = slot
    while at > 0:
        parent = (at - 1) // 2
        if search.length[heap[parent]] <= length:
            break
        heap[at] = heap[parent]
        state[heap[at]] = at
        at = parent
    heap[at] = g
    state[g] = at


@inner_kernel
def remove_first(search: PathSearch) -> None:
    """Take the nearest centre out of the heap and mark it as visited."""
    heap, state, length = search.heap, search.state, search.length
    state[heap[0]] = VISITED
    search.counts[0] -= 1
    count = search.counts[0]
    if count == 0:
        return
    g = heap[count]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= count:
            break
        if child + 1 < count and length[heap[child + 1]] < length[heap[child]]:
            child += 1
        if length[heap[child]] >= length[g]:
            break
        heap[at] = heap[child]
        state[heap[at]] = at
        at = child
    heap[at] = g
    state[g] = at
