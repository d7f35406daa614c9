"""How one column becomes axes of the matrix: fitted once, applied to any part of the column."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.aggregates.choices import Missing
from microagg.aggregates.values import Values
from microagg.core.arrays import Floats, Rows
from microagg.core.errors import DataError
from microagg.tables.category_codes import squared_distance
from microagg.tables.columns import Column, ColumnType
from microagg.tables.fitted_types import FittedType
from microagg.tables.moments import Moments, Scaling
from microagg.tables.nominal import equidistant_points, indicator_points
from microagg.tables.scaling import FITS, UNSCALED, FittedScale, Numbers
from microagg.tables.statistics import CategoryStatistics, ColumnStatistics, check_finite


@dataclass(frozen=True, eq=False)
class Points:
    """A column as points; if there are few of them, `rows` says which one each record has."""

    points: Floats
    rows: Rows | None = None

    @property
    def width(self) -> int:
        """How many axes the points have."""
        return int(self.points.shape[1])

    def fill(self, out: Floats) -> None:
        """Write the point of every record, axis by axis to save memory."""
        for axis, values in zip(out.T, self.points.T, strict=True):
            axis[:] = values if self.rows is None else values[self.rows]


@dataclass(frozen=True, eq=False)
class FittedNumbers:
    """Numbers, dates and ordinal codes: one axis, and one more if a missing value is a value.

    Missing values are at `middle` on the first axis and at `apart` on the second, where all others
    are at 0; None if there is none, or no second axis. `factor` is the root of the column's weight.
    """

    type: FittedType
    factor: float
    scale: FittedScale
    moments: Moments
    is_scaled: bool
    middle: float | None = None
    apart: float | None = None

    @property
    def scaling(self) -> Scaling:
        """Mean and standard deviation, or 0 and 1 if the numbers are taken as they are."""
        return self.moments.scaling if self.is_scaled else Scaling(0.0, 1.0)

    @property
    def largest(self) -> float:
        """The largest coordinate, in size, of a column that is not scaled."""
        ends = (float(self.moments.low), float(self.moments.high), self.apart or 0.0)
        return self.factor * max(map(abs, ends))

    @property
    def width(self) -> int:
        """How many axes the column has."""
        return 1 if self.apart is None else 2

    def apply(self, column: Column) -> Points:
        """Return the points of a part."""
        values = self.type.values_of(column)
        missing = values.missing
        if missing is None:
            axes = [self.scale.apply(values.numbers)]
            if self.apart is not None:
                axes.append(np.zeros(len(values.numbers)))
        else:
            if self.middle is None:
                raise _unexpected_missing(self.type.name)
            scaled = np.full(len(missing), self.middle)
            scaled[~missing] = self.scale.apply(values.present)
            axes = [scaled]
            if self.apart is not None:
                axes.append(missing.astype(np.float64) * self.apart)
        return Points(np.column_stack(axes) * self.factor)


@dataclass(frozen=True, eq=False)
class FittedCategories:
    """Nominal columns: a point for each category, all equally far apart.

    `rows` is the point of every category and, last, of a missing value; -1 if it did not occur.
    `apart` is the squared distance between two categories; if there are many, that of their points
    is only nearly so. `shares` are those of the categories if missing values are imputed: the last
    point is their mean then.
    """

    type: FittedType
    points: Floats
    rows: Rows
    apart: float
    shares: Floats | None = None

    @property
    def largest(self) -> float:
        """The largest coordinate, in size."""
        return float(np.abs(self.points).max())

    @property
    def width(self) -> int:
        """How many axes the column has."""
        return int(self.points.shape[1])

    @property
    def n_categories(self) -> int:
        """How many categories there are; missing is one of them, unless it is imputed."""
        return len(self.points) if self.shares is None else len(self.shares)

    @property
    def is_compact(self) -> bool:
        """Whether there are too many categories for an axis each."""
        return self.n_categories > max(2, self.width)

    def exact_points(self) -> Floats:
        """Return a point for each category, however many there are, with an axis for each."""
        points = indicator_points(self.n_categories) * np.sqrt(self.apart)
        return points if self.shares is None else np.vstack((points, self.shares @ points))

    def apply(self, column: Column) -> Points:
        """Return the points of a part."""
        values = self.type.values_of(column)
        codes = values.numbers
        if values.missing is not None:
            if self.rows[-1] < 0:
                raise _unexpected_missing(self.type.name)
            codes = np.where(values.missing, len(self.rows) - 1, codes)
        rows = self.rows[codes]
        if new := len(np.unique(codes[rows < 0])):
            raise DataError(
                f"column {self.type.name!r} holds {new} values that do not occur in what the "
                "encoding was fitted to. Fit it to all parts of the data."
            )
        return Points(self.points, rows)


@dataclass(frozen=True, eq=False)
class FittedEmpty:
    """A column in which every value is missing, which tells nobody apart."""

    type: FittedType

    @property
    def largest(self) -> float:
        """The largest coordinate, in size."""
        return 0.0

    @property
    def width(self) -> int:
        """How many axes the column has."""
        return 1

    def apply(self, column: Column) -> Points:
        """Return a point that all records share."""
        if len(column.values.present):
            raise DataError(
                f"column {self.type.name!r} holds values, and all of them were missing in what the "
                "encoding was fitted to. Fit it to all parts of the data."
            )
        return Points(np.zeros((len(column.values.numbers), 1)))


FittedColumn = FittedNumbers | FittedCategories | FittedEmpty


def fit_column(
    column: Column, scale: str, missing: Missing, weights: Floats | None = None
) -> FittedColumn:
    """Fit a column of a whole table."""
    if column.type.is_categorical and column.type != ColumnType.ORDINAL:
        statistics = ColumnStatistics.of(column, scale=scale, weights=weights)
        return fit_statistics(statistics, scale, missing)
    fitted = FittedType.of(column)
    if fitted.is_empty:
        return FittedEmpty(fitted)
    check_finite(column)
    values = column.values
    own = weights if weights is None or values.missing is None else weights[~values.missing]
    numbers = Numbers.of(values.present, own)
    scaler = FITS[scale](numbers)
    middle, apart = None, None
    if values.missing is not None:
        scaled = scaler.apply(values.present)
        with np.errstate(over="ignore", invalid="ignore"):  # such numbers are refused if unscaled
            middle = float(np.average(scaled, weights=own))
        if missing is not Missing.IMPUTE:
            apart = _apart(values, scaled, middle, weights) if scale != UNSCALED else 1.0
    factor = float(np.sqrt(column.weight))
    return FittedNumbers(fitted, factor, scaler, numbers.moments, scale != UNSCALED, middle, apart)


def fit_statistics(statistics: ColumnStatistics, scale: str, missing: Missing) -> FittedColumn:
    """Fit a column by its statistics, which may be merged from many parts."""
    fitted, present = statistics.type, statistics.present
    if present is None:
        return FittedEmpty(fitted)
    if isinstance(present, CategoryStatistics):
        if fitted.type != ColumnType.ORDINAL:
            return _fit_categories(statistics, present, scale, missing)
        numbers = present.numbers
    else:
        numbers = present.numbers(fitted.name, scale)
    scaler = FITS[scale](numbers)
    middle, apart = None, None
    if statistics.n_missing:
        middle, spread = _middle_and_spread(numbers, scaler, scale)
        if missing is not Missing.IMPUTE:
            apart = 1.0 if scale == UNSCALED else _apart_by(statistics, numbers.moments, spread)
    factor = float(np.sqrt(statistics.weight))
    return FittedNumbers(fitted, factor, scaler, numbers.moments, scale != UNSCALED, middle, apart)


def _apart(values: Values, scaled: Floats, middle: float, weights: Floats | None) -> float:
    """Return how far apart missing values are, so that both axes together have a variance of 1.

    Robust units promise no such variance; a share of it is left to missing values all the same.
    """
    is_missing: NDArray[Any] = values.missing  # type: ignore[assignment]
    everyone = np.full(len(is_missing), middle)
    everyone[~is_missing] = scaled
    left = 1.0 - _variance(everyone, weights)
    share = np.average(is_missing, weights=weights)
    return float(np.sqrt(max(left, share) / _variance(is_missing.astype(np.float64), weights)))


def _apart_by(statistics: ColumnStatistics, moments: Moments, spread: float) -> float:
    """Return what `_apart` does, by the mean squared deviation of the values that are present."""
    total = moments.total + statistics.missing_weight
    share = statistics.missing_weight / total
    n = statistics.n_records
    records = n / max(1, n - 1)
    left = 1.0 - spread * (moments.total / total) * records
    return float(np.sqrt(max(left, share) / (share * (moments.total / total) * records)))


def _middle_and_spread(numbers: Numbers, scaler: FittedScale, scale: str) -> tuple[float, float]:
    """Return the mean and the mean squared deviation of the scaled values that are present."""
    moments = numbers.moments
    if scale == UNSCALED:
        return moments.scaling.offset, 0.0
    if scale == "standardise":
        return 0.0, 0.0 if moments.is_constant else (moments.n - 1) / moments.n
    scaled = scaler.apply(numbers.values)
    middle = float(np.average(scaled, weights=numbers.weights))
    return middle, float(np.average(np.square(scaled - middle), weights=numbers.weights))


def _fit_categories(
    statistics: ColumnStatistics, present: CategoryStatistics, scale: str, missing: Missing
) -> FittedCategories:
    codes, n = present.occurring, statistics.n_records
    counts, is_imputed = present.weights[codes], False
    if statistics.n_missing:
        is_imputed = missing is Missing.IMPUTE
        if is_imputed:
            n -= statistics.n_missing
        else:
            counts = np.append(counts, statistics.missing_weight)
    apart = statistics.weight
    if scale != UNSCALED:
        apart *= squared_distance(counts, n)
    points = equidistant_points(len(counts)) * np.sqrt(apart)
    shares = counts / counts.sum() if is_imputed else None
    if shares is not None:
        points = np.vstack((points, shares @ points))
    rows = np.full(len(present.counts) + 1, -1, dtype=np.intp)
    rows[codes] = np.arange(len(codes))
    if statistics.n_missing:
        rows[-1] = len(codes)
    return FittedCategories(statistics.type, points, rows, float(apart), shares)


def _variance(axis: Floats, weights: Floats | None) -> float:
    """Return the variance (ddof = 1)."""
    n = len(axis)
    squares = np.square(axis - np.average(axis, weights=weights))
    return float(np.average(squares, weights=weights) * n / max(1, n - 1))


def _unexpected_missing(name: str) -> DataError:
    return DataError(
        f"column {name!r} has missing values, and none was missing in what the encoding was fitted "
        "to. Fit it to all parts of the data."
    )
