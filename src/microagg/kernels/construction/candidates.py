"""Every record that is left with its k-1 nearest: candidates for the next group.

When a group is taken off, the candidates that lose a member are made anew, and no others: every
record knows the candidates that it belongs to. The new members come from a list of neighbours that
is somewhat longer than needed; only when it is used up, all that is left is searched again.
"""

from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Floats, Mask, Rows
from microagg.kernels.basics.distances import mean_and_error, squared_distance
from microagg.kernels.compile import inner_kernel, kernel
from microagg.kernels.construction.fixed_size import add_to_total, mean_of_total
from microagg.kernels.neighbours.blocks import Blocks, nearest, remove
from microagg.kernels.neighbours.listing import write_others


class Candidates(NamedTuple):
    """The candidate of every record that is left, and where it is looked up.

    A membership is numbered record * (k-1) + slot. Those of a member form a chain, begun by
    `heads` and linked by `after` and `before`; -1 ends it.
    """

    near: Rows  # record x listed neighbours, nearest first, -1 behind the last
    members: Rows  # record x k-1: the nearest that are left
    errors: Floats  # squared error of the candidate
    centers: Floats  # its mean
    heads: Rows
    after: Rows
    before: Rows
    waiting: Mask  # whether a record's candidate is to be made anew
    pending: Rows  # the records that wait


class Choice(NamedTuple):
    """Which candidate comes next: that with the largest share * error, and the lower row.

    With `leaves_least` it is the one without which the others have the least error, share 1, or
    that and its own error together are least, share 0.
    """

    candidates: Candidates
    share: float
    leaves_least: bool


def make_candidates(X: Floats, near: Rows, k: int) -> Candidates:
    """Make the candidate of every record; `near` lists at least k-1 others for each."""
    n, d = X.shape
    candidates = Candidates(
        near=near,
        members=np.empty((n, k - 1), dtype=np.intp),
        errors=np.empty(n),
        centers=np.empty((n, d)),
        heads=np.full(n, -1, dtype=np.intp),
        after=np.empty(n * (k - 1), dtype=np.intp),
        before=np.empty(n * (k - 1), dtype=np.intp),
        waiting=np.zeros(n, dtype=np.bool_),
        pending=np.empty(n, dtype=np.intp),
    )
    begin_candidates(X, candidates)
    return candidates


@kernel
def begin_candidates(X: Floats, candidates: Candidates) -> None:
    """Fill in all candidates; nobody is in a group yet."""
    labels = np.full(X.shape[0], -1, dtype=np.intp)
    for row in range(X.shape[0]):
        enter(X, row, labels, candidates)


@kernel
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

    Writes `labels` and `total`, and takes the records out of `blocks`.
    """
    candidates = choice.candidates
    rest = np.flatnonzero(labels < 0)
    group = np.empty(k, dtype=np.intp)
    mean = np.empty(X.shape[1])
    while left >= stop_at:
        mean_of_total(total, left, mean)
        seed = chosen(k, rest, left, labels, mean, choice)
        group[0] = seed
        for slot in range(k - 1):
            group[slot + 1] = candidates.members[seed, slot]
        for row in group:
            labels[row] = (X.shape[0] - left) // k
        add_to_total(total, X, group, -1.0)
        remove(blocks, group)
        left -= k
        if left >= k:
            renew(X, left, blocks, group, labels, candidates)
    return left


@inner_kernel
def chosen(k: int, rest: Rows, left: int, labels: Rows, mean: Floats, choice: Choice) -> int:
    """Record whose candidate comes next.

    Without a candidate of k records, error E and mean c, the error of m records about their mean
    falls by E + k m / (m - k) |c - mean|^2. Of k + 1 records every candidate leaves one, without
    error: then the candidate of least error comes next.
    """
    errors, centers = choice.candidates.errors, choice.candidates.centers
    share, pull = choice.share, 0.0
    if choice.leaves_least:
        share, pull = (share, k * left / (left - k)) if left > k + 1 else (-1.0, 0.0)
    best = -np.inf
    best_row = -1
    for row in rest:
        if labels[row] >= 0:
            continue
        score = share * errors[row]
        if pull > 0.0:
            score += pull * squared_distance(centers[row], mean)
        if score > best:
            best, best_row = score, row
    return best_row


@inner_kernel
def renew(
    X: Floats, left: int, blocks: Blocks, gone: Rows, labels: Rows, candidates: Candidates
) -> None:
    """Make the candidates anew that have lost a member."""
    pending, waiting = candidates.pending, candidates.waiting
    width = candidates.members.shape[1]
    count = 0
    for lost in gone:
        membership = candidates.heads[lost]
        while membership >= 0:
            row = membership // width
            if labels[row] < 0 and not waiting[row]:
                waiting[row] = True
                pending[count] = row
                count += 1
            membership = candidates.after[membership]
    distances = np.empty(min(candidates.near.shape[1] + 1, left))
    found = np.empty(distances.shape[0], dtype=np.intp)
    for row in pending[:count]:
        waiting[row] = False
        leave(row, candidates)
        if not enter(X, row, labels, candidates):
            nearest(blocks, X[row], distances, found)
            for slot in range(candidates.near.shape[1]):
                candidates.near[row, slot] = -1
            last = found.shape[0] - 1
            write_others(row, distances, found, distances[:last], candidates.near[row, :last])
            enter(X, row, labels, candidates)


@inner_kernel
def enter(X: Floats, row: int, labels: Rows, candidates: Candidates) -> bool:
    """Make a candidate of those listed and left; False, and nothing done, if they are too few."""
    near, members, heads = candidates.near, candidates.members, candidates.heads
    width = members.shape[1]
    group = np.empty(width + 1, dtype=np.intp)
    group[0] = row
    size = 1
    for slot in range(near.shape[1]):
        if size > width or near[row, slot] < 0:
            break
        if labels[near[row, slot]] < 0:
            group[size] = near[row, slot]
            size += 1
    if size <= width:
        return False
    for slot in range(width):
        member = group[slot + 1]
        members[row, slot] = member
        membership = row * width + slot
        head = heads[member]
        candidates.after[membership] = head
        candidates.before[membership] = -1
        if head >= 0:
            candidates.before[head] = membership
        heads[member] = membership
    candidates.errors[row] = mean_and_error(X, group, candidates.centers[row])
    return True


@inner_kernel
def leave(row: int, candidates: Candidates) -> None:
    """Take the members of a candidate out of its chains."""
    after, before = candidates.after, candidates.before
    width = candidates.members.shape[1]
    for slot in range(width):
        membership = row * width + slot
        if before[membership] >= 0:
            after[before[membership]] = after[membership]
        else:
            candidates.heads[candidates.members[row, slot]] = after[membership]
        if after[membership] >= 0:
            before[after[membership]] = before[membership]
