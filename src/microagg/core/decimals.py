"""Numbers as people write them: how many decimals a column has, and rounding to as many.

A decimal number of at most 15 significant digits is the shortest form of exactly one float, so
floats that were written with no more are whole multiples of a power of ten, found without error.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Floats, Mask, Wholes

# Significant digits that every float can hold: 64 bits, and 32 bits.
SIGNIFICANT, SIGNIFICANT_NARROW = 15, 7
# Powers of ten up to here are exact floats, so that dividing by them is rounded once.
EXACT_POWER = 22
# Beyond, powers of ten are not floats at all.
_LARGEST_POWER = 300
# The first numbers give most columns away.
_N_FIRST = 1000
# Sums and careless parsers leave floats some units in the last place off what was written. So near
# to a number with two digits to spare, none is there by chance, and none that people wrote. Floats
# of 32 bits are too coarse to tell: 9361.998 is two units from 9362.
_NOISE, _ROOM = 2.0, 100.0


def decimals_of(numbers: NDArray[Any], largest: float | None = None) -> int | None:
    """Return how many decimals the numbers have, each written as short as possible.

    None if one of them would take more than 15 significant digits to write with that many decimals
    (7 for 32-bit floats). Whole numbers have none. A float such as 0.1 + 0.2, off by its last bits
    alone, has the decimals of 0.3. Numbers must be finite. For a part of a column, `largest` is the
    largest absolute value of the whole; the decimals of the whole are the most that any part has.

    >>> decimals_of(np.array([1.5, 2.25, 0.1 + 0.2])), decimals_of(np.array([1 / 3]))
    (2, None)
    """
    if numbers.dtype.kind in "iu" or not len(numbers):
        return 0
    if largest is None:
        largest = float(np.abs(numbers).max())
    most = _most_steps(numbers.dtype)
    found: int | None = 0
    for some in (numbers[:_N_FIRST], numbers):
        found = _decimals_from(some, found or 0, largest, most)
        if found is None:
            return None
    return found


def _decimals_from(numbers: NDArray[Any], start: int, largest: float, most: float) -> int | None:
    """Return the decimals of the numbers if these are at least `start`."""
    left = numbers
    for digits in range(start, EXACT_POWER + 1):
        if largest * 10.0**digits >= most:
            return None
        has_room = most > 10.0**SIGNIFICANT_NARROW and largest * 10.0**digits * _ROOM < most
        noise = _NOISE if has_room else 0.0
        left = left[~_is_written(left, digits, noise)]
        if not len(left):
            return digits
    digits = max(_decimals_of_one(number) for number in left)
    return digits if digits <= _LARGEST_POWER and largest * 10.0**digits < most else None


def _is_written(numbers: NDArray[Any], digits: int, noise: float) -> Mask:
    steps = np.rint(numbers.astype(np.float64) * 10.0**digits)
    apart = np.abs((steps / 10.0**digits).astype(numbers.dtype) - numbers)
    same: Mask = apart <= noise * np.finfo(numbers.dtype).eps * np.abs(numbers)
    return same


def _decimals_of_one(number: Any) -> int:
    digits, _, exponent = np.format_float_scientific(number, trim="-").partition("e")
    return max(len(digits.partition(".")[2]) - int(exponent), 0)


def _most_steps(dtype: np.dtype[Any]) -> float:
    narrow = dtype.kind == "f" and dtype.itemsize <= 4
    return 10.0 ** (SIGNIFICANT_NARROW if narrow else SIGNIFICANT)


def fits_steps(numbers: NDArray[Any], digits: int) -> bool:
    """Whether all numbers can be written with this many decimals in their type."""
    if not len(numbers) or numbers.dtype.kind in "iu":
        return True
    return bool(float(np.abs(numbers).max()) * 10.0**digits < _most_steps(numbers.dtype))


def in_steps(numbers: NDArray[Any], digits: int) -> Wholes:
    """Return floats with at most this many decimals as multiples of 10**-digits.

    >>> in_steps(np.array([0.07, 1.1]), 2).tolist()
    [7, 110]
    """
    wide = numbers.astype(np.float64)
    scaled = wide * 10.0**digits if digits >= 0 else wide / 10.0**-digits
    steps: Wholes = np.rint(scaled).astype(np.int64)
    return steps


def from_steps(steps: Wholes, digits: int) -> Floats:
    """Return multiples of 10**-digits as floats: the nearest to the decimal number. Never -0.0.

    >>> from_steps(np.array([7, 110, -3]), 2).tolist()
    [0.07, 1.1, -0.03]
    """
    if digits > EXACT_POWER:
        return np.array([float(f"{step}e-{digits}") for step in steps.tolist()], dtype=np.float64)
    wide: Floats = steps.astype(np.float64)
    return wide / 10.0**digits if digits >= 0 else wide * 10.0**-digits


def rounded(numbers: Floats, digits: int) -> Floats:
    """Return the nearest numbers with this many decimals; halves go away from zero.

    What counts is the number as it is written: 2.675 is a half, although the float is below it.
    Never -0.0. A number so large that all floats around it are whole multiples stays as it is.

    >>> rounded(np.array([2.675, -0.004, 1449.0]), 2).tolist()
    [2.68, 0.0, 1449.0]
    >>> rounded(np.array([1449.9, -1450.0]), -2).tolist()
    [1400.0, -1500.0]
    """
    sizes = np.abs(numbers)
    if digits > EXACT_POWER:
        near = from_steps(in_steps(sizes, digits), digits)
        return np.copysign(near, numbers) + 0.0
    # Powers of ten are exact here, so that every quotient and product is rounded once.
    power = 10.0 ** abs(digits)
    with np.errstate(over="ignore"):
        below = np.floor(sizes * power if digits >= 0 else sizes / power)
    is_small = below < 2.0**51
    below = np.where(is_small, below, 0.0)
    if digits >= 0:
        above = sizes >= (2.0 * below + 1.0) / (2.0 * power)
        near = (below + above) / power
    else:
        above = sizes >= (2.0 * below + 1.0) * (power / 2.0)
        near = (below + above) * power
    # Adding zero turns -0.0 into 0.0.
    result: Floats = np.where(is_small, np.copysign(near, numbers), numbers) + 0.0
    return result
