"""Halve groups of records by 2-means, again and again, until all are small enough.

A cut is judged by what it will lead to. By the theory of quantisation m records with squared error
E, grouped by k in d dimensions, keep an error near E * (m // k) ** (-2 / d); the best cut has the
least sum of that over its two parts. So the records that a part has beyond a multiple of k count as
the waste they are, and a cluster far out is still cut off where it ends.
"""

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.kernels.compile import inner_kernel, kernel

# Directions tried for a cut, the principal one first, and steps to find that one.
ROUNDS = 20
POWER_STEPS = 10
# Part of the records that a cut leaves on either side at least: few cuts deep, whatever the data.
SMALLEST_PART = 0.25


@kernel
def split_groups(X: Floats, k: int, order: Rows, waiting: Rows, state: Rows, work: int) -> None:
    """Halve groups of 2k records or more, until the work, counted in records, is done.

    A group is a run of `order`. The last of the state[0] runs in `waiting` (start, stop) comes
    next and begins where the finished ones end, at state[1]. A finished group is marked by the
    sign of its first row, which is stored as -1 - row.
    """
    while state[0] > 0 and work > 0:
        last = state[0] - 1
        start, stop = waiting[last]
        work -= stop - start
        if stop - start < 2 * k:
            order[start] = -1 - order[start]
            state[0] = last
            state[1] = stop
        else:
            middle = start + halve(X, k, order[start:stop])
            waiting[last, 0] = middle
            waiting[last + 1, 0] = start
            waiting[last + 1, 1] = middle
            state[0] += 1


@inner_kernel
def halve(X: Floats, k: int, rows: Rows) -> int:
    """Rearrange the rows of a group, at least 2k, into two parts; returns the size of the first.

    The records are sorted along the principal direction and cut, then along the line through the
    means of the two parts, and so on while the cut gets better.
    """
    m, d = rows.shape[0], X.shape[1]
    gaps = np.empty((m, d))
    gaps_from_mean(X, rows, gaps)
    way = principal_direction(gaps)
    best = np.inf
    best_size = m // (2 * k) * k
    best_order = np.arange(m)
    places = np.empty(m)
    for _ in range(ROUNDS):
        project(gaps, way, places)
        order = np.argsort(places, kind="mergesort")
        size, value = best_cut(gaps, order, k)
        if not value < best:
            break
        best, best_size, best_order = value, size, order
        way[:] = 0.0
        for i in order[size:]:
            for j in range(d):
                way[j] += gaps[i, j]  # the other part sums to the opposite
    rows[:] = rows[best_order]
    return best_size


@inner_kernel
def gaps_from_mean(X: Floats, rows: Rows, out_gaps: Floats) -> None:
    """Differences between the records and their mean, in units of the largest one."""
    m, d = out_gaps.shape
    largest = 0.0
    for j in range(d):
        total = 0.0
        for i in range(m):
            out_gaps[i, j] = X[rows[i], j] - X[rows[0], j]
            total += out_gaps[i, j]
        for i in range(m):
            out_gaps[i, j] -= total / m
            largest = max(largest, abs(out_gaps[i, j]))
    if largest > 0.0:
        out_gaps /= largest


@inner_kernel
def principal_direction(gaps: Floats) -> Floats:
    """Direction in which the records spread most, by power steps from the one farthest out."""
    m, d = gaps.shape
    farthest = 0
    reach = -1.0
    for i in range(m):
        square = 0.0
        for j in range(d):
            square += gaps[i, j] * gaps[i, j]
        if square > reach:
            reach, farthest = square, i
    way = gaps[farthest].copy()
    places = np.empty(m)
    for _ in range(POWER_STEPS):
        new = np.zeros(d)
        project(gaps, way, places)
        for i in range(m):
            for j in range(d):
                new[j] += places[i] * gaps[i, j]
        largest = np.abs(new).max()
        if largest == 0.0:
            break
        way = new / largest
    return way


@inner_kernel
def project(gaps: Floats, way: Floats, out_places: Floats) -> None:
    """Place of every record on a line in the given direction."""
    for i in range(gaps.shape[0]):
        place = 0.0
        for j in range(gaps.shape[1]):
            place += gaps[i, j] * way[j]
        out_places[i] = place


@inner_kernel
def best_cut(gaps: Floats, order: Rows, k: int) -> tuple[int, float]:
    """Size of the first part, both at least k, and the error that is to be expected in the end.

    `gaps` are taken from the mean of all, so that the sums of the two parts are opposite.
    """
    m, d = gaps.shape
    total = 0.0
    for i in range(m):
        for j in range(d):
            total += gaps[i, j] * gaps[i, j]
    sums = np.zeros(d)
    squares = 0.0
    best = np.inf
    best_size = k
    least = max(k, int(m * SMALLEST_PART))
    for size in range(1, m - least + 1):
        row = order[size - 1]
        of_sums = 0.0
        for j in range(d):
            gap = gaps[row, j]
            squares += gap * gap
            sums[j] += gap
            of_sums += sums[j] * sums[j]
        if size < least:
            continue
        left = max(squares - of_sums / size, 0.0)
        right = max(total - squares - of_sums / (m - size), 0.0)
        value = left * float(size // k) ** (-2.0 / d)
        value += right * float((m - size) // k) ** (-2.0 / d)
        if value < best:
            best, best_size = value, size
    return best_size, best
