"""Migrations and exchanges of records between two groups: the best for each group, exactly.

Group A has a members, centre c_A and radius r_A, the largest distance of a member from c_A; L is
the distance between two centres. Two facts rule out most pairs of groups, and none that matters:

- An exchange of i in A with j in B changes the squared error by
  (2 - h) L^2 - (2 - 2h) w.s - h |s|^2, where h = 1/a + 1/b, w = c_B - c_A, s = (x_i - c_A) -
  (x_j - c_B). That is at least (L - |s|) ((2 - h) L + h |s|), so it can gain only if |s| > L, and
  then |x_i - c_A| + |x_j - c_B| > L: the two groups overlap.
- A migration of i from A to B gains only if |x_i - c_B| < (1 + 1/k) |x_i - c_A|, hence
  L < (2 + 1/k) |x_i - c_A|.
"""

from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.kernels.basics.distances import squared_distance
from microagg.kernels.compile import (
    allocating_inner_kernel,
    allocating_kernel,
    inner_kernel,
    kernel,
)
from microagg.kernels.neighbours.blocks import Blocks, bound_from_below, measure_block
from microagg.kernels.search.assignment import Assignment, improve, least_gain


class Changes(NamedTuple):
    """The best change of each group: a row that leaves it and another that enters."""

    gains: Floats  # 0 if none gains
    partners: Rows
    rows: Rows  # -1 if none leaves
    others: Rows  # -1 if none enters


def no_changes(room: int) -> Changes:
    """Return the state in which no changes are known."""
    nothing = np.full(room, -1, dtype=np.intp)
    return Changes(np.zeros(room), nothing, nothing.copy(), nothing.copy())


@allocating_kernel
def largest_radii(blocks: Blocks, radii: Floats) -> Floats:
    """Largest radius of a group in each block of centres."""
    largest = np.zeros(blocks.counts.shape[0])
    for block in range(largest.shape[0]):
        for slot in range(blocks.counts[block]):
            largest[block] = max(largest[block], radii[blocks.rows[block, slot]])
    return largest


@kernel
def search_changes(
    X: Floats,
    k: int,
    assignment: Assignment,
    in_use: Rows,
    blocks: Blocks,
    block_radii: Floats,
    groups: Rows,
    out_changes: Changes,
) -> None:
    """Find the best change of each of the given groups with any other.

    `blocks` holds the centres of the groups `in_use`, `block_radii` the largest radius in each.
    """
    centers, sizes, radii = assignment.centers, assignment.sizes, assignment.radii
    for group in groups:
        out_changes.gains[group] = 0.0
        out_changes.partners[group] = -1
        radius = radii[group]
        bound_from_below(blocks, centers[group])
        for block in range(blocks.bounds.shape[0]):
            limit = reach_of_groups(k, sizes[group], radius, -1, block_radii[block])
            if blocks.bounds[block] >= limit * limit:
                continue
            count = blocks.counts[block]
            measure_block(blocks.values, block, count, centers[group], blocks.distances)
            for slot in range(count):
                other = in_use[blocks.rows[block, slot]]
                limit = reach_of_groups(k, sizes[group], radius, sizes[other], radii[other])
                square = blocks.distances[slot]
                if other != group and square < limit * limit:
                    try_migrations(X, k, assignment, group, other, True, out_changes)
                    try_migrations(X, k, assignment, other, group, False, out_changes)
                    try_exchanges(X, assignment, group, other, square, out_changes)


@inner_kernel
def reach_of_groups(
    k: int, size: int, radius: float, other_size: int, other_radius: float
) -> float:
    """Distance between centres from which two groups cannot gain; other_size -1 is any size."""
    limit = radius + other_radius
    if size > k and other_size < 2 * k - 1:
        limit = max(limit, (2.0 + 1.0 / k) * radius)
    if size < 2 * k - 1 and (other_size > k or other_size < 0):
        limit = max(limit, (2.0 + 1.0 / k) * other_radius)
    return limit * (1.0 + 1e-9)  # more than all rounding errors together


@inner_kernel
def try_migrations(
    X: Floats,
    k: int,
    assignment: Assignment,
    source: int,
    target: int,
    leaves: bool,
    out_changes: Changes,
) -> None:
    """Keep the best migration, as a change of `source` if `leaves`, else of `target`."""
    a, b = assignment.sizes[source], assignment.sizes[target]
    if a <= k or b >= 2 * k - 1:
        return
    group, partner = (source, target) if leaves else (target, source)
    threshold = least_gain(assignment, (source, target))
    for slot in range(a):
        row = assignment.members[source, slot]
        freed = assignment.own[row] * a / (a - 1)
        if freed <= out_changes.gains[group]:
            continue
        gain = freed - squared_distance(X[row], assignment.centers[target]) * b / (b + 1)
        if gain > threshold and gain > out_changes.gains[group]:
            out_changes.gains[group] = gain
            out_changes.partners[group] = partner
            out_changes.rows[group] = row if leaves else -1
            out_changes.others[group] = -1 if leaves else row


@allocating_inner_kernel
def try_exchanges(
    X: Floats, assignment: Assignment, group: int, other: int, square: float, out_changes: Changes
) -> None:
    """Keep the best exchange between two groups whose centres are sqrt(square) apart."""
    a, b = assignment.sizes[group], assignment.sizes[other]
    radius = assignment.radii[other]
    apart = np.sqrt(square) * (1.0 - 1e-9)
    if assignment.radii[group] + radius <= apart:
        return
    h = 1.0 / a + 1.0 / b
    threshold = least_gain(assignment, (group, other))
    freed = np.empty(b)  # gain of each member of the other group by this centre
    most_freed = -np.inf
    for slot in range(b):
        rival = assignment.members[other, slot]
        freed[slot] = assignment.own[rival] - squared_distance(X[rival], assignment.centers[group])
        most_freed = max(most_freed, freed[slot])
    for i in range(a):
        row = assignment.members[group, i]
        mine = np.sqrt(assignment.own[row])
        if mine + radius <= apart:
            continue
        my_freed = assignment.own[row] - squared_distance(X[row], assignment.centers[other])
        best = max(threshold, out_changes.gains[group])
        if most_gain(my_freed + most_freed, mine + radius, square, h) <= best:
            continue
        for j in range(b):
            rival = assignment.members[other, j]
            span = mine + np.sqrt(assignment.own[rival])
            best = max(threshold, out_changes.gains[group])
            if most_gain(my_freed + freed[j], span, square, h) <= best:
                continue
            gain = my_freed + freed[j] + h * squared_distance(X[row], X[rival])
            if gain > best:
                out_changes.gains[group] = gain
                out_changes.partners[group] = other
                out_changes.rows[group] = row
                out_changes.others[group] = rival


@inner_kernel
def most_gain(freed: float, span: float, square: float, h: float) -> float:
    """Upper bound on the gain of an exchange; `freed` is all but its term h |x_i - x_j|^2.

    |x_i - x_j|^2 = |s|^2 - 2 w.s + L^2, where |s| is at most the span and 2 w.s = freed + 2 L^2.
    """
    return freed + h * (span * span - freed - square)


@allocating_kernel
def apply_best(
    X: Floats, assignment: Assignment, changes: Changes, order: Rows, pool_size: int
) -> int:
    """Make the changes of the groups in `order`, unless one before affected either group.

    At most `pool_size`; returns how many.
    """
    began = assignment.clock[0]
    rows = np.empty(2, dtype=np.intp)
    targets = np.empty(2, dtype=np.intp)
    made = 0
    for group in order:
        partner = changes.partners[group]
        if assignment.changed[group] > began or assignment.changed[partner] > began:
            continue
        count = 0
        if changes.rows[group] >= 0:
            rows[count], targets[count] = changes.rows[group], partner
            count += 1
        if changes.others[group] >= 0:
            rows[count], targets[count] = changes.others[group], group
            count += 1
        made += improve(X, assignment, rows[:count], targets[:count])
        if made == pool_size:
            break
    return made
