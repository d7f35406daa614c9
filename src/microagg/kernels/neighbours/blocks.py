"""Records in boxes: exact nearest and farthest queries on a set that shrinks.

The records are laid out in blocks of 32 neighbours, each with its bounding box and its reach, the
largest distance from a common origin. A query first bounds all blocks, then examines the records
only of those that could matter. Nothing is approximate, and ties always go to the lower row:

- From below, a box is measured like a record, column by column; rounding is monotone, so the
  bound never exceeds a computed distance to a record inside.
- From above, |x - p|^2 = |x|^2 + |p|^2 - 2 x.p (about the origin) with |x| at most the reach and
  x.p smallest at a corner of the box; this is far tighter than the distance to the corner. It is
  widened by more than all rounding errors together.
"""

from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.kernels.basics.smallest import comes_before, heap_push, heap_sink, sort_heap
from microagg.kernels.compile import allocating_kernel, inner_kernel, kernel

BLOCK = 32
# Up to here all records are one block: bounds would not save enough to be worth their cost.
ONE_BLOCK = 1200


class Blocks(NamedTuple):
    """Records that remain, in blocks; `place[row]` is block * capacity + slot, -1 once gone."""

    values: Floats  # block x column x slot, so that a block's distances are vectorised
    squares: Floats  # block x slot: squared distance from the origin
    rows: Rows  # block x slot
    counts: Rows  # records left in each block: the first slots
    lowest: Floats  # column x block
    highest: Floats  # column x block
    origin: Floats
    reach: Floats  # largest of `squares` in each block
    place: Rows
    bounds: Floats  # scratch of a query, one per block
    distances: Floats  # scratch of a query, one per slot


def make_blocks(X: Floats, rows: Rows) -> Blocks:
    """Lay out the given rows of X."""
    capacity = BLOCK if len(rows) > ONE_BLOCK else max(1, -(-len(rows) // BLOCK)) * BLOCK
    n_blocks = -(-len(rows) // capacity)
    d = X.shape[1]
    blocks = Blocks(
        values=np.zeros((n_blocks, d, capacity)),
        squares=np.zeros((n_blocks, capacity)),
        rows=np.zeros((n_blocks, capacity), dtype=np.intp),
        counts=np.zeros(n_blocks, dtype=np.intp),
        lowest=np.empty((d, n_blocks)),
        highest=np.empty((d, n_blocks)),
        origin=X[rows].mean(axis=0),
        reach=np.empty(n_blocks),
        place=np.full(len(X), -1, dtype=np.intp),
        bounds=np.empty(n_blocks),
        distances=np.empty(capacity),
    )
    order = rows.astype(np.intp)
    if n_blocks > 1:
        split_into_boxes(X, order)
    fill_blocks(X, order, blocks)
    return blocks


@allocating_kernel
def split_into_boxes(X: Floats, order: Rows) -> None:
    """Rearrange `order` so that each run of BLOCK rows lies in a small box.

    Split at the median of the widest column, recursively, into whole blocks.
    """
    keys = np.empty(order.shape[0])
    stack = [(0, order.shape[0])]
    while len(stack) > 0:
        start, stop = stack.pop()
        n_blocks = (stop - start + BLOCK - 1) // BLOCK
        if n_blocks < 2:
            continue
        column = widest_column(X, order[start:stop])
        for i in range(start, stop):
            keys[i] = X[order[i], column]
        middle = start + (n_blocks + 1) // 2 * BLOCK
        partition_by_key(keys, order, start, stop, middle)
        stack.append((start, middle))
        stack.append((middle, stop))


@inner_kernel
def widest_column(X: Floats, rows: Rows) -> int:
    """Column with the largest range over the given rows."""
    best = -1.0
    best_column = 0
    for j in range(X.shape[1]):
        low = X[rows[0], j]
        high = low
        for row in rows:
            value = X[row, j]
            low = min(low, value)
            high = max(high, value)
        if high - low > best:
            best = high - low
            best_column = j
    return best_column


@inner_kernel
def partition_by_key(keys: Floats, order: Rows, start: int, stop: int, middle: int) -> None:
    """Quickselect: the smallest `middle - start` keys of the range come first."""
    left = start
    right = stop - 1
    while left < right:
        a, b, c = keys[left], keys[(left + right) // 2], keys[right]
        pivot = max(min(a, b), min(max(a, b), c))
        i = left
        j = right
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return


@kernel
def fill_blocks(X: Floats, order: Rows, out_blocks: Blocks) -> None:
    """Copy the records into their blocks and measure the boxes."""
    values, origin = out_blocks.values, out_blocks.origin
    capacity = values.shape[2]
    for i in range(order.shape[0]):
        block, slot = divmod(i, capacity)
        row = order[i]
        out_blocks.rows[block, slot] = row
        out_blocks.place[row] = i
        out_blocks.counts[block] += 1
        for j in range(X.shape[1]):
            values[block, j, slot] = X[row, j]
            out_blocks.squares[block, slot] += (X[row, j] - origin[j]) ** 2
    for block in range(out_blocks.counts.shape[0]):
        count = out_blocks.counts[block]
        for j in range(X.shape[1]):
            out_blocks.lowest[j, block] = smallest(values[block, j, :count])
            out_blocks.highest[j, block] = largest(values[block, j, :count])
        out_blocks.reach[block] = largest(out_blocks.squares[block, :count])


@kernel
def remove(blocks: Blocks, gone: Rows) -> None:
    """Remove records; the last one of the block moves into the slot, and the box shrinks."""
    values, squares, rows, place = blocks.values, blocks.squares, blocks.rows, blocks.place
    counts, lowest, highest, reach = blocks.counts, blocks.lowest, blocks.highest, blocks.reach
    capacity = values.shape[2]
    for row in gone:
        block, slot = divmod(place[row], capacity)
        counts[block] -= 1
        count = counts[block]
        moved = rows[block, count]
        rows[block, slot] = moved
        place[moved] = block * capacity + slot
        place[row] = -1
        shrinks = count > 0 and counts.shape[0] > 1  # a single block is always examined
        square = squares[block, slot]
        squares[block, slot] = squares[block, count]
        if shrinks and square == reach[block]:
            reach[block] = largest(squares[block, :count])
        for j in range(values.shape[1]):
            value = values[block, j, slot]
            values[block, j, slot] = values[block, j, count]
            if shrinks and value == lowest[j, block]:
                lowest[j, block] = smallest(values[block, j, :count])
            if shrinks and value == highest[j, block]:
                highest[j, block] = largest(values[block, j, :count])


@inner_kernel
def smallest(values: Floats) -> float:
    """The smallest of at least one value; numba's own `min` takes a second to compile."""
    found = values[0]
    for value in values:
        if value < found:
            found = value
    return found


@inner_kernel
def largest(values: Floats) -> float:
    """The largest of at least one value."""
    found = values[0]
    for value in values:
        if value > found:
            found = value
    return found


@inner_kernel
def measure_block(
    values: Floats, block: int, count: int, point: Floats, out_distances: Floats
) -> None:
    """Squared distances between `point` and the first `count` slots of a block, or a few more.

    Unsigned indices cannot be negative, which saves a check that would keep the loops from being
    vectorised; two columns per pass halve the memory traffic of the running sums.
    """
    at = np.uint64(block)
    one = np.uint64(1)
    d = np.uint64(values.shape[1])
    for run in range(0, count, BLOCK):
        begin = np.uint64(run)
        for i in range(np.uint64(BLOCK)):
            out_distances[begin + i] = 0.0
        for pair in range(d >> one):
            j = np.uint64(pair) << one
            p = point[j]
            q = point[j + one]
            for i in range(np.uint64(BLOCK)):
                gap = values[at, j, begin + i] - p
                other = values[at, j + one, begin + i] - q
                out_distances[begin + i] = (out_distances[begin + i] + gap * gap) + other * other
        if d & one:
            j = d - one
            p = point[j]
            for i in range(np.uint64(BLOCK)):
                gap = values[at, j, begin + i] - p
                out_distances[begin + i] += gap * gap


@inner_kernel
def bound_from_below(blocks: Blocks, point: Floats) -> int:
    """Compute the least squared distance to each box, in `bounds`; return the nearest box."""
    lowest, highest, bounds = blocks.lowest, blocks.highest, blocks.bounds
    bounds[:] = 0.0
    for j in range(lowest.shape[0]):
        for block in range(bounds.shape[0]):
            under = lowest[j, block] - point[j]
            over = point[j] - highest[j, block]
            gap = under if under > over else over
            gap = gap if gap > 0.0 else 0.0
            bounds[block] += gap * gap
    nearest = -1
    for block in range(bounds.shape[0]):
        if blocks.counts[block] > 0 and (nearest < 0 or bounds[block] < bounds[nearest]):
            nearest = block
    return nearest


@inner_kernel
def bound_from_above(blocks: Blocks, point: Floats) -> int:
    """Bound the largest squared distance in each block, in `bounds`; return the farthest block."""
    lowest, highest, bounds = blocks.lowest, blocks.highest, blocks.bounds
    bounds[:] = 0.0
    squared = 0.0
    for j in range(lowest.shape[0]):
        origin = blocks.origin[j]
        side = point[j] - origin
        squared += side * side
        for block in range(bounds.shape[0]):
            low = (origin - lowest[j, block]) * side
            high = (origin - highest[j, block]) * side
            bounds[block] += low if low > high else high
    widened = 1.0 + 1e-15 * (lowest.shape[0] + 10) ** 2
    farthest = -1
    for block in range(bounds.shape[0]):
        bounds[block] = 2.0 * bounds[block] + widened * (blocks.reach[block] + squared)
        if blocks.counts[block] > 0 and (farthest < 0 or bounds[block] > bounds[farthest]):
            farthest = block
    return farthest


@kernel
def farthest(blocks: Blocks, point: Floats) -> tuple[int, float]:
    """Row of the record farthest from `point` and its squared distance; -1 if none remains."""
    first = bound_from_above(blocks, point)
    distances = blocks.distances
    best_row = -1
    best = -1.0
    for visit in range(-1, blocks.bounds.shape[0]):
        block = first if visit < 0 else visit
        if visit == first or block < 0 or blocks.bounds[block] < best:
            continue
        count = blocks.counts[block]
        measure_block(blocks.values, block, count, point, distances)
        for begin in range(0, count, BLOCK):
            hits = 0
            for slot in range(begin, begin + BLOCK):
                hits += distances[slot] >= best
            if hits == 0:
                continue
            for slot in range(begin, min(begin + BLOCK, count)):
                if distances[slot] >= best:
                    row = blocks.rows[block, slot]
                    if distances[slot] > best or row < best_row:
                        best = distances[slot]
                        best_row = row
    return best_row, best


@inner_kernel
def nearest(blocks: Blocks, point: Floats, out_distances: Floats, out_rows: Rows) -> int:
    """List the nearest records, nearest first, as many as fit; return how many there are."""
    first = bound_from_below(blocks, point)
    distances = blocks.distances
    wanted = out_rows.shape[0]
    found = 0
    radius = np.inf
    for visit in range(-1, blocks.bounds.shape[0]):
        block = first if visit < 0 else visit
        if visit == first or block < 0 or blocks.bounds[block] > radius:
            continue
        count = blocks.counts[block]
        measure_block(blocks.values, block, count, point, distances)
        for begin in range(0, count, BLOCK):
            hits = 0
            for slot in range(begin, begin + BLOCK):
                hits += distances[slot] <= radius
            if hits == 0:
                continue
            for slot in range(begin, min(begin + BLOCK, count)):
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
    return found


@allocating_kernel
def nearest_to_each(blocks: Blocks, points: Floats, out_rows: Rows) -> None:
    """Find the nearest record of every point."""
    distance = np.empty(1)
    for i in range(points.shape[0]):
        nearest(blocks, points[i], distance, out_rows[i : i + 1])
