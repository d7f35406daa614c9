"""The steps of annealing: records move, change places, and groups come and go.

A step that breaks a rule is never made. One that loses is made if the loss is small for the
temperature: relative to a record's mean error in the table and in the groups that it touches
(their geometric mean), so that neither sparse nor dense regions freeze long before the others.
"""

import numpy as np

from microagg.core.arrays import Rows
from microagg.kernels.annealing.arrangement import (
    FREE,
    WORK,
    Arrangement,
    copy_of_members,
    cost_of_exchange,
    cost_of_joining,
    cost_of_leaving,
    draw,
    exchange,
    join,
    leave,
    may_exchange,
    may_lose,
    move,
    refresh,
    retire,
    span_of,
    would_do,
)
from microagg.kernels.annealing.dealing import closeness_rule, deal_in_two, merge_with
from microagg.kernels.basics.distances import squared_distance
from microagg.kernels.compile import allocating_inner_kernel, inner_kernel, kernel
from microagg.kernels.rules.rules import Rules

# What a step takes, in units of looking at one member of a group.
_WORK_OF_STEP = 16
# Of a hundred steps, how many change the number of groups, and how many are moves.
_CHANGES_OF_NUMBER, _MOVES = 3, 49
# Of a hundred others under t-closeness, how many merge groups or deal them out anew.
_DEALS = 8
# Larger groups are neither dissolved nor split: that takes long and hardly ever pays.
_LARGEST = 128


@kernel
def anneal(
    arrangement: Arrangement, rules: Rules, until: int, total: int, hot: float, cold: float
) -> None:
    """Make steps until this much work is done.

    The temperature falls from `hot` to `cold` over the total.
    """
    n, width = arrangement.near.shape
    counters, rule = arrangement.counters, closeness_rule(rules)
    while counters[WORK] < until:
        counters[WORK] += _WORK_OF_STEP
        temperature = hot * (cold / hot) ** min(1.0, counters[WORK] / total)
        luck = draw(arrangement, 100)
        row = draw(arrangement, n)
        if luck < _CHANGES_OF_NUMBER:
            if luck == 0:
                dissolve(arrangement, rules, arrangement.labels[row], temperature)
            elif luck == 1:
                create(arrangement, rules, row, temperature)
            else:
                split(arrangement, rules, row, temperature)
            continue
        group = arrangement.labels[arrangement.near[row, draw(arrangement, width)]]
        if group == arrangement.labels[row]:
            continue
        if rule >= 0 and draw(arrangement, 100) < _DEALS:
            chance = draw(arrangement, 4)
            if chance == 0:
                merge_with(arrangement, arrangement.labels[row], group, temperature)
            else:
                partner = -1 if chance == 1 else group
                deal_in_two(arrangement, rules, rule, row, partner, temperature)
            continue
        if luck < _CHANGES_OF_NUMBER + _MOVES:
            try_move(arrangement, rules, row, group, temperature)
        else:
            buffer, first, stop = span_of(arrangement, group)
            own = arrangement.members[buffer, first:stop]
            try_exchange(arrangement, rules, row, own[draw(arrangement, own.shape[0])], temperature)


@inner_kernel
def try_move(
    arrangement: Arrangement, rules: Rules, row: int, group: int, temperature: float
) -> None:
    """Send a record to another group, if its own can spare it and the loss is small."""
    source = arrangement.labels[row]
    if arrangement.sizes[source] <= rules.k:
        return
    cost = cost_of_joining(arrangement, row, group) - cost_of_leaving(arrangement, row)
    error = arrangement.errors[source] + arrangement.errors[group]
    size = arrangement.sizes[source] + arrangement.sizes[group]
    if cost >= may_lose(arrangement, error, size, temperature):
        return
    if not would_do(arrangement, rules, source, row, -1):
        return
    if would_do(arrangement, rules, group, -1, row):
        move(arrangement, row, group)


@inner_kernel
def try_exchange(
    arrangement: Arrangement, rules: Rules, row: int, other: int, temperature: float
) -> None:
    """Let two records change places, if the loss is small."""
    A, B = arrangement.labels[row], arrangement.labels[other]
    error = arrangement.errors[A] + arrangement.errors[B]
    size = arrangement.sizes[A] + arrangement.sizes[B]
    if cost_of_exchange(arrangement, row, other) >= may_lose(arrangement, error, size, temperature):
        return
    if may_exchange(arrangement, rules, row, other):
        exchange(arrangement, row, other)


@allocating_inner_kernel
def dissolve(arrangement: Arrangement, rules: Rules, group: int, temperature: float) -> None:
    """Send the members of a group to where they cost least, if the loss is small."""
    size, error = arrangement.sizes[group], arrangement.errors[group]
    if size > _LARGEST:
        return
    rows = copy_of_members(arrangement, group)
    homes = np.full(size, -1, dtype=np.intp)
    cost, moved = -error, 0
    for at in range(size):
        home = cheapest_home(arrangement, rows[at])
        if home < 0:
            break
        cost += cost_of_joining(arrangement, rows[at], home)
        homes[at] = home
        move(arrangement, rows[at], home)
        moved += 1
    accepted = moved == size and cost < may_lose(arrangement, error, size, temperature)
    if accepted and all_do(arrangement, rules, homes):
        retire(arrangement, group)
        return
    for at in range(moved):
        leave(arrangement, rows[at])
        join(arrangement, rows[at], group)
    for at in range(moved):
        refresh(arrangement, homes[at])
    refresh(arrangement, group)


@inner_kernel
def cheapest_home(arrangement: Arrangement, row: int) -> int:
    """The other group of a near record where a record costs least; -1 if there is none."""
    best, home = np.inf, -1
    for other in arrangement.near[row]:
        group = arrangement.labels[other]
        if group != arrangement.labels[row]:
            cost = cost_of_joining(arrangement, row, group)
            if home < 0 or cost < best:
                best, home = cost, group
    return home


@inner_kernel
def all_do(arrangement: Arrangement, rules: Rules, groups: Rows) -> bool:
    """Whether all these groups meet the rules."""
    for group in groups:  # noqa: SIM110
        if not would_do(arrangement, rules, group, -1, -1):
            return False
    return True


@allocating_inner_kernel
def create(arrangement: Arrangement, rules: Rules, seed: int, temperature: float) -> None:
    """Make a group of a record and near ones that their groups can spare, if the loss is small."""
    if arrangement.counters[FREE] == 0:
        return
    near = arrangement.near[seed]
    rows = np.empty(near.shape[0] + 1, dtype=np.intp)
    sources = np.empty(near.shape[0] + 1, dtype=np.intp)
    group = arrangement.free[arrangement.counters[FREE] - 1]
    count, gain, complete = 0, 0.0, False
    for place in range(-1, near.shape[0]):
        row = seed if place < 0 else near[place]
        source = arrangement.labels[row]
        if source == group or arrangement.sizes[source] <= rules.k:
            continue
        if not would_do(arrangement, rules, source, row, -1):
            continue
        gain += cost_of_leaving(arrangement, row)
        rows[count], sources[count] = row, source
        count += 1
        move(arrangement, row, group)
        if count >= rules.k and would_do(arrangement, rules, group, -1, -1):
            complete = True
            break
    if complete:
        cost = arrangement.errors[group] - gain
        if cost < may_lose(arrangement, gain, count, temperature):
            arrangement.counters[FREE] -= 1
            return
    for at in range(count):
        leave(arrangement, rows[at])
        join(arrangement, rows[at], sources[at])
    for at in range(count):
        refresh(arrangement, sources[at])
    refresh(arrangement, group)


@allocating_inner_kernel
def split(arrangement: Arrangement, rules: Rules, row: int, temperature: float) -> None:
    """Split the group of a record in two, around it and another member, if both meet the rules."""
    group = arrangement.labels[row]
    size, error = arrangement.sizes[group], arrangement.errors[group]
    if size < 2 * rules.k or size > _LARGEST or arrangement.counters[FREE] == 0:
        return
    X, rows = arrangement.X, copy_of_members(arrangement, group)
    other = rows[draw(arrangement, size)]
    half = arrangement.free[arrangement.counters[FREE] - 1]
    for at in range(size):
        to_other = squared_distance(X[rows[at]], X[other])
        if to_other < squared_distance(X[rows[at]], X[row]):
            leave(arrangement, rows[at])
            join(arrangement, rows[at], half)
    if arrangement.sizes[half] > 0:
        refresh(arrangement, group)
        refresh(arrangement, half)
        cost = arrangement.errors[group] + arrangement.errors[half] - error
        accepted = cost < may_lose(arrangement, error, size, temperature)
        accepted = accepted and would_do(arrangement, rules, group, -1, -1)
        if accepted and would_do(arrangement, rules, half, -1, -1):
            arrangement.counters[FREE] -= 1
            return
    for at in range(size):
        if arrangement.labels[rows[at]] == half:
            leave(arrangement, rows[at])
            join(arrangement, rows[at], group)
    refresh(arrangement, half)
    refresh(arrangement, group)
