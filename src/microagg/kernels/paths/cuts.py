"""The optimal cut of a sequence of records into groups of k to 2k-1 neighbours.

One dynamic program serves the real cost, the integer cost and the closed tour: the cheapest way to
cut the first e records ends with a window of s records, and

    cost[e] = min over s in k..2k-1 of cost[e - s] + error of the window of s records that ends at e

in O(n k d) time. `microagg.partitions.path_cut` runs it on tiles of some hundred ends. It stays
accurate however long the sequence is:

- The error of every window is built up from one record, relative to the window's own last record,
  by Welford's update. All its terms are positive, nothing is subtracted from a running total, so
  its relative error is a few roundings, whatever came before and whatever the offset.
- The costs that compete lie at most 2k-1 records apart. Every 16 k ends they are made relative to
  the smallest of them, and they are kept in double-double precision (as sums of two numbers), so
  that no difference is lost to a large total or to one huge window.

Equal costs go to the larger last group, so the cut is the same on every machine.
"""

from typing import Any

import numpy as np

from microagg.core.arrays import Floats, Rows, Sizes, Wholes
from microagg.kernels.compile import allocating_kernel, inner_kernel, kernel

# In units of k ends; the bound against integer overflow has room for as many windows.
REBASE_EVERY = 16


@kernel
def gather(X: Any, order: Rows, first: int, closed: bool, out_values: Any) -> None:
    """Copy the records of the sequence from position `first` on, column by column.

    Before its beginning, a closed sequence continues from its end; an open one repeats its first
    record.
    """
    n = order.shape[0]
    for i in range(out_values.shape[1]):
        place = first + i
        if place < 0:
            place = place + n if closed else 0
        elif place >= n:
            place -= n
        row = order[place]
        for j in range(out_values.shape[0]):
            out_values[j, i] = X[row, j]


@allocating_kernel
def window_errors(values: Floats, k: int, out_errors: Floats) -> None:
    """Squared error about its mean of every window of k..2k-1 values, summed over the columns.

    Window s at end t holds values[:, last-s+1 .. last] with last = t + 2k-2. The inner loops run
    over the ends, which do not depend on each other.
    """
    n_ends = out_errors.shape[1]
    last = 2 * k - 2
    mean = np.empty(n_ends)
    error = np.empty(n_ends)
    for j in range(values.shape[0]):
        column = values[j]
        own = column[last : last + n_ends]
        mean[:] = 0.0
        error[:] = 0.0
        for size in range(2, 2 * k):
            added = column[last + 1 - size : last + 1 - size + n_ends]
            share = 1.0 / size
            weight = (size - 1.0) / size
            for t in range(n_ends):
                gap = (added[t] - own[t]) - mean[t]
                mean[t] += gap * share
                error[t] += gap * gap * weight
            if size >= k:
                out = out_errors[size - k]
                for t in range(n_ends):
                    out[t] += error[t]


@allocating_kernel
def integer_window_errors(values: Wholes, k: int, out_errors: Wholes) -> None:
    """As `window_errors`, about the mean rounded to a whole number; exact.

    A half may be rounded either way: both give the same error.
    """
    n_ends = out_errors.shape[1]
    last = 2 * k - 2
    total = np.empty(n_ends, dtype=np.int64)
    squares = np.empty(n_ends, dtype=np.int64)
    for j in range(values.shape[0]):
        column = values[j]
        own = column[last : last + n_ends]
        total[:] = 0
        squares[:] = 0
        for size in range(2, 2 * k):
            added = column[last + 1 - size : last + 1 - size + n_ends]
            for t in range(n_ends):
                gap = added[t] - own[t]
                total[t] += gap
                squares[t] += gap * gap
            if size >= k:
                share = 1.0 / size
                out = out_errors[size - k]
                for t in range(n_ends):
                    center = np.int64(np.rint(total[t] * share))
                    out[t] += squares[t] - center * (2 * total[t] - center * size)


@allocating_kernel
def extend_cuts(
    costs: Any,
    errors: Any,
    k: int,
    first_end: int,
    start: int,
    unreachable: Any,
    out_sizes: Sizes,
) -> float:
    """Find the cheapest cut for each end of a tile, after the 2k-1 costs before it.

    A cost is costs[0] + costs[1], and is written there. The sequence starts at record `start`,
    where the cost is zero; before it nothing can be cut. k consecutive ends do not depend on each
    other, so they are processed together, size by size. Returns what was subtracted from all costs
    on the way.
    """
    n_ends = errors.shape[1]
    before = 2 * k - 1
    high, low = costs[0], costs[1]
    best_high = np.empty_like(high[:k])
    best_low = np.empty_like(high[:k])
    chosen = np.empty(k, dtype=np.int64)
    subtracted = 0.0
    for begin in range(0, n_ends, k):
        if begin % (REBASE_EVERY * k) == 0:
            recent = slice(begin, begin + before)
            subtracted += rebase(high[recent], low[recent], unreachable)
        # Unsigned indices cannot be negative, which saves a check in the inner loop.
        width = np.uint64(min(k, n_ends - begin))
        here = np.uint64(begin)
        for size in range(k, 2 * k):
            row = np.uint64(size - k)
            at = np.uint64(before + begin - size)
            for t in range(width):
                error = errors[row, here + t]
                previous = high[at + t]
                total = previous + error
                back = total - previous
                rest = (previous - (total - back)) + (error - back) + low[at + t]
                better = size == k or (total - best_high[t]) + (rest - best_low[t]) <= 0
                best_high[t] = total if better else best_high[t]
                best_low[t] = rest if better else best_low[t]
                chosen[t] = size if better else chosen[t]
        for t in range(min(k, n_ends - begin)):
            end = first_end + begin + t
            own = before + begin + t
            high[own], low[own] = best_high[t], best_low[t]
            if end < start or (end != start and best_high[t] >= unreachable):
                high[own], low[own] = unreachable, 0
            elif end == start:
                high[own], low[own] = 0, 0
            out_sizes[begin + t] = chosen[t]
    return subtracted


@inner_kernel
def rebase(high: Any, low: Any, unreachable: Any) -> float:
    """Subtract the smallest cost from all that can be reached; returns it."""
    base = high[0]
    for i in range(1, high.shape[0]):
        base = min(base, high[i])
    if base >= unreachable:
        return 0.0
    for i in range(high.shape[0]):
        if high[i] < unreachable:
            new = high[i] - base
            back = new - high[i]
            low[i] += (high[i] - (new - back)) - (base + back)
            high[i] = new
    return np.float64(base)


@kernel
def label_windows(order: Rows, sizes: Sizes, out_labels: Rows) -> None:
    """Follow the chosen sizes back from the end and number the windows."""
    end = order.shape[0]
    group = 0
    while end > 0:
        for i in range(end - sizes[end], end):
            out_labels[order[i]] = group
        end -= sizes[end]
        group += 1
