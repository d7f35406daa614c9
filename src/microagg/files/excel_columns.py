"""Cells of an Excel sheet -> columns with one type."""

import re
from collections.abc import Collection, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

import polars as pl

from microagg.files.doubles import LARGEST_WHOLE

# What Excel shows for a formula that has no result; all of them are missing values.
ERRORS = frozenset(
    (
        *("#N/A", "#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!"),
        *("#GETTING_DATA", "#SPILL!", "#CALC!", "#FIELD!", "#BLOCKED!", "#CONNECT!", "#UNKNOWN!"),
    )
)
# How Excel writes control characters, which XML cannot hold.
_CONTROL = re.compile("_x(00(?:0[1-8BCDEF]|1[0-9A-F]))_")
_MIDNIGHT = time()


def column_of(name: str, cells: Sequence[Any], markers: Collection[str]) -> tuple[pl.Series, int]:
    """Return cells as a column, and how many of them were errors or markers of missing values.

    Markers such as NA are missing values among numbers and dates, and text elsewhere. A column of
    several types is text.

    >>> column_of("pay", [1200, "NA", 900.0, None, "#DIV/0!"], ["NA"])[0].to_list()
    [1200, None, 900, None, None]
    >>> column_of("zone", ["007", 8, True], [])[0].to_list()
    ['007', '8', 'TRUE']
    """
    known, n_marked = _without(cells, ERRORS)
    kinds = {type(cell) for cell in known} - {type(None)}
    if str in kinds and len(kinds) > 1:
        numbers, more = _without(known, markers)
        if str not in map(type, numbers):
            known, n_marked = numbers, n_marked + more
            kinds -= {str}
    return _typed(known, kinds).alias(name), n_marked  # polars may take a name for a pattern


def _without(cells: Sequence[Any], texts: Collection[str]) -> tuple[list[Any], int]:
    """Return cells without blank ones and these texts, which are counted."""
    found, count = [], 0
    for cell in cells:
        if isinstance(cell, str):
            bare = cell.strip()
            if bare in texts:
                count += 1
            if not bare or bare in texts:
                cell = None  # noqa: PLW2901
        found.append(cell)
    return found, count


def _typed(cells: list[Any], kinds: set[type]) -> pl.Series:
    if kinds <= {int, float}:
        return _numbers(cells)
    if kinds == {bool}:
        return pl.Series("", cells, dtype=pl.Boolean)
    if kinds <= {date, datetime}:
        times = pl.Series("", cells, dtype=pl.Datetime("us"))
        return times.cast(pl.Date) if _are_days(cells) else times
    if kinds == {time}:
        return pl.Series("", cells, dtype=pl.Time)
    if kinds == {timedelta}:
        return pl.Series("", cells, dtype=pl.Duration("us"))
    return pl.Series("", [_as_text(cell) for cell in cells], dtype=pl.String)


def _numbers(cells: list[Any]) -> pl.Series:
    """Return whole numbers if all are whole: Excel does not distinguish 2 from 2.0."""
    present = [cell for cell in cells if cell is not None]
    if not present:
        return pl.Series("", cells, dtype=pl.Null)
    if all(isinstance(cell, int) or cell.is_integer() for cell in present):
        largest = max(map(abs, present))
        is_exact = largest < 2**63 and all(isinstance(cell, int) for cell in present)
        if largest <= LARGEST_WHOLE or is_exact:
            whole = [None if cell is None else int(cell) for cell in cells]
            return pl.Series("", whole, dtype=pl.Int64)
    floats = [None if cell is None else float(cell) for cell in cells]
    return pl.Series("", floats, dtype=pl.Float64)


def _are_days(cells: list[Any]) -> bool:
    return all(not isinstance(cell, datetime) or cell.time() == _MIDNIGHT for cell in cells)


def _as_text(cell: Any) -> str | None:
    """Return a cell as Excel shows it; dates in ISO form."""
    if cell is None:
        return None
    if isinstance(cell, str):
        return with_control_characters(cell)
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) <= LARGEST_WHOLE:
        return str(int(cell))
    if isinstance(cell, datetime) and cell.time() == _MIDNIGHT:
        return str(cell.date())
    return str(cell)


def with_control_characters(text: str) -> str:
    """Return text with the control characters that Excel writes out.

    >>> with_control_characters("a_x0007_b") == "a" + chr(7) + "b"
    True
    """
    return _CONTROL.sub(lambda found: chr(int(found[1], 16)), text)
