"""Means, standard deviations, quantiles and correlations, before and after."""

import math
from dataclasses import dataclass

import numpy as np

from microagg.core.arrays import Floats
from microagg.measures.utility.correlations import (
    CorrelationChange,
    pearson_change,
    spearman_change,
)
from microagg.measures.utility.weighted import present_weights, quantiles, scaling_of
from microagg.tables.moments import Moments as NumberMoments
from microagg.tables.pairs import Pair, PairedColumn
from microagg.tables.sides import ColumnSide

# Shares of the records below the quantiles.
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class ColumnMoments:
    """One column before and after: mean, sd and variance (ddof = 1) in its own units.

    Dates count in their unit of time since 1970, ordered categories by rank. `mean_change` is in
    standard deviations of the original; the other changes are (after - before) / before, that of
    the mean for numbers only. Quantiles, by their share of the records, are distances from the
    original's mean in its standard deviations. None means undefined: nothing is present, there is
    one value only, or the original does not vary.
    """

    n_before: int
    n_after: int
    mean_before: float | None
    mean_after: float | None
    mean_change: float | None
    mean_relative_change: float | None
    sd_before: float | None
    sd_after: float | None
    sd_relative_change: float | None
    variance_before: float | None
    variance_after: float | None
    variance_relative_change: float | None
    quantiles_before: dict[str, float] | None
    quantiles_after: dict[str, float] | None
    largest_quantile_change: float | None


@dataclass(frozen=True)
class Moments:
    """Summary statistics before and after: of each column, and of pairs of columns.

    All of them count records by their weights, if there are weights (`is_weighted`).
    """

    columns: dict[str, ColumnMoments]
    pearson: CorrelationChange
    spearman: CorrelationChange
    is_weighted: bool = False


def moments(pair: Pair) -> Moments:
    """Return summary statistics of numbers, dates and ordered categories, before and after.

    Statistics are of the values present on their side, correlations of the records where both
    columns are present. Quantiles interpolate between neighbours. Where records have weights, all
    statistics are weighted.

    Exact for any number of records: O(n d log n + n d^2).
    """
    columns, weights = pair.scaled_columns, pair.weights
    return Moments(
        {column.name: _column(column, weights) for column in columns},
        pearson_change(columns, weights),
        spearman_change(columns, weights),
        weights is not None,
    )


def _column(column: PairedColumn, weights: Floats | None) -> ColumnMoments:
    before, after = (_statistics(side, weights) for side in (column.before, column.after))
    return column_moments(column, before, after, weights)


def column_moments(
    column: PairedColumn,
    before: "SideStatistics",
    after: "SideStatistics",
    weights: Floats | None = None,
) -> ColumnMoments:
    """Return the moments of a column with these statistics, and with its own quantiles."""
    sides = _quantiles(column, weights)
    return ColumnMoments(
        n_before=before.n,
        n_after=after.n,
        mean_before=before.mean,
        mean_after=after.mean,
        mean_change=_ratio(_difference(before.mean, after.mean), before.sd or 0.0),
        mean_relative_change=_relative(before.mean, after.mean) if column.type.is_number else None,
        sd_before=before.sd,
        sd_after=after.sd,
        sd_relative_change=_relative(before.sd, after.sd),
        variance_before=before.variance,
        variance_after=after.variance,
        variance_relative_change=_relative_square(before.sd, after.sd),
        quantiles_before=None if sides is None else _by_share(sides[0]),
        quantiles_after=None if sides is None else _by_share(sides[1]),
        largest_quantile_change=None if sides is None else float(np.abs(sides[1] - sides[0]).max()),
    )


@dataclass(frozen=True)
class SideStatistics:
    """Count, mean and standard deviation of the values that are present on one side."""

    n: int
    mean: float | None
    sd: float | None

    @property
    def variance(self) -> float | None:
        """The variance, if there is one."""
        return None if self.sd is None else _finite(self.sd * self.sd)


def _statistics(side: ColumnSide, weights: Floats | None) -> SideStatistics:
    n = len(side.numbers) - side.n_missing
    mean, sd = scaling_of(side, weights)
    return SideStatistics(n, mean if n else None, sd if n > 1 else None)


def _quantiles(column: PairedColumn, weights: Floats | None) -> tuple[Floats, Floats] | None:
    if column.is_constant or not column.after.is_present.any():
        return None
    own = [present_weights(side, weights) for side in (column.before, column.after)]
    before = column.scaled_before[column.before.is_present]
    after = column.scaled_after[column.after.is_present]
    if weights is not None:  # in units of the weighted mean and deviation
        units = NumberMoments.of(before, own[0])
        before, after = units.standardised(before), units.standardised(after)
    return quantiles(before, own[0], QUANTILES), quantiles(after, own[1], QUANTILES)


def _by_share(values: Floats) -> dict[str, float]:
    return {str(share): float(value) for share, value in zip(QUANTILES, values, strict=True)}


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _difference(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else _finite(after - before)


def _ratio(number: float | None, to: float) -> float | None:
    return None if number is None or to == 0.0 else _finite(number / to)


def _relative(before: float | None, after: float | None) -> float | None:
    return None if before is None else _ratio(_difference(before, after), abs(before))


def _relative_square(before: float | None, after: float | None) -> float | None:
    """Return the relative change of the squares, which themselves may overflow."""
    if before is None or after is None or before == 0.0:
        return None
    ratio = after / before
    return _finite(ratio * ratio - 1.0)
