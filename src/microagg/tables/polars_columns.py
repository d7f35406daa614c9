"""Columns of polars and Arrow tables as numbers, and back in their own types."""

from collections.abc import Callable
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from microagg.aggregates.values import Mask, Values
from microagg.tables.columns import Coded


def as_polars(native: Any) -> pl.Series:
    """Return a column of polars or Arrow as polars holds it."""
    series = native if isinstance(native, pl.Series) else pl.Series(pl.from_arrow(native))
    return series.alias("")  # polars takes a name such as "^a$" for a pattern


def back(native: Any, series: pl.Series) -> Any:
    """Return the values as a column of the kind and type of `native`."""
    if isinstance(native, pl.Series):
        return series.cast(native.dtype).alias(native.name)
    pa = nw.Implementation.PYARROW.to_native_namespace()
    array = series.to_arrow()
    if pa.types.is_dictionary(native.type):
        array = array.cast(native.type.value_type).dictionary_encode()
    return pa.chunked_array([array]).cast(native.type)


def code_numbers(native: Any) -> Coded:
    """Return whole numbers and floats as they are."""
    series = as_polars(native)
    missing = series.is_null()
    marks = None
    if series.dtype.is_float():
        missing = missing | series.is_nan().fill_null(False)
        # One mark for all: two would tell records of a group apart.
        marks = None if series.null_count() else np.nan
    numbers = series.fill_null(0).to_numpy()

    def decode(values: Values) -> Any:
        released = pl.Series(values.numbers, dtype=series.dtype)
        return back(native, _with_missing(released, values.missing, marks))

    return Coded(Values.of(numbers, missing.to_numpy()), decode)


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
        # The cast is for columns of which nothing is there: these keep their type.
        codes = series.replace_strict(categories, places, return_dtype=pl.Int64).cast(pl.Int64)

    def decode(values: Values) -> Any:
        n = len(values.numbers)
        released = categories.gather(values.numbers) if len(categories) else categories.clear(n)
        return back(native, _with_missing(released, values.missing))

    missing = codes.is_null().to_numpy()
    listed = tuple(categories.to_list())
    return Coded(Values.of(codes.fill_null(0).to_numpy(), missing), decode, listed)


def code_instants(native: Any) -> Coded:
    """Return dates as days, and dates with times as the units in which they are stored."""
    series = as_polars(native)
    stored = series.to_physical().cast(pl.Int64)

    def decode(values: Values) -> Any:
        released = pl.Series(values.numbers, dtype=pl.Int64).cast(stored_type).cast(series.dtype)
        return back(native, _with_missing(released, values.missing))

    stored_type = series.to_physical().dtype
    missing = series.is_null().to_numpy()
    return Coded(Values.of(stored.fill_null(0).to_numpy(), missing), decode, unit=_unit(series))


def texts_of(native: Any) -> tuple[pl.Series, Callable[[pl.Series], Any]]:
    """Return a column of text, and how to make such a column of other texts."""
    return as_polars(native).cast(pl.String), partial(back, native)


def _unit(series: pl.Series) -> str:
    return series.dtype.time_unit if isinstance(series.dtype, pl.Datetime) else "D"


def _with_missing(series: pl.Series, missing: Mask | None, mark: float | None = None) -> pl.Series:
    return series if missing is None else nulled(series, pl.Series(missing), mark)


def nulled(series: pl.Series, where: pl.Series, mark: float | None = None) -> pl.Series:
    """Return the values with a mark, or nothing, where `where` is true."""
    # Series.set does not take every type in every version.
    pairs = pl.DataFrame({"value": series, "is_out": where})
    return pairs.select(pl.when("is_out").then(mark).otherwise("value").alias("")).to_series()
