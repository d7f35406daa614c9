"""How many records violate a constraint, counted without the code that satisfies it."""

import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.constraints.exact import whole_row
from microagg.constraints.grammar import Constraint
from microagg.core.arrays import Floats
from microagg.core.decimals import SIGNIFICANT, decimals_of, in_steps

# A total may miss its bound by this share of the sum of the absolute values of its terms.
TOLERANCE = 1e-9
# The same for totals of 32-bit floats.
_NARROW_TOLERANCE = 1e-6
# A term counts for at least this share of its column's scale: if a mean is almost zero because
# larger values cancel out, its last digits are those of the larger values.
LEAST_TERM = 1e-6


def count_violations(
    constraints: Iterable[Constraint],
    columns: Mapping[str, Any],
    scales: Mapping[str, float] | None = None,
) -> dict[str, int]:
    """Return how many records violate each constraint, by its text.

    A constraint over columns of whole numbers or of numbers with a few decimals is checked exactly,
    any other to 1e-9 of the sum of the absolute values of its terms, or 1e-6 if it has columns of
    32-bit floats. With `scales`, a term counts for at least 1e-6 of its column's scale. A total
    that is not finite satisfies none.

    >>> from microagg.constraints.grammar import parse
    >>> count_violations([parse("tax >= 0"), parse("tax <= 0")], {"tax": [2, 3, -1]})
    {'tax >= 0': 1, 'tax <= 0': 2}
    """
    found = {}
    for constraint in constraints:
        arrays = [np.asarray(columns[name]) for name in constraint.coefficients]
        widths = [(scales or {}).get(name, 0.0) for name in constraint.coefficients]
        if all(values.dtype.kind in "biu" for values in arrays):
            over, allowed = _whole_excess(constraint, arrays)
        elif (exact := _in_steps(constraint, arrays, widths)) is not None:
            over, allowed = _whole_excess(*exact)
        else:
            over, allowed = _float_excess(constraint, arrays, widths)
        kept = {
            "=": np.abs(over) <= allowed,
            "<=": over <= allowed,
            ">=": over >= -allowed,
        }[constraint.relation]
        # Not the other way round: nothing compares with a total that is not finite.
        found[constraint.text] = len(arrays[0]) - int(np.count_nonzero(kept))
    return found


def _whole_excess(constraint: Constraint, arrays: list[NDArray[Any]]) -> tuple[Any, Any]:
    """Return how far each record is above the bound, exactly, in some unit; and the tolerance."""
    coefficients, factor = whole_row(list(constraint.coefficients.values()))
    bound = constraint.bound * factor
    reach = sum(
        abs(c) * max(abs(int(values.min())), abs(int(values.max())))
        for c, values in zip(coefficients, arrays, strict=True)
        if len(values)
    )
    fits = reach + abs(bound) < 2**62 and bound.denominator == 1
    kind: Any = np.int64 if fits else object
    total = sum(c * values.astype(kind) for c, values in zip(coefficients, arrays, strict=True))
    return total - (int(bound) if fits else bound), 0


def _in_steps(
    constraint: Constraint, arrays: list[NDArray[Any]], scales: list[float]
) -> tuple[Constraint, list[NDArray[Any]]] | None:
    """Return a constraint on numbers with decimals as one on whole numbers, in the last decimal.

    None if the numbers have no last decimal, or if nothing says that it is right: in 32 bits.
    """
    digits = 0
    largest = [max(largest_size(values), own) for values, own in zip(arrays, scales, strict=True)]
    for values, own in zip(arrays, largest, strict=True):
        if values.dtype in (np.float16, np.float32) or not np.isfinite(values).all():
            return None
        found = decimals_of(values, own)
        if found is None:
            return None
        digits = max(digits, found)
    if max(largest, default=0.0) * 10.0**digits >= 10.0**SIGNIFICANT:
        return None
    steps = [in_steps(values, digits) for values in arrays]
    return replace(constraint, bound=constraint.bound * 10**digits), steps


def _float_excess(
    constraint: Constraint, arrays: list[NDArray[Any]], scales: list[float]
) -> tuple[Floats, Floats]:
    """Return how far each record is above the bound, and the tolerance, in a unit that fits both.

    The unit is 1, or a power of two if sums of huge values would overflow.
    """
    bound = float(constraint.bound)
    factors = [float(coefficient) for coefficient in constraint.coefficients.values()]
    numbers = [values.astype(np.float64) for values in arrays]
    least = [LEAST_TERM * scale for scale in scales]
    shift = _shift_against_overflow(bound, factors, numbers, least)
    bound = math.ldexp(bound, shift)
    total, sizes = np.full(len(arrays[0]), -bound), np.full(len(arrays[0]), abs(bound))
    for factor, values, floor in zip(factors, numbers, least, strict=True):
        with np.errstate(invalid="ignore"):  # infinity less infinity is not a number
            total += factor * np.ldexp(values, shift)
        sizes += abs(factor) * np.ldexp(np.maximum(np.abs(values), floor), shift)
    narrow = any(values.dtype == np.float32 for values in arrays)
    allowed = (_NARROW_TOLERANCE if narrow else TOLERANCE) * sizes
    return total, np.where(np.isfinite(total), allowed, np.nan)


def largest_size(values: NDArray[Any]) -> float:
    """Return the largest absolute value that is finite, or 0."""
    sizes = np.abs(values.astype(np.float64))
    return float(sizes.max(initial=0.0, where=np.isfinite(sizes)))


def _shift_against_overflow(
    bound: float, factors: list[float], numbers: list[Floats], least: list[float]
) -> int:
    """Return the power of two, 0 or less, that keeps the sum of all terms within floats."""
    exponents = [math.frexp(bound)[1]]
    for factor, values, floor in zip(factors, numbers, least, strict=True):
        largest = max(floor, largest_size(values))
        exponents.append(math.frexp(factor)[1] + math.frexp(largest)[1])
    return min(0, sys.float_info.max_exp - max(exponents) - len(exponents))
