"""Dates: read from text and written back as they were, and rounded to what the data resolve."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from microagg.aggregates.values import Values
from microagg.core.errors import DataError
from microagg.core.validation import check_choice
from microagg.tables.columns import Coded, ColumnType
from microagg.tables.polars_columns import nulled

# Ways to write a date in which day and month cannot be mistaken for each other.
_DATES = ("%Y-%m-%d", "%d.%m.%Y", "%Y/%m/%d")
_TIMES = ("%H:%M:%S", "%H:%M", "%H:%M:%S%.6f")
_DATETIMES = tuple(f"%Y-%m-%d{between}{time}" for between in "T " for time in _TIMES)

RESOLUTIONS = ("day", "hour", "minute", "second")
_SECONDS = dict(zip(RESOLUTIONS, (86_400, 3_600, 60, 1), strict=True))
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def as_dates(
    texts: pl.Series, back: Callable[[pl.Series], Any], kind: ColumnType, name: str
) -> Coded:
    """Return a column of text as dates, if all of it is written in one way."""
    for form in _DATES if kind == ColumnType.DATE else _DATETIMES:
        parsed = _parsed(texts, kind, form)
        if parsed.null_count() == texts.null_count():
            return _coded(parsed, back, form)
    is_date = kind == ColumnType.DATE
    example = "2024-12-31, or all like 31.12.2024" if is_date else "2024-12-31T23:59:59"
    raise DataError(
        f"column {name!r} is to be of the type {str(kind)!r}, and not all of its texts are written "
        f"like {example}. Convert it to dates first."
    )


def is_written_as(series: nw.Series[Any], kind: ColumnType) -> bool:
    """Whether a column of text is all dates, or dates with times, written in one way."""
    texts = pl.Series([value if isinstance(value, str) else None for value in series.to_list()])
    forms = _DATES if kind == ColumnType.DATE else _DATETIMES
    return texts.dtype == pl.String and any(
        _parsed(texts, kind, form).null_count() == texts.null_count() for form in forms
    )


def _parsed(texts: pl.Series, kind: ColumnType, form: str) -> pl.Series:
    if kind == ColumnType.DATE:
        parsed = texts.str.to_date(form, strict=False)
    else:
        parsed = texts.str.to_datetime(form, time_unit="us", strict=False)
    # What is not written back just as it was is another way to write.
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
    return Coded(Values.of(numbers, parsed.is_null().to_numpy()), decode, unit=unit)


def rounded_to(coded: Coded, resolution: str | None, name: str) -> Coded:
    """Return times as whole numbers of the unit that is given, or of the coarsest that fits all.

    Released times are whole numbers of that unit, too: those of days have no hours. Times within a
    unit count as its beginning.
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
    if resolution is None:
        present = coded.values.present
        unit = next((unit for unit in units.values() if not (present % unit).any()), 1)
    else:
        unit = units[check_choice(f"the resolution of {name!r}", resolution, RESOLUTIONS)]

    def decode(values: Values) -> Any:
        return coded.decode(replace(values, numbers=values.numbers * unit))

    whole = numbers if unit == 1 else np.floor_divide(numbers, unit)
    return Coded(Values(whole, coded.values.missing), decode, unit=coded.unit, step=unit)
