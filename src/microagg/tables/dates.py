"""Dates: read from text, written back the same way, and rounded to the resolution of the data."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from microagg.aggregates.values import Values
from microagg.core.errors import DataError
from microagg.tables.columns import RESOLUTIONS, Coded, ColumnType
from microagg.tables.polars_columns import nulled

# Ways to write a date that do not confuse day and month.
_DATES = ("%Y-%m-%d", "%d.%m.%Y", "%Y/%m/%d")
_TIMES = ("%H:%M:%S", "%H:%M", "%H:%M:%S%.6f")
_DATETIMES = tuple(f"%Y-%m-%d{between}{time}" for between in "T " for time in _TIMES)

_SECONDS = dict(zip(RESOLUTIONS, (86_400, 3_600, 60, 1), strict=True))
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def as_dates(
    texts: pl.Series, back: Callable[[pl.Series], Any], kind: ColumnType, name: str, form: str = ""
) -> Coded:
    """Return a column of text as dates if all of it is written the same way.

    That is `form`, if given: the way the rest of a larger table is written.
    """
    for written in (form,) if form else _forms(kind):
        parsed = _parsed(texts, kind, written)
        if parsed.null_count() == texts.null_count():
            return _coded(parsed, back, written)
    is_date = kind == ColumnType.DATE
    example = "2024-12-31, or all like 31.12.2024" if is_date else "2024-12-31T23:59:59"
    raise DataError(
        f"column {name!r} cannot have the type {str(kind)!r}: not all of its texts are written "
        f"like {example}. Convert it to dates first."
    )


def is_written_as(series: nw.Series[Any], kind: ColumnType) -> bool:
    """Whether a column of text is all dates, or dates with times, written the same way."""
    texts = pl.Series([value if isinstance(value, str) else None for value in series.to_list()])
    return texts.dtype == pl.String and any(
        _parsed(texts, kind, form).null_count() == texts.null_count() for form in _forms(kind)
    )


def _forms(kind: ColumnType) -> tuple[str, ...]:
    return _DATES if kind == ColumnType.DATE else _DATETIMES


def _parsed(texts: pl.Series, kind: ColumnType, form: str) -> pl.Series:
    if kind == ColumnType.DATE:
        parsed = texts.str.to_date(form, strict=False)
    else:
        parsed = texts.str.to_datetime(form, time_unit="us", strict=False)
    # Text that would be written back differently is of another form.
    return nulled(parsed, (parsed.dt.to_string(form) != texts).fill_null(False))


def _coded(parsed: pl.Series, back: Callable[[pl.Series], Any], form: str) -> Coded:
    stored = parsed.to_physical()

    def decode(values: Values) -> Any:
        dates = pl.Series(values.numbers.astype(np.int64)).cast(stored.dtype).cast(parsed.dtype)
        texts = dates.dt.to_string(form)
        if values.missing is not None:
            texts = nulled(texts, pl.Series(values.missing))
        return back(texts)

    numbers = stored.cast(pl.Int64).fill_null(0).to_numpy()
    unit = "D" if parsed.dtype == pl.Date else "us"
    missing = parsed.is_null().to_numpy()
    written = "" if missing.all() else form
    return Coded(Values.of(numbers, missing), decode, unit=unit, written=written)


def rounded_to(coded: Coded, resolution: str | None, name: str, step: int | None = None) -> Coded:
    """Return times as whole numbers of the given resolution, or of the coarsest that fits all.

    Released times are whole numbers of it, too: those of days have no hours. Times in between are
    rounded down. `step` is the resolution of the rest of a larger table, in units of the column.
    """
    if coded.unit == "D":
        if resolution not in (None, "day"):
            raise DataError(
                f"column {name!r} holds dates without times, whose resolution is the day; got "
                f"{resolution!r}. Leave it out."
            )
        return coded
    numbers = coded.values.numbers
    units = {word: seconds * _PER_SECOND[coded.unit] for word, seconds in _SECONDS.items()}
    if resolution is not None:
        unit = units[resolution]
    elif step is not None:
        unit = step
    else:
        present = coded.values.present
        unit = next((unit for unit in units.values() if not (present % unit).any()), 1)

    def decode(values: Values) -> Any:
        return coded.decode(replace(values, numbers=values.numbers * unit))

    whole = numbers if unit == 1 else np.floor_divide(numbers, unit)
    return replace(coded, values=Values(whole, coded.values.missing), decode=decode, step=unit)
