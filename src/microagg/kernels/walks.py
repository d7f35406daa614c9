"""Walks through all records, always on to the group of the nearest one that is left."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.kernels.blocks import Blocks, nearest, remove
from microagg.kernels.compile import kernel
from microagg.kernels.distances import squared_distance

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


# Larger groups are walked some records at a time.
LARGE = 2000


class Insertion(NamedTuple):
    """A path through a group under way: its two ends first, the others enter one by one."""

    path: Rows  # the first counts[0] records are on it
    waiting: Rows  # the first counts[1] records still wait
    after: Rows  # record of the path behind which each is cheapest to insert; -1 if not known
    cost: Floats  # what that would cost, or, if it is not known, costs at least
    counts: Rows


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
) -> tuple[int, int]:
    """Extend `order[:done]`, which ends with a whole group, group by group to at least `stop`.

    The next group is entered at the record nearest to the last one on the path. The members of
    group g are members[starts[g] : starts[g + 1]]. Returns how many records are on the path, and
    the entry to a large group where it came to one, else -1.
    """
    distance = np.empty(1)
    entry = np.empty(1, dtype=np.intp)
    while done < stop:
        nearest(blocks, X[order[done - 1]], distance, entry)
        group = labels[entry[0]]
        size = starts[group + 1] - starts[group]
        if size > LARGE:
            return done, entry[0]
        path = order[done : done + size]
        insertion = begin_insertion(X, members[starts[group] : starts[group + 1]], entry[0], path)
        insert_more(X, insertion, size)
        remove(blocks, path)
        done += size
    return done, -1


@kernel
def begin_insertion(X: Floats, members: Rows, entry: int, out_path: Rows) -> Insertion:
    """Begin a path through a group: `entry` first, the member farthest from it last."""
    size = members.shape[0]
    out_path[0] = entry
    last = -1
    reach = -1.0
    for row in members:
        if row != entry:
            gap = distance_between(X, entry, row)
            if gap > reach:
                reach, last = gap, row
    if size > 1:
        out_path[1] = last
    waiting = np.empty(max(size - 2, 0), dtype=np.intp)
    count = 0
    for row in members:
        if row != entry and row != last:
            waiting[count] = row
            count += 1
    cost = np.empty(count)
    for w in range(count):
        cost[w] = detour(X, entry, waiting[w], last, reach)
    counts = np.array([min(size, 2), count])
    return Insertion(out_path, waiting, np.full(count, entry), cost, counts)


@kernel
def insert_more(X: Floats, insertion: Insertion, how_many: int) -> int:
    """Insert up to so many of the waiting records into the path; returns how many still wait.

    It is always the one and the place that lengthen the path least (distances, not squares). Each
    waiting record keeps its cheapest place. When that place is gone, what it cost bounds all other
    places from below; only if the record comes to the front with that bound are they looked
    through. Time about O(s^2 d) for s members.
    """
    path, waiting, after, cost, counts = insertion
    wanted = max(counts[1] - how_many, 0)
    while counts[1] > wanted:
        length, count = counts[0], counts[1]
        best = 0
        for w in range(1, count):
            if cost[w] < cost[best] or (cost[w] == cost[best] and waiting[w] < waiting[best]):
                best = w
        if after[best] < 0:
            cost[best], after[best] = cheapest_insertion(X, path[:length], waiting[best])
            continue
        place = insert_behind(path, length, after[best], waiting[best])
        length += 1
        count -= 1
        waiting[best], after[best], cost[best] = waiting[count], after[count], cost[count]
        update_insertions(X, path[:length], place, waiting[:count], after, cost)
        counts[0], counts[1] = length, count
    return counts[1]


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
    return np.sqrt(squared_distance(X[a], X[b]))
