"""Groups around the records farthest from fixed points, which may grow beyond k.

As the points do not move, sorting once determines which record is farthest. The loop stops when a
given number of records is left, so that its caller can report progress, be interrupted, and lay out
the remaining records again. Groups are numbered as they are formed.
"""

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.kernels.compile import allocating_kernel, inner_kernel
from microagg.kernels.neighbours.blocks import (
    Blocks,
    bound_from_below,
    measure_block,
    nearest,
    remove,
)


@allocating_kernel
def rounds_by_rank(
    X: Floats,
    k: int,
    blocks: Blocks,
    ranks: Rows,
    gain: float,
    n_groups: int,
    left: int,
    stop_at: int,
    labels: Rows,
) -> tuple[int, int]:
    """Form groups while at least `stop_at` records are left; return both numbers.

    Each row of `ranks` lists all records, farthest from one of the points first. The points take
    turns: the first record on the list without a group is grouped with its k-1 nearest and then,
    with a positive `gain`, those that `grow` finds. Writes `labels`, -1 for records that are left,
    and removes the others from `blocks`.
    """
    heads = np.zeros(ranks.shape[0], dtype=np.intp)
    members = np.empty(2 * k, dtype=np.intp)
    distances = np.empty(k)
    while left >= stop_at:
        turn = n_groups % ranks.shape[0]
        while labels[ranks[turn, heads[turn]]] >= 0:
            heads[turn] += 1
        seed = ranks[turn, heads[turn]]
        nearest(blocks, X[seed], distances, members[:k])
        remove(blocks, members[:k])
        size = grow(X, k, blocks, gain, members) if gain > 0.0 else k
        labels[members[:size]] = n_groups
        left -= size
        n_groups += 1
    return n_groups, left


@inner_kernel
def grow(X: Floats, k: int, blocks: Blocks, gain: float, members: Rows) -> int:
    """Extend members[:k] to at most 2k-1; returns the group's size.

    The record nearest to any member joins while it is nearer to that member than `gain` times its
    distance to the nearest other record that is left.
    """
    size = k
    while size < 2 * k - 1:
        row = -1
        near = np.inf
        # The last members, farthest from the first, are the likeliest to have near neighbours.
        for m in range(size - 1, -1, -1):
            row, near = nearest_other(blocks, X[members[m]], members[m], row, near)
        if row < 0:
            break
        _, away = nearest_other(blocks, X[row], row, -1, np.inf)
        if near >= gain * gain * away:
            break
        members[size] = row
        remove(blocks, members[size : size + 1])
        size += 1
    return size


@inner_kernel
def nearest_other(
    blocks: Blocks, point: Floats, itself: int, best_row: int, best: float
) -> tuple[int, float]:
    """The remaining record nearest to `point`, if it comes before the best one known so far.

    `itself` does not count. Returns the row, -1 if there is none, and the squared distance.
    """
    first = bound_from_below(blocks, point)
    distances = blocks.distances
    for visit in range(-1, blocks.bounds.shape[0]):
        block = first if visit < 0 else visit
        if visit == first or block < 0 or blocks.bounds[block] > best:
            continue
        count = blocks.counts[block]
        measure_block(blocks.values, block, count, point, distances)
        for slot in range(count):
            if distances[slot] <= best:
                row = blocks.rows[block, slot]
                if row != itself and (distances[slot] < best or row < best_row or best_row < 0):
                    best_row, best = row, distances[slot]
    return best_row, best
