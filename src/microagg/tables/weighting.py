"""Weights of records: how many of the population each stands for."""

from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Floats
from microagg.core.errors import DataError
from microagg.tables.frames import Frame, dtype_of, type_name
from microagg.tables.typed import code_numbers, is_number

# Largest ratio between weights of records, and the largest weight; the smallest is one over it.
_LARGEST_RATIO, _LARGEST_WEIGHT = 1e9, 1e100


class WeightRange(NamedTuple):
    """How many weights there are, how many cannot be used, and the range of the others."""

    n: int
    n_unusable: int
    least: float
    largest: float

    @classmethod
    def of(cls, weights: Floats) -> "WeightRange":
        """Return the range of the weights that are finite and above 0; missing ones are 0."""
        own = weights[np.isfinite(weights) & (weights > 0.0)]
        least, largest = float(own.min(initial=np.inf)), float(own.max(initial=0.0))
        return cls(len(weights), len(weights) - len(own), least, largest)

    def merge(self, other: "WeightRange") -> "WeightRange":
        """Return the range of both parts of a column."""
        return WeightRange(
            self.n + other.n,
            self.n_unusable + other.n_unusable,
            min(self.least, other.least),
            max(self.largest, other.largest),
        )

    def check(self, name: str) -> None:
        """Refuse weights that cannot be used, and those that sums would lose."""
        if self.n_unusable:
            raise DataError(
                f"the weights in {name!r} must be finite numbers above 0; {self.n_unusable} of "
                f"{self.n} are not, or are missing. Correct or remove those records first."
            )
        if self.least * _LARGEST_RATIO < self.largest:
            raise DataError(
                f"the weights in {name!r} differ by a factor of more than {_LARGEST_RATIO:g}, so "
                "small ones would be lost in sums. Correct them first."
            )
        if not 1.0 / _LARGEST_WEIGHT <= self.largest <= _LARGEST_WEIGHT:
            raise DataError(
                f"the weights in {name!r} must be from {1.0 / _LARGEST_WEIGHT:g} to "
                f"{_LARGEST_WEIGHT:g}; the largest is not. Multiply all of them by a constant "
                "first."
            )

    @property
    def unit(self) -> float:
        """The power of two just above the largest, in which no weight is above 1."""
        return float(np.ldexp(1.0, int(np.frexp(self.largest)[1])))


def weights_in(frame: Frame, name: str) -> Floats:
    """Return the numbers in a column of weights; missing ones are 0."""
    if not is_number(frame, name):
        got = type_name(dtype_of(frame, name))
        raise DataError(f"the weights in {name!r} must be numbers; got {got}.")
    return code_numbers(frame, name).numbers.astype(np.float64)


def record_weights(frame: Frame, name: str) -> Floats:
    """Return the weights in a column, all of them finite and above 0."""
    weights = weights_in(frame, name)
    WeightRange.of(weights).check(name)
    return weights
