"""Groups that change: their members, errors and centres, with an exact search for a new group.

The centres are stored in blocks, like records in the methods that form groups. A centre that moves
widens the box of its block, so that the search stays exact; a new layout tightens the boxes.
"""

from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Floats, Mask, Rows
from microagg.kernels.basics.distances import mean_and_error, squared_distance
from microagg.kernels.basics.group_sums import summarise
from microagg.kernels.basics.smallest import comes_before, heap_push, heap_sink
from microagg.kernels.compile import allocating_inner_kernel, inner_kernel, kernel
from microagg.kernels.neighbours.blocks import (
    Blocks,
    bound_from_below,
    make_blocks,
    measure_block,
    remove,
)


class Grouping(NamedTuple):
    """Groups by number, k to 2k-1 records in each; there is room for n // k of them."""

    X: Floats
    members: Rows  # group x 4k: a group may take in another one whole before it is split
    sizes: Rows  # 0 for a number not in use
    errors: Floats  # squared error of each group
    centers: Floats
    blocks: Blocks  # of the centres
    closed: Mask  # groups that the search for a new group skips


def make_grouping(X: Floats, labels: Rows, k: int) -> Grouping:
    """Lay out the groups of the given labels, none larger than 4k."""
    groups = summarise(X, labels)
    room, n_groups = len(X) // k, len(groups.sizes)
    members = np.zeros((room, 4 * k), dtype=np.intp)
    starts = np.repeat(groups.sizes.cumsum() - groups.sizes, groups.sizes)
    order = groups.labels.argsort(kind="stable")
    members[groups.labels[order], np.arange(len(X)) - starts] = order
    centers = np.zeros((room, X.shape[1]))
    centers[:n_groups] = groups.centers
    grouping = Grouping(
        X=X,
        members=members,
        sizes=np.r_[groups.sizes, np.zeros(room - n_groups, dtype=np.intp)],
        errors=np.zeros(room),
        centers=centers,
        blocks=with_room(make_blocks(centers, np.arange(n_groups)), room - n_groups),
        closed=np.zeros(room, dtype=np.bool_),
    )
    measure_groups(grouping)
    return grouping


def with_room(blocks: Blocks, more: int) -> Blocks:
    """Append empty blocks for `more` entries; their bounds keep searches out."""
    capacity = blocks.values.shape[2]
    extra = -(-more // capacity)
    return blocks._replace(
        values=np.concatenate((blocks.values, np.zeros((extra, *blocks.values.shape[1:])))),
        squares=np.concatenate((blocks.squares, np.zeros((extra, capacity)))),
        rows=np.concatenate((blocks.rows, np.zeros((extra, capacity), dtype=np.intp))),
        counts=np.r_[blocks.counts, np.zeros(extra, dtype=np.intp)],
        lowest=np.pad(blocks.lowest, ((0, 0), (0, extra)), constant_values=np.inf),
        highest=np.pad(blocks.highest, ((0, 0), (0, extra)), constant_values=-np.inf),
        reach=np.r_[blocks.reach, np.zeros(extra)],
        bounds=np.empty(len(blocks.bounds) + extra),
    )


def labels_of(grouping: Grouping) -> Rows:
    """The group of every record."""
    labels = np.empty(len(grouping.X), dtype=np.intp)
    groups, places = np.nonzero(np.arange(grouping.members.shape[1]) < grouping.sizes[:, None])
    labels[grouping.members[groups, places]] = groups
    return labels


@kernel
def measure_groups(grouping: Grouping) -> None:
    """Fill in the errors."""
    for group in range(grouping.sizes.shape[0]):
        size = grouping.sizes[group]
        if size > 0:
            grouping.errors[group] = mean_and_error(
                grouping.X, grouping.members[group, :size], grouping.centers[group]
            )


@inner_kernel
def cheapest_home(grouping: Grouping, point: Floats, limit: float) -> tuple[int, float]:
    """The group that a record at `point` would join at least cost, below `limit`; -1 if none.

    Joining a group of s records costs s / (s + 1) times the squared distance from its centre.
    Closed groups do not count; ties go to the lower number.
    """
    blocks, sizes = grouping.blocks, grouping.sizes
    k = grouping.members.shape[1] // 4
    least_share = k / (k + 1.0)
    first = bound_from_below(blocks, point)
    distances = blocks.distances
    best = -1
    for visit in range(-1, blocks.bounds.shape[0]):
        block = first if visit < 0 else visit
        if visit == first or block < 0 or blocks.bounds[block] * least_share > limit:
            continue
        count = blocks.counts[block]
        measure_block(blocks.values, block, count, point, distances)
        for slot in range(count):
            if distances[slot] * least_share > limit:
                continue
            group = blocks.rows[block, slot]
            cost = distances[slot] * (sizes[group] / (sizes[group] + 1.0))
            before = cost < limit or (cost == limit and best >= 0 and group < best)
            if before and not grouping.closed[group]:
                best, limit = group, cost
    return best, limit


@inner_kernel
def split_and_update(grouping: Grouping, group: int) -> None:
    """Update a group whose members changed; split it if it has 2k or more."""
    members, sizes = grouping.members, grouping.sizes
    k = members.shape[1] // 4
    while sizes[group] >= 2 * k:
        size = sizes[group]
        tightest_first(grouping.X, k, members[group, :size])
        new = 0
        while sizes[new] > 0:
            new += 1
        for m in range(k):
            members[new, m] = members[group, m]
        for m in range(k, size):
            members[group, m - k] = members[group, m]
        sizes[new], sizes[group] = k, size - k
        grouping.errors[new] = mean_and_error(grouping.X, members[new, :k], grouping.centers[new])
        insert_center(grouping.blocks, new, grouping.centers[new])
    grouping.errors[group] = mean_and_error(
        grouping.X, members[group, : sizes[group]], grouping.centers[group]
    )
    move_center(grouping.blocks, group, grouping.centers[group])


@allocating_inner_kernel
def drop(grouping: Grouping, group: int) -> None:
    """Remove a group; its number becomes free."""
    gone = np.array([group])
    remove(grouping.blocks, gone)
    grouping.sizes[group] = 0
    grouping.errors[group] = 0.0


@allocating_inner_kernel
def tightest_first(X: Floats, k: int, rows: Rows) -> None:
    """Put a record and its k-1 nearest first, chosen so that the split costs least."""
    near = np.empty(k, dtype=np.intp)
    others = np.empty(rows.shape[0] - k, dtype=np.intp)
    distances = np.empty(k)
    center = np.empty(X.shape[1])
    best = np.inf
    best_seed = -1
    for seed in rows:
        k_nearest(X, rows, seed, distances, near, others)
        error = mean_and_error(X, near, center) + mean_and_error(X, others, center)
        if error < best or (error == best and seed < best_seed):
            best, best_seed = error, seed
    k_nearest(X, rows, best_seed, distances, near, others)
    for i in range(k):
        rows[i] = near[i]
    for i in range(others.shape[0]):
        rows[k + i] = others[i]


@inner_kernel
def k_nearest(
    X: Floats, rows: Rows, seed: int, distances: Floats, out_near: Rows, out_others: Rows
) -> None:
    """Find the rows nearest to `seed`, as many as `out_near` holds, and the others."""
    k = out_near.shape[0]
    for i in range(rows.shape[0]):
        row = rows[i]
        distance = squared_distance(X[row], X[seed])
        if i < k:
            heap_push(distances, out_near, i, distance, row)
        elif comes_before(distance, row, distances[0], out_near[0]):
            out_others[i - k] = out_near[0]
            heap_sink(distances, out_near, k, distance, row)
        else:
            out_others[i - k] = row


@inner_kernel
def move_center(blocks: Blocks, group: int, center: Floats) -> None:
    """Update the centre; its box can only widen."""
    block, slot = divmod(blocks.place[group], blocks.values.shape[2])
    for j in range(center.shape[0]):
        blocks.values[block, j, slot] = center[j]
        blocks.lowest[j, block] = min(blocks.lowest[j, block], center[j])
        blocks.highest[j, block] = max(blocks.highest[j, block], center[j])


@inner_kernel
def insert_center(blocks: Blocks, group: int, center: Floats) -> None:
    """Add a centre to the nearest block with room."""
    capacity = blocks.values.shape[2]
    bound_from_below(blocks, center)
    at = -1
    for block in range(blocks.counts.shape[0]):
        room = blocks.counts[block] < capacity
        if room and (at < 0 or blocks.bounds[block] < blocks.bounds[at]):
            at = block
    slot = blocks.counts[at]
    for j in range(center.shape[0]):
        if slot == 0:  # the box is still that of earlier entries
            blocks.lowest[j, at] = center[j]
            blocks.highest[j, at] = center[j]
    blocks.rows[at, slot] = group
    blocks.place[group] = at * capacity + slot
    blocks.counts[at] += 1
    move_center(blocks, group, center)
