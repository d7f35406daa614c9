"""Whom records are about: units as codes, and identifiers that several records share."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl

from microagg.core.arrays import Rows
from microagg.core.errors import DataError
from microagg.tables.frames import Frame, index_names, polars_column


def naming_column(frame: Frame, name: str) -> pl.Series:
    """Return an identifier or unit, which may be in the index; as text if polars cannot hold it."""
    if name in index_names(frame):
        return _as_text(name, frame.to_native().index.get_level_values(name))
    try:
        return polars_column(frame[name])
    except DataError:  # such as numbers beside text, or numbers of thirty digits
        return _as_text(name, frame[name].to_list())


def _as_text(name: str, values: Iterable[Any]) -> pl.Series:
    texts = [None if value is None or value != value else str(value) for value in values]
    return pl.Series(name, texts, pl.String)


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
    """Return a column in which blanks and numbers that are none count as missing."""
    column = column.alias("")  # polars takes a name such as "^a$" for a pattern
    if column.dtype == pl.String:
        bare = column.str.strip_chars()
        return bare.set(bare == "", None)
    if column.dtype in (pl.Categorical, pl.Enum):
        return _named(column.cast(pl.String))
    return column.fill_nan(None) if column.dtype.is_float() else column
