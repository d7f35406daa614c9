"""Mean and standard deviation of numbers, from one table or merged from its parts."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Floats


class Scaling(NamedTuple):
    """How standardised numbers turn back into those of the table: number * unit + offset.

    The unit is 0 if all values are equal.
    """

    offset: float
    unit: float


@dataclass(frozen=True)
class Moments:
    """Count, range, mean and sum of squares of at least one number, mergeable across parts.

    Numbers are shifted or scaled before they are summed, so that neither a large common offset nor
    very large or small numbers cost digits: integers are counted from the lowest, floats in units
    of the power of two just above the largest. `mean + rest` is the mean in those terms, held in
    two floats because the mean of numbers with a large offset is itself rounded; `squares` is the
    weighted sum of squared deviations from it. `total` is the sum of the weights, or the count.

    Merging follows Chan, Golub and LeVeque (1979), "Updating formulae and a pairwise algorithm for
    computing sample variances".
    """

    n: int
    total: float
    is_weighted: bool
    low: int | float
    high: int | float
    mean: float
    rest: float
    squares: float

    @classmethod
    def of(
        cls, values: NDArray[Any], weights: Floats | None = None, n_records: int | None = None
    ) -> "Moments":
        """Return the moments of the values; `n_records` if weights count several records each."""
        low, high = values.min().item(), values.max().item()
        n = len(values) if n_records is None else n_records
        total = float(n if weights is None else weights.sum())
        exponent = _exponent(low, high)
        shifted = _shifted(values, low, exponent)
        if low == high:
            mean, rest, squares = float(shifted[0]), 0.0, 0.0
        else:
            mean = float(np.average(shifted, weights=weights))
            shifted -= mean
            rest = float(np.average(shifted, weights=weights))
            shifted -= rest
            np.square(shifted, out=shifted)
            squares = float((shifted if weights is None else weights * shifted).sum())
        return cls(n, total, weights is not None, low, high, mean, rest, squares)

    def merge(self, other: "Moments") -> "Moments":
        """Return the moments of the numbers of both."""
        low, high = min(self.low, other.low), max(self.high, other.high)
        mean, rest, squares = self._seen_from(low, high)
        mean_b, rest_b, squares_b = other._seen_from(low, high)
        total = self.total + other.total
        apart, error = _exact_sum(mean_b, -mean)
        delta = apart + (error + (rest_b - rest))
        share = other.total / total
        mean, error = _exact_sum(mean, delta * share)
        return Moments(
            self.n + other.n,
            total,
            self.is_weighted,
            low,
            high,
            mean,
            rest + error,
            squares + squares_b + delta * delta * self.total * share,
        )

    def times(self, factor: int) -> "Moments":
        """Return the moments of integers that are all `factor` times as large."""
        return Moments(
            self.n,
            self.total,
            self.is_weighted,
            self.low * factor,
            self.high * factor,
            self.mean * factor,
            self.rest * factor,
            self.squares * factor * factor,
        )

    @property
    def is_constant(self) -> bool:
        """Whether all values are equal."""
        return self.low == self.high

    @property
    def scaling(self) -> Scaling:
        """Mean and standard deviation (ddof = 1), in the units of the table."""
        if self.is_constant:
            return Scaling(float(self.low), 0.0)
        exponent = _exponent(self.low, self.high)
        start = self.low if isinstance(self.low, int) else 0
        mean = float(start + np.ldexp(self.mean + self.rest, exponent))
        return Scaling(mean, float(np.ldexp(self._deviation, exponent)))

    def standardised(self, values: NDArray[Any]) -> Floats:
        """Return (values - mean) / standard deviation, or zeros if all values were equal."""
        if self.is_constant:
            return np.zeros(len(values))
        shifted = _shifted(values, self.low, _exponent(self.low, self.high))
        shifted -= self.mean
        shifted -= self.rest
        shifted /= self._deviation
        return shifted

    @property
    def _deviation(self) -> float:
        if not self.is_weighted:
            return float(np.sqrt(self.squares / (self.n - 1)))
        return float(np.sqrt(self.squares / self.total * self.n / (self.n - 1)))

    def _seen_from(self, low: float, high: float) -> tuple[float, float, float]:
        """Return mean, rest and squares as they are if the numbers range from low to high."""
        if isinstance(self.low, int):
            distance = self.low - int(low)
            mean, error = _exact_sum(self.mean, float(distance))
            return mean, self.rest + error + (distance - int(float(distance))), self.squares
        shift = _exponent(self.low, self.high) - _exponent(low, high)
        mean, rest = np.ldexp(self.mean, shift), np.ldexp(self.rest, shift)
        return float(mean), float(rest), float(np.ldexp(self.squares, 2 * shift))


def _exponent(low: float, high: float) -> int:
    if isinstance(low, int):
        return 0
    return int(np.frexp(max(abs(low), abs(high)))[1])


def _shifted(values: NDArray[Any], low: float, exponent: int) -> Floats:
    if values.dtype.kind not in "iu":
        scaled: Floats = np.ldexp(values.astype(np.float64), -exponent)
        return scaled
    # Differences wrap round to the right result for every integer type.
    start = np.uint64(int(low) % 2**64)
    distances = np.subtract(values.astype(np.uint64), start).astype(np.float64)
    below = values < int(low)  # none among the numbers that the moments are of
    if below.any():
        distances[below] = -np.subtract(start, values[below].astype(np.uint64)).astype(np.float64)
    return distances


def _exact_sum(a: float, b: float) -> tuple[float, float]:
    """Return a + b, and the error of rounding it (Knuth's two-sum)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)
