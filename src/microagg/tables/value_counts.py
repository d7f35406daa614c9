"""How often each number occurs, in bounded memory: what quantiles and ranks are taken from."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Floats

# Up to this many different numbers are counted exactly.
MOST_VALUES = 2**16


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """The different numbers of a column, lowest first, with the weight of each.

    The counts are exact for up to `MOST_VALUES` different numbers. Beyond that, floats (and
    integers as floats) lose as many of their last `dropped` bits as it takes to have no more than
    that many, and each stands for the middle of those that look alike. That moves a number by at
    most 2**(dropped - 53) of its size; zero stays zero. How many bits are dropped depends only on
    which numbers occur, so the result is the same however a table is split and merged.
    """

    values: NDArray[Any]
    weights: Floats
    dropped: int = 0

    @classmethod
    def of(
        cls, values: NDArray[Any], weights: Floats | None = None, most: int = MOST_VALUES
    ) -> "ValueCounts":
        """Return the counts of a part."""
        if values.dtype.kind == "f":
            values = values.astype(np.float64)
        each = np.ones(len(values)) if weights is None else weights
        return _counted(values, each, 0, most)

    def merge(self, other: "ValueCounts", most: int = MOST_VALUES) -> "ValueCounts":
        """Return the counts of the numbers of both."""
        dropped = max(self.dropped, other.dropped)
        values = [rounded(part.values, dropped) for part in (self, other)]
        weights = np.concatenate((self.weights, other.weights))
        return _counted(np.concatenate(values), weights, dropped, most)

    def times(self, factor: int) -> "ValueCounts":
        """Return the counts of integers that are all `factor` times as large."""
        values = rounded(self.values * factor, self.dropped)
        return _counted(values, self.weights, self.dropped, len(values))

    @property
    def is_exact(self) -> bool:
        """Whether every number is counted as it is."""
        return self.dropped == 0


def rounded(values: NDArray[Any], dropped: int) -> NDArray[Any]:
    """Return the numbers that stand for these once this many bits are dropped."""
    if not dropped:
        return values
    floats = values.astype(np.float64)
    bits = floats.view(np.int64)
    middle = bits >> dropped << dropped | 1 << (dropped - 1)
    return np.where(floats == 0.0, 0.0, middle.view(np.float64))


def _counted(values: NDArray[Any], weights: Floats, dropped: int, most: int) -> ValueCounts:
    different, places = np.unique(values, return_inverse=True)
    totals: Floats = np.bincount(places.reshape(-1), weights=weights).astype(np.float64)
    if len(different) <= most:
        return ValueCounts(different, totals, dropped)
    dropped = max(dropped, _bits_to_drop(different, most))
    return _counted(rounded(different, dropped), totals, dropped, most)


def _bits_to_drop(values: NDArray[Any], most: int) -> int:
    """Return how many bits must go until at most this many of the sorted numbers differ."""
    floats = values.astype(np.float64)
    bits = floats.view(np.uint64)
    # Neighbours look alike once all bits from the highest in which they differ are gone.
    _, lengths = np.frexp((bits[1:] ^ bits[:-1]).astype(np.float64))
    lengths[(floats[1:] == 0.0) | (floats[:-1] == 0.0)] = 64
    lengths[floats[1:] == floats[:-1]] = 0  # integers that are the same float
    staying = 1 + len(lengths) - np.bincount(lengths, minlength=65).cumsum()
    return max(1, int((staying <= most).argmax()))
