"""Groups of exactly k, from the outside in: the loops of MDAV, CBFS and MD.

Each loop stops when a given number of records is left, so that its caller can report progress, be
interrupted, and lay out the remaining records again. Groups are numbered as they are formed.
"""

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.kernels.compile import allocating_kernel, inner_kernel, kernel
from microagg.kernels.neighbours.blocks import Blocks, farthest, nearest, remove


@kernel
def add_to_total(total: Floats, X: Floats, rows: Rows, sign: float) -> None:
    """Add records to a running sum in double-double precision: total[0] + total[1].

    The mean of the remaining records decides which is farthest; after millions of subtractions it
    must still be what a fresh sum would give.
    """
    for row in rows:
        for j in range(X.shape[1]):
            term = sign * X[row, j]
            high = total[0, j]
            new = high + term
            back = new - high
            total[0, j] = new
            total[1, j] += (high - (new - back)) + (term - back)


@kernel
def mean_of_total(total: Floats, count: int, out_mean: Floats) -> None:
    """Mean of the `count` records in the running sum."""
    for j in range(out_mean.shape[0]):
        out_mean[j] = (total[0, j] + total[1, j]) / count


@inner_kernel
def take_nearest(
    X: Floats, blocks: Blocks, total: Floats, point: Floats, members: Rows, distances: Floats
) -> None:
    """Remove the records nearest to `point`, as many as `members` holds, and list them there."""
    nearest(blocks, point, distances, members)
    add_to_total(total, X, members, -1.0)
    remove(blocks, members)


@allocating_kernel
def rounds_from_mean(
    X: Floats,
    k: int,
    blocks: Blocks,
    total: Floats,
    left: int,
    stop_at: int,
    labels: Rows,
    opposite: bool,
) -> int:
    """Form groups while at least `stop_at` records are left; return how many are.

    In each round the record farthest from the mean is grouped with its nearest and, with
    `opposite`, so is the one that was farthest from it. Writes `labels` and `total`, and removes
    the records from `blocks`.
    """
    mean = np.empty(X.shape[1])
    members = np.empty(k, dtype=np.intp)
    distances = np.empty(k)
    while left >= stop_at:
        mean_of_total(total, left, mean)
        first, _ = farthest(blocks, mean)
        second = farthest(blocks, X[first])[0] if opposite else first
        for turn in range(1 + opposite):
            end = second if turn else first
            take_nearest(X, blocks, total, X[end], members, distances)
            labels[members] = (X.shape[0] - left) // k
            left -= k
    return left


@allocating_kernel
def md_rounds(
    X: Floats,
    k: int,
    blocks: Blocks,
    total: Floats,
    left: int,
    stop_at: int,
    labels: Rows,
    reach: Floats,
) -> int:
    """Form pairs of groups at the two most distant records; returns how many records are left.

    `reach[row]` is an upper bound on the record's squared distance to any remaining record. It
    stays valid when records are removed, so it is recomputed only where it matters.
    """
    members = np.empty(k, dtype=np.intp)
    distances = np.empty(k)
    while left >= stop_at:
        first, second = farthest_pair(X, blocks, reach)
        for end in (first, second):
            take_nearest(X, blocks, total, X[end], members, distances)
            labels[members] = (X.shape[0] - left) // k
            left -= k
    return left


@inner_kernel
def farthest_pair(X: Floats, blocks: Blocks, reach: Floats) -> tuple[int, int]:
    """Rows of the two most distant remaining records, the lowest such pair."""
    place = blocks.place
    start = -1
    for row in range(X.shape[0]):
        if place[row] >= 0 and (start < 0 or reach[row] > reach[start]):
            start = row
    best = -1.0
    low = start
    high = start
    for visit in range(-1, X.shape[0]):
        row = start if visit < 0 else visit
        if visit == start or place[row] < 0 or reach[row] < best:
            continue
        if reach[row] == best and row > low:  # no pair with this row could be lower
            continue
        other, reach[row] = farthest(blocks, X[row])
        first, second = min(row, other), max(row, other)
        if reach[row] > best or (reach[row] == best and (first, second) < (low, high)):
            best = reach[row]
            low, high = first, second
    return low, high


@allocating_kernel
def reach_of_box(X: Floats, out_reach: Floats) -> None:
    """Squared distance of every record from the farthest corner of the bounding box."""
    for i in range(X.shape[0]):
        out_reach[i] = 0.0
    for j in range(X.shape[1]):
        low = X[:, j].min()
        high = X[:, j].max()
        for i in range(X.shape[0]):
            gap = max(X[i, j] - low, high - X[i, j])
            out_reach[i] += gap * gap
