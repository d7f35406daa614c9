"""Numbers -> numbers that can be compared with those of other columns."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Floats

# Quartiles of normal data are so many standard deviations apart.
_NORMAL_QUARTILES = 1.3489795003921634


class Scaling(NamedTuple):
    """How a column of the matrix becomes one of the table again: matrix * unit + offset.

    The unit of a column whose values are all equal is 0.
    """

    offset: float
    unit: float


def scaling(values: NDArray[Any], weights: Floats | None = None) -> Scaling:
    """Return mean and standard deviation (ddof = 1), by which `standardised` scales."""
    if values.min() == values.max():
        return Scaling(float(values[0]), 0.0)
    centred, mean, exponent = _centred(values, weights)
    return Scaling(mean, float(np.ldexp(_deviation(centred, weights), exponent)))


def standardised(values: NDArray[Any], weights: Floats | None = None) -> Floats:
    """Return (values - mean) / standard deviation, or zeros where all values are equal.

    A large common offset and very large or small numbers cost no digits.
    """
    if values.min() == values.max():
        return np.zeros(len(values))
    centred, _, _ = _centred(values, weights)
    centred /= _deviation(centred, weights)
    return centred


def robust(values: NDArray[Any], weights: Floats | None = None) -> Floats:
    """Return (values - median) / (distance of the quartiles / 1.349).

    That is the standard deviation of normal data, and a few outliers do not change it. Where the
    quartiles are equal, the standard deviation stands in.
    """
    scaled = standardised(values, weights)
    low, middle, high = _quantiles(scaled, (0.25, 0.5, 0.75), weights)
    if high > low:
        scaled = (scaled - middle) / ((high - low) / _NORMAL_QUARTILES)
    return scaled


def ranked(values: NDArray[Any], weights: Floats | None = None) -> Floats:
    """Return the standardised ranks; equal values share the mean of theirs."""
    _, place = np.unique(values, return_inverse=True)
    place = place.reshape(-1)
    counts = np.bincount(place, weights=weights)
    ranks = (counts.cumsum() - counts / 2.0)[place]
    return standardised(ranks, weights)


def logarithmic(values: NDArray[Any], weights: Floats | None = None) -> Floats:
    """Return standardised logarithms, in a form that takes zero and negative numbers, too.

    It is asinh(value / median of the sizes of those that are not zero): a logarithm for numbers
    that are large against the median, proportional for small ones.
    """
    numbers = values.astype(np.float64)
    other = numbers != 0.0
    if not other.any():
        return np.zeros(len(values))
    own = None if weights is None else weights[other]
    (middle,) = _quantiles(np.abs(numbers[other]), (0.5,), own)
    with np.errstate(over="ignore"):
        ratios = np.clip(numbers / middle, -1e300, 1e300)
    return standardised(np.arcsinh(ratios), weights)


def as_they_are(values: NDArray[Any], weights: Floats | None = None) -> Floats:  # noqa: ARG001
    """Return the numbers themselves."""
    return values.astype(np.float64)


SCALES: dict[str, Callable[[NDArray[Any], Floats | None], Floats]] = {
    "standardise": standardised,
    "robust": robust,
    "rank": ranked,
    "log": logarithmic,
    "none": as_they_are,
}
UNSCALED = "none"
# Scales whose numbers become those of the table again by a factor and an offset.
LINEAR = ("standardise", UNSCALED)


def _quantiles(values: Floats, shares: tuple[float, ...], weights: Floats | None) -> list[float]:
    """Return the least values up to which at least such shares of the records lie.

    Half-way between two values where exactly such a share lies below.
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


def _deviation(centred: Floats, weights: Floats | None) -> float:
    n = len(centred)
    if weights is None:
        return float(np.sqrt(np.square(centred).sum() / (n - 1)))
    share = (weights * np.square(centred)).sum() / weights.sum()
    return float(np.sqrt(share * n / (n - 1)))


def _centred(values: NDArray[Any], weights: Floats | None) -> tuple[Floats, float, int]:
    """Return (values - mean) / 2**exponent, so that squares do not overflow, and these two."""
    if values.dtype.kind in "iu":
        # Differences wrap round to the right result for every integer type.
        low, exponent = int(values.min()), 0
        centred = np.subtract(values.astype(np.uint64), np.uint64(low % 2**64)).astype(np.float64)
    else:
        low, exponent = 0, int(np.frexp(np.abs(values.astype(np.float64)).max())[1])
        centred = np.ldexp(values.astype(np.float64), -exponent)
    mean = np.average(centred, weights=weights)
    centred -= mean
    # Twice: the mean of numbers with a large common offset is itself rounded.
    rest = np.average(centred, weights=weights)
    centred -= rest
    return centred, float(low + np.ldexp(mean + rest, exponent)), exponent
