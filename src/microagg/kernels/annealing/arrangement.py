"""Records arranged in groups of any size, and the smallest changes: a record joins or leaves."""

from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Floats, RandomState, Rows
from microagg.kernels.basics.distances import mean_and_error, squared_distance
from microagg.kernels.basics.randomness import draw_below, draw_between_0_and_1
from microagg.kernels.compile import allocating_inner_kernel, inner_kernel, kernel
from microagg.kernels.rules.rules import Rules, alike, all_met

# Places of the counters of an `Arrangement`.
END, FREE, BUFFER, WORK = range(4)


class Arrangement(NamedTuple):
    """Who is in which group; a group of size 0 is not in use.

    The members of a group stand side by side, with room for more. When it is full, the group moves
    to the end of the buffer; when that is full, all groups move to the other buffer.
    """

    X: Floats
    near: Rows  # record x place: its nearest others, nearest first
    labels: Rows
    members: Rows  # buffer x slot
    begins: Rows  # where each group begins
    rooms: Rows  # how many members it has room for
    sizes: Rows
    centers: Floats
    errors: Floats  # squared error of each group
    typical: Floats  # one number: squared error of a record, on average
    free: Rows  # numbers of groups not in use, in the first places
    rows: Rows  # scratch
    counters: Rows
    rng_state: RandomState


def make_arrangement(X: Floats, near: Rows, labels: Rows, most: int, seed: int) -> Arrangement:
    """Arrange the records in groups numbered from 0; there will never be more than `most`."""
    n, d = X.shape
    arrangement = Arrangement(
        X=X,
        near=near,
        labels=np.full(n, -1, dtype=np.intp),
        members=np.zeros((2, 4 * n + 8 * most), dtype=np.intp),
        begins=np.zeros(most, dtype=np.intp),
        rooms=np.zeros(most, dtype=np.intp),
        sizes=np.zeros(most, dtype=np.intp),
        centers=np.zeros((most, d)),
        errors=np.zeros(most),
        typical=np.zeros(1),
        free=np.zeros(most, dtype=np.intp),
        rows=np.zeros(n + 1, dtype=np.intp),
        counters=np.zeros(4, dtype=np.intp),
        rng_state=np.array([seed], dtype=np.uint64),
    )
    arrange(arrangement, labels)
    return arrangement


@kernel
def arrange(arrangement: Arrangement, labels: Rows) -> None:
    """Put every record into its group."""
    sizes, rooms, counters = arrangement.sizes, arrangement.rooms, arrangement.counters
    sizes[:] = 0
    rooms[:] = 0
    for label in labels:
        rooms[label] += 1
    counters[FREE] = counters[END] = 0
    for group in range(sizes.shape[0] - 1, -1, -1):
        if rooms[group] == 0:
            retire(arrangement, group)
    for group in range(sizes.shape[0]):
        arrangement.begins[group] = counters[END]
        counters[END] += rooms[group]
    for row in range(labels.shape[0]):
        join(arrangement, row, labels[row])
    refresh_all(arrangement)


@kernel
def refresh_all(arrangement: Arrangement) -> float:
    """Recompute all centres and errors, so that roundings do not add up; returns the error."""
    total = 0.0
    for group in range(arrangement.sizes.shape[0]):
        refresh(arrangement, group)
        total += arrangement.errors[group]
    arrangement.typical[0] = total / arrangement.labels.shape[0]
    return total


@inner_kernel
def refresh(arrangement: Arrangement, group: int) -> None:
    """Recompute the centre and the error of a group from its members."""
    arrangement.errors[group] = 0.0
    if arrangement.sizes[group] > 0:
        buffer, first, stop = span_of(arrangement, group)
        own = arrangement.members[buffer, first:stop]
        center = arrangement.centers[group]
        arrangement.errors[group] = mean_and_error(arrangement.X, own, center)


@inner_kernel
def span_of(arrangement: Arrangement, group: int) -> tuple[int, int, int]:
    """Where the rows of a group are: the buffer of `members`, the first place, and their end."""
    first = arrangement.begins[group]
    return arrangement.counters[BUFFER], first, first + arrangement.sizes[group]


@allocating_inner_kernel
def copy_of_members(arrangement: Arrangement, group: int) -> Rows:
    """The rows of a group, to keep while its members change."""
    buffer, first, stop = span_of(arrangement, group)
    return arrangement.members[buffer, first:stop].copy()


@inner_kernel
def join(arrangement: Arrangement, row: int, group: int) -> None:
    """Add a record to a group; its centre and error stay as they are."""
    size = arrangement.sizes[group]
    if size >= arrangement.rooms[group]:
        make_room(arrangement, group)
    slot = arrangement.begins[group] + size
    arrangement.members[arrangement.counters[BUFFER], slot] = row
    arrangement.sizes[group] = size + 1
    arrangement.labels[row] = group


@inner_kernel
def leave(arrangement: Arrangement, row: int) -> None:
    """Take a record out of its group; its centre and error stay as they are."""
    group = arrangement.labels[row]
    buffer, first, stop = span_of(arrangement, group)
    own = arrangement.members[buffer, first:stop]
    slot = 0
    while own[slot] != row:
        slot += 1
    own[slot] = own[own.shape[0] - 1]
    arrangement.sizes[group] -= 1


@inner_kernel
def make_room(arrangement: Arrangement, group: int) -> None:
    """Move a full group to where it has room for twice as many."""
    buffers, counters = arrangement.members, arrangement.counters
    room = max(4, 2 * arrangement.sizes[group])
    if counters[END] + room > buffers.shape[1]:
        close_gaps(arrangement)
    now, end = counters[BUFFER], counters[END]
    first = arrangement.begins[group]
    for slot in range(arrangement.sizes[group]):
        buffers[now, end + slot] = buffers[now, first + slot]
    arrangement.begins[group] = end
    arrangement.rooms[group] = room
    counters[END] = end + room


@inner_kernel
def close_gaps(arrangement: Arrangement) -> None:
    """Move all groups to the other buffer, one right after the other."""
    buffers, counters = arrangement.members, arrangement.counters
    now, other, end = counters[BUFFER], 1 - counters[BUFFER], 0
    for group in range(arrangement.sizes.shape[0]):
        first = arrangement.begins[group]
        arrangement.begins[group] = end
        arrangement.rooms[group] = arrangement.sizes[group]
        for slot in range(arrangement.sizes[group]):
            buffers[other, end + slot] = buffers[now, first + slot]
        end += arrangement.sizes[group]
    counters[BUFFER], counters[END] = other, end


@inner_kernel
def retire(arrangement: Arrangement, group: int) -> None:
    """The group is empty, and its number is free."""
    arrangement.free[arrangement.counters[FREE]] = group
    arrangement.counters[FREE] += 1
    arrangement.errors[group] = 0.0


@inner_kernel
def would_do(arrangement: Arrangement, rules: Rules, group: int, without: int, added: int) -> bool:
    """Whether a group meets the rules without one record and with another; -1 for neither."""
    rows, size = arrangement.rows, 0
    buffer, first, stop = span_of(arrangement, group)
    for row in arrangement.members[buffer, first:stop]:
        if row != without:
            rows[size] = row
            size += 1
    if added >= 0:
        rows[size] = added
        size += 1
    arrangement.counters[WORK] += size
    return all_met(rules, rows, size)


@inner_kernel
def may_exchange(arrangement: Arrangement, rules: Rules, row: int, other: int) -> bool:
    """Whether two groups still meet the rules when two of their records change places."""
    if alike(rules, row, other):
        return True
    A, B = arrangement.labels[row], arrangement.labels[other]
    if not would_do(arrangement, rules, A, row, other):
        return False
    return would_do(arrangement, rules, B, other, row)


@inner_kernel
def move(arrangement: Arrangement, row: int, group: int) -> None:
    """Send a record to another group, and bring both up to date."""
    X, centers, source = arrangement.X, arrangement.centers, arrangement.labels[row]
    left, joined = arrangement.sizes[source] - 1, arrangement.sizes[group] + 1
    arrangement.errors[source] -= cost_of_leaving(arrangement, row)
    arrangement.errors[group] += cost_of_joining(arrangement, row, group)
    for j in range(X.shape[1]):
        if left > 0:
            centers[source, j] -= (X[row, j] - centers[source, j]) / left
        centers[group, j] += (X[row, j] - centers[group, j]) / joined
    leave(arrangement, row)
    join(arrangement, row, group)


@inner_kernel
def cost_of_joining(arrangement: Arrangement, row: int, group: int) -> float:
    """How much the error of a group grows when a record joins it."""
    size = arrangement.sizes[group]
    apart = squared_distance(arrangement.X[row], arrangement.centers[group])
    return apart * size / (size + 1)


@inner_kernel
def cost_of_leaving(arrangement: Arrangement, row: int) -> float:
    """How much the error of its group shrinks when a record leaves; all of it if it was alone."""
    group = arrangement.labels[row]
    size = arrangement.sizes[group]
    if size == 1:
        return arrangement.errors[group]
    apart = squared_distance(arrangement.X[row], arrangement.centers[group])
    return apart * size / (size - 1)


@inner_kernel
def cost_of_exchange(arrangement: Arrangement, row: int, other: int) -> float:
    """How much the error grows when two records of different groups change places."""
    X, centers = arrangement.X, arrangement.centers
    A, B = arrangement.labels[row], arrangement.labels[other]
    after = squared_distance(X[row], centers[B]) + squared_distance(X[other], centers[A])
    before = squared_distance(X[row], centers[A]) + squared_distance(X[other], centers[B])
    shares = 1.0 / arrangement.sizes[A] + 1.0 / arrangement.sizes[B]
    return after - before - squared_distance(X[row], X[other]) * shares


@inner_kernel
def exchange(arrangement: Arrangement, row: int, other: int) -> None:
    """Let two records of different groups change places, and bring both groups up to date."""
    A, B = arrangement.labels[row], arrangement.labels[other]
    leave(arrangement, row)
    leave(arrangement, other)
    join(arrangement, row, B)
    join(arrangement, other, A)
    refresh(arrangement, A)
    refresh(arrangement, B)


@inner_kernel
def draw(arrangement: Arrangement, below: int) -> int:
    """A random whole number from 0 to below - 1."""
    return draw_below(arrangement.rng_state, below)


@inner_kernel
def patience(arrangement: Arrangement) -> float:
    """A random number above 0, 1 on average: what a step may lose, in units of the temperature."""
    return -np.log(draw_between_0_and_1(arrangement.rng_state))


@inner_kernel
def may_lose(arrangement: Arrangement, error: float, size: int, temperature: float) -> float:
    """The loss from which on a step is not made that touches groups of this error and size."""
    local = max(0.0, error) / size
    return patience(arrangement) * temperature * np.sqrt(local * arrangement.typical[0])
