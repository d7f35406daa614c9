"""Columns as judges see them: what a value is, and which values count as missing."""

from typing import TYPE_CHECKING

import numpy as np

from microagg.core.missing import MARKERS
from microagg.requirements.base import Evidence

if TYPE_CHECKING:  # a plan has requirements, and loads quickly
    import polars as pl

    from microagg.core.arrays import Rows


def values(column: "pl.Series", evidence: Evidence) -> "pl.Series":
    """Return a column in which equal values are equal and missing ones are null.

    Text is numbers if all of it can be read as such, but for markers of missing values such as NA.
    Spaces around it do not count.
    """
    import polars as pl

    column = _text(column.alias(""))  # polars takes a name such as "^a$" for a pattern
    if column.dtype == pl.String:
        column = column.set(column.is_in(list(evidence.na)).fill_null(False), None)
        column = _numbers_or_text(column, evidence.decimal)
    if column.dtype.is_decimal():
        column = column.cast(pl.Float64)
    if column.dtype.is_float():
        column = column.fill_nan(None)
    if column.dtype.is_numeric() and evidence.na:
        entries = pl.Series(evidence.na).cast(pl.Float64, strict=False).drop_nulls()
        is_missing = column.cast(pl.Float64).is_in(entries.to_list()).fill_null(False)
        column = column.set(is_missing, None)
    return column


def _numbers_or_text(text: "pl.Series", decimal: str) -> "pl.Series":
    """Return numbers if all entries are, or all but the markers of missing values."""
    bare = text.set(text.is_in(list(MARKERS)).fill_null(False), None)
    is_known = bare.null_count() < len(bare)
    numbers = _numbers(bare, decimal) if is_known else None
    return text if numbers is None else numbers


def _numbers(text: "pl.Series", decimal: str) -> "pl.Series | None":
    """Return numbers if all entries are; digits after a leading zero are a code."""
    import polars as pl

    is_text = text.str.contains(r"^[+-]?0[0-9]").any()
    if is_text or (decimal == "," and text.str.contains(".", literal=True).any()):
        return None
    plain = text.str.replace(decimal, ".", literal=True)
    are_whole = plain.str.contains(r"^[+-]?[0-9]+$").all()
    for kind in (pl.Int64, pl.UInt64) if are_whole else (pl.Float64,):
        numbers = plain.cast(kind, strict=False)
        if numbers.null_count() == text.null_count():
            return numbers.fill_nan(None) if kind == pl.Float64 else numbers
    return None


def units(column: "pl.Series") -> "pl.Series":
    """Return the units of records; null for those without one.

    Markers such as NA are not units. Where all of the text is numbers, 7 and 7.0 are one.
    """
    import polars as pl

    column = _text(column.alias(""))
    if column.dtype != pl.String:
        return column.fill_nan(None) if column.dtype.is_float() else column
    # Information separators are blanks too, though not to polars.
    column = column.str.replace_all(r"^(\s|[\x1c-\x1f])+|(\s|[\x1c-\x1f])+$", "")
    is_nobody = column.is_in(["", *MARKERS]).fill_null(False)
    named = column.set(is_nobody, None)
    if named.str.contains(r"^[+-]?0[0-9]").any():  # codes
        return named
    numbers = named.cast(pl.Float64, strict=False)
    are_exact = numbers.null_count() == named.null_count() and (numbers.abs() < 2**53).all()
    return numbers if are_exact else named


def _text(column: "pl.Series") -> "pl.Series":
    """Return text and categories without the spaces around them; blanks are null."""
    import polars as pl

    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    if column.dtype != pl.String:
        return column
    bare = column.str.strip_chars()
    return bare.set(bare == "", None)


def classes_of(evidence: Evidence) -> "tuple[Rows, Rows]":
    """Return the number of the combination that every record shows, and how many show each."""
    import polars as pl

    shown = evidence.combinations()
    kinds = shown.unique(maintain_order=True).with_row_index("of")
    joined = shown.join(
        kinds, on=shown.columns, how="left", nulls_equal=True, maintain_order="left"
    )
    labels = joined.get_column("of").cast(pl.Int64).to_numpy().astype(np.intp)
    return labels, np.bincount(labels)


def codes_of(column: "pl.Series") -> "Rows":
    """Return the values as numbers from 0, in their order; a missing value comes last."""
    import polars as pl

    ranks = column.rank("dense").cast(pl.Int64)
    last = (ranks.max() or 0) + 1  # type: ignore[operator]
    return ranks.fill_null(last).to_numpy().astype(np.intp) - 1
