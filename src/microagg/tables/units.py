"""Whom records are about: units as codes, and identifiers that several records share."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import polars as pl

from microagg.core.arrays import Counts, Mask, Rows
from microagg.core.errors import DataError
from microagg.tables.frames import Frame, index_names, polars_column
from microagg.tables.numerals import LEADING_ZERO, is_marked, nulled

# Separators such as \x1d are blanks to Python, but not to polars.
_BLANK_ENDS = r"^[\s\x1c-\x1f]+|[\s\x1c-\x1f]+$"


@dataclass(frozen=True, eq=False)
class Units:
    """The units that records are about, numbered from 0; -1 is a record without one.

    `column` is the one that names them.
    """

    column: str
    of_record: Rows

    @classmethod
    def in_table(cls, frame: Frame, column: str) -> Self:
        """Return the units of a table's records."""
        return cls(column, codes_of_units(frame, column))

    @property
    def is_known(self) -> Mask:
        """Which records have a unit."""
        return np.asarray(self.of_record >= 0)

    @cached_property
    def sizes(self) -> Counts:
        """How many records every unit has."""
        return np.bincount(self.of_record[self.is_known]).astype(np.int64)

    @property
    def count(self) -> int:
        """How many units there are."""
        return len(self.sizes)

    @property
    def n_without(self) -> int:
        """How many records have no unit."""
        return len(self.of_record) - int(self.sizes.sum())

    def take(self, rows: Rows) -> Self:
        """Return the units of these records."""
        taken = self.of_record[rows]
        numbered = np.full(len(taken), -1, dtype=np.intp)
        known = taken >= 0
        numbered[known] = np.unique(taken[known], return_inverse=True)[1].reshape(-1)
        return type(self)(self.column, numbered)


def naming_column(frame: Frame, name: str) -> pl.Series:
    """Return an identifier or unit, which may be in the index; as text if polars cannot hold it."""
    if name in index_names(frame):
        return _as_text(frame.to_native().index.get_level_values(name))
    try:
        return polars_column(frame[name])
    except DataError:  # such as numbers beside text, or numbers of thirty digits
        return _as_text(frame[name].to_list())


def _as_text(values: Iterable[Any]) -> pl.Series:
    texts = [None if value is None or value != value else str(value) for value in values]
    return pl.Series(texts, dtype=pl.String)


def codes_of_units(frame: Frame, name: str) -> Rows:
    """Return the unit of every record as a number from 0; -1 for a record without one."""
    entries = _named(naming_column(frame, name))
    codes = entries.rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1
    return codes.astype(np.intp)


def n_shared(frame: Frame, name: str) -> int:
    """Return how many values of an identifier are in more than one record."""
    entries = _named(naming_column(frame, name)).drop_nulls()
    return int((entries.unique_counts() > 1).sum())


def _named(column: pl.Series) -> pl.Series:
    """Return who is named: blanks and markers such as NA name nobody.

    Where all names are numbers they are compared as such, and 7 and 7.0 are one; with leading zeros
    they are codes.
    """
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    if column.dtype != pl.String:
        return column.fill_nan(None) if column.dtype.is_float() else column
    bare = column.str.replace_all(_BLANK_ENDS, "")
    named = nulled(bare, (bare == "").fill_null(False) | is_marked(bare))
    if named.str.contains(LEADING_ZERO).any():
        return named
    numbers = named.cast(pl.Float64, strict=False)
    is_number = numbers.is_not_null().sum() == named.is_not_null().sum()
    return numbers if is_number and (numbers.abs() < 2**53).all() else named
