"""Orderings that walk from record to record: nearest point next, or group by group."""

import numpy as np
from numpy.typing import ArrayLike

from microagg.core.arrays import Floats, Labels, Order
from microagg.core.progress import report
from microagg.core.validation import check_labels, check_matrix
from microagg.kernels.basics.rounding import without_offset
from microagg.kernels.basics.sorting import stable_sort
from microagg.kernels.neighbours.blocks import farthest, make_blocks, remove
from microagg.kernels.paths.walks import (
    begin_insertion,
    insert_more,
    room_for_insertion,
    walk_by_groups,
    write_path,
)

# Records put on the path between two reports: a fraction of a second.
_RECORDS_PER_CALL = 2000
_INSERTIONS_PER_CALL = 200


def npn(X: ArrayLike) -> Order:
    """Start at the record farthest from the mean and always walk to the nearest unvisited one.

    Ties go to the lower row. Time O(n^2 d) at worst, memory O(n d).

    >>> npn([[0.0], [5.0], [1.0], [9.0]]).tolist()
    [3, 1, 2, 0]
    """
    matrix = without_offset(check_matrix(X))
    return walk(matrix, np.arange(len(matrix)), farthest_from_mean(matrix))


def by_groups(X: ArrayLike, labels: ArrayLike) -> Order:
    """Visit the groups of a partition one after another.

    The walk starts at the record farthest from the mean. Each group is entered at the record
    nearest to the last one on the path and left at its member farthest from the entry; the others
    are inserted in between where they lengthen the path least. Ties go to the lower row.

    Time O(n^2 d / s + n s^2 d) at worst for groups of s records, memory O(n d).

    >>> by_groups([[0.0], [5.0], [1.0], [6.0]], [0, 1, 0, 1]).tolist()
    [0, 2, 1, 3]
    """
    matrix = without_offset(check_matrix(X))
    groups = check_labels(labels, n_records=len(matrix))
    return walk(matrix, groups, farthest_from_mean(matrix))


def farthest_from_mean(X: Floats) -> int:
    """Row of the record farthest from the mean of all."""
    row, _ = farthest(make_blocks(X, np.arange(len(X))), X.mean(axis=0))
    return int(row)


def walk(X: Floats, groups: Labels, entry: int) -> Order:
    """Walk through all groups, numbered from 0, beginning at row `entry`.

    With groups of one record each, this is the walk to the nearest point next.
    """
    n = len(X)
    members = stable_sort(groups)[1]
    starts = np.concatenate(([0], np.cumsum(np.bincount(groups)))).astype(np.intp)
    order = np.empty(n, dtype=np.intp)

    def walk_large(entry: int, done: int) -> int:
        own = members[starts[groups[entry]] : starts[groups[entry] + 1]]
        insertion = room_for_insertion(len(own), X.shape[1])
        begin_insertion(X, insertion, own, entry)
        while waiting := insert_more(X, insertion, _INSERTIONS_PER_CALL):
            report("ordering", done + len(own) - waiting, n)
        write_path(insertion, order[done:])
        return done + len(own)

    done = walk_large(entry, 0)
    while done < n:
        blocks = make_blocks(X, np.setdiff1d(np.arange(n), order[:done], assume_unique=True))
        # Blocks empty unevenly: lay them out again each time half of the records are gone.
        relayout_at = done + max((n - done) // 2, _RECORDS_PER_CALL)
        while done < min(relayout_at, n):
            stop = min(done + _RECORDS_PER_CALL, n)
            done, large = walk_by_groups(X, blocks, groups, members, starts, order, done, stop)
            if large >= 0:
                before, done = done, walk_large(large, done)
                remove(blocks, order[before:done])
            report("ordering", done, n)
    return order
