"""Quasi-identifiers -> the matrix in which records are compared.

Each column, whatever its type, contributes a variance equal to its weight, except in robust units
and in those of the table itself: numbers are scaled, and a nominal column gets one axis for each of
its values. So a nominal column counts as much as a numeric one. With very many values it gets fewer
axes, on which distances are only nearly exact (see `nominal`).

An encoding is fitted once and applied to any part of the table:

- to a whole table: `Encoding.fit(columns, ...)`;
- to a table in parts: `ColumnStatistics.of(column)` for each part, merged with `merge`, and then
  `Encoding.of(statistics, ...)`.

Both agree up to rounding, about 1e-15 for each part merged. The only exception are the scales
'robust', 'rank' and 'log' of columns with more than 65,536 different numbers: their quantiles and
ranks are taken from numbers that are rounded (see `ValueCounts`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.aggregates.choices import Missing
from microagg.core.arrays import Floats
from microagg.core.errors import DataError, ParameterError
from microagg.core.validation import check_choice, check_matrix
from microagg.tables.columns import Column
from microagg.tables.fitted_columns import (
    FittedCategories,
    FittedColumn,
    FittedNumbers,
    Points,
    fit_column,
    fit_statistics,
)
from microagg.tables.moments import Scaling
from microagg.tables.scaling import SCALES, UNSCALED
from microagg.tables.statistics import ColumnStatistics


@dataclass(frozen=True, eq=False)
class Encoding:
    """How the columns of a table become a matrix.

    >>> from microagg.tables.frames import open_frame
    >>> from microagg.tables.columns import ColumnOptions
    >>> from microagg.tables.typed import open_column
    >>> import polars as pl
    >>> def part(ages):
    ...     return open_column(open_frame(pl.DataFrame({"age": ages})), "age", ColumnOptions())
    >>> first, second = part([20, 30]), part([40])
    >>> merged = ColumnStatistics.of(first).merge(ColumnStatistics.of(second))
    >>> encoding = Encoding.of([merged], scale="standardise")
    >>> encoding.scaling_of("age")
    Scaling(offset=30.0, unit=10.0)
    >>> encoding.apply([second])
    array([[1.]])
    """

    columns: tuple[FittedColumn, ...]
    scale: str

    @classmethod
    def fit(
        cls,
        columns: Sequence[Column],
        *,
        scale: str,
        missing: Missing = Missing.VALUE,
        weights: Floats | None = None,
    ) -> "Encoding":
        """Fit the columns of a whole table; `weights` are those of the records.

        A missing value is far from all others; if it is to be imputed, it is in the middle of its
        column. With `scale="none"` numbers are taken as they are, and different values of a nominal
        column are at a distance of 1.
        """
        check_choice("scale", scale, SCALES)
        return cls._checked([fit_column(c, scale, missing, weights) for c in columns], scale)

    @classmethod
    def of(
        cls,
        statistics: Sequence[ColumnStatistics],
        *,
        scale: str,
        missing: Missing = Missing.VALUE,
    ) -> "Encoding":
        """Fit columns by their statistics, which were collected with the same `scale`."""
        check_choice("scale", scale, SCALES)
        return cls._checked([fit_statistics(each, scale, missing) for each in statistics], scale)

    @classmethod
    def _checked(cls, columns: Sequence[FittedColumn], scale: str) -> "Encoding":
        if scale == UNSCALED:
            _check_unscaled(columns)
        return cls(tuple(columns), scale)

    def apply(self, columns: Sequence[Column]) -> Floats:
        """Return the matrix of the columns of a part, side by side."""
        names = [fitted.type.name for fitted in self.columns]
        if [column.name for column in columns] != names:
            raise ParameterError(
                f"the encoding is for the columns {', '.join(map(repr, names))}, in this order; "
                f"got {', '.join(repr(column.name) for column in columns)}."
            )
        points = [
            fitted.apply(column) for fitted, column in zip(self.columns, columns, strict=True)
        ]
        return joined_points(points, len(columns[0].values.numbers))

    @property
    def compact(self) -> tuple[FittedCategories, ...]:
        """The columns with too many categories for an axis each, whose distances are not exact."""
        every = (own for own in self.columns if isinstance(own, FittedCategories))
        return tuple(own for own in every if own.is_compact)

    def exact_axes(self, X: Floats) -> Floats:
        """Return the axes of the matrix that belong to columns with exact distances."""
        if not (compact := self.compact):
            return X
        exact = [np.full(own.width, own not in compact) for own in self.columns]
        return np.ascontiguousarray(X[:, np.concatenate(exact)])

    @property
    def exact_width(self) -> int:
        """How many axes exact distances need."""
        compact = self.compact
        return sum(own.n_categories if own in compact else own.width for own in self.columns)

    def exact_matrix(self, columns: Sequence[Column], X: Floats) -> Floats:
        """Return the records with exact distances; `X` is what `apply` returned for them."""
        points = [
            Points(fitted.exact_points(), fitted.apply(column).rows)
            for fitted, column in zip(self.columns, columns, strict=True)
            if isinstance(fitted, FittedCategories) and fitted.is_compact
        ]
        return joined_points([Points(self.exact_axes(X)), *points], len(X)) if points else X

    def scaling_of(self, name: str) -> Scaling:
        """Return the mean and standard deviation of a numeric column, in its own units.

        They are 0 and 1 if numbers are not scaled. The weights of records count, that of the column
        does not.
        """
        return self._numbers_of(name).scaling

    def standardised(self, name: str, numbers: NDArray[Any]) -> Floats:
        """Return numbers of a column less its offset, in its unit, both as in `scaling_of`.

        If all numbers of the column were equal, the result is zero.
        """
        fitted = self._numbers_of(name)
        if self.scale == UNSCALED:
            return numbers.astype(np.float64)
        return fitted.moments.standardised(numbers)

    def _numbers_of(self, name: str) -> FittedNumbers:
        for fitted in self.columns:
            if fitted.type.name == name and isinstance(fitted, FittedNumbers):
                return fitted
        raise ParameterError(f"the encoding has no column {name!r} of numbers.")


def encode(
    columns: Sequence[Column],
    *,
    scale: str,
    missing: Missing = Missing.VALUE,
    weights: Floats | None = None,
) -> Floats:
    """Return the matrix of the columns of a whole table: `Encoding.fit`, applied to them."""
    return Encoding.fit(columns, scale=scale, missing=missing, weights=weights).apply(columns)


def joined_points(columns: Sequence[Points], n_records: int) -> Floats:
    """Return the points of all columns as one matrix."""
    matrix = np.empty((n_records, sum(column.width for column in columns)))
    at = 0
    for column in columns:
        column.fill(matrix[:, at : at + column.width])
        at += column.width
    return matrix


def _check_unscaled(columns: Sequence[FittedColumn]) -> None:
    """Refuse numbers that no method takes, and name the column, not the matrix."""
    largest = [column.largest for column in columns]
    try:
        check_matrix(np.array([largest]))
    except DataError:
        widest = columns[int(np.argmax(largest))].type.name
        raise DataError(
            f"the numbers in {widest!r} are too large or too small to compare with the scale "
            "'none'. Use the scale 'standardise', or change the unit of the column."
        ) from None
