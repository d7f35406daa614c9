"""Walks through all records, always on to the group of the nearest one that is left."""

import numpy as np
from numpy.typing import NDArray

from microagg.kernels.blocks import Blocks, nearest, remove
from microagg.kernels.compile import kernel

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


@kernel
def walk_by_groups(
    X: Floats,
    blocks: Blocks,
    labels: Rows,
    members: Rows,
    starts: Rows,
    order: Rows,
    done: int,
    stop: int,
) -> int:
    """Extend `order[:done]`, which ends with a whole group, group by group to at least `stop`.

    The next group is entered at the record nearest to the last one on the path. The members of
    group g are members[starts[g] : starts[g + 1]]. Returns how many records are on the path.
    """
    distance = np.empty(1)
    entry = np.empty(1, dtype=np.intp)
    while done < stop:
        nearest(blocks, X[order[done - 1]], distance, entry)
        group = labels[entry[0]]
        size = starts[group + 1] - starts[group]
        walk_within(
            X, members[starts[group] : starts[group + 1]], entry[0], order[done : done + size]
        )
        remove(blocks, order[done : done + size])
        done += size
    return done


@kernel
def walk_within(X: Floats, members: Rows, entry: int, out_path: Rows) -> None:
    """Path through a group: `entry` first, the member farthest from it last, others in between.

    The others enter one by one, always the one and the place that lengthen the path least
    (distances, not squares). Each waiting record keeps its cheapest place. When that place is
    gone, what it cost bounds all other places from below; only if the record comes to the front
    with that bound are they looked through. Time about O(s^2 d) for s members.
    """
    size = members.shape[0]
    out_path[0] = entry
    if size == 1:
        return
    last = -1
    reach = -1.0
    for row in members:
        if row != entry:
            gap = distance_between(X, entry, row)
            if gap > reach:
                reach, last = gap, row
    out_path[1] = last
    if size == 2:
        return
    waiting = np.empty(size - 2, dtype=np.intp)
    count = 0
    for row in members:
        if row != entry and row != last:
            waiting[count] = row
            count += 1
    after = np.full(count, entry)  # record behind which each is cheapest to insert; -1 not known
    cost = np.empty(count)
    for w in range(count):
        cost[w] = detour(X, entry, waiting[w], last, reach)
    length = 2
    while count > 0:
        best = 0
        for w in range(1, count):
            if cost[w] < cost[best] or (cost[w] == cost[best] and waiting[w] < waiting[best]):
                best = w
        if after[best] < 0:
            cost[best], after[best] = cheapest_insertion(X, out_path[:length], waiting[best])
            continue
        place = insert_behind(out_path, length, after[best], waiting[best])
        length += 1
        count -= 1
        waiting[best], after[best], cost[best] = waiting[count], after[count], cost[count]
        update_insertions(X, out_path[:length], place, waiting[:count], after, cost)


@kernel
def cheapest_insertion(X: Floats, path: Rows, row: int) -> tuple[float, int]:
    """Least detour by way of `row`, and the record of the path behind which it lies."""
    best = np.inf
    best_after = -1
    for i in range(path.shape[0] - 1):
        edge = distance_between(X, path[i], path[i + 1])
        extra = detour(X, path[i], row, path[i + 1], edge)
        if extra < best:
            best, best_after = extra, path[i]
    return best, best_after


@kernel
def insert_behind(path: Rows, length: int, before: int, row: int) -> int:
    """Put `row` behind `before` on a path of `length` records; returns the place of `before`."""
    place = 0
    while path[place] != before:
        place += 1
    for i in range(length, place + 1, -1):
        path[i] = path[i - 1]
    path[place + 1] = row
    return place


@kernel
def update_insertions(
    X: Floats, path: Rows, place: int, waiting: Rows, after: Rows, cost: Floats
) -> None:
    """The edge behind path[place] became two: see whom they suit better, and who lost a place."""
    first, middle, last = path[place], path[place + 1], path[place + 2]
    left = distance_between(X, first, middle)
    right = distance_between(X, middle, last)
    for w in range(waiting.shape[0]):
        if after[w] == first:
            after[w] = -1
        gap = distance_between(X, middle, waiting[w])
        # A detour is at least 2 (gap - edge) by the triangle inequality; a hair less, for rounding.
        if 1.999999 * (gap - left) < cost[w]:
            extra = distance_between(X, first, waiting[w]) + gap - left
            if extra < cost[w]:
                cost[w], after[w] = extra, first
        if 1.999999 * (gap - right) < cost[w]:
            extra = gap + distance_between(X, waiting[w], last) - right
            if extra < cost[w]:
                cost[w], after[w] = extra, middle


@kernel
def detour(X: Floats, a: int, row: int, b: int, edge: float) -> float:
    """How much longer the edge from a to b, of length `edge`, gets by way of `row`."""
    return distance_between(X, a, row) + distance_between(X, row, b) - edge


@kernel
def distance_between(X: Floats, a: int, b: int) -> float:
    """Euclidean distance of two records."""
    total = 0.0
    for j in range(X.shape[1]):
        gap = X[a, j] - X[b, j]
        total += gap * gap
    return np.sqrt(total)
