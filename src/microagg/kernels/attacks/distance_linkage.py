"""How many released points are nearer to a record than its own: its rank in record linkage.

Neighbouring points share a leaf, and a tree of boxes is built over the leaves. A query knows its
radius, so it visits only boxes within reach, the nearer one first, and ends as soon as enough
points are nearer. Nothing is approximate: all distances, including that of a record's own point,
come from the same loop, and a box is measured like a point, column by column; rounding is monotone,
so its bound never exceeds a computed distance to a point inside.
"""

from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.kernels.compile import inner_kernel, kernel
from microagg.kernels.neighbours.blocks import BLOCK, measure_block, split_into_boxes


class BoxTree(NamedTuple):
    """Points in leaves, and boxes: the children of node i are 2 i + 1 and 2 i + 2."""

    values: Floats  # leaf x column x slot, so that distances are vectorised
    counts: Rows  # leaf x slot: records at the point, 0 where there is none
    places: Rows  # leaf * BLOCK + slot of every point
    first: Rows  # node: its first leaf
    last: Rows  # node: the leaf after its last; equal to `first` where there is no node
    lowest: Floats  # node x column
    highest: Floats  # node x column


def make_box_tree(points: Floats, counts: Rows) -> BoxTree:
    """Build the tree; each point stands for `counts` records."""
    n, d = points.shape
    order = np.arange(n, dtype=np.intp)
    split_into_boxes(points, order)
    n_leaves = -(-n // BLOCK)
    n_nodes = 2 * (1 << (n_leaves - 1).bit_length()) - 1
    tree = BoxTree(
        values=np.zeros((n_leaves, d, BLOCK)),
        counts=np.zeros((n_leaves, BLOCK), dtype=np.intp),
        places=np.empty(n, dtype=np.intp),
        first=np.zeros(n_nodes, dtype=np.intp),
        last=np.zeros(n_nodes, dtype=np.intp),
        lowest=np.full((n_nodes, d), np.inf),
        highest=np.full((n_nodes, d), -np.inf),
    )
    fill_leaves(points, counts, order, tree)
    build_boxes(tree)
    return tree


@kernel
def fill_leaves(points: Floats, counts: Rows, order: Rows, out_tree: BoxTree) -> None:
    """Copy the points into their leaves."""
    for i in range(order.shape[0]):
        leaf, slot = divmod(i, BLOCK)
        row = order[i]
        out_tree.places[row] = i
        out_tree.counts[leaf, slot] = counts[row]
        for j in range(points.shape[1]):
            out_tree.values[leaf, j, slot] = points[row, j]


@kernel
def build_boxes(out_tree: BoxTree) -> None:
    """Give every node its leaves, halved as `split_into_boxes` does, and its box."""
    first, last, counts = out_tree.first, out_tree.last, out_tree.counts
    lowest, highest = out_tree.lowest, out_tree.highest
    n_nodes, d = lowest.shape
    last[0] = counts.shape[0]
    for node in range(n_nodes // 2):
        if last[node] - first[node] > 1:
            middle = first[node] + (last[node] - first[node] + 1) // 2
            first[2 * node + 1], last[2 * node + 1] = first[node], middle
            first[2 * node + 2], last[2 * node + 2] = middle, last[node]
    for node in range(n_nodes - 1, -1, -1):
        n_leaves = last[node] - first[node]
        if n_leaves == 1:
            leaf = first[node]
            for slot in range(BLOCK):
                if counts[leaf, slot] > 0:
                    for j in range(d):
                        value = out_tree.values[leaf, j, slot]
                        lowest[node, j] = min(lowest[node, j], value)
                        highest[node, j] = max(highest[node, j], value)
        elif n_leaves > 1:
            left, right = 2 * node + 1, 2 * node + 2
            for j in range(d):
                lowest[node, j] = min(lowest[left, j], lowest[right, j])
                highest[node, j] = max(highest[left, j], highest[right, j])


@inner_kernel
def box_bound(tree: BoxTree, node: int, point: Floats) -> float:
    """Least squared distance to a point in the box of a node."""
    bound = 0.0
    for j in range(point.shape[0]):
        under = tree.lowest[node, j] - point[j]
        over = point[j] - tree.highest[node, j]
        gap = under if under > over else over
        gap = gap if gap > 0.0 else 0.0
        bound += gap * gap
    return bound


@inner_kernel
def count_nearer(
    tree: BoxTree, point: Floats, radius: float, enough: int, stack: Rows, distances: Floats
) -> tuple[int, int]:
    """Records strictly nearer than the squared `radius`, and those exactly as near.

    Ends as soon as `enough` are nearer, and then returns `enough` and 0.
    """
    less = 0
    equal = 0
    stack[0] = 0
    depth = 1 if box_bound(tree, 0, point) <= radius else 0
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if tree.last[node] - tree.first[node] > 1:
            near, far = 2 * node + 1, 2 * node + 2
            near_bound, far_bound = box_bound(tree, near, point), box_bound(tree, far, point)
            if far_bound < near_bound:
                near, far = far, near
                near_bound, far_bound = far_bound, near_bound
            if far_bound <= radius:
                stack[depth] = far
                depth += 1
            if near_bound <= radius:
                stack[depth] = near
                depth += 1
            continue
        leaf = tree.first[node]
        measure_block(tree.values, leaf, BLOCK, point, distances)
        hits = 0
        for slot in range(BLOCK):
            hits += distances[slot] <= radius
        if hits == 0:
            continue
        for slot in range(BLOCK):
            if distances[slot] < radius:
                less += tree.counts[leaf, slot]
            elif distances[slot] == radius:
                equal += tree.counts[leaf, slot]
        if less >= enough:
            return enough, 0
    return less, equal


@kernel
def rank_own_points(
    tree: BoxTree, X: Floats, rows: Rows, own: Rows, enough: int, out_less: Rows, out_equal: Rows
) -> None:
    """For each of the rows of X: records nearer than those at its own point, and as near.

    `own` gives the point of the tree that belongs to each row of X. Ranks from `enough` on are not
    distinguished: there `out_less` is `enough` and `out_equal` is 0.
    """
    stack = np.empty(64, dtype=np.intp)
    distances = np.empty(BLOCK)
    for i in rows:
        leaf, slot = divmod(tree.places[own[i]], BLOCK)
        measure_block(tree.values, leaf, BLOCK, X[i], distances)
        radius = distances[slot]
        out_less[i], out_equal[i] = count_nearer(tree, X[i], radius, enough, stack, distances)
