"""Exact averages of whole numbers, rounded once, to any step.

An average is a whole number, rounded down, and the rest in [0, 1): a half is 0.5 and nothing else.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Floats, Labels, Wholes

# Whole numbers are summed in parts of this many bits, for which floats are exact.
_BITS = 21
_MASK = (1 << _BITS) - 1
# Rests of weighted averages that differ by less are equal up to rounding.
_SAME_REST = 1e-11


class Average(NamedTuple):
    """Averages as whole numbers below them, or equal, and what is left."""

    floor: NDArray[Any]
    rest: Floats


def group_averages(values: Wholes, labels: Labels, weights: Floats | None = None) -> Average:
    """Return the average of every group; no label is left out.

    Exact for groups of fewer than 2**31 records, and with whole weights as far as floats hold their
    sums.

    >>> group_averages(np.array([1, 2, 4, -7, -8]), np.array([0, 0, 0, 1, 1]))
    Average(floor=array([ 2, -8]), rest=array([0.33333333, 0.5       ]))
    """
    sizes = np.bincount(labels)
    floor, left = np.zeros(len(sizes), dtype=np.int64), np.zeros(len(sizes), dtype=np.int64)
    for shift in (2 * _BITS, _BITS, 0):  # long division, the highest digits first
        digits = values >> shift
        if shift < 2 * _BITS:
            digits = digits & _MASK
        total = np.bincount(labels, weights=digits).astype(np.int64)
        more, left = np.divmod((left << _BITS) + total, sizes)
        floor = (floor << _BITS) + more
    found = Average(floor, left / sizes)
    return found if weights is None else _snapped(reweighted(floor, values, labels, weights))


def reweighted(
    near: NDArray[Any], values: NDArray[Any], labels: Labels, weights: Floats
) -> Average:
    """Return the weighted averages from nearby whole numbers, such as unweighted means.

    Large differences are summed as two 32-bit halves, for which floats are exact.
    """
    # Wrap-around arithmetic gives the right result for every integer type.
    gaps = (values.astype(np.uint64) - near[labels].astype(np.uint64)).astype(np.int64)
    is_large = max(-int(gaps.min()), int(gaps.max())) >> 31
    high, low = (gaps >> 32, gaps & 0xFFFFFFFF) if is_large else (np.zeros_like(gaps), gaps)
    total = np.bincount(labels, weights=weights)
    steps, left = np.divmod(np.bincount(labels, weights=weights * high), total)
    shifts = (left * 2.0**32 + np.bincount(labels, weights=weights * low)) / total
    down = np.floor(shifts)
    whole = (steps.astype(np.int64) << 32) + down.astype(np.int64)
    floor = (near.astype(np.uint64) + whole.astype(np.uint64)).astype(near.dtype)
    return Average(floor, shifts - down)


def _snapped(average: Average) -> Average:
    """Return averages whose rest is exact where weights were rounded: 0 or a half."""
    twice = np.rint(2.0 * average.rest)
    is_near = np.abs(2.0 * average.rest - twice) < 2.0 * _SAME_REST
    rest = np.where(is_near, twice / 2.0, average.rest)
    over = rest >= 1.0
    return Average(average.floor + over, rest - over)


def nearest_multiples(average: Average, step: int = 1) -> NDArray[Any]:
    """Return how many steps are nearest to each average; halves go away from zero.

    `step` is 1 or an even number.

    >>> average = group_averages(np.array([14, 15, -15]), np.array([0, 0, 1]))
    >>> nearest_multiples(average).tolist(), nearest_multiples(average, 10).tolist()
    ([15, -15], [1, -2])
    """
    floor, rest = average
    if step == 1:
        whole, up = floor, (rest > 0.5) | ((rest == 0.5) & (floor >= 0))
    else:
        whole, left = np.divmod(floor, step)
        at_half = (left == step // 2) & ((rest > 0.0) | (whole >= 0))
        up = (left > step // 2) | at_half
    multiples: NDArray[Any] = whole + up.astype(floor.dtype)
    return multiples
