"""Steps for t-closeness: groups merge, are split, or are shared out anew, code by code.

Neighbours in the order of codes go to different groups, so that both resemble the group that they
come from; two records close by that simply found a group hardly ever do.
"""

import numpy as np

from microagg.core.arrays import Floats, Mask, Rows
from microagg.kernels.annealing.arrangement import (
    FREE,
    WORK,
    Arrangement,
    copy_of_members,
    draw,
    join,
    leave,
    may_lose,
    refresh,
    retire,
    would_do,
)
from microagg.kernels.basics.distances import squared_distance
from microagg.kernels.compile import allocating_inner_kernel, inner_kernel
from microagg.kernels.rules.rules import EQUAL, ORDERED, Rules

# Larger groups stay as they are: that takes long and hardly ever pays.
_LARGEST = 256
# Work for each member, in units of looking at one.
_WORK_PER_MEMBER = 8


@inner_kernel
def closeness_rule(rules: Rules) -> int:
    """The first rule that compares groups with the table; -1 if there is none."""
    for rule in range(rules.kinds.shape[0]):
        if rules.kinds[rule] == ORDERED or rules.kinds[rule] == EQUAL:
            return rule
    return -1


@allocating_inner_kernel
def merge_with(arrangement: Arrangement, group: int, partner: int, temperature: float) -> None:
    """Make two groups one, if the loss is small; no rule is broken by it."""
    if arrangement.sizes[group] > arrangement.sizes[partner]:
        group, partner = partner, group
    a, b = arrangement.sizes[group], arrangement.sizes[partner]
    apart = squared_distance(arrangement.centers[group], arrangement.centers[partner])
    error = arrangement.errors[group] + arrangement.errors[partner]
    if a > _LARGEST or apart * a * b / (a + b) >= may_lose(arrangement, error, a + b, temperature):
        return
    arrangement.counters[WORK] += a + b
    send_all(arrangement, copy_of_members(arrangement, group), partner)
    retire(arrangement, group)
    refresh(arrangement, partner)


@allocating_inner_kernel
def deal_in_two(
    arrangement: Arrangement, rules: Rules, rule: int, row: int, partner: int, temperature: float
) -> None:
    """Share out the records of two groups anew, or of one (-1) among it and a new one."""
    group = arrangement.labels[row]
    size, error = arrangement.sizes[group], arrangement.errors[group]
    splits = partner < 0
    if splits:
        if arrangement.counters[FREE] == 0:
            return
        partner = arrangement.free[arrangement.counters[FREE] - 1]
    else:
        size += arrangement.sizes[partner]
        error += arrangement.errors[partner]
    if size < 2 * rules.k or size > _LARGEST:
        return
    arrangement.counters[WORK] += _WORK_PER_MEMBER * size
    before = copy_of_members(arrangement, group)
    others = copy_of_members(arrangement, partner)  # none if it is new
    rows = np.concatenate((before, others))
    rows = rows[np.argsort(rules.codes[rule][rows], kind="mergesort")]
    goes = share_out(arrangement.X, rows, row, rows[draw(arrangement, size)])
    send_all(arrangement, rows[~goes], group)
    send_all(arrangement, rows[goes], partner)
    refresh(arrangement, group)
    refresh(arrangement, partner)
    cost = arrangement.errors[group] + arrangement.errors[partner] - error
    accepted = cost < may_lose(arrangement, error, size, temperature)
    accepted = accepted and would_do(arrangement, rules, group, -1, -1)
    if accepted and would_do(arrangement, rules, partner, -1, -1):
        if splits:
            arrangement.counters[FREE] -= 1
        return
    send_all(arrangement, before, group)
    send_all(arrangement, others, partner)
    refresh(arrangement, group)
    refresh(arrangement, partner)


@allocating_inner_kernel
def share_out(X: Floats, rows: Rows, row: int, other: int) -> Mask:
    """Which of the rows, sorted by code, go to the other record; one of each pair does."""
    size, d = rows.shape[0], X.shape[1]
    goes = np.zeros(size, dtype=np.bool_)
    means = np.empty((2, d))
    means[0], means[1] = X[row], X[other]
    for turn in range(2):
        if turn:
            means[:] = 0.0
            for at in range(size):
                for j in range(d):
                    means[int(goes[at]), j] += X[rows[at], j]
            n_going = goes.sum()
            means[0] /= size - n_going
            means[1] /= n_going
        for at in range(0, size, 2):
            gain = prefers(X, rows[at], means)
            if at + 1 < size:
                goes[at + 1] = prefers(X, rows[at + 1], means) > gain
                goes[at] = not goes[at + 1]
            else:
                goes[at] = gain > 0.0
    return goes


@inner_kernel
def prefers(X: Floats, row: int, means: Floats) -> float:
    """How much nearer a record is to the second mean than to the first."""
    return squared_distance(X[row], means[0]) - squared_distance(X[row], means[1])


@inner_kernel
def send_all(arrangement: Arrangement, rows: Rows, group: int) -> None:
    """Send records to a group, if they are in another; centres and errors stay as they are."""
    for row in rows:
        if arrangement.labels[row] != group:
            leave(arrangement, row)
            join(arrangement, row, group)
