"""Split groups of records by 2-means until all are small enough.

A cut is judged by the final error to be expected. By the theory of quantisation, m records with
squared error E, in groups of k in d dimensions, keep an error near E * (m // k) ** (-2 / d); the
best cut has the least sum of that over its two parts. So records beyond a multiple of k count as
waste, and an outlying cluster is still cut off where it ends.
"""

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.kernels.compile import allocating_inner_kernel, inner_kernel, kernel

# Directions tried for a cut, the principal one first, and power iterations to find that.
ROUNDS = 20
POWER_STEPS = 10
# Least share of the records on either side of a cut, which limits the depth for any data.
SMALLEST_PART = 0.25


@kernel
def split_groups(X: Floats, k: int, order: Rows, waiting: Rows, state: Rows, work: int) -> None:
    """Split groups of 2k records or more, until `work`, counted in records, is used up.

    A group is a run of `order`. The last of the state[0] runs in `waiting` (start, stop) comes
    next and begins where the finished ones end, at state[1]. A finished group is marked by its
    first row, which is stored as -1 - row.
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


@allocating_inner_kernel
def halve(X: Floats, k: int, rows: Rows) -> int:
    """Rearrange the rows of a group, at least 2k, into two parts; return the size of the first.

    The records are sorted along the principal direction and cut, then along the line through the
    means of the two parts, and so on as long as the cut improves.
    """
    m, d = rows.shape[0], X.shape[1]
    gaps = np.empty((m, d))
    gaps_from_mean(X, rows, gaps)
    direction = principal_direction(gaps)
    best = np.inf
    best_size = m // (2 * k) * k
    best_order = np.arange(m)
    places = np.empty(m)
    for _ in range(ROUNDS):
        project(gaps, direction, places)
        order = np.argsort(places, kind="mergesort")
        size, value = best_cut(gaps, order, k)
        if not value < best:
            break
        best, best_size, best_order = value, size, order
        direction[:] = 0.0
        for i in order[size:]:
            for j in range(d):
                direction[j] += gaps[i, j]  # the other part sums to the opposite
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


@allocating_inner_kernel
def principal_direction(gaps: Floats) -> Floats:
    """Direction of largest spread, by power iteration from the record farthest out."""
    m, d = gaps.shape
    farthest = 0
    reach = -1.0
    for i in range(m):
        square = 0.0
        for j in range(d):
            square += gaps[i, j] * gaps[i, j]
        if square > reach:
            reach, farthest = square, i
    direction = gaps[farthest].copy()
    places = np.empty(m)
    for _ in range(POWER_STEPS):
        new = np.zeros(d)
        project(gaps, direction, places)
        for i in range(m):
            for j in range(d):
                new[j] += places[i] * gaps[i, j]
        largest = np.abs(new).max()
        if largest == 0.0:
            break
        direction = new / largest
    return direction


@inner_kernel
def project(gaps: Floats, direction: Floats, out_places: Floats) -> None:
    """Position of every record on a line in the given direction."""
    for i in range(gaps.shape[0]):
        place = 0.0
        for j in range(gaps.shape[1]):
            place += gaps[i, j] * direction[j]
        out_places[i] = place


@allocating_inner_kernel
def best_cut(gaps: Floats, order: Rows, k: int) -> tuple[int, float]:
    """Size of the first part, both of at least k records, and the final error to be expected.

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
