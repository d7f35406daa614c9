"""How many released points are nearer to a record than its own: its rank in record linkage.

Points have numbers and codes. Different codes of a column are all equally far apart, however many
there are, so it is enough to compare them; for the boxes they count as numbers, and a code outside
the range of a box is no code inside it.

Neighbouring points share a leaf, and a tree of boxes is built over the leaves. A query knows its
radius, so it visits only boxes within reach, the nearer one first, and ends as soon as enough
points are nearer. Nothing is approximate: all distances, including that of a record's own point,
come from the same loop, and a box is measured like a point, column by column; rounding is monotone,
so its bound never exceeds a computed distance to a point inside.
"""

from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.kernels.compile import allocating_kernel, inner_kernel, kernel
from microagg.kernels.neighbours.blocks import BLOCK, measure_block, split_into_boxes

# How wide the codes of a column are for splitting, in units of the distance between two of them:
# about as wide as numbers, most of which lie within three deviations of their mean.
_CODE_RANGE = 4.0


class MixedPoints(NamedTuple):
    """Points by their numbers and their codes, a row for each."""

    numbers: Floats
    codes: Rows


class BoxTree(NamedTuple):
    """Points in leaves, and boxes: the children of node i are 2 i + 1 and 2 i + 2."""

    values: Floats  # leaf x column x slot, so that distances are vectorised
    codes: Rows  # leaf x column of codes x slot
    apart: Floats  # column of codes: squared distance between different ones
    counts: Rows  # leaf x slot: records at the point, 0 where there is none
    places: Rows  # leaf * BLOCK + slot of every point
    first: Rows  # node: its first leaf
    last: Rows  # node: the leaf after its last; equal to `first` where there is no node
    lowest: Floats  # node x column
    highest: Floats  # node x column
    lowest_code: Rows  # node x column of codes
    highest_code: Rows  # node x column of codes


def make_box_tree(points: MixedPoints, counts: Rows, apart: Floats) -> BoxTree:
    """Build the tree; each point stands for `counts` records.

    Different codes of a column have the squared distance `apart`.
    """
    n, d = points.numbers.shape
    n_codes = points.codes.shape[1]
    order = np.arange(n, dtype=np.intp)
    split_into_boxes(_spread_out(points, apart), order)
    n_leaves = -(-n // BLOCK)
    n_nodes = 2 * (1 << (n_leaves - 1).bit_length()) - 1
    tree = BoxTree(
        values=np.zeros((n_leaves, d, BLOCK)),
        codes=np.zeros((n_leaves, n_codes, BLOCK), dtype=np.intp),
        apart=apart,
        counts=np.zeros((n_leaves, BLOCK), dtype=np.intp),
        places=np.empty(n, dtype=np.intp),
        first=np.zeros(n_nodes, dtype=np.intp),
        last=np.zeros(n_nodes, dtype=np.intp),
        lowest=np.full((n_nodes, d), np.inf),
        highest=np.full((n_nodes, d), -np.inf),
        lowest_code=np.full((n_nodes, n_codes), np.iinfo(np.intp).max, dtype=np.intp),
        highest_code=np.full((n_nodes, n_codes), np.iinfo(np.intp).min, dtype=np.intp),
    )
    fill_leaves(points, counts, order, tree)
    build_boxes(tree)
    return tree


def _spread_out(points: MixedPoints, apart: Floats) -> Floats:
    """Return the numbers, and codes as numbers that are as spread out, for splitting into boxes."""
    ranges = np.maximum(1, np.ptp(points.codes, axis=0)) if points.codes.size else 1
    return np.hstack((points.numbers, points.codes / ranges * (_CODE_RANGE * np.sqrt(apart))))


@kernel
def fill_leaves(points: MixedPoints, counts: Rows, order: Rows, out_tree: BoxTree) -> None:
    """Copy the points into their leaves."""
    for i in range(order.shape[0]):
        leaf, slot = divmod(i, BLOCK)
        row = order[i]
        out_tree.places[row] = i
        out_tree.counts[leaf, slot] = counts[row]
        for j in range(points.numbers.shape[1]):
            out_tree.values[leaf, j, slot] = points.numbers[row, j]
        for j in range(points.codes.shape[1]):
            out_tree.codes[leaf, j, slot] = points.codes[row, j]


@kernel
def build_boxes(out_tree: BoxTree) -> None:
    """Give every node its leaves, halved as `split_into_boxes` does, and its box."""
    first, last, counts = out_tree.first, out_tree.last, out_tree.counts
    lowest, highest = out_tree.lowest, out_tree.highest
    low_code, high_code = out_tree.lowest_code, out_tree.highest_code
    n_nodes, d = lowest.shape
    n_codes = low_code.shape[1]
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
                    for j in range(n_codes):
                        code = out_tree.codes[leaf, j, slot]
                        low_code[node, j] = min(low_code[node, j], code)
                        high_code[node, j] = max(high_code[node, j], code)
        elif n_leaves > 1:
            left, right = 2 * node + 1, 2 * node + 2
            for j in range(d):
                lowest[node, j] = min(lowest[left, j], lowest[right, j])
                highest[node, j] = max(highest[left, j], highest[right, j])
            for j in range(n_codes):
                low_code[node, j] = min(low_code[left, j], low_code[right, j])
                high_code[node, j] = max(high_code[left, j], high_code[right, j])


@inner_kernel
def measure_leaf(
    tree: BoxTree, leaf: int, point: Floats, codes: Rows, out_distances: Floats
) -> None:
    """Squared distances between a point and all slots of a leaf."""
    measure_block(tree.values, leaf, BLOCK, point, out_distances)
    for j in range(codes.shape[0]):
        code, apart = codes[j], tree.apart[j]
        for slot in range(BLOCK):
            out_distances[slot] += apart if tree.codes[leaf, j, slot] != code else 0.0


@inner_kernel
def box_bound(tree: BoxTree, node: int, point: Floats, codes: Rows) -> float:
    """Least squared distance to a point in the box of a node."""
    bound = 0.0
    for j in range(point.shape[0]):
        under = tree.lowest[node, j] - point[j]
        over = point[j] - tree.highest[node, j]
        gap = under if under > over else over
        gap = gap if gap > 0.0 else 0.0
        bound += gap * gap
    for j in range(codes.shape[0]):
        if codes[j] < tree.lowest_code[node, j] or codes[j] > tree.highest_code[node, j]:
            bound += tree.apart[j]
    return bound


@inner_kernel
def count_nearer(
    tree: BoxTree,
    point: Floats,
    codes: Rows,
    radius: float,
    enough: int,
    stack: Rows,
    distances: Floats,
) -> tuple[int, int]:
    """Records strictly nearer than the squared `radius`, and those exactly as near.

    Ends as soon as `enough` are nearer, and then returns `enough` and 0.
    """
    less = 0
    equal = 0
    stack[0] = 0
    depth = 1 if box_bound(tree, 0, point, codes) <= radius else 0
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if tree.last[node] - tree.first[node] > 1:
            near, far = 2 * node + 1, 2 * node + 2
            near_bound = box_bound(tree, near, point, codes)
            far_bound = box_bound(tree, far, point, codes)
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
        measure_leaf(tree, leaf, point, codes, distances)
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


@allocating_kernel
def rank_own_points(
    tree: BoxTree,
    points: MixedPoints,
    rows: Rows,
    own: Rows,
    enough: int,
    out_less: Rows,
    out_equal: Rows,
) -> None:
    """For each of the rows of `points`: records nearer than those at its own point, and as near.

    `own` gives the point of the tree that belongs to each of these rows. Ranks from `enough` on are
    not distinguished: there `out_less` is `enough` and `out_equal` is 0.
    """
    stack = np.empty(64, dtype=np.intp)
    distances = np.empty(BLOCK)
    for i in rows:
        numbers, codes = points.numbers[i], points.codes[i]
        leaf, slot = divmod(tree.places[own[i]], BLOCK)
        measure_leaf(tree, leaf, numbers, codes, distances)
        radius = distances[slot]
        found = count_nearer(tree, numbers, codes, radius, enough, stack, distances)
        out_less[i], out_equal[i] = found
