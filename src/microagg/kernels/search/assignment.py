"""An assignment of records to groups that local search changes step by step."""

from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.kernels.basics.distances import mean_and_error, squared_distance
from microagg.kernels.compile import allocating_inner_kernel, allocating_kernel, inner_kernel

# A change must gain this share of the errors it affects: far above rounding, far below any
# difference that matters.
WORTHWHILE = 1e-10


class Assignment(NamedTuple):
    """The group of every record, and what steps need to know about the groups.

    There is room for n // k groups of 2k-1 records; a group of size 0 is not in use. Everything
    about a group is recomputed from its members whenever they change, so no error accumulates.
    """

    labels: Rows  # group of each record
    members: Rows  # group x slot: its records in the first slots
    sizes: Rows
    centers: Floats
    errors: Floats  # squared error of each group
    radii: Floats  # largest distance of a member from the centre of its group
    own: Floats  # squared distance of each record from the centre of its group
    changed: Rows  # step at which each group last changed
    clock: Rows  # one number: steps so far
    noise: Floats  # squared error in each group that rounding alone can cause


def make_assignment(X: Floats, labels: Rows, k: int) -> Assignment:
    """Assign the records of X to groups, numbered from 0, of k to 2k-1 records each."""
    n, d = X.shape
    room = n // k
    assignment = Assignment(
        labels=np.full(n, -1, dtype=np.intp),
        members=np.zeros((room, 2 * k - 1), dtype=np.intp),
        sizes=np.zeros(room, dtype=np.intp),
        centers=np.zeros((room, d)),
        errors=np.zeros(room),
        radii=np.zeros(room),
        own=np.zeros(n),
        changed=np.zeros(room, dtype=np.intp),
        clock=np.zeros(1, dtype=np.intp),
        noise=np.zeros(room),
    )
    regroup(X, assignment, labels, int(labels.max()) + 1)
    return assignment


@allocating_kernel
def regroup(X: Floats, assignment: Assignment, labels: Rows, n_groups: int) -> None:
    """Assign all records to new groups; those with unchanged members keep number and history."""
    number = numbers_of_same_groups(assignment, labels, n_groups)
    in_use = np.zeros(assignment.sizes.shape[0], dtype=np.bool_)
    for g in range(n_groups):
        if number[g] >= 0:
            in_use[number[g]] = True
    assignment.clock[0] += 1
    for h in range(assignment.sizes.shape[0]):
        if not in_use[h]:
            assignment.sizes[h] = 0
            assignment.errors[h] = 0.0
            assignment.changed[h] = assignment.clock[0]
    fresh = np.zeros(n_groups, dtype=np.bool_)
    free = 0
    for g in range(n_groups):
        if number[g] < 0:
            while in_use[free]:
                free += 1
            number[g] = free
            in_use[free] = True
            fresh[g] = True
    for i in range(labels.shape[0]):
        if fresh[labels[i]]:
            join(assignment, i, number[labels[i]])
    for g in range(n_groups):
        if fresh[g]:
            refresh(X, assignment, number[g])


@allocating_inner_kernel
def numbers_of_same_groups(assignment: Assignment, labels: Rows, n_groups: int) -> Rows:
    """For each new group, the number of the present one with the same members, or -1."""
    number = np.full(n_groups, -2)  # not seen yet
    counts = np.zeros(n_groups, dtype=np.intp)
    for i in range(labels.shape[0]):
        g = labels[i]
        present = assignment.labels[i]
        if number[g] == -2:
            number[g] = present
        elif number[g] != present:
            number[g] = -1
        counts[g] += 1
    for g in range(n_groups):
        if number[g] >= 0 and counts[g] != assignment.sizes[number[g]]:
            number[g] = -1
    return number


@inner_kernel
def join(assignment: Assignment, row: int, group: int) -> None:
    """Add a record to a group; `refresh` must follow."""
    assignment.members[group, assignment.sizes[group]] = row
    assignment.sizes[group] += 1
    assignment.labels[row] = group


@inner_kernel
def leave(assignment: Assignment, row: int) -> None:
    """Take a record out of its group; `refresh` must follow."""
    group = assignment.labels[row]
    members = assignment.members[group]
    last = assignment.sizes[group] - 1
    slot = 0
    while members[slot] != row:
        slot += 1
    members[slot] = members[last]
    assignment.sizes[group] = last


@inner_kernel
def refresh(X: Floats, assignment: Assignment, group: int) -> None:
    """Recompute the centre of a group and what depends on it."""
    members = assignment.members[group, : assignment.sizes[group]]
    center = assignment.centers[group]
    assignment.errors[group] = mean_and_error(X, members, center)
    largest = 0.0
    for row in members:
        assignment.own[row] = squared_distance(X[row], center)
        largest = max(largest, assignment.own[row])
    assignment.radii[group] = np.sqrt(largest)
    highest = 0.0
    for j in range(center.shape[0]):
        highest = max(highest, abs(center[j]))
    assignment.noise[group] = (1e-13 * highest) ** 2
    assignment.changed[group] = assignment.clock[0]


@allocating_inner_kernel
def reassign(X: Floats, assignment: Assignment, rows: Rows, targets: Rows) -> float:
    """Move each row to its target group, all at once; return the gain in squared error."""
    count = rows.shape[0]
    sources = np.empty(count, dtype=np.intp)
    for i in range(count):
        sources[i] = assignment.labels[rows[i]]
    touched = np.unique(np.concatenate((sources, targets)))
    before = 0.0
    for group in touched:
        before += assignment.errors[group]
    for i in range(count):
        leave(assignment, rows[i])
    for i in range(count):
        join(assignment, rows[i], targets[i])
    assignment.clock[0] += 1
    after = 0.0
    for group in touched:
        refresh(X, assignment, group)
        after += assignment.errors[group]
    return before - after


@inner_kernel
def least_gain(assignment: Assignment, groups: Rows | tuple[int, int]) -> float:
    """Least gain for which a change to these groups is worth it."""
    total = 0.0
    for group in groups:
        total += assignment.noise[group] + WORTHWHILE * assignment.errors[group]
    return total


@allocating_inner_kernel
def improve(X: Floats, assignment: Assignment, rows: Rows, targets: Rows) -> bool:
    """Move each row to its target group if that lowers the squared error."""
    origins, errors = assignment.labels[rows], assignment.errors
    touched = np.concatenate((origins, targets))
    before = errors[touched]
    if reassign(X, assignment, rows, targets) > 0.0:
        return True
    reassign(X, assignment, rows, origins)
    # As they were, to the last digit: the sums depend on the order of the members.
    errors[touched] = before
    return False
