"""Near neighbours without comparing every pair: a forest of cuts, then neighbours of neighbours.

A tree halves the records at the median along a random direction, again and again, down to leaves of
a few dozen; near records often end up in the same leaf, in one tree or another. The records of a
leaf are compared with each other, and each keeps the nearest it has met. Then the neighbours of a
record's neighbours are compared with it. Most of the nearest are found, in time O(n log n).
"""

import numpy as np

from microagg.core.arrays import Floats, RandomState, Rows
from microagg.kernels.basics.distances import squared_distance
from microagg.kernels.basics.randomness import draw_below
from microagg.kernels.compile import allocating_kernel, inner_kernel
from microagg.kernels.neighbours.blocks import partition_by_key


@allocating_kernel
def cut_into_leaves(X: Floats, leaf: int, state: RandomState, order: Rows) -> None:
    """Rearrange `order` so that each run of `leaf` rows lies on one side of every cut.

    A direction leads from one random record to another, so that the data decide which way is long.
    """
    keys = np.empty(order.shape[0])
    direction = np.empty(X.shape[1])
    stack = [(0, order.shape[0])]
    while len(stack) > 0:
        start, stop = stack.pop()
        n_leaves = (stop - start + leaf - 1) // leaf
        if n_leaves < 2:
            continue
        first = order[start + draw_below(state, stop - start)]
        second = order[start + draw_below(state, stop - start)]
        for j in range(X.shape[1]):
            direction[j] = X[second, j] - X[first, j]
        for i in range(start, stop):
            along = 0.0
            for j in range(X.shape[1]):
                along += X[order[i], j] * direction[j]
            keys[i] = along
        middle = start + (n_leaves + 1) // 2 * leaf
        partition_by_key(keys, order, start, stop, middle)
        stack.append((start, middle))
        stack.append((middle, stop))


@allocating_kernel
def compare_in_leaves(
    X: Floats, order: Rows, leaf: int, leaves: Rows, out_distances: Floats, out_rows: Rows
) -> None:
    """Compare all records within each of the `leaves`; each record keeps the nearest it meets.

    Lists are sorted. Those not filled yet end with infinite distances.
    """
    d = X.shape[1]
    last = out_rows.shape[1] - 1
    values = np.empty((leaf, d))
    squares = np.empty(leaf)
    for number in leaves:
        rows = order[number * leaf : min((number + 1) * leaf, order.shape[0])]
        for i in range(rows.shape[0]):
            for j in range(d):
                values[i, j] = X[rows[i], j]
        for i in range(rows.shape[0]):
            for other in range(i):  # on its own, so that it is vectorised
                squares[other] = squared_distance(values[i], values[other])
            row = rows[i]
            for other in range(i):
                near = rows[other]
                if squares[other] < out_distances[row, last]:
                    keep_near(out_distances[row], out_rows[row], squares[other], near)
                if squares[other] < out_distances[near, last]:
                    keep_near(out_distances[near], out_rows[near], squares[other], row)


@allocating_kernel
def compare_with_next(
    X: Floats, rows: Rows, listed: Rows, out_distances: Floats, out_rows: Rows
) -> None:
    """Compare each of the rows with the neighbours of its neighbours in `listed`, -1 for none."""
    width = listed.shape[1]
    seen = np.full(X.shape[0], -1, dtype=np.int32)
    for i in rows:
        seen[i] = i
        for slot in range(width):
            if listed[i, slot] >= 0:
                seen[listed[i, slot]] = i
        for slot in range(width):
            between = listed[i, slot]
            if between < 0:
                continue
            for at in range(width):
                other = listed[between, at]
                if other < 0 or seen[other] == i:
                    continue
                seen[other] = i
                square = squared_distance(X[i], X[other])
                if square < out_distances[i, width - 1]:
                    keep_near(out_distances[i], out_rows[i], square, other)


@inner_kernel
def keep_near(distances: Floats, rows: Rows, distance: float, row: int) -> None:
    """Insert a record into a full sorted list, unless it is there; the last one drops out."""
    for listed in rows:
        if listed == row:
            return
    at = rows.shape[0] - 1
    while at > 0 and distances[at - 1] > distance:
        distances[at], rows[at] = distances[at - 1], rows[at - 1]
        at -= 1
    distances[at], rows[at] = distance, row
