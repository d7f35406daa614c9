"""Distances between the distributions of each column before and after."""

from dataclasses import dataclass

import numpy as np

from microagg.aggregates.values import Values
from microagg.core.arrays import Floats
from microagg.measures.utility.weighted import scaling_of, shares_up_to
from microagg.tables.category_codes import category_codes
from microagg.tables.pairs import Pair, PairedColumn


@dataclass(frozen=True)
class ColumnDistribution:
    """Distances between the distributions of one column, and the share of it that is missing.

    Numbers, dates and ordered categories have `kolmogorov_smirnov` and `wasserstein` (in standard
    deviations of the original), both over the values present; nominal columns have
    `total_variation`, in which missing is one more category. None where a distance does not apply,
    nothing is present on one side, or the original has no deviation.
    """

    missing_before: float
    missing_after: float
    kolmogorov_smirnov: float | None = None
    wasserstein: float | None = None
    total_variation: float | None = None


@dataclass(frozen=True)
class Distributions:
    """The distances of every column, and the largest of each kind.

    Distances count records by their weights, if there are weights (`is_weighted`); shares that are
    missing are of the records.
    """

    columns: dict[str, ColumnDistribution]
    largest_kolmogorov_smirnov: float | None
    largest_wasserstein: float | None
    largest_total_variation: float | None
    is_weighted: bool = False


def distributions(pair: Pair) -> Distributions:
    """Return how far the distribution of each column moved, whichever record has which value.

    With F and G the shares of values up to t before and after,

        Kolmogorov-Smirnov   max over t of |F(t) - G(t)|
        Wasserstein          integral of |F(t) - G(t)| dt / sd of the original
        total variation      1/2 * sum over categories of |share before - share after|

    Where records have weights, shares and the deviation are weighted. Exact for any number of
    records: O(n d log n).
    """
    columns = {name: _distances(column, pair.weights) for name, column in pair.columns.items()}
    return largest_of(columns, is_weighted=pair.weights is not None)


def largest_of(columns: dict[str, ColumnDistribution], *, is_weighted: bool) -> Distributions:
    """Return the distances of columns, with the largest of each kind."""
    each = columns.values()
    return Distributions(
        columns,
        max((c.kolmogorov_smirnov for c in each if c.kolmogorov_smirnov is not None), default=None),
        max((c.wasserstein for c in each if c.wasserstein is not None), default=None),
        max((c.total_variation for c in each if c.total_variation is not None), default=None),
        is_weighted,
    )


def _distances(column: PairedColumn, weights: Floats | None) -> ColumnDistribution:
    before, after = column.before, column.after
    missing = _share_missing(before), _share_missing(after)
    if not column.is_scaled:
        return ColumnDistribution(
            *missing, total_variation=_total_variation(before, after, weights)
        )
    if not before.is_present.any() or not after.is_present.any():
        return ColumnDistribution(*missing)
    # One merge serves both distances. SciPy's ks_2samp and wasserstein_distance each sort and merge
    # anew, and the second turns whole numbers into floats first: above 2**53 it loses digits.
    steps = np.sort(np.concatenate([before.ordered, after.ordered]), kind="stable")  # merges them
    below = [shares_up_to(side, weights, steps) for side in (before, after)]
    gaps = np.abs(below[0] - below[1])
    wasserstein = None
    if not column.is_constant:
        wasserstein = float(np.diff(before.standardise(Values(steps))) @ gaps[:-1])
        if weights is not None:
            wasserstein *= before.scaling.unit / scaling_of(before, weights).unit
    return ColumnDistribution(
        *missing, kolmogorov_smirnov=float(gaps.max()), wasserstein=wasserstein
    )


def _share_missing(values: Values) -> float:
    return values.n_missing / len(values.numbers)


def _total_variation(before: Values, after: Values, weights: Floats | None) -> float:
    codes = [category_codes(side) for side in (before, after)]
    _, places = np.unique(np.concatenate(codes), return_inverse=True)
    places, n = places.reshape(-1), len(codes[0])
    total = n if weights is None else float(weights.sum())
    counts = np.bincount(places[:n], weights, minlength=places.max() + 1)
    later = np.bincount(places[n:], weights, minlength=len(counts))
    return float(np.abs(counts - later).sum() / (2 * total))
