"""Nearest records where one column may stand for the indicators of many categories.

Of indicators that are `a` for a record's category and 0 otherwise, two records differ in two or in
none. So their categories are compared, once, instead of all indicators. The terms that are not zero
are added in the same order, so distances are the same, bit for bit.
"""

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.kernels.basics.smallest import comes_before, heap_push, heap_sink, sort_heap
from microagg.kernels.compile import allocating_kernel, inner_kernel
from microagg.kernels.neighbours.blocks import BLOCK, Blocks
from microagg.kernels.neighbours.listing import write_others


@allocating_kernel
def list_nearest_coded(
    points: Floats,
    rows: Rows,
    blocks: Blocks,
    steps: Floats,
    out_distances: Floats,
    out_rows: Rows,
) -> None:
    """List the records nearest to the points in the given rows, without the row itself.

    `steps` is a^2 for a column of categories, of which it only matters if they are the same, and 0
    for a column of numbers.
    """
    width = out_rows.shape[1]
    point = np.empty(points.shape[1])
    distances = np.empty(width + 1)
    found = np.empty(width + 1, dtype=np.intp)
    for i in rows:
        for j in range(points.shape[1]):
            point[j] = points[i, j]
        nearest_coded(blocks, point, steps, distances, found)
        write_others(i, distances, found, out_distances[i], out_rows[i])


@inner_kernel
def nearest_coded(
    blocks: Blocks, point: Floats, steps: Floats, out_distances: Floats, out_rows: Rows
) -> None:
    """List the nearest records, nearest first, as many as fit."""
    first = bound_coded(blocks, point, steps)
    distances = blocks.distances
    wanted = out_rows.shape[0]
    found = 0
    radius = np.inf
    for visit in range(-1, blocks.bounds.shape[0]):
        block = first if visit < 0 else visit
        if visit == first or blocks.bounds[block] > radius:
            continue
        count = blocks.counts[block]
        measure_coded(blocks.values, block, count, point, steps, distances)
        for slot in range(count):
            if distances[slot] > radius:
                continue
            row = blocks.rows[block, slot]
            if found < wanted:
                heap_push(out_distances, out_rows, found, distances[slot], row)
                found += 1
            elif comes_before(distances[slot], row, out_distances[0], out_rows[0]):
                heap_sink(out_distances, out_rows, wanted, distances[slot], row)
            if found == wanted:
                radius = out_distances[0]
    sort_heap(out_distances, out_rows, found)


@inner_kernel
def bound_coded(blocks: Blocks, point: Floats, steps: Floats) -> int:
    """Compute the least squared distance to each box, in `bounds`; return the nearest box.

    The records of a box have another category if that of the point is not between theirs.
    """
    lowest, highest, bounds = blocks.lowest, blocks.highest, blocks.bounds
    bounds[:] = 0.0
    for j in range(lowest.shape[0]):
        step = steps[j]
        for block in range(bounds.shape[0]):
            under = lowest[j, block] - point[j]
            over = point[j] - highest[j, block]
            gap = under if under > over else over
            if step > 0.0:
                term = step if gap > 0.0 else 0.0
                bounds[block] = (bounds[block] + term) + term
            else:
                gap = gap if gap > 0.0 else 0.0
                bounds[block] += gap * gap
    nearest = 0
    for block in range(bounds.shape[0]):
        if bounds[block] < bounds[nearest]:
            nearest = block
    return nearest


@inner_kernel
def measure_coded(
    values: Floats, block: int, count: int, point: Floats, steps: Floats, out_distances: Floats
) -> None:
    """Squared distances between `point` and the first `count` slots of a block, or a few more."""
    at = np.uint64(block)
    for run in range(0, count, BLOCK):
        begin = np.uint64(run)
        for i in range(np.uint64(BLOCK)):
            out_distances[begin + i] = 0.0
        for column in range(values.shape[1]):
            j = np.uint64(column)
            p = point[j]
            step = steps[j]
            if step > 0.0:
                for i in range(np.uint64(BLOCK)):
                    term = step if values[at, j, begin + i] != p else 0.0
                    out_distances[begin + i] = (out_distances[begin + i] + term) + term
            else:
                for i in range(np.uint64(BLOCK)):
                    gap = values[at, j, begin + i] - p
                    out_distances[begin + i] += gap * gap
