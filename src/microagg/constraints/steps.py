"""Rounded columns as whole multiples of a step, so that constraints hold on rounded values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.constraints.component import LARGEST_WHOLE, Limits
from microagg.constraints.grammar import Constraint
from microagg.core.arrays import Floats
from microagg.core.decimals import SIGNIFICANT, from_steps

# A mean of steps is a whole or a half step if it is so close to one, or within some rounding.
_SAME, _ROUNDING = 1e-9, 8 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Steps:
    """Columns that contain multiples of 10**-digits, counted in these steps.

    `integers` are columns of whole numbers, with the limits of their types; those not in `digits`
    have steps of 1. All other columns are left as they are.

    >>> steps = Steps({"price": 2}, {"n": (0, 255)})
    >>> steps.count("price", [0.145, 3.0]).tolist(), steps.value("price", np.array([14]))
    ([14.5, 300.0], array([0.14]))
    """

    digits: Mapping[str, int]
    integers: Mapping[str, Limits]

    @property
    def limits(self) -> dict[str, Limits]:
        """The least and the largest number of steps of each column that has steps."""
        found = {}
        for name in dict.fromkeys((*self.integers, *self.digits)):
            low, high = self.integers.get(name, (-LARGEST_WHOLE, LARGEST_WHOLE))
            step = 10 ** max(-self.digits.get(name, 0), 0) if name in self.integers else 1
            found[name] = (-(-low // step), high // step)
        return found

    def rescaled(self, constraint: Constraint) -> Constraint:
        """Return the constraint on numbers of steps."""
        coefficients = {
            name: factor * Fraction(10) ** -self.digits.get(name, 0)
            for name, factor in constraint.coefficients.items()
        }
        return replace(constraint, coefficients=coefficients)

    def count(self, name: str, values: Any) -> Floats:
        """Return values in steps; what is a whole or a half step up to rounding is exact."""
        numbers = np.asarray(values, dtype=np.float64)
        if name not in self.digits:
            return numbers
        counts = _times(numbers, self.digits[name])
        halves = np.rint(2.0 * counts) / 2.0
        is_near = np.abs(counts - halves) <= np.maximum(_SAME, _ROUNDING * np.abs(counts))
        snapped: Floats = np.where(is_near, halves, counts)
        return snapped

    def width(self, name: str, scale: float) -> float:
        """Return a scale in steps."""
        return float(_times(np.float64(scale), self.digits.get(name, 0)))

    def value(self, name: str, counts: NDArray[Any]) -> NDArray[Any]:
        """Return numbers of steps as values: whole numbers stay whole, others become floats."""
        if name not in self.digits:
            return counts
        digits = self.digits[name]
        if name in self.integers:
            whole: NDArray[Any] = counts * 10 ** max(-digits, 0)
            return whole
        return from_steps(counts, digits)

    def wording(self, names: Sequence[str]) -> tuple[str, str]:
        """Return which steps these columns have, and what else to do about it, for a message."""
        each: dict[str, list[str]] = {}
        for name in names:
            digits = self.digits.get(name, 0)
            if name in self.integers and digits == 0:
                kind = "whole numbers that {} can hold"
            else:
                step = Decimal(1).scaleb(-digits)
                written = f"{step:f}" if digits <= SIGNIFICANT else f"{step:e}"
                kind = f"multiples of {written} in {{}}"
            each.setdefault(kind, []).append(repr(name))
        why = " and ".join(kind.format(", ".join(listed)) for kind, listed in each.items())
        rounded = next((name for name in names if name in self.digits), None)
        instead = ""
        if rounded is not None:
            instead = f", or release more digits of {rounded!r} (--digits, or digits= in Python)"
        return f" in {why}", instead


def _times(numbers: Any, digits: int) -> Any:
    """Return numbers times 10**digits, rounded once."""
    return numbers * 10.0**digits if digits >= 0 else numbers / 10.0**-digits
