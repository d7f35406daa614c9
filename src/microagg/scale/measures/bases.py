"""Columns of a dataset before and after, coded alike in every part: by a sample of the rows."""

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from microagg.aggregates.values import Values
from microagg.core.arrays import Floats, Hashes, Rows
from microagg.scale.storage.hashing import hashed
from microagg.tables.columns import ColumnOptions, ColumnType
from microagg.tables.frames import Frame, open_frame, polars_column
from microagg.tables.matching import paired_column
from microagg.tables.pairs import Pair, PairedColumn


@dataclass(frozen=True, eq=False)
class Base:
    """How a column is coded: its type, and mean and deviation of its numbers in the sample.

    Numbers are counted from the mean in deviations (1 if there is none). `categories` are hashes of
    those in the sample, sorted.
    """

    name: str
    options: ColumnOptions
    is_scaled: bool
    is_number: bool
    mean: float
    deviation: float
    categories: Hashes

    @classmethod
    def of(cls, column: PairedColumn, said: ColumnOptions) -> "Base":
        """Return the base of a column of the sample, of which this was said."""
        kind = column.type
        order = tuple(column.categories) if kind is ColumnType.ORDINAL else None
        stated = None if kind is ColumnType.ORDINAL else kind
        options = ColumnOptions(stated, order, weight=column.weight, dates=said.dates)
        scaling = column.before.scaling
        step = float(column.step)
        codes = np.zeros(0, dtype=np.uint64)
        if not column.is_scaled:
            codes = np.unique(hashed_categories(column))
        return cls(
            column.name,
            options,
            column.is_scaled,
            kind.is_number,
            float(scaling.offset) * step,
            float(scaling.unit) * step or 1.0,
            codes,
        )

    def scaled(self, values: Values, step: int) -> Floats:
        """Return numbers of a scaled column as they are counted; 0 where they are missing."""
        numbers = values.numbers * step if step != 1 else values.numbers
        found: Floats = (numbers.astype(np.float64) - self.mean) / self.deviation
        if values.missing is not None:
            found[values.missing] = 0.0
        return found

    def codes(self, column: PairedColumn, values: Values) -> Rows:
        """Return categories as places in the sample: 0 if missing, the last if not in it."""
        known = hashed_categories(column)
        places = np.searchsorted(self.categories, known)
        found = np.minimum(places, max(0, len(self.categories) - 1))
        is_there = self.categories[found] == known if len(self.categories) else known < 0
        place = np.where(is_there, found + 1, len(self.categories) + 1)
        if not len(place):
            return np.zeros(len(values.numbers), dtype=np.intp)
        own = place[values.numbers.astype(np.intp)]
        if values.missing is not None:
            own = np.where(values.missing, 0, own)
        return own.astype(np.intp)


def hashed_categories(column: PairedColumn) -> Hashes:
    """Return a number for each category of a column, the same in every part."""
    return hashed(pl.Series([str(own) for own in column.categories], dtype=pl.String))


@dataclass(frozen=True, eq=False)
class Bases:
    """The bases of all quasi-identifiers, in the order of the columns."""

    columns: dict[str, Base]

    @classmethod
    def of(cls, pair: Pair, said: Any) -> "Bases":
        """Return the bases of a sample."""
        return cls(
            {
                name: Base.of(column, said.get(name, ColumnOptions()))
                for name, column in pair.columns.items()
            }
        )

    def paired(self, before: Frame, after: Frame) -> dict[str, PairedColumn]:
        """Return the columns of a part."""
        sides = [self._numbers(side) for side in (before, after)]
        said = {name: base.options for name, base in self.columns.items()}
        return {name: paired_column(sides[0], sides[1], None, name, said) for name in self.columns}

    def _numbers(self, frame: Frame) -> Frame:
        """Return numbers as such where a part of a text file has nothing but missing values."""
        columns = []
        for name, base in self.columns.items():
            column = polars_column(frame.get_column(name)).alias(name)
            if base.is_number and column.dtype == pl.String:
                column = column.cast(pl.Float64, strict=False)
            columns.append(column)
        return open_frame(pl.DataFrame(columns))


def comparable(frame: Frame, name: str) -> pl.Series:
    """Return a column in which equal values are equal, and missing ones are null."""
    column = polars_column(frame.get_column(name)).alias(name)
    if column.dtype in (pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    return column.fill_nan(None) if column.dtype.is_float() else column


def as_numbers(frame: Frame, name: str) -> Floats:
    """Return a column of numbers or times as floats; NaN where missing."""
    column = comparable(frame, name)
    if column.dtype.is_temporal():
        column = column.to_physical()
    return column.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()


def is_ordered(frame: Frame, name: str) -> bool:
    """Whether a column is stored as numbers or times."""
    dtype = frame.get_column(name).dtype
    return dtype.is_numeric() or dtype in (nw.Date, nw.Datetime)
