"""Group after group."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.kernels.blocks import make_blocks
from microagg.kernels.offsets import without_offset
from microagg.kernels.sorting import stable_sort
from microagg.kernels.walks import walk_by_groups, walk_within
from microagg.orderings.npn import farthest_from_mean
from microagg.progress import report
from microagg.validation import check_labels, check_matrix

# Records put on the path between two reports: a fraction of a second.
_RECORDS_PER_CALL = 4000


def by_groups(X: ArrayLike, labels: ArrayLike) -> NDArray[np.intp]:
    """Visit the groups of a partition one after another.

    The walk starts at the record farthest from the mean. Each group is entered at the record
    nearest to the last one on the path and left at its member farthest from the entry; the others
    are inserted in between where they lengthen the path least. Ties go to the lower row.

    Time O(n^2 d / s + n s^2 d) at worst for groups of s records, memory O(n d).

    >>> by_groups([[0.0], [5.0], [1.0], [6.0]], [0, 1, 0, 1]).tolist()
    [0, 2, 1, 3]
    """
    matrix = without_offset(check_matrix(X))
    n = len(matrix)
    groups = check_labels(labels, n_records=n)
    members = stable_sort(groups)[1]
    starts = np.concatenate(([0], np.cumsum(np.bincount(groups)))).astype(np.intp)
    order = np.empty(n, dtype=np.intp)
    entry = farthest_from_mean(matrix)
    done = int(starts[groups[entry] + 1] - starts[groups[entry]])
    own = members[starts[groups[entry]] : starts[groups[entry] + 1]]
    walk_within(matrix, own, entry, order[:done])
    while done < n:
        left = np.setdiff1d(np.arange(n), order[:done], assume_unique=True)
        blocks = make_blocks(matrix, left)
        relayout_at = n - len(left) // 2 if len(left) > _RECORDS_PER_CALL else n
        while done < relayout_at:
            stop = min(done + _RECORDS_PER_CALL, relayout_at)
            done = walk_by_groups(matrix, blocks, groups, members, starts, order, done, stop)
            report("ordering", done, n)
    return order
