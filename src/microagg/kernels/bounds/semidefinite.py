"""The steps of the semidefinite bound that look at one record after another.

Matrices are those of a region of records; `scales` are its records' scales a, and an entry in
scaled units is a_i a_j times itself. Row i of a partition's matrix Z has z_ij = 1/s for the s
members of i's group and 0 for all others. Pairs with records of other regions are in lists: those
of record i are at `begins[i]` to `begins[i + 1]`.
"""

from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Floats, Reals, Rows
from microagg.kernels.compile import (
    allocating_inner_kernel,
    allocating_kernel,
    inner_kernel,
    kernel,
)

# Pairs within a region: in single precision where it is enough.

_BISECTIONS = 60
_PRECISION = 1e-11


class Pairs(NamedTuple):
    """Pairs with records of other regions: where those of a record begin, and with whom."""

    begins: Rows
    ends: Rows
    values: Floats


class Sets(NamedTuple):
    """Sets Q of records of a region: those of set q are at `begins[q]` to `begins[q + 1]`.

    With `lacking` L and `limits`: L (sum of z_ii in Q) + (sum of z_ij in Q) is at most the limit.
    """

    begins: Rows
    members: Rows
    lacking: Floats
    limits: Floats


@allocating_kernel
def project_rows(
    goal: Reals,
    rows: Rows,
    all_scales: Floats,
    pairs: Pairs,
    least: Floats,
    k: int,
    out: Reals,
    out_pairs: Floats,
) -> None:
    """Find the nearest rows, in scaled units, that the row of a partition's matrix could be.

    That is z_ij in [0, z_ii], z_ii from 1/(2k-1) to 1/k, and a sum of 1; what is below that sum
    goes to records that are not listed, once the multiplier of the sum falls to `least`. Row i of
    the region is record `rows[i]`, and its entry i is its own.
    """
    m = goal.shape[0]
    most = m + np.diff(pairs.begins).max()
    tops, values, weights = np.empty(2 * k - 2), np.empty(most), np.empty(most)
    for i in range(m):
        row = rows[i]
        own = all_scales[row]
        own_weight, own_value = own * own, goal[i, i] / (own * own)
        count = 0
        for j in range(m):
            if j != i:
                weights[count] = all_scales[rows[j]] ** 2
                values[count] = goal[i, j] * all_scales[rows[j]] / own
                count += 1
        for at in range(pairs.begins[row], pairs.begins[row + 1]):
            weights[count] = all_scales[pairs.ends[at]] ** 2
            values[count] = pairs.values[at] * all_scales[pairs.ends[at]] / own
            count += 1
        price, diagonal = solve_row(
            own_value, own_weight, values, weights, count, least[row], k, tops
        )
        for j in range(m):
            scale = all_scales[rows[j]]
            entry = goal[i, j] / (own * scale) - price / (scale * scale)
            out[i, j] = own * scale * min(max(entry, 0.0), diagonal)
        out[i, i] = own_weight * diagonal
        for at in range(pairs.begins[row], pairs.begins[row + 1]):
            scale = all_scales[pairs.ends[at]]
            entry = pairs.values[at] / (own * scale) - price / (scale * scale)
            out_pairs[at] = own * scale * min(max(entry, 0.0), diagonal)


@inner_kernel
def solve_row(
    own_value: float,
    own_weight: float,
    values: Floats,
    weights: Floats,
    count: int,
    least: float,
    k: int,
    tops: Floats,
) -> tuple[float, float]:
    """Return the multiplier of the sum and the diagonal entry; `values` are times `weights`.

    The entries are clip((value - multiplier) / weight, 0, diagonal): the higher the multiplier, the
    smaller their sum.
    """
    low_end, high_end = 1.0 / (2 * k - 1), 1.0 / k
    n_tops = 0
    high = -np.inf
    for j in range(count):
        high = max(high, values[j])
        reach = values[j] - weights[j] * high_end  # up to there, the entry is at its limit
        if n_tops < tops.shape[0]:
            n_tops += 1
        elif reach <= tops[n_tops - 1]:
            continue
        at = n_tops - 1
        while at > 0 and tops[at - 1] < reach:
            tops[at] = tops[at - 1]
            at -= 1
        tops[at] = reach
    # With 2k-2 entries at their limit, or with all of them, the sum is at least 1.
    low = tops[n_tops - 1] if n_tops > 0 else own_value
    if n_tops < tops.shape[0]:
        low = min(low, own_weight * (own_value - high_end))
    low = max(low, least)
    high = max(high, low)
    count = drop_zeros(values, weights, count, low)
    diagonal, total = row_sum(own_value, own_weight, values, weights, count, low, k)
    if total <= 1.0:
        return low, diagonal
    price = low
    width = _PRECISION * (high - low)
    for _ in range(_BISECTIONS):
        price = 0.5 * (low + high)
        diagonal, total = row_sum(own_value, own_weight, values, weights, count, price, k)
        if total > 1.0:
            low = price
            count = drop_zeros(values, weights, count, low)
        else:
            high = price
        if high - low <= width:
            break
    return price, min(max(diagonal, low_end), high_end)


@inner_kernel
def drop_zeros(values: Floats, weights: Floats, count: int, price: float) -> int:
    """Keep the entries that are not zero at this multiplier; return how many there are."""
    kept = 0
    for j in range(count):
        if values[j] > price:
            values[kept], weights[kept] = values[j], weights[j]
            kept += 1
    return kept


@inner_kernel
def row_sum(
    own_value: float,
    own_weight: float,
    values: Floats,
    weights: Floats,
    count: int,
    price: float,
    k: int,
) -> tuple[float, float]:
    """Return the best diagonal entry at this multiplier, and the sum of the row.

    The derivative in the diagonal entry is piecewise linear and concave: Newton's method from below
    ends at its root.
    """
    diagonal, high_end = 1.0 / (2 * k - 1), 1.0 / k
    for _ in range(count + 2):
        slope = own_weight
        derivative = own_weight * (diagonal - own_value) + price
        for j in range(count):
            excess = values[j] - price - weights[j] * diagonal
            if excess > 0.0:
                derivative -= excess
                slope += weights[j]
        if derivative >= 0.0:
            break
        further = diagonal - derivative / slope
        if further >= high_end or further <= diagonal:
            diagonal = min(max(further, diagonal), high_end)
            break
        diagonal = further
    total = diagonal
    for j in range(count):
        total += min(max((values[j] - price) / weights[j], 0.0), diagonal)
    return diagonal, total


@allocating_kernel
def least_shares(
    costs: Floats, rows: Rows, pairs: Pairs, others: Floats, k: int, out_shares: Floats
) -> None:
    """Least that each record of a region pays: its own cost and the s-1 smallest others, over s.

    s is from k to 2k-1. Any number of records that are not listed cost `others` each. Shares are
    lowered by more than the rounding of the sum; costs must have been before.
    """
    width = 2 * k - 2
    tops = np.empty(width)
    roundings = 4.0 * k * np.finfo(np.float64).eps
    for i in range(rows.shape[0]):
        row = rows[i]
        tops[:] = others[row]
        for j in range(costs.shape[1]):
            if j != i:
                insert_smallest(costs[i, j], tops)
        for at in range(pairs.begins[row], pairs.begins[row + 1]):
            insert_smallest(pairs.values[at], tops)
        total, size = costs[i, i], abs(costs[i, i])
        share = np.inf
        for taken in range(width):
            total += tops[taken]
            size += abs(tops[taken])
            if taken + 2 >= k:
                share = min(share, (total - roundings * size) / (taken + 2))
        out_shares[row] = share


@inner_kernel
def insert_smallest(value: float, out_smallest: Floats) -> None:
    """Insert into an ascending list of the smallest values, dropping the last."""
    at = out_smallest.shape[0] - 1
    if not value < out_smallest[at]:
        return
    while at > 0 and out_smallest[at - 1] > value:
        out_smallest[at] = out_smallest[at - 1]
        at -= 1
    out_smallest[at] = value


@allocating_kernel
def find_cuts(Z: Reals, least: float, out_cuts: Rows, out_excess: Floats) -> int:
    """List violated cuts: a record i and others B with sum z_ij > z_ii + sum of z_jl in B.

    Every record that shares a group with i also shares it with the others there, so of partitions
    it holds. B grows from each pair by the record that adds most, while any does; each record gets
    at most `out_cuts.shape[0] / n` cuts, the most violated. Returns how many there are.
    """
    n, width = Z.shape[0], out_cuts.shape[1]
    each = out_cuts.shape[0] // n
    count = 0
    near, cut = np.empty(n, dtype=np.intp), np.empty(width, dtype=np.intp)
    for i in range(n):
        n_near = 0
        for j in range(n):
            if j != i and Z[i, j] > least:
                near[n_near] = j
                n_near += 1
        ordered = near[:n_near][np.argsort(-Z[i][near[:n_near]], kind="mergesort")]
        first = count
        for a in range(n_near):
            for b in range(a + 1, n_near):
                together = Z[i, ordered[a]] + Z[i, ordered[b]] - Z[i, i]
                if together <= -least:
                    break
                if together - Z[ordered[a], ordered[b]] <= -least:
                    continue
                excess = grow_cut(Z, i, ordered, a, b, cut)
                if excess > least:
                    count = keep_cut(cut, excess, first, count, each, out_cuts, out_excess)
    return count


@inner_kernel
def grow_cut(Z: Reals, i: int, ordered: Rows, a: int, b: int, out_cut: Rows) -> float:
    """Add the record that adds most to the excess, while any does; return the excess."""
    out_cut[:] = -1
    out_cut[0], out_cut[1], out_cut[2] = i, ordered[a], ordered[b]
    excess = Z[i, out_cut[1]] + Z[i, out_cut[2]] - Z[i, i] - Z[out_cut[1], out_cut[2]]
    for size in range(3, out_cut.shape[0]):
        best, best_row = 0.0, -1
        for row in ordered:
            gain = Z[i, row]
            if gain <= best:
                break
            for other in range(1, size):
                gain = -1.0 if out_cut[other] == row else gain - Z[row, out_cut[other]]
            if gain > best:
                best, best_row = gain, row
        if best_row < 0:
            break
        out_cut[size] = best_row
        excess += best
    for size in range(2, out_cut.shape[0]):  # sorted, so that the same cut looks the same
        at, row = size, out_cut[size]
        while row >= 0 and at > 1 and out_cut[at - 1] > row:
            out_cut[at] = out_cut[at - 1]
            at -= 1
        if row >= 0:
            out_cut[at] = row
    return excess


@allocating_inner_kernel
def keep_cut(
    cut: Rows,
    excess: float,
    first: int,
    count: int,
    each: int,
    out_cuts: Rows,
    out_excess: Floats,
) -> int:
    """Insert among the most violated cuts of a record, unless it is there; return the count."""
    for at in range(first, count):
        if np.all(out_cuts[at] == cut):
            return count
    if count - first < each:
        count += 1
    elif excess <= out_excess[count - 1]:
        return count
    at = count - 1
    while at > first and out_excess[at - 1] < excess:
        out_cuts[at] = out_cuts[at - 1]
        out_excess[at] = out_excess[at - 1]
        at -= 1
    out_cuts[at] = cut
    out_excess[at] = excess
    return count


@kernel
def move_multipliers(
    cuts: Rows, Y: Reals, scales: Floats, step: float, multipliers: Floats, out_costs: Reals
) -> None:
    """Raise the multipliers of violated cuts, lower others to zero at least; Y is in scaled units.

    `out_costs`, scaled as well, changes with them.
    """
    for c in range(cuts.shape[0]):
        i = cuts[c, 0]
        own = scales[i]
        left = Y[i, i] / own**2
        stiffness = 1.0 / own**4
        for a in range(1, cuts.shape[1]):
            j = cuts[c, a]
            if j < 0:
                break
            left -= 0.5 * (Y[i, j] + Y[j, i]) / (own * scales[j])
            stiffness += 0.5 / (own * scales[j]) ** 2
            for b in range(1, a):
                other = cuts[c, b]
                left += 0.5 * (Y[j, other] + Y[other, j]) / (scales[j] * scales[other])
                stiffness += 0.5 / (scales[j] * scales[other]) ** 2
        moved = max(0.0, multipliers[c] - step / stiffness * left)
        change = moved - multipliers[c]
        if change != 0.0:
            multipliers[c] = moved
            add_cut(cuts[c], change, scales, out_costs)


@inner_kernel
def add_cut(cut: Rows, amount: float, scales: Floats, out_costs: Reals) -> None:
    """Add what a cut with this multiplier changes in the costs of a region."""
    i = cut[0]
    out_costs[i, i] -= amount / scales[i] ** 2
    for a in range(1, cut.shape[0]):
        j = cut[a]
        if j < 0:
            break
        between = 0.5 * amount / (scales[i] * scales[j])
        out_costs[i, j] += between
        out_costs[j, i] += between
        for b in range(1, a):
            other = cut[b]
            inside = 0.5 * amount / (scales[j] * scales[other])
            out_costs[j, other] -= inside
            out_costs[other, j] -= inside


@kernel
def add_cuts(cuts: Rows, multipliers: Floats, scales: Floats, out_costs: Reals) -> None:
    """Add what all cuts change in the costs of a region."""
    for c in range(cuts.shape[0]):
        add_cut(cuts[c], multipliers[c], scales, out_costs)


@kernel
def move_set_multipliers(
    sets: Sets, Y: Reals, scales: Floats, step: float, multipliers: Floats, out_costs: Reals
) -> None:
    """As `move_multipliers`, for sets."""
    for q in range(multipliers.shape[0]):
        members = sets.members[sets.begins[q] : sets.begins[q + 1]]
        total, stiffness = 0.0, 0.0
        for i in members:
            total += sets.lacking[q] * Y[i, i] / scales[i] ** 2
            stiffness += (sets.lacking[q] * (2.0 + sets.lacking[q])) / scales[i] ** 4
            for j in members:
                total += Y[i, j] / (scales[i] * scales[j])
                stiffness += 1.0 / (scales[i] * scales[j]) ** 2
        moved = max(0.0, multipliers[q] + step / stiffness * (total - sets.limits[q]))
        change = moved - multipliers[q]
        if change != 0.0:
            multipliers[q] = moved
            add_set(members, sets.lacking[q], change, scales, out_costs)


@inner_kernel
def add_set(members: Rows, lacking: float, amount: float, scales: Floats, out_costs: Reals) -> None:
    """Add what a set with this multiplier changes in the costs of a region."""
    for i in members:
        out_costs[i, i] += lacking * amount / scales[i] ** 2
        for j in members:
            out_costs[i, j] += amount / (scales[i] * scales[j])


@kernel
def add_sets(sets: Sets, multipliers: Floats, scales: Floats, out_costs: Reals) -> None:
    """Add what all sets change in the costs of a region."""
    for q in range(multipliers.shape[0]):
        members = sets.members[sets.begins[q] : sets.begins[q + 1]]
        add_set(members, sets.lacking[q], multipliers[q], scales, out_costs)
