"""The groups of a search, with a journal to undo a trial.

A trial changes a handful of groups. Before it first changes one, the members are saved; if the
trial is rejected, they are restored. So undoing costs only what was touched, whatever n is.
"""

from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Floats, Mask, RandomState, Rows
from microagg.kernels.basics.randomness import draw_below, draw_between_0_and_1
from microagg.kernels.compile import inner_kernel
from microagg.kernels.search.assignment import Assignment, join, leave, make_assignment, refresh

# Indices of the counters of a `Search`.
TRIAL, TOUCHED, FREE, HEAD, WAITING, MARK = range(6)


class Search(NamedTuple):
    """An assignment, the neighbours of its records, a journal and a queue of records to try."""

    X: Floats
    near: Rows  # record x neighbour, nearest first
    assignment: Assignment
    old_members: Rows  # members, sizes and errors of the groups touched, as they were
    old_sizes: Rows
    old_errors: Floats
    touched_in: Rows  # trial in which each group was last touched
    touched: Rows  # groups touched in this trial
    free: Rows  # numbers of groups not in use, in the first places
    free_place: Rows  # position of each of them there
    queue: Rows  # ring of records
    queued: Mask
    marked: Rows  # by group: the last pass over candidates that included it
    homes: Rows  # the two cheapest groups for the present record
    home_costs: Floats
    counters: Rows
    rng_state: RandomState


def make_search(
    X: Floats, near: Rows, labels: Rows, k: int, seed: int, waiting: Rows | None = None
) -> Search:
    """Lay out groups of k to 2k-1 records, numbered from 0, for a search.

    The records `waiting` are queued, all of them if it is None.
    """
    assignment = make_assignment(X, labels, k)
    room, slots = assignment.members.shape
    n_groups = int(labels.max()) + 1
    free_place = np.full(room, -1, dtype=np.intp)
    free_place[n_groups:] = np.arange(room - n_groups)
    counters = np.zeros(6, dtype=np.intp)
    counters[FREE] = room - n_groups
    queue, queued = np.arange(len(X)), np.ones(len(X), dtype=np.bool_)
    if waiting is not None:
        queue[: len(waiting)] = waiting
        queued[:] = False
        queued[waiting] = True
    counters[WAITING] = np.count_nonzero(queued)
    return Search(
        X=X,
        near=near,
        assignment=assignment,
        old_members=np.zeros((room, slots), dtype=np.intp),
        old_sizes=np.zeros(room, dtype=np.intp),
        old_errors=np.zeros(room),
        touched_in=np.full(room, -1, dtype=np.intp),
        touched=np.zeros(room, dtype=np.intp),
        free=np.r_[np.arange(n_groups, room), np.zeros(n_groups, dtype=np.intp)],
        free_place=free_place,
        queue=queue,
        queued=queued,
        marked=np.zeros(room, dtype=np.intp),
        homes=np.full(2, -1, dtype=np.intp),
        home_costs=np.full(2, np.inf),
        counters=counters,
        rng_state=np.array([seed], dtype=np.uint64),
    )


@inner_kernel
def draw(search: Search, below: int) -> int:
    """A random whole number from 0 to below - 1."""
    return draw_below(search.rng_state, below)


@inner_kernel
def draw_share(search: Search) -> float:
    """A random number above 0 and below 1."""
    return draw_between_0_and_1(search.rng_state)


@inner_kernel
def begin_trial(search: Search) -> None:
    """Forget what was touched before."""
    search.counters[TRIAL] += 1
    search.counters[TOUCHED] = 0


@inner_kernel
def touch(search: Search, group: int) -> None:
    """Save a group before it changes, once per trial."""
    counters = search.counters
    if search.touched_in[group] == counters[TRIAL]:
        return
    search.touched_in[group] = counters[TRIAL]
    search.touched[counters[TOUCHED]] = group
    counters[TOUCHED] += 1
    size = search.assignment.sizes[group]
    search.old_sizes[group] = size
    search.old_errors[group] = search.assignment.errors[group]
    for slot in range(size):
        search.old_members[group, slot] = search.assignment.members[group, slot]


@inner_kernel
def errors_of_touched(search: Search) -> tuple[float, float]:
    """Squared error of the touched groups, before the trial and now."""
    before = 0.0
    after = 0.0
    for at in range(search.counters[TOUCHED]):
        group = search.touched[at]
        before += search.old_errors[group]
        after += search.assignment.errors[group]
    return before, after


@inner_kernel
def undo_trial(search: Search) -> None:
    """Undo the trial."""
    assignment = search.assignment
    for at in range(search.counters[TOUCHED]):
        group = search.touched[at]
        size = search.old_sizes[group]
        if size == 0 and assignment.sizes[group] > 0:
            release_number(search, group)
        elif size > 0 and assignment.sizes[group] == 0:
            use_number(search, group)
        assignment.sizes[group] = size
        for slot in range(size):
            row = search.old_members[group, slot]
            assignment.members[group, slot] = row
            assignment.labels[row] = group
        if size > 0:
            refresh(search.X, assignment, group)


@inner_kernel
def release_number(search: Search, group: int) -> None:
    """Mark a group as no longer in use."""
    at = search.counters[FREE]
    search.free[at] = group
    search.free_place[group] = at
    search.counters[FREE] += 1
    search.assignment.errors[group] = 0.0


@inner_kernel
def use_number(search: Search, group: int) -> None:
    """Mark a group as in use."""
    search.counters[FREE] -= 1
    last = search.free[search.counters[FREE]]
    at = search.free_place[group]
    search.free[at] = last
    search.free_place[last] = at
    search.free_place[group] = -1


@inner_kernel
def enqueue(search: Search, row: int) -> None:
    """Queue a record, unless it is queued already."""
    if search.queued[row]:
        return
    search.queued[row] = True
    n = search.queue.shape[0]
    at = search.counters[HEAD] + search.counters[WAITING]
    search.queue[at - n if at >= n else at] = row
    search.counters[WAITING] += 1


@inner_kernel
def dequeue(search: Search) -> int:
    """Remove the record that was queued first."""
    head = search.counters[HEAD]
    row = search.queue[head]
    search.counters[HEAD] = head + 1 if head + 1 < search.queue.shape[0] else 0
    search.counters[WAITING] -= 1
    search.queued[row] = False
    return row


@inner_kernel
def update_group(search: Search, group: int) -> None:
    """Recompute a group whose members changed, and queue them."""
    refresh(search.X, search.assignment, group)
    enqueue_members(search, group)


@inner_kernel
def enqueue_members(search: Search, group: int) -> None:
    """Queue the members of a group."""
    for slot in range(search.assignment.sizes[group]):
        enqueue(search, search.assignment.members[group, slot])


@inner_kernel
def send(search: Search, row: int, group: int) -> None:
    """Move a record to another group; `update_group` must follow for both."""
    touch(search, search.assignment.labels[row])
    touch(search, group)
    leave(search.assignment, row)
    join(search.assignment, row, group)
