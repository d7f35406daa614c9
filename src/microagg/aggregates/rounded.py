"""Means and medians, rounded once to the digits of their column."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.aggregates.choices import Aggregate
from microagg.aggregates.digits import Digits
from microagg.aggregates.exact import Average, group_averages, nearest_multiples
from microagg.aggregates.mean import does_not_fit, group_means, in_type, too_far_apart
from microagg.aggregates.median import group_medians, group_middles
from microagg.core.arrays import Floats, Labels, Wholes
from microagg.core.decimals import fits_steps, from_steps, in_steps, rounded

_LARGEST = np.iinfo(np.int64).max
# Decimals between those of a column and those released, as far as 64 bits hold the ratio.
_MOST_APART = 18


def rounded_aggregates(
    numbers: NDArray[Any],
    labels: Labels,
    how: Aggregate,
    weights: Floats | None,
    digits: Digits,
    *,
    name: str,
) -> NDArray[Any]:
    """Return the mean or median of every group in the type of the column, rounded once.

    Halves go away from zero. Means of numbers with at most 15 significant digits are exact: what is
    rounded is the mean of the decimal numbers, not of the floats that stand for them.

    >>> prices = np.array([0.14, 0.15, 2.0])
    >>> groups, cents = np.array([0, 0, 1]), Digits(own=2, released=2)
    >>> rounded_aggregates(prices, groups, Aggregate.MEAN, None, cents, name="price")
    array([0.15, 2.  ])
    """
    released = digits.released
    assert released is not None
    fine = None if digits.own is None else max(digits.own, released)
    if fine is None or fine - released > _MOST_APART or not fits_steps(numbers, fine):
        plain = group_means if how is Aggregate.MEAN else group_medians
        points = plain(numbers, labels, weights).astype(np.float64)
        return points_in_type(points, digits, dtype=numbers.dtype, name=name)
    step = 10 ** (fine - released)
    is_float = numbers.dtype.kind == "f"
    steps, offset = (in_steps(numbers, fine), 0) if is_float else _whole(numbers, step, name)
    if how is Aggregate.MEAN:
        average = group_averages(steps, labels, weights)
    else:
        average = _between(*group_middles(steps, labels, weights))
    multiples = nearest_multiples(average, step)
    if is_float:
        return in_type(from_steps(multiples, released), dtype=numbers.dtype, name=name)
    if offset:
        if int(multiples.max()) * step + offset > np.iinfo(numbers.dtype).max:
            raise does_not_fit(name, numbers.dtype)
        large: NDArray[Any] = multiples.astype(np.uint64) * np.uint64(step) + np.uint64(offset)
        return large
    return in_type(multiples * step, dtype=numbers.dtype, name=name)


def points_in_type(
    points: Floats, digits: Digits, *, dtype: np.dtype[Any], name: str
) -> NDArray[Any]:
    """Return points as values of a column, with its digits."""
    if digits.rounds(dtype) and digits.released is not None:
        points = rounded(points, digits.released)
    return in_type(points, dtype=dtype, name=name)


def _between(below: Wholes, above: Wholes) -> Average:
    # The gap fits an unsigned type of the same width.
    gaps = above.astype(np.uint64) - below.astype(np.uint64)
    floor = (below.astype(np.uint64) + gaps // 2).astype(np.int64)
    return Average(floor, (gaps % 2) / 2.0)


def _whole(numbers: NDArray[Any], step: int, name: str) -> tuple[Wholes, int]:
    """Return whole numbers in 64 bits with a sign, and the multiple of the step to add to them."""
    if numbers.dtype != np.uint64 or int(numbers.max()) <= _LARGEST:
        return numbers.astype(np.int64), 0
    offset = int(numbers.min()) // step * step
    shifted = numbers - np.uint64(offset)
    if int(shifted.max()) > _LARGEST:
        raise too_far_apart(name)
    return shifted.astype(np.int64), offset
