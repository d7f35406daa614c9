"""What an encoding is fitted to: statistics of a column, collected from parts and merged."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.aggregates.values import Values
from microagg.core.arrays import Counts, Floats, Rows
from microagg.core.errors import DataError, ParameterError
from microagg.tables.columns import Column, ColumnType
from microagg.tables.fitted_types import FittedType, recoded
from microagg.tables.moments import Moments
from microagg.tables.scaling import NEED_COUNTS, Numbers
from microagg.tables.value_counts import ValueCounts


@dataclass(frozen=True, eq=False)
class NumberStatistics:
    """Numbers and dates: their moments and, for scales that need them, how often each occurs.

    `is_whole` if they could all be stored as integers.
    """

    moments: Moments
    counts: ValueCounts | None
    is_whole: bool

    @classmethod
    def of(cls, numbers: NDArray[Any], weights: Floats | None, scale: str) -> "NumberStatistics":
        """Return the statistics of the numbers that are present in a part."""
        counts = ValueCounts.of(numbers, weights) if scale in NEED_COUNTS else None
        is_whole = numbers.dtype.kind in "iu" or bool(
            ((np.rint(numbers) == numbers) & (np.abs(numbers) < 2.0**53)).all()
        )
        return cls(Moments.of(numbers, weights), counts, is_whole)

    def merge(self, other: "NumberStatistics") -> "NumberStatistics":
        """Return the statistics of both."""
        counts = None
        if self.counts is not None and other.counts is not None:
            counts = self.counts.merge(other.counts)
        is_whole = self.is_whole and other.is_whole
        return NumberStatistics(self.moments.merge(other.moments), counts, is_whole)

    def times(self, factor: int) -> "NumberStatistics":
        """Return the statistics of dates counted in steps that are `factor` times as small."""
        if factor == 1:
            return self
        counts = None if self.counts is None else self.counts.times(factor)
        return NumberStatistics(self.moments.times(factor), counts, self.is_whole)

    @property
    def n_distinct(self) -> int | None:
        """How many different numbers there are; None if that was not, or not exactly, counted."""
        return len(self.counts.values) if self.counts is not None and self.counts.is_exact else None

    def numbers(self, name: str, scale: str) -> Numbers:
        """Return what a scale is fitted to."""
        n, moments = self.moments.n, self.moments
        if self.counts is not None:
            counts = self.counts
            return Numbers(counts.values, counts.weights, n, moments, counts.dropped)
        if scale in NEED_COUNTS:
            raise ParameterError(
                f"the scale {scale!r} needs to know how often each value of {name!r} occurs, and "
                "its statistics were collected for another scale. Collect them for this one."
            )
        # Mean and deviation are all that the scale looks at.
        return Numbers(np.zeros(0), None, n, moments)


@dataclass(frozen=True, eq=False)
class CategoryStatistics:
    """Categories: how many records have each, and their weight, by code."""

    counts: Counts
    weights: Floats
    is_weighted: bool

    @classmethod
    def of(
        cls, codes: NDArray[Any], weights: Floats | None, n_categories: int
    ) -> "CategoryStatistics":
        """Return the counts of the codes that are present in a part."""
        counts = np.bincount(codes, minlength=n_categories)
        sums = np.bincount(codes, weights=weights, minlength=n_categories).astype(np.float64)
        return cls(counts, sums, weights is not None)

    def merge(self, other: "CategoryStatistics") -> "CategoryStatistics":
        """Return the counts of both, whose codes mean the same."""
        counts, weights = self.counts + other.counts, self.weights + other.weights
        return CategoryStatistics(counts, weights, self.is_weighted)

    def in_order(self, own: tuple[Any, ...], known: tuple[Any, ...]) -> "CategoryStatistics":
        """Return the counts by the codes of `known` categories, which include all `own` ones."""
        if own == known:
            return self
        places = recoded(Values(np.arange(len(own))), own, known, "").numbers
        counts = np.zeros(len(known), dtype=np.int64)
        weights = np.zeros(len(known))
        counts[places], weights[places] = self.counts, self.weights
        return CategoryStatistics(counts, weights, self.is_weighted)

    @property
    def occurring(self) -> Rows:
        """The codes that occur."""
        return np.flatnonzero(self.counts)

    @property
    def n_distinct(self) -> int:
        """How many different categories occur."""
        return len(self.occurring)

    @property
    def numbers(self) -> Numbers:
        """The codes as numbers, for the scale of an ordinal column."""
        codes, n = self.occurring, int(self.counts.sum())
        weights = self.weights[codes]
        return Numbers(codes, weights, n, Moments.of(codes, weights, n))


@dataclass(frozen=True, eq=False)
class ColumnStatistics:
    """All that fitting needs to know of a column, from a part or from several that were merged.

    `present` are the statistics of the values that are not missing, None if all are. `weight` is
    how much the column counts in comparisons. The first of merged parts must come first each time
    for sums to round alike.
    """

    type: FittedType
    weight: float
    n_records: int
    n_missing: int
    missing_weight: float
    present: NumberStatistics | CategoryStatistics | None

    @classmethod
    def of(
        cls, column: Column, *, scale: str = "standardise", weights: Floats | None = None
    ) -> "ColumnStatistics":
        """Return the statistics of a part of a column; `weights` are those of its records."""
        values, fitted = column.values, FittedType.of(column)
        missing = values.missing
        own = weights if weights is None or missing is None else weights[~missing]
        missing_weight = float(values.n_missing)
        if weights is not None and missing is not None:
            # Summed one by one, as the weights of categories are.
            missing_weight = float(np.bincount(missing, weights=weights, minlength=2)[1])
        present: NumberStatistics | CategoryStatistics | None = None
        if not fitted.is_empty:
            check_finite(column)
            if column.type.is_categorical:
                present = CategoryStatistics.of(values.present, own, len(column.categories))
            else:
                present = NumberStatistics.of(values.present, own, scale)
        return cls(
            fitted,
            column.weight,
            len(values.numbers),
            values.n_missing,
            missing_weight,
            present,
        )

    def merge(self, other: "ColumnStatistics") -> "ColumnStatistics":
        """Return the statistics of both parts together."""
        merged = self.type.merge(other.type)
        parts = [
            _as_in(merged, part.type, part.present)
            for part in (self, other)
            if part.present is not None
        ]
        present = parts[0] if parts else None
        if len(parts) == 2:
            present = parts[0].merge(parts[1])  # type: ignore[arg-type]
        found = ColumnStatistics(
            merged,
            self.weight,
            self.n_records + other.n_records,
            self.n_missing + other.n_missing,
            self.missing_weight + other.missing_weight,
            present,
        )
        if merged.type == ColumnType.BOOLEAN and (found.n_distinct or 0) > 2:
            raise DataError(
                f"column {merged.name!r} has the type 'boolean', but its parts together have more "
                "than two values. Use the type 'nominal'."
            )
        return found

    @property
    def n_distinct(self) -> int | None:
        """How many different values there are; None if that was not, or not exactly, counted."""
        return 0 if self.present is None else self.present.n_distinct


def check_finite(column: Column) -> None:
    """Refuse infinite numbers, which cannot be compared."""
    present = column.values.present
    if present.dtype.kind == "f" and not np.isfinite((present.min(), present.max())).all():
        raise DataError(
            f"column {column.name!r} holds infinite numbers. Remove or replace them first."
        )


def _as_in(
    merged: FittedType, own: FittedType, present: NumberStatistics | CategoryStatistics
) -> NumberStatistics | CategoryStatistics:
    """Return the statistics with the codes and steps of the merged type."""
    if isinstance(present, CategoryStatistics):
        return present.in_order(own.categories, merged.categories)
    return present.times(own.step // merged.step)
