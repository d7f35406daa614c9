"""Nearest point next."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.kernels.blocks import farthest, make_blocks
from microagg.kernels.offsets import without_offset
from microagg.kernels.walks import walk_to_nearest
from microagg.progress import report
from microagg.validation import check_matrix

# Steps of a walk between two reports: a fraction of a second.
_STEPS_PER_CALL = 2000


def npn(X: ArrayLike) -> NDArray[np.intp]:
    """Start at the record farthest from the mean and always walk to the nearest unvisited one.

    Ties go to the lower row. Time O(n^2 d) at worst, memory O(n d).

    >>> npn([[0.0], [5.0], [1.0], [9.0]]).tolist()
    [3, 1, 2, 0]
    """
    matrix = without_offset(check_matrix(X))
    return walk_from(matrix, farthest_from_mean(matrix))


def farthest_from_mean(X: NDArray[np.float64]) -> int:
    """Row of the record farthest from the mean of all."""
    row, _ = farthest(make_blocks(X, np.arange(len(X))), X.mean(axis=0))
    return int(row)


def walk_from(X: NDArray[np.float64], start: int) -> NDArray[np.intp]:
    """The walk to the nearest unvisited record that begins at row `start`."""
    n = len(X)
    order = np.empty(n, dtype=np.intp)
    order[0] = start
    done = 1
    while done < n:
        left = np.setdiff1d(np.arange(n), order[:done], assume_unique=True)
        blocks = make_blocks(X, left)
        relayout_at = n - len(left) // 2 if len(left) > _STEPS_PER_CALL else n
        while done < relayout_at:
            stop = min(done + _STEPS_PER_CALL, relayout_at)
            walk_to_nearest(X, blocks, order, done, stop)
            done = stop
            report("ordering", done, n)
    return order
