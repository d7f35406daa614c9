"""The median of every group: for ordinal values, and robust against outliers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.aggregates.values import SAME_SHARE
from microagg.core.arrays import Floats, Labels


def group_medians(
    values: NDArray[Any], labels: Labels, weights: Floats | None = None, *, lower: bool = False
) -> NDArray[Any]:
    """Return the median of every group; no label is left out.

    With two values in the middle it is their mean, for whole numbers rounded half away from zero,
    or, with `lower`, the lower one. A record of weight 2 counts twice.

    >>> group_medians(np.array([1, 4, 2, 7, 9]), np.array([0, 0, 0, 1, 1])).tolist()
    [2, 8]
    >>> group_medians(np.array([7, 9]), np.array([0, 0]), lower=True).tolist()
    [7]
    """
    below, above = group_middles(values, labels, weights)
    return below if lower else _between(below, above)


def group_middles(
    values: NDArray[Any], labels: Labels, weights: Floats | None = None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the two values in the middle of every group, or the one value twice."""
    order = np.lexsort((values, labels))
    ends = np.bincount(labels).cumsum()
    begins = np.concatenate(([0], ends[:-1]))
    if weights is None:
        low, high = begins + (ends - begins - 1) // 2, begins + (ends - begins) // 2
    else:
        low, high = _weighted_middles(weights[order], begins, ends)
    return values[order[low]], values[order[high]]


def _weighted_middles(weights: Floats, begins: Labels, ends: Labels) -> tuple[Labels, Labels]:
    """Return where half of each group's weight is reached, and where it is exceeded."""
    up_to = np.concatenate(([0.0], weights.cumsum()))
    half = (up_to[begins] + up_to[ends]) / 2.0
    # Sums of weights are rounded: half of a group's weight up to rounding counts as half.
    slack = SAME_SHARE * (up_to[ends] - up_to[begins])
    low = np.searchsorted(up_to[1:], half - slack, side="left")
    high = np.searchsorted(up_to[1:], half + slack, side="right")
    return np.clip(low, begins, ends - 1), np.clip(high, begins, ends - 1)


def _between(below: NDArray[Any], above: NDArray[Any]) -> NDArray[Any]:
    if below.dtype.kind in "iu":
        # Exact for all whole numbers: the gap fits an unsigned type of the same width.
        gap = above.astype(np.uint64) - below.astype(np.uint64)
        middle = (below.astype(np.uint64) + gap // 2).astype(below.dtype)
        up = (gap % 2 == 1) & (middle >= 0)
        whole: NDArray[Any] = middle + up.astype(below.dtype)
        return whole
    return np.where(below == above, below, below / 2 + above / 2).astype(below.dtype)
