"""One side of a column, before or after protection, and what measures need to know of it."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.aggregates.values import Values
from microagg.core.arrays import Categories, Floats, Mask
from microagg.tables.category_codes import category_codes, squared_distance
from microagg.tables.scaling import Scaling, scaling

# Squares of larger numbers, and sums of these, would overflow.
_FARTHEST = 1e150


class ColumnSide(Values):
    """The values of a column before or after protection; their statistics are computed once."""

    @classmethod
    def of_values(cls, values: Values) -> "ColumnSide":
        """Return a side with these values, or the values themselves if they are one."""
        return values if isinstance(values, cls) else cls(values.numbers, values.missing)

    @cached_property
    def is_present(self) -> Mask:
        """Which records have a value."""
        if self.missing is None:
            return np.ones(len(self.numbers), dtype=np.bool_)
        return ~self.missing

    @cached_property
    def scaling(self) -> Scaling:
        """Mean and standard deviation (ddof = 1) of what is present; (0, 0) if nothing is.

        The deviation is 0 where all values are equal.
        """
        mean, deviation = self._scaling_from_origin
        return Scaling(self._origin + mean, deviation)

    @cached_property
    def ordered(self) -> NDArray[Any]:
        """The values that are present, sorted."""
        return np.sort(self.present)

    @cached_property
    def standardised(self) -> Floats:
        """The values in units of their own mean and deviation, as `standardise` returns them."""
        return self.standardise(self)

    def standardise(self, other: Values) -> Floats:
        """Return (other - mean) / standard deviation, with the mean and deviation of this side.

        0 where a value is missing, and everywhere if the deviation is 0.
        """
        mean, deviation = self._scaling_from_origin
        if deviation == 0.0:
            return np.zeros(len(other.numbers))
        axis = _differences(other.numbers, self._origin)
        axis -= mean
        with np.errstate(over="ignore"):  # other values may be far beyond a tiny deviation
            axis /= deviation
        np.clip(axis, -_FARTHEST, _FARTHEST, out=axis)
        if other.missing is not None:
            axis[other.missing] = 0.0
        return axis

    @cached_property
    def codes(self) -> Categories:
        """The categories of a nominal column as whole numbers; missing is one of them."""
        return category_codes(self)

    @cached_property
    def squared_distance(self) -> float:
        """How far apart different categories are, squared, in units of the column's deviation."""
        _, counts = np.unique(self.codes, return_counts=True)
        return squared_distance(counts, len(self.codes))

    @cached_property
    def _origin(self) -> int:
        """The smallest whole number: floats hold all digits of the differences from it."""
        if self.numbers.dtype.kind not in "iu" or not len(self.present):
            return 0
        return int(self.present.min())

    @cached_property
    def _scaling_from_origin(self) -> Scaling:
        if not len(self.present):
            return Scaling(0.0, 0.0)
        return scaling(_differences(self.present, self._origin))


def _differences(numbers: NDArray[Any], origin: int) -> Floats:
    """Return numbers - origin; of whole numbers all digits, up to 2**53."""
    if numbers.dtype.kind in "iu" and origin != 0 and len(numbers):
        least, most = int(numbers.min()) - origin, int(numbers.max()) - origin
        if least >= -(2**63) and most < 2**63:
            # The subtraction wraps round to the right result for every integer type.
            whole = numbers.astype(np.uint64) - np.uint64(origin % 2**64)
            return whole.astype(np.int64).astype(np.float64)
    return numbers.astype(np.float64) - float(origin)
