"""Groups that fail a rule are repaired by the cheapest merge, move or exchange that helps."""

from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Floats, Mask, Rows
from microagg.kernels.annealing.arrangement import (
    Arrangement,
    copy_of_members,
    cost_of_exchange,
    cost_of_joining,
    cost_of_leaving,
    exchange,
    join,
    leave,
    move,
    refresh,
    retire,
    span_of,
    would_do,
)
from microagg.kernels.basics.distances import squared_distance
from microagg.kernels.compile import (
    allocating_inner_kernel,
    allocating_kernel,
    inner_kernel,
    kernel,
)
from microagg.kernels.rules.rules import Rules

# Members of a group, and near records of each, whose groups are looked at.
_MOST_MEMBERS, _MOST_NEAR = 32, 16


class Repairs(NamedTuple):
    """The cheapest repair of each group that fails: with which group, and which records.

    A record that comes takes the place of the one that goes, or only joins if none goes (-1). If
    none comes either, the groups merge.
    """

    partners: Rows
    coming: Rows
    going: Rows
    costs: Floats


@kernel
def find_failing(arrangement: Arrangement, rules: Rules, out_failing: Mask) -> int:
    """Which groups fail a rule; returns how many."""
    count = 0
    for group in range(arrangement.sizes.shape[0]):
        in_use = arrangement.sizes[group] > 0
        out_failing[group] = in_use and not would_do(arrangement, rules, group, -1, -1)
        count += out_failing[group]
    return count


@allocating_kernel
def propose_repairs(
    arrangement: Arrangement, rules: Rules, failing: Mask, groups: Rows, out_repairs: Repairs
) -> None:
    """Find the cheapest repair of each of the groups."""
    met = np.full(arrangement.sizes.shape[0], -1, dtype=np.intp)
    for group in groups:
        out_repairs.costs[group] = np.inf
        out_repairs.partners[group] = -1
        propose_to_neighbours(arrangement, rules, failing, group, met, out_repairs)
        if out_repairs.partners[group] < 0:
            partner = nearest_group(arrangement, group)
            if partner >= 0:
                propose(arrangement, rules, failing, group, partner, out_repairs)


@inner_kernel
def propose_to_neighbours(
    arrangement: Arrangement,
    rules: Rules,
    failing: Mask,
    group: int,
    met: Rows,
    out_repairs: Repairs,
) -> None:
    """Propose repairs with the groups of near records; `met` has the last group that met each."""
    buffer, first, stop = span_of(arrangement, group)
    for row in arrangement.members[buffer, first:stop][:_MOST_MEMBERS]:
        for other in arrangement.near[row, :_MOST_NEAR]:
            partner = arrangement.labels[other]
            if partner != group and met[partner] != group:
                met[partner] = group
                propose(arrangement, rules, failing, group, partner, out_repairs)


@inner_kernel
def nearest_group(arrangement: Arrangement, group: int) -> int:
    """The other group whose merger with this one costs least; -1 if there is none."""
    best, nearest = np.inf, -1
    for other in range(arrangement.sizes.shape[0]):
        if other != group and arrangement.sizes[other] > 0:
            cost = cost_of_merger(arrangement, group, other)
            if nearest < 0 or cost < best:
                best, nearest = cost, other
    return nearest


@inner_kernel
def cost_of_merger(arrangement: Arrangement, group: int, other: int) -> float:
    """How much the error grows when two groups become one."""
    a, b = arrangement.sizes[group], arrangement.sizes[other]
    apart = squared_distance(arrangement.centers[group], arrangement.centers[other])
    return apart * a * b / (a + b)


@inner_kernel
def propose(
    arrangement: Arrangement,
    rules: Rules,
    failing: Mask,
    group: int,
    partner: int,
    out_repairs: Repairs,
) -> None:
    """Keep the cheapest repair of a group together with another, if it beats the one so far."""
    best = out_repairs.costs[group]
    coming, going = -1, -1
    cost = cost_of_merger(arrangement, group, partner)
    better = cost < best
    if better:
        best = cost
    buffer, first, stop = span_of(arrangement, group)
    members = arrangement.members[buffer, first:stop][:_MOST_MEMBERS]
    buffer, first, stop = span_of(arrangement, partner)
    for row in arrangement.members[buffer, first:stop][:_MOST_MEMBERS]:
        spares = arrangement.sizes[partner] > rules.k or failing[partner]
        cost = cost_of_joining(arrangement, row, group) - cost_of_leaving(arrangement, row)
        helps = spares and cost < best and would_do(arrangement, rules, group, -1, row)
        if helps and (failing[partner] or would_do(arrangement, rules, partner, row, -1)):
            best, coming, going, better = cost, row, -1, True
        for own in members:
            cost = cost_of_exchange(arrangement, own, row)
            helps = cost < best and would_do(arrangement, rules, group, own, row)
            if helps and (failing[partner] or would_do(arrangement, rules, partner, row, own)):
                best, coming, going, better = cost, row, own, True
    if better:
        out_repairs.partners[group] = partner
        out_repairs.coming[group], out_repairs.going[group] = coming, going
        out_repairs.costs[group] = best


@allocating_kernel
def make_repairs(arrangement: Arrangement, repairs: Repairs, order: Rows) -> None:
    """Make the repairs of groups in this order, each group taking part in one at most."""
    busy = np.zeros(arrangement.sizes.shape[0], dtype=np.bool_)
    for group in order:
        partner = repairs.partners[group]
        if partner < 0 or busy[group] or busy[partner]:
            continue
        busy[group] = busy[partner] = True
        coming, going = repairs.coming[group], repairs.going[group]
        if coming < 0:
            merge(arrangement, group, partner)
        elif going < 0 and arrangement.sizes[partner] > 1:
            move(arrangement, coming, group)
        elif going >= 0:
            exchange(arrangement, going, coming)
        else:
            merge(arrangement, group, partner)


@allocating_inner_kernel
def merge(arrangement: Arrangement, group: int, partner: int) -> None:
    """Make two groups one, with the number of the larger."""
    if arrangement.sizes[group] > arrangement.sizes[partner]:
        group, partner = partner, group
    for row in copy_of_members(arrangement, group):
        leave(arrangement, row)
        join(arrangement, row, partner)
    retire(arrangement, group)
    refresh(arrangement, partner)
