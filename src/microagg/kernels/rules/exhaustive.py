"""The best partition of a few records under rules, found among all of them."""

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.kernels.basics.distances import mean_and_error
from microagg.kernels.compile import allocating_kernel, inner_kernel
from microagg.kernels.rules.rules import Rules, all_met


@allocating_kernel
def best_partition(X: Floats, rules: Rules, out_labels: Rows) -> float:
    """Least error of groups that meet the rules, infinite if there are none; 2^n in memory.

    The best partition of a set is the best group of its first record, and the best partition of
    the rest.
    """
    n, d = X.shape
    full = (1 << n) - 1
    costs = np.full(full + 1, np.inf)
    rows, center = np.empty(n, dtype=np.intp), np.empty(d)
    for subset in range(1, full + 1):
        size = rows_of(subset, n, rows)
        if all_met(rules, rows, size):
            costs[subset] = mean_and_error(X, rows[:size], center)
    best = np.full(full + 1, np.inf)
    best[0] = 0.0
    choice = np.zeros(full + 1, dtype=np.intp)
    for subset in range(1, full + 1):
        first = subset & -subset
        others = subset ^ first
        part = others
        while True:  # all subsets of the others, down to the empty one
            group = first | part
            total = costs[group] + best[subset ^ group]
            if total < best[subset]:
                best[subset], choice[subset] = total, group
            if part == 0:
                break
            part = (part - 1) & others
    left, label = full, 0
    while left > 0 and np.isfinite(best[full]):
        for at in range(rows_of(choice[left], n, rows)):
            out_labels[rows[at]] = label
        left ^= choice[left]
        label += 1
    return best[full]


@inner_kernel
def rows_of(subset: int, n: int, out_rows: Rows) -> int:
    """Write down the places of the bits of a number; returns how many there are."""
    size = 0
    for row in range(n):
        if subset >> row & 1:
            out_rows[size] = row
            size += 1
    return size
