"""Every record that is left with its k-1 nearest: candidates for the next group.

When a group is taken off, the candidates that lose a member are made anew, and no others: every
record knows the candidates that it belongs to. The new members come from a list of neighbours that
is somewhat longer than needed; only when it is used up, all that is left is searched again.

Equal records are one point, and have one candidate. Otherwise a heap of them would fill the lists
of all records around it with the same few, and taking those off would use up all lists at once.
"""

from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Floats, Mask, Rows
from microagg.kernels.basics.distances import mean_and_error, squared_distance
from microagg.kernels.compile import (
    allocating_inner_kernel,
    allocating_kernel,
    inner_kernel,
    kernel,
)
from microagg.kernels.construction.fixed_size import add_to_total, mean_of_total
from microagg.kernels.neighbours.blocks import Blocks, nearest, remove
from microagg.kernels.neighbours.listing import write_others


class Candidates(NamedTuple):
    """The candidate of every point that is left, and where it is looked up.

    A membership is numbered point * k + slot. Those of a member form a chain, begun by `heads` and
    linked by `after` and `before`; -1 ends it.
    """

    points: Floats  # distinct records
    rows: Rows  # the records of the first point, then those of the second, ...
    next_rows: Rows  # where in `rows` the first record of each point is that is left
    left: Rows  # records left of each point
    near: Rows  # point x listed neighbours, nearest first, -1 behind the last
    members: Rows  # point x k: points, itself first, as often as records of them are members
    errors: Floats  # squared error of the candidate
    centers: Floats  # its mean
    heads: Rows
    after: Rows
    before: Rows
    waiting: Mask  # whether a point's candidate is to be made anew
    pending: Rows  # the points that wait


class Choice(NamedTuple):
    """Which candidate comes next: that with the largest share * error, and the lower row.

    With `leaves_least` it is the one without which the others have the least error, share 1, or
    that and its own error together are least, share 0.
    """

    candidates: Candidates
    share: float
    leaves_least: bool


def make_candidates(points: Floats, rows: Rows, sizes: Rows, near: Rows, k: int) -> Candidates:
    """Make the candidate of every point; `near` lists k-1 others for each, or all."""
    n, d = points.shape
    candidates = Candidates(
        points=points,
        rows=rows,
        next_rows=sizes.cumsum() - sizes,
        left=sizes.copy(),
        near=near,
        members=np.empty((n, k), dtype=np.intp),
        errors=np.empty(n),
        centers=np.empty((n, d)),
        heads=np.full(n, -1, dtype=np.intp),
        after=np.empty(n * k, dtype=np.intp),
        before=np.empty(n * k, dtype=np.intp),
        waiting=np.zeros(n, dtype=np.bool_),
        pending=np.empty(n, dtype=np.intp),
    )
    begin_candidates(candidates)
    return candidates


@kernel
def begin_candidates(candidates: Candidates) -> None:
    """Fill in all candidates; nobody is in a group yet."""
    for point in range(candidates.points.shape[0]):
        enter(point, candidates)


@allocating_kernel
def rounds_of_candidates(
    X: Floats,
    k: int,
    blocks: Blocks,
    total: Floats,
    left: int,
    stop_at: int,
    labels: Rows,
    choice: Choice,
) -> int:
    """Take off candidates while at least `stop_at` records are left; returns how many are.

    Writes `labels` and `total`, and takes points without a record left out of `blocks`.
    """
    candidates = choice.candidates
    rest = np.flatnonzero(candidates.left > 0)
    group = np.empty(k, dtype=np.intp)
    mean = np.empty(X.shape[1])
    while left >= stop_at:
        mean_of_total(total, left, mean)
        seed = chosen(k, rest, left, mean, choice)
        for slot in range(k):
            point = candidates.members[seed, slot]
            group[slot] = candidates.rows[candidates.next_rows[point]]
            labels[group[slot]] = (X.shape[0] - left) // k
            candidates.next_rows[point] += 1
            candidates.left[point] -= 1
        add_to_total(total, X, group, -1.0)
        left -= k
        for slot in range(k):
            group[slot] = candidates.members[seed, slot]
        take_out(blocks, group, candidates)
        if left >= k:
            renew(blocks, group, candidates)
    return left


@allocating_inner_kernel
def take_out(blocks: Blocks, group: Rows, candidates: Candidates) -> None:
    """Remove the points of a group that have no record left."""
    gone = np.empty(1, dtype=np.intp)
    for point in group:
        if candidates.left[point] == 0 and blocks.place[point] >= 0:
            gone[0] = point
            remove(blocks, gone)


@inner_kernel
def chosen(k: int, rest: Rows, left: int, mean: Floats, choice: Choice) -> int:
    """Point whose candidate comes next.

    Without a candidate of k records, error E and mean c, the error of m records about their mean
    falls by E + k m / (m - k) |c - mean|^2. Of k + 1 records every candidate leaves one, without
    error: then the candidate of least error comes next.
    """
    candidates = choice.candidates
    share, pull = choice.share, 0.0
    if choice.leaves_least:
        share, pull = (share, k * left / (left - k)) if left > k + 1 else (-1.0, 0.0)
    best = -np.inf
    best_point = -1
    for point in rest:
        if candidates.left[point] == 0:
            continue
        score = share * candidates.errors[point]
        if pull > 0.0:
            score += pull * squared_distance(candidates.centers[point], mean)
        if score > best:
            best, best_point = score, point
    return best_point


@allocating_inner_kernel
def renew(blocks: Blocks, lost: Rows, candidates: Candidates) -> None:
    """Make the candidates anew that have lost a member."""
    pending, waiting, near = candidates.pending, candidates.waiting, candidates.near
    k = candidates.members.shape[1]
    count = 0
    for point in lost:
        # With k records left, there are enough of the point for every candidate.
        membership = candidates.heads[point] if candidates.left[point] < k else -1
        while membership >= 0:
            owner = membership // k
            if candidates.left[owner] > 0 and not waiting[owner]:
                waiting[owner] = True
                pending[count] = owner
                count += 1
            membership = candidates.after[membership]
    distances = np.empty(near.shape[1] + 1)
    found = np.empty(near.shape[1] + 1, dtype=np.intp)
    for point in pending[:count]:
        waiting[point] = False
        leave(point, candidates)
        if not enter(point, candidates):
            found[:] = -1  # fewer points than wanted may be left
            nearest(blocks, candidates.points[point], distances, found)
            write_others(point, distances, found, distances, near[point])
            enter(point, candidates)


@inner_kernel
def enter(point: int, candidates: Candidates) -> bool:
    """Make a candidate of those listed and left; False, and nothing done, if they are too few."""
    near, left, heads = candidates.near, candidates.left, candidates.heads
    k = candidates.members.shape[1]
    size = 0
    for slot in range(-1, near.shape[1]):
        other = point if slot < 0 else near[point, slot]
        if size == k or other < 0:
            break
        for _ in range(min(left[other], k - size)):
            candidates.members[point, size] = other
            size += 1
    if size < k:
        return False
    members = candidates.members[point]
    for slot in range(k):
        membership = point * k + slot
        head = heads[members[slot]]
        candidates.after[membership] = head
        candidates.before[membership] = -1
        if head >= 0:
            candidates.before[head] = membership
        heads[members[slot]] = membership
    candidates.errors[point] = mean_and_error(candidates.points, members, candidates.centers[point])
    return True


@inner_kernel
def leave(point: int, candidates: Candidates) -> None:
    """Take the members of a candidate out of their chains."""
    after, before = candidates.after, candidates.before
    k = candidates.members.shape[1]
    for slot in range(k):
        membership = point * k + slot
        if before[membership] >= 0:
            after[before[membership]] = after[membership]
        else:
            candidates.heads[candidates.members[point, slot]] = after[membership]
        if after[membership] >= 0:
            before[after[membership]] = before[membership]
