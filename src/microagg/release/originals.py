"""The original of a published table: what is not published and some requirements are about."""

from dataclasses import replace
from os import PathLike
from typing import Any

import polars as pl

from microagg.core.errors import DataError
from microagg.core.words import counted
from microagg.files.dialect import Dialect
from microagg.files.formats import open_table
from microagg.plans.plan import Plan
from microagg.tables.digest import table_digest
from microagg.tables.frames import Frame, index_names, open_frame, polars_column
from microagg.tables.markers import without_entries
from microagg.tables.roles import no_such_column
from microagg.tables.typed import is_number
from microagg.tables.units import naming_column

_SAME = "Give the table that was protected, with the same records in the same order."


def original_columns(
    original: Any, plan: Plan, protected: Frame, sha256: str | None, dialect: Dialect
) -> pl.DataFrame:
    """Return the unit and the contributions of every record, if the table is the original.

    It is if it has the SHA-256 that a manifest names, or, where there is none, the same number of
    records and the same values in the columns that are published unchanged.
    """
    contributions = [name for name, own in plan.columns.items() if own.is_about_contributions]
    unit = plan.unit_column
    needed = contributions if unit is None else [unit, *contributions]
    is_file = isinstance(original, (str, PathLike))
    unchanged = [name for name in plan.unchanged if name in protected.columns]
    if is_file:
        file = open_table(str(original), dialect=replace(dialect, na=plan.na))
        _check_columns(needed, file.columns)
        shared = [name for name in unchanged if name in file.columns]
        text = shared if unit is None else [unit, *shared]
        frame = open_frame(file.table(as_text=text, columns=[*dict.fromkeys((*needed, *shared))]))
        found = file.sha256
    else:
        frame = open_frame(original)
        _check_columns(needed, [*frame.columns, *index_names(frame)])
        found = table_digest(frame) if sha256 is not None else None
    if sha256 is not None and found != sha256:
        raise DataError(f"the original is not the table that the manifest names. {_SAME}")
    _check_records(frame, protected, unchanged if sha256 is None else [])
    given = [name for name in needed if name in frame.columns]  # the unit may be in the index
    frame, _ = without_entries(frame, given, plan.na)
    for name in contributions:
        if not is_number(frame, name):
            raise DataError(f"{name!r} must be numbers in the original. {_SAME}")
    return pl.DataFrame(
        naming_column(frame, name) if name == unit else polars_column(frame[name])
        for name in needed
    )


def _check_columns(needed: list[str], columns: Any) -> None:
    for name in needed:
        if name not in columns:
            raise DataError(f"of the original, {no_such_column(name, list(columns))}")


def _check_records(frame: Frame, protected: Frame, unchanged: list[str]) -> None:
    if len(frame) != len(protected):
        raise DataError(
            f"the original has {counted(len(frame), 'record')}, the protected table has "
            f"{len(protected):,}. {_SAME}"
        )
    for name in unchanged:
        if name not in frame.columns:
            continue
        before, after = (_as_text(side, name) for side in (frame, protected))
        if differing := int(before.ne_missing(after).sum()):
            raise DataError(
                f"{name!r} is published unchanged, but differs from the original in "
                f"{counted(differing, 'record')}. {_SAME}"
            )


def _as_text(frame: Frame, name: str) -> pl.Series:
    """Return values in a form that a text file and a table in memory share."""
    column = polars_column(frame[name])
    if column.dtype == pl.String:
        numbers = column.cast(pl.Float64, strict=False)
        is_numeric = numbers.null_count() == column.null_count()
        return (numbers if is_numeric else column).cast(pl.String)
    return (column.cast(pl.Float64) if column.dtype.is_numeric() else column).cast(pl.String)
