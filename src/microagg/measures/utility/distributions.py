"""How far the distribution of each column moved."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.aggregates.values import Values
from microagg.core.arrays import Floats
from microagg.measures.utility.scaled import share_missing
from microagg.tables.encoding import near_zero
from microagg.tables.pairs import Pair, PairedColumn
from microagg.tables.scaling import Scaling, scaling


@dataclass(frozen=True)
class ColumnDistribution:
    """Distances between the distributions of one column, and what is missing of it.

    Numbers, dates and ordered categories have `kolmogorov_smirnov` and `wasserstein` (in units of
    the original's deviation), both of the values that are present; nominal columns have
    `total_variation`, in which missing is one more category. None where a distance does not apply,
    nothing is present on one side, or the original has no deviation to measure by.
    """

    missing_before: float
    missing_after: float
    kolmogorov_smirnov: float | None = None
    wasserstein: float | None = None
    total_variation: float | None = None


@dataclass(frozen=True)
class Distributions:
    """The distances of every column, and the largest of each kind over all columns."""

    columns: dict[str, ColumnDistribution]
    largest_kolmogorov_smirnov: float | None
    largest_wasserstein: float | None
    largest_total_variation: float | None


def distributions(pair: Pair) -> Distributions:
    """Return how far the distribution of each column moved, whichever record has which value.

    With F and G the shares of values up to t before and after,

        Kolmogorov-Smirnov   max over t of |F(t) - G(t)|
        Wasserstein          integral of |F(t) - G(t)| dt / sd of the original
        total variation      1/2 * sum over categories of |share before - share after|

    Exact for any number of records: O(n d log n).
    """
    columns = {name: _distances(column) for name, column in pair.columns.items()}
    each = columns.values()
    return Distributions(
        columns,
        max((c.kolmogorov_smirnov for c in each if c.kolmogorov_smirnov is not None), default=None),
        max((c.wasserstein for c in each if c.wasserstein is not None), default=None),
        max((c.total_variation for c in each if c.total_variation is not None), default=None),
    )


def _distances(column: PairedColumn) -> ColumnDistribution:
    before, after = column.before, column.after
    missing = share_missing(before), share_missing(after)
    if not column.is_scaled:
        return ColumnDistribution(*missing, total_variation=_total_variation(before, after))
    if not len(before.present) or not len(after.present):
        return ColumnDistribution(*missing)
    before, after = near_zero(before, after)
    steps, gaps = _gaps(before.present, after.present)
    return ColumnDistribution(
        *missing,
        kolmogorov_smirnov=float(gaps.max()),
        wasserstein=_wasserstein(steps, gaps, scaling(before.present)),
    )


def _gaps(before: NDArray[Any], after: NDArray[Any]) -> tuple[NDArray[Any], Floats]:
    """Return all values in their order, and how far apart the shares up to each of them are."""
    sides = [np.sort(before), np.sort(after)]
    steps = np.sort(np.concatenate(sides), kind="stable")  # merges what is sorted
    below = [np.searchsorted(side, steps, side="right") / len(side) for side in sides]
    return steps, np.abs(below[0] - below[1])


def _wasserstein(steps: NDArray[Any], gaps: Floats, scale: Scaling) -> float | None:
    if scale.unit == 0.0:
        return None
    with np.errstate(over="ignore", invalid="ignore"):  # beyond numbers, in tiny deviations
        widths = np.diff((steps.astype(np.float64) - scale.offset) / scale.unit)
        distance = float(widths @ gaps[:-1])
    return distance if np.isfinite(distance) else None


def _total_variation(before: Values, after: Values) -> float:
    codes = [_with_missing(side) for side in (before, after)]
    _, places = np.unique(np.concatenate(codes), return_inverse=True)
    places, n = places.reshape(-1), len(codes[0])
    counts = np.bincount(places[:n], minlength=places.max() + 1)
    return float(np.abs(counts - np.bincount(places[n:], minlength=len(counts))).sum() / (2 * n))


def _with_missing(values: Values) -> NDArray[np.int64]:
    codes = values.numbers.astype(np.int64)
    return codes if values.missing is None else np.where(values.missing, -1, codes)
