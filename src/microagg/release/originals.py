"""The original of a published table: what is not published, but some requirements are about."""

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
import polars as pl

from microagg.core.arrays import Floats, Order, Rows
from microagg.core.errors import DataError
from microagg.core.words import counted
from microagg.files.dialect import Dialect
from microagg.files.formats import open_table
from microagg.plans.manifest_facts import FileFacts
from microagg.plans.plan import Plan
from microagg.requirements.base import Evidence
from microagg.requirements.observed import classes_of
from microagg.tables.digest import table_digest
from microagg.tables.frames import Frame, index_names, open_frame, polars_column
from microagg.tables.markers import without_entries
from microagg.tables.roles import WEIGHT, no_such_column
from microagg.tables.typed import is_number
from microagg.tables.units import naming_column

_SAME = "Give the table that was protected, with the same records in the same order."


def original_columns(
    original: Any,
    plan: Plan,
    blocks: Sequence[Evidence],
    named: FileFacts,
    dialect: Dialect,
    order: Order | None = None,
) -> pl.DataFrame:
    """Return the unit and the contributions of every record, if the table is the original.

    It is if it has the SHA-256 that a manifest `named`, or, where there is none or it is one of a
    file and this is a DataFrame or the other way round, as many records, the same values where they
    are published unchanged, and numbers from which the released ones may have been made. `order`
    are the original rows of records that were shuffled, which the values must agree with.
    """
    protected = open_frame(blocks[0].table)
    contributions = [name for name, own in plan.columns.items() if own.is_about_contributions]
    unit = plan.unit_column
    needed = contributions if unit is None else [unit, *contributions]
    is_file = isinstance(original, (str, PathLike))
    sha256 = named.sha256 if is_file == (named.file is not None) else None
    unchanged = [name for name in plan.unchanged if name in protected.columns]
    if is_file:
        file = open_table(str(original), dialect=replace(dialect, na=plan.na))
        _check_columns(needed, file.columns)
        shared = [name for name in unchanged if name in file.columns]
        text = shared if unit is None else [unit, *shared]
        shown = (name for block in blocks for name in block.combination)
        wanted = {*needed, *shared, *(name for name in shown if name in file.columns)}
        frame = open_frame(file.table(as_text=text, columns=wanted))
        found = file.sha256
    else:
        frame = open_frame(original)
        _check_columns(needed, [*frame.columns, *index_names(frame)])
        found = table_digest(frame) if sha256 is not None else None
    if sha256 is not None and found != sha256:
        raise DataError(f"the original is not the table that the manifest names. {_SAME}")
    is_known = sha256 is not None and order is None
    _check_number(frame, protected)
    if order is not None:
        frame = frame[order]
    if not is_known:
        _check_unchanged(frame, protected, unchanged)
        matched = any(name in frame.columns for name in unchanged)
        for block in blocks:
            matched |= _matches_groups(frame, block, plan)
        if not matched and order is not None:
            raise DataError(
                "nothing shows that the audit belongs to the protected table: no number and no "
                "unchanged column can be compared. Publish a column unchanged, or do not shuffle."
            )
        if not matched:
            raise DataError(
                "nothing shows that the original has the records of the protected table: no number "
                "and no unchanged column. Verify the file beside its manifest."
            )
    given = [name for name in needed if name in frame.columns]  # the unit may be in the index
    frame, _ = without_entries(frame, given, plan.na)
    for name in contributions:
        if not is_number(frame, name):
            raise DataError(f"{name!r} must be numbers in the original. {_SAME}")
    columns = {
        name: naming_column(frame, name) if name == unit else polars_column(frame[name])
        for name in needed
    }
    return pl.DataFrame(columns)


def _check_columns(needed: list[str], columns: Any) -> None:
    for name in needed:
        if name not in columns:
            missing = str(no_such_column(name, list(columns)))
            raise DataError(missing.replace("the table", "the original", 1))


def _check_number(frame: Frame, protected: Frame) -> None:
    if len(frame) != len(protected):
        raise DataError(
            f"the original has {counted(len(frame), 'record')}, the protected table has "
            f"{len(protected):,}. {_SAME}"
        )


def _check_unchanged(frame: Frame, protected: Frame, unchanged: list[str]) -> None:
    for name in unchanged:
        if name not in frame.columns:
            continue
        before, after = (_as_text(side, name) for side in (frame, protected))
        if differing := int(before.ne_missing(after).sum()):
            raise DataError(
                f"{name!r} is published unchanged, but differs from the original in "
                f"{counted(differing, 'record')}. {_SAME}"
            )


def _matches_groups(frame: Frame, released: Evidence, plan: Plan) -> bool:
    """Return whether there are numbers to compare, and refuse records they cannot be made from.

    A group releases a mean, a median or a value of its records, unless a constraint moved it.
    """
    is_matched = False
    labels, sizes = classes_of(released)
    constrained = {name for own in plan.constraints for name in own.coefficients}
    names = [n for n in released.combination if n in frame.columns and n not in constrained]
    weights = np.ones(len(labels))
    if (column := next(iter(plan.columns_as(WEIGHT)), None)) in released.table.columns:
        weights = _numbers(released.table.get_column(str(column)), released.decimal)
    for name in names:
        after = _numbers(released.table.get_column(name), released.decimal)
        before = _numbers(polars_column(frame[name]), released.decimal)
        if not (np.isfinite(after).all() and np.isfinite(before).all()):
            continue  # text, or missing values
        totals = np.bincount(labels, weights=before * weights)
        means = totals / np.bincount(labels, weights=weights)
        is_mean = np.abs(means[labels] - after) <= _precision(after, plan.digits_of(name))
        is_value = np.bincount(labels, weights=before == after, minlength=len(sizes)) > 0
        low, high = _middle(before, labels, sizes)
        is_median = (low[labels] <= after) & (after <= high[labels])
        if not (is_mean | is_value[labels] | is_median).all():
            raise DataError(
                f"the numbers of {name!r} in the protected table are not those of these records: "
                f"neither means nor medians of their groups. {_SAME}"
            )
        is_matched = True
    return is_matched


def _numbers(column: pl.Series, decimal: str) -> Floats:
    """Return numbers, also those of a text file; anything else is NaN."""
    if column.dtype == pl.String:
        column = column.str.strip_chars().str.replace(decimal, ".", literal=True)
    if not (column.dtype.is_numeric() or column.dtype == pl.String):
        return np.full(len(column), np.nan)
    return column.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()


def _precision(numbers: Floats, digits: int | None) -> float:
    """Return by how much numbers may be rounded; `digits` are the decimals that were asked for."""
    scale = float(np.abs(numbers).max(initial=0.0))
    for decimals in range(7) if digits is None else (digits,):
        shifted = numbers * 10.0**decimals
        if np.abs(shifted - np.rint(shifted)).max(initial=0.0) < 1e-6:
            return float(0.5 * 10.0**-decimals + 1e-9 * scale)
    return 1e-6 * max(scale, 1e-300)


def _middle(numbers: Floats, labels: Rows, sizes: Rows) -> tuple[Floats, Floats]:
    """Return the one or two values in the middle of every group."""
    order = np.lexsort((numbers, labels))
    begins = np.concatenate(([0], sizes.cumsum()[:-1]))
    ordered = numbers[order]
    return ordered[begins + (sizes - 1) // 2], ordered[begins + sizes // 2]


def _as_text(frame: Frame, name: str) -> pl.Series:
    """Return values in a form that a text file and a table in memory share."""
    column = polars_column(frame[name])
    if column.dtype == pl.String:
        numbers = column.cast(pl.Float64, strict=False)
        is_numeric = numbers.null_count() == column.null_count()
        return (numbers if is_numeric else column).cast(pl.String)
    return (column.cast(pl.Float64) if column.dtype.is_numeric() else column).cast(pl.String)
