"""Walks through all records, always on to the group of the nearest one left."""

from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.kernels.basics.distances import distance_between
from microagg.kernels.compile import allocating_kernel, inner_kernel, kernel
from microagg.kernels.neighbours.blocks import Blocks, nearest, remove

# Larger groups are walked some records at a time.
LARGE = 2000


class Insertion(NamedTuple):
    """A path through a group, built by insertion: first its two ends, then the others one by one.

    Each record on the path has a slot, in order of insertion, and the path is a linked list, so
    that nothing is shifted. Coordinates are stored as column x record.
    """

    rows: Rows  # slot -> record
    points: Floats
    next_slot: Rows  # -1 after the last
    edges: Floats  # distance from each slot to the next
    waiting: Rows  # records still to be inserted
    waiting_points: Floats
    after: Rows  # slot after which each is cheapest to insert; -1 if not known
    cost: Floats  # cost of that or, if it is not known, a lower bound
    gaps: Floats  # scratch: distances
    counts: Rows  # slots in use, records waiting


@allocating_kernel
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
    the entry to a large group if one comes next, else -1.
    """
    distance = np.empty(1)
    entry = np.empty(1, dtype=np.intp)
    largest = 0
    for group in range(starts.shape[0] - 1):
        largest = max(largest, starts[group + 1] - starts[group])
    insertion = room_for_insertion(min(LARGE, largest), X.shape[1])
    while done < stop:
        nearest(blocks, X[order[done - 1]], distance, entry)
        group = labels[entry[0]]
        size = starts[group + 1] - starts[group]
        if size > LARGE:
            return done, entry[0]
        path = order[done : done + size]
        begin_insertion(X, insertion, members[starts[group] : starts[group + 1]], entry[0])
        insert_more(X, insertion, size)
        write_path(insertion, path)
        remove(blocks, path)
        done += size
    return done, -1


@allocating_kernel
def room_for_insertion(capacity: int, d: int) -> Insertion:
    """Memory for paths through groups of up to `capacity` records, one after another."""
    return Insertion(
        np.empty(capacity, dtype=np.intp),
        np.empty((d, capacity)),
        np.empty(capacity, dtype=np.intp),
        np.empty(capacity),
        np.empty(capacity, dtype=np.intp),
        np.empty((d, capacity)),
        np.empty(capacity, dtype=np.intp),
        np.empty(capacity),
        np.empty(capacity),
        np.zeros(2, dtype=np.intp),
    )


@kernel
def begin_insertion(X: Floats, insertion: Insertion, members: Rows, entry: int) -> None:
    """Begin a path through a group: `entry` first, the member farthest from it last."""
    counts = insertion.counts
    counts[:] = 0
    last = entry
    reach = -1.0
    for row in members:
        if row != entry:
            gap = distance_between(X, entry, row)
            if gap > reach:
                reach, last = gap, row
    put_on_path(X, insertion, entry, -1)
    if members.shape[0] > 1:
        put_on_path(X, insertion, last, 0)
    for row in members:
        if row != entry and row != last:
            w = counts[1]
            insertion.waiting[w] = row
            for j in range(X.shape[1]):
                insertion.waiting_points[j, w] = X[row, j]
            insertion.cost[w] = (
                distance_between(X, entry, row) + distance_between(X, row, last) - reach
            )
            insertion.after[w] = 0
            counts[1] += 1


@inner_kernel
def put_on_path(X: Floats, insertion: Insertion, row: int, before: int) -> int:
    """Give a record the next slot and put it after slot `before`, which is -1 for the first."""
    rows, next_slot, edges = insertion.rows, insertion.next_slot, insertion.edges
    slot = insertion.counts[0]
    insertion.counts[0] += 1
    rows[slot] = row
    for j in range(X.shape[1]):
        insertion.points[j, slot] = X[row, j]
    next_slot[slot] = -1
    if before >= 0:
        behind = next_slot[before]
        next_slot[before] = slot
        edges[before] = distance_between(X, rows[before], row)
        next_slot[slot] = behind
        if behind >= 0:
            edges[slot] = distance_between(X, row, rows[behind])
    return slot


@kernel
def insert_more(X: Floats, insertion: Insertion, how_many: int) -> int:
    """Insert up to `how_many` waiting records into the path; return how many still wait.

    The next record and its place are always those that lengthen the path least (by distances, not
    squares). Each waiting record keeps its cheapest place. When that place is gone, its cost is a
    lower bound for all others; they are searched only if the record is next by that bound. Time
    about O(s^2 d) for s members.
    """
    waiting, after, cost = insertion.waiting, insertion.after, insertion.cost
    counts = insertion.counts
    wanted = max(counts[1] - how_many, 0)
    while counts[1] > wanted:
        best = 0
        for w in range(1, counts[1]):
            if cost[w] < cost[best] or (cost[w] == cost[best] and waiting[w] < waiting[best]):
                best = w
        if after[best] < 0:
            cost[best], after[best] = cheapest_insertion(X[waiting[best]], insertion)
            continue
        slot = put_on_path(X, insertion, waiting[best], after[best])
        before = after[best]
        counts[1] -= 1
        last = counts[1]
        waiting[best], after[best], cost[best] = waiting[last], after[last], cost[last]
        for j in range(X.shape[1]):
            insertion.waiting_points[j, best] = insertion.waiting_points[j, last]
        update_insertions(X, insertion, before, slot)
    return counts[1]


@kernel
def write_path(insertion: Insertion, out_path: Rows) -> None:
    """Write the records of the path from its beginning to its end."""
    slot = 0
    for i in range(insertion.counts[0]):
        out_path[i] = insertion.rows[slot]
        slot = insertion.next_slot[slot]


@inner_kernel
def cheapest_insertion(point: Floats, insertion: Insertion) -> tuple[float, int]:
    """Least detour via `point`, and the slot after which it is."""
    gaps, next_slot, edges = insertion.gaps, insertion.next_slot, insertion.edges
    distances_to_point(insertion.points, point, insertion.counts[0], gaps)
    best = np.inf
    best_slot = -1
    for slot in range(insertion.counts[0]):
        behind = next_slot[slot]
        if behind >= 0:
            extra = gaps[slot] + gaps[behind] - edges[slot]
            if extra < best:
                best, best_slot = extra, slot
    return best, best_slot


@inner_kernel
def update_insertions(X: Floats, insertion: Insertion, before: int, slot: int) -> None:
    """Update the cheapest places of waiting records: the edge after `before` became two."""
    waiting, after, cost, gaps = (
        insertion.waiting,
        insertion.after,
        insertion.cost,
        insertion.gaps,
    )
    first = insertion.rows[before]
    last = insertion.rows[insertion.next_slot[slot]]
    left, right = insertion.edges[before], insertion.edges[slot]
    distances_to_point(insertion.waiting_points, X[insertion.rows[slot]], insertion.counts[1], gaps)
    for w in range(insertion.counts[1]):
        if after[w] == before:
            after[w] = -1
        # A detour is at least 2 (gap - edge) by the triangle inequality; a bit less for rounding.
        if 1.999999 * (gaps[w] - left) < cost[w]:
            extra = distance_between(X, first, waiting[w]) + gaps[w] - left
            if extra < cost[w]:
                cost[w], after[w] = extra, before
        if 1.999999 * (gaps[w] - right) < cost[w]:
            extra = gaps[w] + distance_between(X, waiting[w], last) - right
            if extra < cost[w]:
                cost[w], after[w] = extra, slot


@inner_kernel
def distances_to_point(points: Floats, point: Floats, count: int, out_distances: Floats) -> None:
    """Distances of the first `count` points, given column by column, from one point.

    Unsigned indices cannot be negative, which saves a check that would keep the loops from being
    vectorised.
    """
    some = np.uint64(count)
    for i in range(some):
        out_distances[i] = 0.0
    for j in range(np.uint64(points.shape[0])):
        value = point[j]
        for i in range(some):
            gap = points[j, i] - value
            out_distances[i] += gap * gap
    for i in range(some):
        out_distances[i] = np.sqrt(out_distances[i])
