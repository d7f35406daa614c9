"""Short tours through all records: local search with 2-opt and Or-opt moves.

A tour is an array of rows with `place`, its inverse. Every move is composed of flips, each of which
reverses the shorter side of the tour. Only moves that connect a record to one of its neighbours are
tried, and only at records whose surroundings have changed since they were last tried.
"""

from microagg.core.arrays import Floats, Rows
from microagg.kernels.basics.distances import distance_between
from microagg.kernels.compile import inner_kernel, kernel

LONGEST_SEGMENT = 3
# A move must shorten the tour by more than the rounding of the lengths it compares.
LEAST_SHORTENING = 1e-12


@kernel
def shorten_tour(
    X: Floats, tour: Rows, place: Rows, neighbours: Rows, queue: Rows, state: Rows, n_tries: int
) -> bool:
    """Improve `tour` in place for at most `n_tries` records of the queue; True when it is empty.

    `queue` is a ring of rows to try, `state` its head and length; a row in the queue is marked
    by state[2 + row] = 1.
    """
    for _ in range(n_tries):
        if state[1] == 0:
            return True
        row = queue[state[0]]
        state[0] = state[0] + 1 if state[0] + 1 < queue.shape[0] else 0
        state[1] -= 1
        state[2 + row] = 0
        while improve_at(X, tour, place, neighbours, row, queue, state):
            pass
    return state[1] == 0


@inner_kernel
def improve_at(
    X: Floats, tour: Rows, place: Rows, neighbours: Rows, row: int, queue: Rows, state: Rows
) -> bool:
    """Make the first move found that gives `row` a nearer neighbour; False if there is none."""
    for forward in (True, False):
        if two_opt(X, tour, place, neighbours, row, forward, queue, state):
            return True
    for length in range(1, LONGEST_SEGMENT + 1):
        for leads in (True, False):
            if move_segment(X, tour, place, neighbours, row, length, leads, queue, state):
                return True
    return False


@inner_kernel
def two_opt(
    X: Floats,
    tour: Rows,
    place: Rows,
    neighbours: Rows,
    row: int,
    forward: bool,
    queue: Rows,
    state: Rows,
) -> bool:
    """Replace the edge from `row` (forward or backward) and one more by two shorter ones."""
    step = 1 if forward else -1
    after = step_along(tour, place, row, step)
    edge = distance_between(X, row, after)
    for other in neighbours[row]:
        join = distance_between(X, row, other)
        if join >= edge:
            return False
        behind = step_along(tour, place, other, step)
        if other == after or behind == row:
            continue
        removed = edge + distance_between(X, other, behind)
        added = join + distance_between(X, after, behind)
        if removed - added > LEAST_SHORTENING * removed:
            flip(tour, place, row, after, other, behind)
            for changed in (row, after, other, behind):
                enqueue_row(queue, state, changed)
            return True
    return False


@inner_kernel
def move_segment(
    X: Floats,
    tour: Rows,
    place: Rows,
    neighbours: Rows,
    row: int,
    length: int,
    leads: bool,
    queue: Rows,
    state: Rows,
) -> bool:
    """Move the segment of `length` records that begins (or ends) with `row` next to a neighbour."""
    n = tour.shape[0]
    if n < length + 3:
        return False
    other_end = step_along(tour, place, row, length - 1 if leads else 1 - length)
    first, last = (row, other_end) if leads else (other_end, row)
    before = step_along(tour, place, first, -1)
    behind = step_along(tour, place, last, 1)
    ends = distance_between(X, before, first) + distance_between(X, last, behind)
    freed = ends - distance_between(X, before, behind)
    for neighbour in neighbours[row]:
        join = distance_between(X, row, neighbour)
        if join >= freed:
            return False
        for step in (1, -1):
            beyond = step_along(tour, place, neighbour, step)
            left, right = (neighbour, beyond) if step == 1 else (beyond, neighbour)
            if right == before or in_segment(place, first, length, left, n):
                continue
            if in_segment(place, first, length, right, n):
                continue
            split = distance_between(X, left, right)
            gain = freed + split - join - distance_between(X, other_end, beyond)
            # Relative to whole edges: what is freed may be no more than their rounding error.
            if gain > LEAST_SHORTENING * (ends + split):
                keeps_direction = (left == neighbour) == leads
                splice(tour, place, before, first, last, behind, left, right, keeps_direction)
                for changed in (before, first, last, behind, left, right):
                    enqueue_row(queue, state, changed)
                return True
    return False


@inner_kernel
def splice(
    tour: Rows,
    place: Rows,
    before: int,
    first: int,
    last: int,
    behind: int,
    left: int,
    right: int,
    keeps_direction: bool,
) -> None:
    """Move first..last from between `before` and `behind` to between `left` and `right`."""
    flip(tour, place, before, first, left, right)
    if left != behind:
        flip(tour, place, before, left, behind, last)
    if keeps_direction and first != last:
        flip(tour, place, left, last, first, right)


@inner_kernel
def flip(tour: Rows, place: Rows, a: int, b: int, c: int, d: int) -> None:
    """Replace the edges a-b and c-d by a-c and b-d; b follows a as d follows c."""
    n = tour.shape[0]
    if step_along(tour, place, a, 1) != b:
        a, b, c, d = b, a, d, c
    low, high = place[b], place[c]
    inside = high - low + 1
    if inside < 0:
        inside += n
    if 2 * inside > n:
        low, high = place[d], place[a]
        inside = n - inside
    for _ in range(inside // 2):
        tour[low], tour[high] = tour[high], tour[low]
        place[tour[low]] = low
        place[tour[high]] = high
        low = low + 1 if low + 1 < n else 0
        high = high - 1 if high > 0 else n - 1


@inner_kernel
def step_along(tour: Rows, place: Rows, row: int, steps: int) -> int:
    """The record that many steps further along the tour."""
    n = tour.shape[0]
    at = place[row] + steps
    if at >= n:
        at -= n
    elif at < 0:
        at += n
    return tour[at]


@inner_kernel
def in_segment(place: Rows, first: int, length: int, row: int, n: int) -> bool:
    """Whether `row` is one of the `length` records from `first` on."""
    offset = place[row] - place[first]
    if offset < 0:
        offset += n
    return offset < length


@inner_kernel
def enqueue_row(queue: Rows, state: Rows, row: int) -> None:
    """Append a row to the queue unless it is in there."""
    if state[2 + row]:
        return
    state[2 + row] = 1
    tail = state[0] + state[1]
    queue[tail if tail < queue.shape[0] else tail - queue.shape[0]] = row
    state[1] += 1
