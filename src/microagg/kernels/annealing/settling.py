"""Steps that gain, until there is none left: moves and exchanges with groups of near records.

A step is found from the centres, and undone unless it lowers the recomputed errors of both groups
by more than rounding. Centres are rounded to their own size: in groups that are tight and far from
zero, steps that change nothing seem to gain, and would be repeated forever.
"""

from microagg.core.arrays import Mask, Rows
from microagg.kernels.annealing.arrangement import (
    WORK,
    Arrangement,
    cost_of_exchange,
    cost_of_joining,
    cost_of_leaving,
    exchange,
    join,
    leave,
    may_exchange,
    refresh,
    span_of,
    would_do,
)
from microagg.kernels.compile import inner_kernel, kernel
from microagg.kernels.rules.rules import Rules

# A step must gain this share of the errors it touches: far above rounding, far below meaning.
_WORTHWHILE = 1e-9
# Records of larger groups are not tried for exchanges: there are too many.
_LARGEST = 128


@kernel
def settle(arrangement: Arrangement, rules: Rules, rows: Rows, waiting: Mask, until: int) -> int:
    """Make the best step of each of the rows that wait, in turn; returns how many rows were tried.

    Near records, and the members of groups that changed, wait again. Ends when the work is done
    that `until` allows.
    """
    tried = 0
    for row in rows:
        if arrangement.counters[WORK] >= until:
            break
        tried += 1
        if waiting[row]:
            waiting[row] = False
            A = arrangement.labels[row]
            B = make_best_step(arrangement, rules, row)
            if B >= 0:
                buffer, first, stop = span_of(arrangement, A)
                for member in arrangement.members[buffer, first:stop]:
                    waiting[member] = True
                buffer, first, stop = span_of(arrangement, B)
                for member in arrangement.members[buffer, first:stop]:
                    waiting[member] = True
    return tried


@inner_kernel
def make_best_step(arrangement: Arrangement, rules: Rules, row: int) -> int:
    """Make the move or exchange of a record that gains most; returns the other group, or -1."""
    home, partner = best_step(arrangement, rules, row)
    if home >= 0 and not make_if_it_gains(arrangement, row, home, partner):
        return -1
    return home


@inner_kernel
def make_if_it_gains(arrangement: Arrangement, row: int, home: int, partner: int) -> bool:
    """Move a record, or exchange it with a partner (not -1), if the errors of both groups fall."""
    errors, source = arrangement.errors, arrangement.labels[row]
    before, other_before = errors[source], errors[home]
    make_step(arrangement, row, home, partner)
    if errors[source] + errors[home] < (1.0 - _WORTHWHILE) * (before + other_before):
        return True
    make_step(arrangement, row, source, partner)
    # As they were, to the last digit: the sums depend on the order of the members.
    errors[source], errors[home] = before, other_before
    return False


@inner_kernel
def make_step(arrangement: Arrangement, row: int, home: int, partner: int) -> None:
    """Move a record, or exchange it with a partner, and recompute both groups."""
    if partner >= 0:
        exchange(arrangement, row, partner)
        return
    source = arrangement.labels[row]
    leave(arrangement, row)
    join(arrangement, row, home)
    refresh(arrangement, source)
    refresh(arrangement, home)


@inner_kernel
def best_step(arrangement: Arrangement, rules: Rules, row: int) -> tuple[int, int]:
    """The step of a record that gains most: the other group, and with whom to exchange; or -1."""
    source = arrangement.labels[row]
    can_leave = arrangement.sizes[source] > rules.k
    can_leave = can_leave and would_do(arrangement, rules, source, row, -1)
    gained = cost_of_leaving(arrangement, row)
    near = arrangement.near[row]
    best, home, partner = 0.0, -1, -1
    for place in range(near.shape[0]):
        group = arrangement.labels[near[place]]
        if group == source or was_met(arrangement, near, place):
            continue
        errors = arrangement.errors[source] + arrangement.errors[group]
        if home < 0:
            best = -_WORTHWHILE * errors
        if can_leave:
            cost = cost_of_joining(arrangement, row, group) - gained
            gains = cost < min(best, -_WORTHWHILE * errors)
            if gains and would_do(arrangement, rules, group, -1, row):
                best, home, partner = cost, group, -1
        if arrangement.sizes[group] > _LARGEST:
            continue
        arrangement.counters[WORK] += 4 * arrangement.sizes[group]
        buffer, first, stop = span_of(arrangement, group)
        for other in arrangement.members[buffer, first:stop]:
            cost = cost_of_exchange(arrangement, row, other)
            gains = cost < min(best, -_WORTHWHILE * errors)
            if gains and may_exchange(arrangement, rules, row, other):
                best, home, partner = cost, group, other
    return home, partner


@inner_kernel
def was_met(arrangement: Arrangement, near: Rows, place: int) -> bool:
    """Whether the group of a near record was that of a nearer one as well."""
    group = arrangement.labels[near[place]]
    for nearer in range(place):  # noqa: SIM110
        if arrangement.labels[near[nearer]] == group:
            return True
    return False
