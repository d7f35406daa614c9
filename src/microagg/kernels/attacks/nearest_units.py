"""The released records nearest to a record, and how many of them are of its own unit."""

import numpy as np

from microagg.core.arrays import Counts, Rows
from microagg.kernels.attacks.distance_linkage import (
    BoxTree,
    MixedPoints,
    box_bound,
    measure_leaf,
)
from microagg.kernels.compile import allocating_kernel, inner_kernel
from microagg.kernels.neighbours.blocks import BLOCK


@inner_kernel
def records_of_unit(unit: int, begin: int, end: int, units: Rows, counts: Counts) -> int:
    """How many records a unit has at a point, whose units are sorted from `begin` to `end`."""
    while begin < end:
        middle = (begin + end) // 2
        if units[middle] < unit:
            begin = middle + 1
        elif units[middle] > unit:
            end = middle
        else:
            return int(counts[middle])
    return 0


@allocating_kernel
def count_nearest(
    tree: BoxTree,
    points: Rows,
    first: Rows,
    units: Rows,
    counts: Counts,
    records: MixedPoints,
    unit: Rows,
    rows: Rows,
    out_equal: Rows,
    out_own: Rows,
) -> None:
    """For each of some records: the released ones that are nearest, and those of its unit.

    `points` is the point at every place of the tree; the units at a point p are
    `units[first[p] : first[p + 1]]`, in order, each with its number of records (`counts`). `unit`
    is that of every record.
    """
    stack, bounds = np.empty(64, dtype=np.intp), np.empty(64)
    distances = np.empty(BLOCK)
    for i in rows:
        numbers, codes = records.numbers[i], records.codes[i]
        best, equal, own = np.inf, 0, 0
        stack[0], bounds[0] = 0, 0.0
        depth = 1
        while depth > 0:
            depth -= 1
            if bounds[depth] > best:
                continue
            node = stack[depth]
            if tree.last[node] - tree.first[node] > 1:
                near, far = 2 * node + 1, 2 * node + 2
                near_bound = box_bound(tree, near, numbers, codes)
                far_bound = box_bound(tree, far, numbers, codes)
                if far_bound < near_bound:
                    near, far = far, near
                    near_bound, far_bound = far_bound, near_bound
                stack[depth], bounds[depth] = far, far_bound
                stack[depth + 1], bounds[depth + 1] = near, near_bound
                depth += 2
                continue
            leaf = tree.first[node]
            measure_leaf(tree, leaf, numbers, codes, distances)
            for slot in range(BLOCK):
                if tree.counts[leaf, slot] == 0 or not distances[slot] <= best:
                    continue
                if distances[slot] < best:
                    best, equal, own = distances[slot], 0, 0
                point = points[leaf * BLOCK + slot]
                equal += tree.counts[leaf, slot]
                own += records_of_unit(unit[i], first[point], first[point + 1], units, counts)
        out_equal[i], out_own[i] = equal, own
