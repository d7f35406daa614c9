"""Columns of polars and Arrow tables as numbers, and back in their own types."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from microagg.aggregates.values import Values
from microagg.core.arrays import Mask
from microagg.tables.columns import Coded
from microagg.tables.used_categories import encoded, entries_of, in_type, used_entries


def as_polars(native: Any) -> pl.Series:
    """Return a column of polars or Arrow as polars holds it."""
    series = native if isinstance(native, pl.Series) else _from_arrow(native)
    return series.alias("")  # polars takes a name such as "^a$" for a pattern


def _from_arrow(native: Any) -> pl.Series:
    try:
        return pl.Series(pl.from_arrow(native))
    except pl.exceptions.ComputeError:
        pa = nw.Implementation.PYARROW.to_native_namespace()
        if not pa.types.is_timestamp(native.type):
            raise
        # Polars has no zones such as +05:30.
        return pl.Series(pl.from_arrow(native.cast(pa.timestamp(native.type.unit, "UTC"))))


def back(native: Any, series: pl.Series) -> Any:
    """Return the values as a column of the kind and type of `native`."""
    if isinstance(native, pl.Series):
        return series.cast(native.dtype).alias(native.name)
    pa = nw.Implementation.PYARROW.to_native_namespace()
    array = series.to_arrow()
    if pa.types.is_dictionary(native.type):
        array = array.cast(native.type.value_type)
        listed = entries_of(native) if native.type.ordered else None
        return encoded(array, native.type, used_entries(array, listed))
    return pa.chunked_array([in_type(array, native.type)])


def code_numbers(native: Any, has_nulls: bool = False) -> Coded:
    """Return integers and floats as they are; `has_nulls` if other parts of the column have some.

    A missing float is null or NaN, but not both: two marks would tell records of a group apart.
    """
    series = as_polars(native)
    missing = series.is_null()
    mark = None
    if series.dtype.is_float():
        has_nulls = has_nulls or series.null_count() > 0
        missing = missing | series.is_nan().fill_null(False)
        mark = None if has_nulls else np.nan
    numbers = series.fill_null(0).to_numpy()

    def decode(values: Values) -> Any:
        released = pl.Series(values.numbers, dtype=series.dtype)
        return back(native, _with_missing(released, values.missing, mark))

    return Coded(Values.of(numbers, missing.to_numpy()), decode, has_nulls=has_nulls)


def code_categories(native: Any) -> Coded:
    """Return the place of each value among all that occur, or among those that the type lists."""
    series = as_polars(native)
    if isinstance(series.dtype, pl.Enum):
        categories = series.dtype.categories
        codes = series.to_physical().cast(pl.Int64)
    else:
        if series.dtype == pl.Categorical:
            series = series.cast(pl.String)
        if series.dtype.is_float():
            series = series.fill_nan(None)
        categories = series.drop_nulls().unique().sort()
        places = pl.Series(range(len(categories)), dtype=pl.Int64)
        # A column with no value at all would keep its type without the cast.
        codes = series.replace_strict(categories, places, return_dtype=pl.Int64).cast(pl.Int64)
    missing = codes.is_null().to_numpy()
    return Coded(
        Values.of(codes.fill_null(0).to_numpy(), missing),
        partial(_decoded, native, categories),
        tuple(categories.to_list()),
    )


def decoder_of(native: Any, categories: Sequence[Any]) -> Callable[[Values], Any]:
    """Return how to turn places among these categories into a column like `native`."""
    dtype = as_polars(native).dtype
    is_text = isinstance(dtype, (pl.Categorical, pl.Enum))
    # What the type cannot hold was listed, but does not occur.
    listed = pl.Series(list(categories), dtype=pl.String if is_text else dtype, strict=False)
    return partial(_decoded, native, listed)


def _decoded(native: Any, categories: pl.Series, values: Values) -> Any:
    n = len(values.numbers)
    released = categories.gather(values.numbers) if len(categories) else categories.clear(n)
    return back(native, _with_missing(released, values.missing))


def code_instants(native: Any) -> Coded:
    """Return dates as days, and dates with times in the units in which they are stored.

    Times with a zone are local times there, so that whole days stay whole days.
    """
    series = as_polars(native)
    zone = getattr(series.dtype, "time_zone", None)
    clocks = series if zone is None else series.dt.replace_time_zone(None)
    stored = clocks.to_physical().cast(pl.Int64)

    def decode(values: Values) -> Any:
        released = pl.Series(values.numbers, dtype=pl.Int64).cast(stored_type).cast(clocks.dtype)
        if zone is not None:
            released = _localised(released, zone)
        return back(native, _with_missing(released, values.missing))

    stored_type = clocks.to_physical().dtype
    missing = series.is_null().to_numpy()
    return Coded(Values.of(stored.fill_null(0).to_numpy(), missing), decode, unit=_unit(series))


def _localised(clocks: pl.Series, zone: str) -> pl.Series:
    """Return local times as times with a zone.

    When clocks go back, it is the first of two; a time that clocks skip is counted from the day
    before.
    """

    def located(shown: pl.Series) -> pl.Series:
        return shown.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")

    found = located(clocks)
    if found.null_count():
        day = pl.duration(days=1)
        shown = pl.select(clocks - day).to_series()
        earlier = pl.select(located(shown) + day).to_series()
        found = found.zip_with(found.is_not_null(), earlier)
    return found


def texts_of(native: Any) -> tuple[pl.Series, Callable[[pl.Series], Any]]:
    """Return a column of text, and how to turn other texts into such a column."""
    return as_polars(native).cast(pl.String), partial(back, native)


def _unit(series: pl.Series) -> str:
    return series.dtype.time_unit if isinstance(series.dtype, pl.Datetime) else "D"


def _with_missing(series: pl.Series, missing: Mask | None, mark: float | None = None) -> pl.Series:
    return series if missing is None else nulled(series, pl.Series(missing), mark)


def nulled(series: pl.Series, where: pl.Series, mark: float | None = None) -> pl.Series:
    """Return the values with a mark, or null, where `where` is true."""
    # Series.set does not work for every type in every version.
    pairs = pl.DataFrame({"value": series, "is_out": where})
    return pairs.select(pl.when("is_out").then(mark).otherwise("value").alias("")).to_series()
