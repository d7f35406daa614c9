"""Columns as judges see them: what a value is, and which values count as missing."""

from typing import TYPE_CHECKING

import numpy as np

from microagg.requirements.base import Evidence

if TYPE_CHECKING:  # a plan has requirements, and loads quickly
    import polars as pl

    from microagg.core.arrays import Rows


def values(column: "pl.Series", decimal: str) -> "pl.Series":
    """Return a column in which equal values are equal and missing ones are null.

    The fields of a text file are numbers if all of them can be read as such.
    """
    import polars as pl

    if column.dtype == pl.String:
        bare = column.str.strip_chars()
        bare = bare.set(bare == "", None)
        numbers = bare.str.replace(decimal, ".", literal=True).cast(pl.Float64, strict=False)
        return numbers if numbers.null_count() == bare.null_count() else bare
    if column.dtype.is_decimal():
        return column.cast(pl.Float64)
    return column.fill_nan(None) if column.dtype.is_float() else column


def units(column: "pl.Series") -> "pl.Series":
    """Return the units of records; null for those without one."""
    import polars as pl

    if column.dtype == pl.String:
        bare = column.str.strip_chars()
        return bare.set(bare == "", None)
    return column.fill_nan(None) if column.dtype.is_float() else column


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
