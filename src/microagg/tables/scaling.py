"""Numbers -> numbers that can be compared with those of other columns.

A scale is fitted once, to the numbers of a column or to their counts, and then applied to any of
its parts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Floats, Rows
from microagg.tables.moments import Moments
from microagg.tables.moments import Scaling as Scaling
from microagg.tables.value_counts import rounded

# Quartiles of normal data are this many standard deviations apart.
_NORMAL_QUARTILES = 1.3489795003921634
# An interquartile range below it, in standard deviations, puts outliers too far away.
_LEAST_RANGE = 1e-100
# Logarithms of larger ratios would overflow on the way.
_LARGEST_RATIO = 1e300
# Up to this many numbers are searched quickly in any order.
_FEW = 4096


class FittedScale(Protocol):
    """A scale with everything it needs to know of a column."""

    def apply(self, values: NDArray[Any]) -> Floats:
        """Return the scaled values."""
        ...


@dataclass(frozen=True, eq=False)
class Numbers:
    """What a scale is fitted to: numbers, each with a weight or counting once.

    `n_records` is how many records they stand for, and `dropped` how many bits were dropped to
    count them, as in `ValueCounts`.
    """

    values: NDArray[Any]
    weights: Floats | None
    n_records: int
    moments: Moments
    dropped: int = 0

    @classmethod
    def of(cls, values: NDArray[Any], weights: Floats | None = None) -> "Numbers":
        """Return the numbers of a whole column."""
        return cls(values, weights, len(values), Moments.of(values, weights))


@dataclass(frozen=True)
class AsTheyAre:
    """The numbers themselves."""

    @classmethod
    def fit(cls, numbers: Numbers) -> FittedScale:  # noqa: ARG003
        """Return the scale; it needs to know nothing."""
        return cls()

    def apply(self, values: NDArray[Any]) -> Floats:
        """Return the values as floats."""
        return values.astype(np.float64)


@dataclass(frozen=True)
class Standardised:
    """(value - mean) / standard deviation; zero if all values are equal."""

    moments: Moments

    @classmethod
    def fit(cls, numbers: Numbers) -> FittedScale:
        """Return the scale for these numbers."""
        return cls(numbers.moments)

    def apply(self, values: NDArray[Any]) -> Floats:
        """Return the standardised values."""
        return self.moments.standardised(values)


@dataclass(frozen=True)
class Robust:
    """(value - median) / (interquartile range / 1.349).

    For normal data the divisor is the standard deviation, and a few outliers do not change it. If
    the quartiles are equal, or so close that squares of outliers would overflow, the standard
    deviation is used instead.
    """

    moments: Moments
    median: float
    unit: float

    @classmethod
    def fit(cls, numbers: Numbers) -> FittedScale:
        """Return the scale for these numbers."""
        scaled = numbers.moments.standardised(numbers.values)
        low, median, high = _quantiles(scaled, (0.25, 0.5, 0.75), numbers.weights)
        if not high - low > _LEAST_RANGE:
            return Standardised(numbers.moments)
        return cls(numbers.moments, median, (high - low) / _NORMAL_QUARTILES)

    def apply(self, values: NDArray[Any]) -> Floats:
        """Return the scaled values."""
        return (self.moments.standardised(values) - self.median) / self.unit


@dataclass(frozen=True, eq=False)
class Ranked:
    """Standardised ranks; equal values share the mean of theirs.

    A value that did not occur in fitting ranks between its neighbours.
    """

    known: NDArray[Any]  # lowest first
    ranks: Floats
    up_to: Floats
    moments: Moments  # of the ranks
    dropped: int

    @classmethod
    def fit(cls, numbers: Numbers) -> FittedScale:
        """Return the scale for these numbers."""
        known, place = np.unique(numbers.values, return_inverse=True)
        place = place.reshape(-1)
        counts = np.bincount(place, weights=numbers.weights)
        up_to = counts.cumsum()
        ranks = up_to - counts / 2.0
        moments = Moments.of(ranks[place], numbers.weights, numbers.n_records)
        return cls(known, ranks, up_to.astype(np.float64), moments, numbers.dropped)

    def apply(self, values: NDArray[Any]) -> Floats:
        """Return the standardised ranks."""
        values = rounded(values, self.dropped)
        place = _places(self.known, values)
        nearest = np.minimum(place, len(self.known) - 1)
        is_new = self.known[nearest] != values
        below = np.concatenate(([0.0], self.up_to))[place]
        return self.moments.standardised(np.where(is_new, below, self.ranks[nearest]))


@dataclass(frozen=True)
class Logarithmic:
    """Standardised logarithms, in a form that also takes zero and negative numbers.

    It is asinh(value / median size of those that are not zero): a logarithm for numbers that are
    large compared to the median, and proportional for small ones.
    """

    median: float
    moments: Moments  # of the logarithms

    @classmethod
    def fit(cls, numbers: Numbers) -> FittedScale:
        """Return the scale for these numbers."""
        sizes = np.abs(numbers.values.astype(np.float64))
        other = sizes != 0.0
        if not other.any():
            return Standardised(numbers.moments)
        own = None if numbers.weights is None else numbers.weights[other]
        (median,) = _quantiles(sizes[other], (0.5,), own)
        logarithms = _logarithms(numbers.values, median)
        return cls(median, Moments.of(logarithms, numbers.weights, numbers.n_records))

    def apply(self, values: NDArray[Any]) -> Floats:
        """Return the standardised logarithms."""
        return self.moments.standardised(_logarithms(values, self.median))


UNSCALED = "none"
FITS: dict[str, Callable[[Numbers], FittedScale]] = {
    "standardise": Standardised.fit,
    "robust": Robust.fit,
    "rank": Ranked.fit,
    "log": Logarithmic.fit,
    UNSCALED: AsTheyAre.fit,
}
# Scales whose numbers turn back into those of the table by a factor and an offset.
LINEAR = ("standardise", UNSCALED)
# Scales that need to know how often each value occurs, not just mean and deviation.
NEED_COUNTS = ("robust", "rank", "log")


def scaling(values: NDArray[Any], weights: Floats | None = None) -> Scaling:
    """Return the mean and standard deviation (ddof = 1) by which `standardised` scales."""
    return Moments.of(values, weights).scaling


def standardised(values: NDArray[Any], weights: Floats | None = None) -> Floats:
    """Return (values - mean) / standard deviation, or zeros if all values are equal.

    Neither a large common offset nor very large or small numbers cost digits.
    """
    return Moments.of(values, weights).standardised(values)


def _at_once(scale: str) -> Callable[[NDArray[Any], Floats | None], Floats]:
    def scaled(values: NDArray[Any], weights: Floats | None = None) -> Floats:
        return FITS[scale](Numbers.of(values, weights)).apply(values)

    return scaled


# Each scale fitted to a whole column and applied to it.
SCALES = {scale: _at_once(scale) for scale in FITS}


def _places(known: NDArray[Any], values: NDArray[Any]) -> Rows:
    """Return the place of each value among the known ones, which are sorted."""
    if len(known) < _FEW:
        return known.searchsorted(values)
    # Sorted values are found in a fraction of the time, as they are close in memory.
    order = values.argsort()
    places = np.empty(len(values), dtype=np.intp)
    places[order] = known.searchsorted(values[order])
    return places


def _logarithms(values: NDArray[Any], median: float) -> Floats:
    with np.errstate(over="ignore"):
        ratios = values.astype(np.float64) / median
    return np.arcsinh(np.clip(ratios, -_LARGEST_RATIO, _LARGEST_RATIO))


def _quantiles(values: Floats, shares: tuple[float, ...], weights: Floats | None) -> list[float]:
    """Return the least values up to which at least these shares of the records lie.

    If exactly that share lies below, it is half-way between two values.
    """
    order = values.argsort(kind="stable")
    values = values[order]
    up_to = np.arange(1.0, len(values) + 1) if weights is None else weights[order].cumsum()
    found = []
    for share in shares:
        wanted = share * up_to[-1]
        low = min(np.searchsorted(up_to, wanted, side="left"), len(values) - 1)
        high = min(np.searchsorted(up_to, wanted, side="right"), len(values) - 1)
        below, above = float(values[low]), float(values[high])
        # Halves of the smallest floats are zero.
        found.append(below if below == above else below / 2.0 + above / 2.0)
    return found
