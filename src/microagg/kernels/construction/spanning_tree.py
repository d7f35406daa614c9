"""The minimum spanning tree of all records, and its cut into parts of at least k.

Edges are ordered by length, then by their lower and their higher row, so that the tree is unique,
however it is grown.
"""

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.kernels.compile import allocating_kernel, inner_kernel, kernel
from microagg.kernels.neighbours.blocks import (
    BLOCK,
    Blocks,
    bound_from_below,
    measure_block,
    remove,
)


@allocating_kernel
def grow_tree(
    X: Floats,
    blocks: Blocks,
    order: Rows,
    done: int,
    stop: int,
    parents: Rows,
    lengths: Floats,
) -> None:
    """Prim's algorithm: extend the tree of order[:done] to `stop` records.

    `blocks` holds the records outside. For each of them, `parents` is the nearest record in the
    tree and `lengths` its squared distance; a block can be skipped if its longest such edge is
    shorter than the distance from its box to the newest record.
    """
    n_blocks = blocks.counts.shape[0]
    longest = np.empty(n_blocks)
    first = np.empty(n_blocks, dtype=np.intp)  # in each block, the record with the shortest edge
    for block in range(n_blocks):
        longest[block], first[block] = survey(blocks, block, parents, lengths)
    while done < stop:
        newest = order[done - 1]
        bound_from_below(blocks, X[newest])
        for block in range(n_blocks):
            near = blocks.counts[block] > 0 and blocks.bounds[block] <= longest[block]
            if near and connect(X, blocks, block, longest[block], newest, parents, lengths):
                longest[block], first[block] = survey(blocks, block, parents, lengths)
        best = -1
        for block in range(n_blocks):
            row = first[block]
            if row >= 0 and (best < 0 or shorter(lengths, parents, row, best)):
                best = row
        order[done] = best
        done += 1
        block = blocks.place[best] // blocks.values.shape[2]
        remove(blocks, order[done - 1 : done])
        longest[block], first[block] = survey(blocks, block, parents, lengths)


@inner_kernel
def connect(
    X: Floats,
    blocks: Blocks,
    block: int,
    longest: float,
    newest: int,
    parents: Rows,
    lengths: Floats,
) -> bool:
    """Connect the records of a block to the newest record if that is nearer; False if none is."""
    count = blocks.counts[block]
    distances = blocks.distances
    measure_block(blocks.values, block, count, X[newest], distances)
    changed = False
    for begin in range(0, count, BLOCK):
        hits = 0
        for slot in range(begin, begin + BLOCK):
            hits += distances[slot] <= longest
        if hits == 0:
            continue
        for slot in range(begin, min(begin + BLOCK, count)):
            row = blocks.rows[block, slot]
            nearer = distances[slot] < lengths[row]
            if nearer or (distances[slot] == lengths[row] and newest < parents[row]):
                lengths[row], parents[row] = distances[slot], newest
                changed = True
    return changed


@inner_kernel
def survey(blocks: Blocks, block: int, parents: Rows, lengths: Floats) -> tuple[float, int]:
    """Length of the longest edge to a block's records, and the record with the shortest one."""
    longest = -1.0
    first = -1
    for slot in range(blocks.counts[block]):
        row = blocks.rows[block, slot]
        longest = max(longest, lengths[row])
        if first < 0 or shorter(lengths, parents, row, first):
            first = row
    return longest, first


@inner_kernel
def shorter(lengths: Floats, parents: Rows, row: int, other: int) -> bool:
    """Whether the edge from `row` to its parent comes before that of `other`."""
    if lengths[row] != lengths[other]:
        return lengths[row] < lengths[other]
    low, high = min(row, parents[row]), max(row, parents[row])
    other_low, other_high = min(other, parents[other]), max(other, parents[other])
    return low < other_low or (low == other_low and high < other_high)


@allocating_kernel
def cut_tree(
    parents: Rows, longest_first: Rows, starts: Rows, neighbours: Rows, k: int, out_cut: Rows
) -> None:
    """Cut the edges, longest first, where both sides keep k records: out_cut[row] = 1.

    An edge is identified by its row farther from the root. The neighbours of a row in the tree are
    neighbours[starts[row] : starts[row + 1]]. Each side is counted only up to k.
    """
    stack = np.empty((2, k + 1), dtype=np.intp)
    for row in longest_first:
        parent = parents[row]
        if keeps_k(row, parent, k, parents, starts, neighbours, out_cut, stack) and keeps_k(
            parent, row, k, parents, starts, neighbours, out_cut, stack
        ):
            out_cut[row] = 1


@inner_kernel
def keeps_k(
    row: int,
    beyond: int,
    k: int,
    parents: Rows,
    starts: Rows,
    neighbours: Rows,
    cut: Rows,
    stack: Rows,
) -> bool:
    """Whether the part with `row` has k records without the edge to `beyond`."""
    count = 1
    top = 0
    stack[0, 0], stack[1, 0] = row, beyond
    while top >= 0 and count < k:
        here, before = stack[0, top], stack[1, top]
        top -= 1
        for next_row in neighbours[starts[here] : starts[here + 1]]:
            lower = next_row if parents[next_row] == here else here
            if next_row == before or cut[lower] == 1:
                continue
            count += 1
            top += 1
            stack[0, top], stack[1, top] = next_row, here
            if count >= k:
                break
    return count >= k


@kernel
def label_parts(order: Rows, parents: Rows, cut: Rows, out_labels: Rows) -> None:
    """Number the parts of a cut tree; `order` lists every record after its parent."""
    n_parts = 0
    for row in order:
        if parents[row] < 0 or cut[row] == 1:
            out_labels[row] = n_parts
            n_parts += 1
        else:
            out_labels[row] = out_labels[parents[row]]
