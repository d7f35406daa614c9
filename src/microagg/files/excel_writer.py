"""Write a table as an Excel workbook with one sheet, and what a sheet cannot hold (extra `files`).

The header is bold and stays in sight, and every column has the type of its values. Text is always
written as text, never as a formula or a link.
"""

import io
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import xlsxwriter

from microagg.core.errors import ParameterError
from microagg.files.annotations import listed
from microagg.files.doubles import LARGEST_WHOLE, largest_size
from microagg.files.writing import WriteOptions
from microagg.files.years import BEYOND, is_beyond

_MOST_RECORDS, _MOST_COLUMNS = 1_048_575, 16_384
_LONGEST_TEXT = 32_767
_LARGEST_NUMBER = 9.99e307
# Excel takes 1900 for a leap year, so that its days are our days from March on.
_FIRST_DAY = datetime(1900, 3, 1)
_DEFAULT_SHEET = "Sheet1"
_LONGEST_SHEET = 31
_NARROWEST, _WIDEST, _N_SAMPLED = 9, 40, 200

Write = Callable[[int, Any], object]


def check_excel(table: pl.DataFrame, _suffix: str) -> None:
    """Refuse a table that a sheet cannot hold without loss."""
    if table.height > _MOST_RECORDS or table.width > _MOST_COLUMNS:
        raise ParameterError(
            f"an Excel sheet holds {_MOST_RECORDS:,} records and {_MOST_COLUMNS:,} columns at "
            f"most; the table has {table.height:,} and {table.width:,}. Write to .parquet or .csv."
        )
    unfit = [name for name, dtype in table.schema.items() if not _can_hold(dtype)]
    if unfit:
        raise ParameterError(
            "Excel sheets hold only text, numbers, true or false, dates and times, unlike "
            f"{listed(unfit)}. Convert these columns, drop them as identifiers, or write to "
            ".parquet."
        )
    if problem := _problem(pl.Series(table.columns, dtype=pl.String)):
        raise ParameterError(
            f"Excel sheets cannot hold {problem} as in the name of a column. Rename the column, or "
            "write to .parquet."
        )
    for column in table.get_columns():
        if problem := _problem(column.alias("")):  # polars may take a name for a pattern
            raise ParameterError(
                f"Excel sheets cannot hold {problem} as in {column.name!r}. Convert the column, or "
                "write to .parquet."
            )


def _can_hold(dtype: pl.DataType) -> bool:
    if hasattr(dtype, "ext_name"):
        return False
    is_text = dtype in (pl.String, pl.Categorical, pl.Enum)
    return dtype.is_numeric() or is_text or dtype.is_temporal() or dtype in (pl.Boolean, pl.Null)


def _problem(column: pl.Series) -> str | None:
    dtype = column.dtype
    if dtype.is_integer() and largest_size(column) > LARGEST_WHOLE:
        return "whole numbers beyond 2^53"
    if dtype.is_decimal() and not _same(column.cast(pl.Float64).cast(dtype), column):
        return "decimals with more digits than Excel keeps"
    if dtype.is_float() and largest_size(column.drop_nans()) > _LARGEST_NUMBER:
        return "infinite or nearly infinite numbers"
    if is_beyond(column):
        return BEYOND
    if dtype in (pl.Date, pl.Datetime):
        earliest = _stored(column).cast(pl.Datetime("us")).min()
        if earliest is not None and earliest < _FIRST_DAY:  # type: ignore[operator]
            return "dates before March 1900"
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        entries = column.cast(pl.String)
        if entries.str.contains("\0", literal=True).any():
            return "text with a zero byte"
        if (entries.str.len_chars().max() or 0) > _LONGEST_TEXT // 2:  # type: ignore[operator]
            # Excel counts some characters twice.
            longest = max(len(entry.encode("utf-16-le")) // 2 for entry in entries.drop_nulls())
            if longest > _LONGEST_TEXT:
                return f"text of more than {_LONGEST_TEXT} characters"
    return None


def _same(one: pl.Series, other: pl.Series) -> bool:
    return one.equals(other)


def write_excel(table: pl.DataFrame, path: Path, options: WriteOptions) -> None:
    """Write the table as the only sheet of a workbook; the same table gives the same bytes."""
    buffer = io.BytesIO()
    # In memory: no records in temporary files elsewhere.
    with xlsxwriter.Workbook(buffer, {"in_memory": True}) as workbook:
        workbook.set_properties({"created": datetime(2000, 1, 1)})
        sheet = workbook.add_worksheet(_sheet_name(options.sheet))
        sheet.freeze_panes(1, 0)
        bold = workbook.add_format({"bold": True})
        for place, column in enumerate(table.get_columns()):
            stored = _stored(column.alias(""))
            sheet.set_column(place, place, _width(column.name, stored))
            sheet.write_string(0, place, column.name, bold)
            write = _cell_writer(workbook, sheet, place, stored)
            for row, value in enumerate(stored, start=1):
                if value is not None:
                    write(row, value)
    path.write_bytes(buffer.getbuffer())


def _sheet_name(wanted: str | None) -> str:
    """Return the name of the sheet that was read, if it can be that of a sheet."""
    if (
        wanted is None
        or not 0 < len(wanted) <= _LONGEST_SHEET
        or any(sign in "[]:*?/\\" for sign in wanted)
        or wanted.strip("'") != wanted
        or wanted.lower() == "history"  # a word that Excel keeps for itself
    ):
        return _DEFAULT_SHEET
    return wanted


def _stored(column: pl.Series) -> pl.Series:
    """Convert a column to one of the types that a sheet holds; a null is a blank cell."""
    dtype = column.dtype
    if dtype in (pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    if dtype == pl.Float32:
        # The shortest decimals that stand for the number, as a person would write it.
        return column.cast(pl.String).cast(pl.Float64).fill_nan(None)
    if dtype.is_float() or dtype.is_decimal():
        return column.cast(pl.Float64).fill_nan(None)
    if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None:
        return column.dt.replace_time_zone(None)
    return column


def _cell_writer(workbook: Any, sheet: Any, place: int, column: pl.Series) -> Write:
    """Return what writes one value of a column into a row."""
    dtype = column.dtype
    if dtype == pl.String:
        return lambda row, value: sheet.write_string(row, place, value)
    if dtype == pl.Boolean:
        return lambda row, value: sheet.write_boolean(row, place, value)
    if dtype.is_temporal():
        shown = workbook.add_format({"num_format": _time_format(column)})
        return lambda row, value: sheet.write_datetime(row, place, value, shown)
    return lambda row, value: sheet.write_number(row, place, _Exact(value))


class _Exact(float):
    """A number that is written with all its digits: xlsxwriter asks for 16, and some need 17."""

    def __format__(self, _spec: str) -> str:
        return f"{int(self)}" if abs(self) < LARGEST_WHOLE and self.is_integer() else repr(self)


def _time_format(column: pl.Series) -> str:
    if column.dtype == pl.Date:
        return "yyyy-mm-dd"
    if column.dtype == pl.Duration:
        return "[h]:mm:ss"
    clock = "hh:mm:ss"
    if column.dtype == pl.Datetime and (column.dt.microsecond() > 0).any():
        clock += ".000"
    return clock if column.dtype == pl.Time else f"yyyy-mm-dd {clock}"


def _width(name: str, column: pl.Series) -> int:
    """Return how many characters wide a column is shown: as its name and its first values need."""
    if column.dtype.is_temporal():
        needed: Any = len(_time_format(column))
    else:
        needed = column.head(_N_SAMPLED).cast(pl.String).str.len_chars().max() or 0
    return int(min(max(_NARROWEST, needed + 1, len(name) + 2), _WIDEST))
