"""Records that come later, in the space in which those of a table were compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.aggregates.choices import Aggregate
from microagg.aggregates.values import Values
from microagg.core.arrays import Categories, Floats, Mask, Wholes
from microagg.core.errors import DataError
from microagg.tables.columns import Column, ColumnOptions, ColumnType
from microagg.tables.dates import CALENDAR_UNITS, in_periods
from microagg.tables.encoding import Encoding, joined_points
from microagg.tables.fitted_types import FittedType
from microagg.tables.frames import Frame, dtype_of, type_name
from microagg.tables.typed import code_numbers, is_number, open_column, types_of

_TIMES = (ColumnType.DATE, ColumnType.DATETIME)
_NANOSECONDS = {"D": 86_400 * 10**9, "s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
# Whole numbers beyond this are as far away as it.
_FARTHEST = 2.0**62


@dataclass(frozen=True, eq=False)
class SeenColumn:
    """What a column of the table held, without its values: enough to read later ones like them.

    `codes` are those of the categories that occurred. `dtype` is that of its numbers.
    """

    type: FittedType
    dtype: np.dtype[Any]
    codes: Categories
    had_missing: bool

    @classmethod
    def of(cls, column: Column) -> "SeenColumn":
        """Return what the column of a table held."""
        values = column.values
        codes = np.unique(values.present) if column.type.is_categorical else np.empty(0)
        return cls(
            FittedType.of(column),
            values.numbers.dtype,
            codes.astype(np.int64),
            values.missing is not None,
        )

    def read(self, frame: Frame) -> Values:
        """Return the values of a later table, in the terms of this one; -1 is a new category."""
        name, kind = self.type.name, self.type.type
        if self.type.is_empty:  # whatever it holds now, it tells nobody apart
            return Values(np.zeros(len(frame), dtype=self.dtype), np.ones(len(frame), np.bool_))
        if kind.is_categorical:
            return self._categories(frame)
        if kind in _TIMES:
            return self._times(frame)
        if not is_number(frame, name):
            raise self._stored_differently(frame)
        values = code_numbers(frame, name)
        if values.numbers.dtype.kind == "f" and np.isinf(values.numbers).any():
            raise DataError(
                f"numbers must be finite; some of column {name!r} are infinite. Remove or replace "
                "them first."
            )
        return Values(_in_type(values.numbers, self.dtype), values.missing)

    def placed(self, values: Values) -> tuple[Column, Mask]:
        """Return the values as a column that the encoding knows, and where they only fill in.

        There is no telling where a category belongs that the table did not have, nor a missing
        value if none was missing.
        """
        missing = np.zeros(len(values.numbers), dtype=np.bool_)
        if values.missing is not None:
            missing = values.missing
        if self.type.is_empty:
            return self._column(values), np.zeros_like(missing)
        unknown = np.zeros_like(missing) if self.had_missing else missing.copy()
        numbers = values.numbers
        if self.type.type.is_categorical:
            unknown |= ~missing & ~np.isin(numbers, self.codes)
            numbers = np.where(unknown, self.codes[0], numbers)
        return self._column(Values.of(numbers, missing & ~unknown)), unknown

    def _column(self, values: Values) -> Column:
        return Column(
            name=self.type.name,
            type=self.type.type,
            values=values,
            decode=lambda released: released,  # nothing is released from it
            aggregate=Aggregate.MODE,
            categories=self.type.categories,
            step=self.type.step,
        )

    def _categories(self, frame: Frame) -> Values:
        name = self.type.name
        if ColumnType.NOMINAL not in types_of(frame, name):
            raise self._stored_differently(frame)
        column = open_column(frame, name, ColumnOptions(ColumnType.NOMINAL))
        places = {category: place for place, category in enumerate(self.type.categories)}
        known = [places.get(category, -1) for category in column.categories]
        codes = np.array(known or [-1], dtype=np.int64)[column.values.numbers]
        return Values(codes, column.values.missing)

    def _times(self, frame: Frame) -> Values:
        """Return dates and times as whole steps of the table's, rounded down."""
        name, kind = self.type.name, self.type.type
        possible = [own for own in types_of(frame, name) if own in _TIMES]
        if not possible:
            raise self._stored_differently(frame)
        if len(possible) > 1 and self.type.written:  # text, as in the table
            return open_column(frame, name, ColumnOptions(), self.type).values
        options = ColumnOptions(kind if kind in possible else possible[0])
        column = open_column(frame, name, options)
        numbers = column.values.numbers * column.step
        if self.type.unit in CALENDAR_UNITS:
            periods = in_periods(numbers, column.unit, self.type.unit, self.type.step)
            return Values(periods, column.values.missing)
        own, wanted = _NANOSECONDS[column.unit], _NANOSECONDS[self.type.unit]
        if own == wanted:
            whole = np.floor_divide(numbers, self.type.step)
        else:
            whole = _whole(np.floor(numbers * (own / wanted) / self.type.step))
        return Values(whole, column.values.missing)

    def _stored_differently(self, frame: Frame) -> DataError:
        name = self.type.name
        return DataError(
            f"column {name!r} is stored as {type_name(dtype_of(frame, name))}, and was "
            f"{type_name(self.type.stored)} in the table before. Convert it first."
        )


@dataclass(frozen=True, eq=False)
class FittedSpace:
    """The space in which the records of a table are compared; later records have a place in it.

    `middle` is the mean of the records. What cannot be compared is in the middle of its column.
    """

    encoding: Encoding
    columns: tuple[SeenColumn, ...]
    middle: Floats

    @classmethod
    def of(cls, encoding: Encoding, columns: Sequence[Column], X: Floats) -> "FittedSpace":
        """Return the space of the columns, which were encoded as X."""
        return cls(encoding, tuple(map(SeenColumn.of, columns)), X.mean(axis=0))

    def read(self, frame: Frame) -> dict[str, Values]:
        """Return the columns of a later table as numbers that mean the same as in this one."""
        return {column.type.name: column.read(frame) for column in self.columns}

    def place(self, values: Sequence[Values]) -> Floats:
        """Return the points of later records, by the values of each column."""
        placed = [own.placed(each) for own, each in zip(self.columns, values, strict=True)]
        points = [
            fitted.apply(column)
            for fitted, (column, _) in zip(self.encoding.columns, placed, strict=True)
        ]
        matrix = joined_points(points, len(values[0].numbers))
        at = 0
        for own, (_, unknown) in zip(points, placed, strict=True):
            axes = slice(at, at + own.width)
            matrix[unknown, axes] = self.middle[axes]
            at += own.width
        return matrix


def _in_type(numbers: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return numbers in the type of those before: scales are exact in it."""
    if numbers.dtype == dtype:
        return numbers
    if dtype.kind == "f":
        limits = np.finfo(dtype)
        return np.clip(numbers.astype(np.float64), limits.min, limits.max).astype(dtype)
    return numbers if numbers.dtype.kind in "iu" else _whole(np.rint(numbers))


def _whole(numbers: Floats) -> Wholes:
    return np.clip(numbers, -_FARTHEST, _FARTHEST).astype(np.int64)
