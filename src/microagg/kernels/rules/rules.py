"""Whether the records of a group meet all rules: their number, their values, their shares.

A rule looks at one code for each record, such as its unit or its sensitive value. Every check takes
time proportional to the size of the group, whatever the number of codes.
"""

from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Counts, Floats, Rows, Wholes
from microagg.kernels.compile import allocating_inner_kernel, inner_kernel, kernel

# The kinds of rules.
DISTINCT, ENTROPY, ORDERED, EQUAL, P_PERCENT, DOMINANCE = range(6)

# Shares are compared up to rounding.
_ROUNDING = 1e-12
# Up to this size insertion sorts faster.
_FEW = 48


class Rules(NamedTuple):
    """All rules of a search, side by side; arrays of scratch are for one thread only.

    The tables of a rule begin at `begins` and have one place more than it has codes.
    """

    k: int  # records in a group, at least
    kinds: Rows
    limits: Floats  # least number of values, largest distance, or share
    counts: Rows  # of contributors that may dominate
    codes: Rows  # rule x record; -1 is not counted
    amounts: Floats  # rule x record: what it contributes; no columns if no rule needs it
    begins: Rows
    shares: Floats  # tables: share of each code in the whole table; if ordered, of it and all below
    sums: Floats  # tables: sum of the shares before each place
    seen: Counts  # scratch tables, zero between two checks
    totals: Floats  # scratch tables, zero between two checks
    ordered: Wholes  # scratch, one for each record


@inner_kernel
def all_met(rules: Rules, rows: Rows, size: int) -> bool:
    """Whether a group of the first `size` rows meets all rules."""
    if size < rules.k:
        return False
    for rule in range(rules.kinds.shape[0]):  # noqa: SIM110
        if not is_met(rules, rule, rows, size):
            return False
    return True


@inner_kernel
def is_met(rules: Rules, rule: int, rows: Rows, size: int) -> bool:
    """Whether a group of the first `size` rows meets one rule."""
    kind, limit = rules.kinds[rule], rules.limits[rule]
    if kind == DISTINCT:
        return has_values(rules, rule, rows, size, limit)
    if kind == ENTROPY:
        return entropy(rules, rule, rows, size) >= np.log(limit) - _ROUNDING
    if kind == ORDERED:
        return ordered_distance(rules, rule, rows, size) <= limit + _ROUNDING
    if kind == EQUAL:
        return equal_distance(rules, rule, rows, size) <= limit + _ROUNDING
    return is_safe_total(rules, rule, rows, size)


@inner_kernel
def has_values(rules: Rules, rule: int, rows: Rows, size: int, least: float) -> bool:
    """Whether there are at least this many different codes."""
    codes, first, seen = rules.codes[rule], rules.begins[rule], rules.seen
    found, looked_at = 0, 0
    while looked_at < size and found < least:
        code = codes[rows[looked_at]]
        if code >= 0 and seen[first + code] == 0:
            seen[first + code] = 1
            found += 1
        looked_at += 1
    for at in range(looked_at):
        if codes[rows[at]] >= 0:
            seen[first + codes[rows[at]]] = 0
    return found >= least


@inner_kernel
def entropy(rules: Rules, rule: int, rows: Rows, size: int) -> float:
    """Entropy of the codes, in nats."""
    codes, first, seen = rules.codes[rule], rules.begins[rule], rules.seen
    for at in range(size):
        seen[first + codes[rows[at]]] += 1
    total = 0.0
    for at in range(size):
        count = seen[first + codes[rows[at]]]
        if count > 0:
            total += count * np.log(count)
            seen[first + codes[rows[at]]] = 0
    return np.log(size) - total / size


@inner_kernel
def equal_distance(rules: Rules, rule: int, rows: Rows, size: int) -> float:
    """How much of the group would have to change its code to have the shares of the table."""
    codes, first, seen = rules.codes[rule], rules.begins[rule], rules.seen
    for at in range(size):
        seen[first + codes[rows[at]]] += 1
    distance = 0.0
    for at in range(size):
        place = first + codes[rows[at]]
        if seen[place] > 0:
            distance += max(0.0, seen[place] / size - rules.shares[place])
            seen[place] = 0
    return distance


@inner_kernel
def ordered_distance(rules: Rules, rule: int, rows: Rows, size: int) -> float:
    """Earth mover's distance between the group and the table; neighbouring codes 1/(m-1) apart.

    Between two codes of the group its cumulative share is constant and that of the table only
    rises, so that the sum of their differences follows from where they cross.
    """
    first = rules.begins[rule]
    last = rules.begins[rule + 1] - first - 2  # the highest code
    if last < 1:
        return 0.0
    sort_codes(rules, rule, rows, size)
    shares, sums, ordered = rules.shares, rules.sums, rules.ordered
    distance = sums[first + ordered[0]] - sums[first]
    at = 0
    while at < size:
        code = ordered[at]
        while at < size and ordered[at] == code:
            at += 1
        until = ordered[at] if at < size else last
        share = at / size
        crossing, high = code, until
        while crossing < high:
            middle = (crossing + high) // 2
            if shares[first + middle] > share:
                high = middle
            else:
                crossing = middle + 1
        below = sums[first + crossing] - sums[first + code]
        above = sums[first + until] - sums[first + crossing]
        distance += share * (crossing - code) - below + above - share * (until - crossing)
    return distance / last


@allocating_inner_kernel  # numba's sort allocates a stack
def sort_codes(rules: Rules, rule: int, rows: Rows, size: int) -> None:
    """Write the codes of the rows to `rules.ordered`, lowest first."""
    codes, ordered = rules.codes[rule], rules.ordered
    for at in range(size):
        code, place = codes[rows[at]], at
        if size <= _FEW:
            while place > 0 and ordered[place - 1] > code:
                ordered[place] = ordered[place - 1]
                place -= 1
        ordered[place] = code
    if size > _FEW:
        ordered[:size].sort()


@inner_kernel
def is_safe_total(rules: Rules, rule: int, rows: Rows, size: int) -> bool:
    """Whether the total tells too little about its largest contributors."""
    codes, first, totals = rules.codes[rule], rules.begins[rule], rules.totals
    total = 0.0
    for at in range(size):
        amount = rules.amounts[rule, rows[at]]
        totals[first + codes[rows[at]]] += amount
        total += amount
    n_largest = 2 if rules.kinds[rule] == P_PERCENT else rules.counts[rule]
    largest, largest_few = 0.0, 0.0
    for turn in range(n_largest):
        amount, place = 0.0, -1
        for at in range(size):
            if totals[first + codes[rows[at]]] > amount:
                place = first + codes[rows[at]]
                amount = totals[place]
        if place < 0:
            break
        totals[place] = 0.0
        largest_few += amount
        if turn == 0:
            largest = amount
    for at in range(size):
        totals[first + codes[rows[at]]] = 0.0
    slack = _ROUNDING * total
    if rules.kinds[rule] == P_PERCENT:
        return total - largest_few >= rules.limits[rule] * largest - slack
    return largest_few <= rules.limits[rule] * total + slack


@inner_kernel
def alike(rules: Rules, row: int, other: int) -> bool:
    """Whether no rule can tell two records apart."""
    for rule in range(rules.kinds.shape[0]):
        if rules.codes[rule, row] != rules.codes[rule, other]:
            return False
        counts = rules.kinds[rule] >= P_PERCENT
        if counts and rules.amounts[rule, row] != rules.amounts[rule, other]:
            return False
    return True


@kernel
def groups_that_fail(rules: Rules, order: Rows, begins: Rows, out_rules: Rows) -> int:
    """Which rule each group fails, -1 for the number of records, -2 for none; returns how many do.

    The rows of group g are `order[begins[g]:begins[g + 1]]`.
    """
    failing = 0
    for group in range(out_rules.shape[0]):
        rows = order[begins[group] : begins[group + 1]]
        size = rows.shape[0]
        out_rules[group] = -2
        if size < rules.k:
            out_rules[group] = -1
        else:
            for rule in range(rules.kinds.shape[0]):
                if not is_met(rules, rule, rows, size):
                    out_rules[group] = rule
                    break
        if out_rules[group] > -2:
            failing += 1
    return failing
