"""Dates: read from text, written back the same way, and rounded to the resolution of the data."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from microagg.aggregates.values import Values
from microagg.core.arrays import Wholes
from microagg.core.errors import DataError
from microagg.tables.columns import Coded, ColumnType
from microagg.tables.date_texts import Writing, find_writing, is_laid_out_as_date, parsed
from microagg.tables.polars_columns import nulled

# Resolutions of a fixed length, in seconds, and those of the calendar: units as NumPy names them,
# and how many of them.
SECONDS = {"day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
PERIODS = {"year": ("Y", 1), "quarter": ("M", 3), "month": ("M", 1)}
CALENDAR_UNITS = ("Y", "M")
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_WITHOUT_ANY = {ColumnType.DATE: "%Y-%m-%d", ColumnType.DATETIME: "%Y-%m-%dT%H:%M:%S"}


def as_dates(
    texts: pl.Series,
    back: Callable[[pl.Series], Any],
    kind: ColumnType,
    name: str,
    *,
    form: str = "",
    order: str | None = None,
) -> Coded:
    """Return a column of text as dates if all of it is written the same way.

    That is `form`, if given: the way the rest of a larger table is written. `order` says whether
    the month or the day comes first where the texts do not tell.
    """
    if form or texts.null_count() == len(texts):
        found: Writing | None = Writing(form or _WITHOUT_ANY[kind])
    else:
        found = find_writing(texts, order)
    if found is not None and found.is_ambiguous:
        raise ambiguous(name)
    if found is not None and found.type is kind:
        dates = parsed(texts, found.form)
        if dates.null_count() == texts.null_count():
            return _coded(dates, back, found.form)
    is_date = kind == ColumnType.DATE
    example = "2024-12-31, or all like 31.12.2024" if is_date else "2024-12-31T23:59:59"
    raise DataError(
        f"column {name!r} cannot have the type {str(kind)!r}: not all of its texts are written "
        f"like {example}. Convert it to dates first."
    )


def ambiguous(name: str) -> DataError:
    """Return the error that the texts of a column do not tell the day from the month."""
    return DataError(
        f"column {name!r} holds dates, and none of them tells the day from the month: both are 12 "
        "or less everywhere. Say which comes first: --dates us for 12/31/2024, --dates eu for "
        f"31/12/2024 (dates='us' or 'eu' in Python), or keep it as text: --type {name}=nominal."
    )


def writing_of(series: nw.Series[Any], order: str | None = None) -> Writing | None:
    """Return how a column of text is written, if it is all dates."""
    first = series.drop_nulls().head(1).to_list()
    if not first or not isinstance(first[0], str) or not is_laid_out_as_date(first[0]):
        return None
    native = series.to_native()
    if isinstance(native, pl.Series) and native.dtype == pl.String:
        return find_writing(native, order)
    texts = [value if isinstance(value, str) else None for value in series.to_list()]
    return find_writing(pl.Series(texts, dtype=pl.String), order)


def is_written_as(series: nw.Series[Any], kind: ColumnType) -> bool:
    """Whether a column of text is all dates, or dates with times, written the same way."""
    found = writing_of(series)
    return found is not None and found.type is kind


def _coded(dates: pl.Series, back: Callable[[pl.Series], Any], form: str) -> Coded:
    stored = dates.to_physical()

    def decode(values: Values) -> Any:
        own = pl.Series(values.numbers.astype(np.int64)).cast(stored.dtype).cast(dates.dtype)
        texts = own.dt.to_string(form)
        if values.missing is not None:
            texts = nulled(texts, pl.Series(values.missing))
        return back(texts)

    numbers = stored.cast(pl.Int64).fill_null(0).to_numpy()
    unit = "D" if dates.dtype == pl.Date else "us"
    missing = dates.is_null().to_numpy()
    written = "" if missing.all() else form
    return Coded(Values.of(numbers, missing), decode, unit=unit, written=written)


def rounded_to(
    coded: Coded, resolution: str | None, name: str, fitted: tuple[str, int] | None = None
) -> Coded:
    """Return times as whole numbers of the given resolution, or of the coarsest that fits all.

    Released times are whole numbers of it as well: those of days have no hours, those of months are
    the first of a month. Times in between are rounded down. `fitted` is the resolution of the rest
    of a larger table: a unit and how many of them.
    """
    if resolution is None and fitted is not None:
        resolution = next((word for word, period in PERIODS.items() if period == fitted), None)
    if resolution in PERIODS:
        return _in_periods(coded, *PERIODS[resolution])
    if coded.unit == "D":
        if resolution not in (None, "day"):
            raise DataError(
                f"column {name!r} holds dates without times, whose resolution is the day, month, "
                f"quarter or year; got {resolution!r}. Leave it out, or choose one of these."
            )
        return coded
    numbers = coded.values.numbers
    units = {word: seconds * PER_SECOND[coded.unit] for word, seconds in SECONDS.items()}
    if resolution is not None:
        unit = units[resolution]
    elif fitted is not None:
        unit = fitted[1]
    else:
        present = coded.values.present
        unit = next((unit for unit in units.values() if not (present % unit).any()), 1)

    def decode(values: Values) -> Any:
        return coded.decode(replace(values, numbers=values.numbers * unit))

    whole = numbers if unit == 1 else np.floor_divide(numbers, unit)
    return replace(coded, values=Values(whole, coded.values.missing), decode=decode, step=unit)


def finer_than(rounded: Coded, coded: Coded, name: str) -> Coded | None:
    """Return times in their own resolution, if those that were rounded have a coarser one."""
    own = rounded_to(coded, None, name)
    is_coarser = rounded.unit != own.unit or rounded.step > own.step
    return own if is_coarser else None


def in_steps_of(released: Values, coarse: tuple[str, int], fine: tuple[str, int]) -> Values:
    """Return times that count coarse steps, a unit and how many of them, in fine steps.

    >>> in_steps_of(Values(np.array([0, 1])), ("M", 3), ("D", 1)).numbers
    array([ 0, 90])
    """
    (unit, count), (own, step) = coarse, fine
    if unit in CALENDAR_UNITS:
        numbers = first_moments(released.numbers, unit, count, own)
    else:  # then both are in the same unit
        numbers = released.numbers * count
    return replace(released, numbers=np.floor_divide(numbers, step))


def _in_periods(coded: Coded, unit: str, count: int) -> Coded:
    """Return times as months, quarters or years since 1970; each is released as its first day."""
    values = coded.values

    def decode(released: Values) -> Any:
        starts = first_moments(released.numbers, unit, count, coded.unit)
        return coded.decode(replace(released, numbers=starts))

    numbers = values.numbers
    if values.missing is not None:
        numbers = np.where(values.missing, 0, numbers)
    whole = in_periods(numbers, coded.unit, unit, count)
    return replace(
        coded, values=Values(whole, values.missing), decode=decode, unit=unit, step=count
    )


def in_periods(numbers: NDArray[Any], own: str, unit: str, count: int) -> Wholes:
    """Return in which period of the calendar times in units since 1970 are.

    >>> in_periods(np.array([-1, 0, 100]), "D", "M", 3)
    array([-1,  0,  1])
    """
    stamps = numbers.astype(np.int64).astype(f"datetime64[{own}]")
    whole: Wholes = stamps.astype(f"datetime64[{unit}]").astype(np.int64)
    return np.floor_divide(whole, count)


def first_moments(numbers: NDArray[Any], unit: str, count: int, own: str) -> Wholes:
    """Return when periods of the calendar begin, in units since 1970.

    >>> first_moments(np.array([-1, 0, 1]), "M", 3, "D")
    array([-92,   0,  90])
    """
    stamps = (numbers.astype(np.int64) * count).astype(f"datetime64[{unit}]")
    return stamps.astype(f"datetime64[{own}]").astype(np.int64)
