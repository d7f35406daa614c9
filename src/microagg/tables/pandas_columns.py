"""Columns of pandas tables as numbers, and back in their own types."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from microagg.aggregates.values import Values
from microagg.core.arrays import Categories, Mask
from microagg.core.errors import DataError
from microagg.tables.columns import Coded


def code_numbers(native: Any, has_nulls: bool = False) -> Coded:
    """Return integers and floats as they are; in pandas the type says how a value is missing."""
    native = _without_nan(native)
    missing = native.isna().to_numpy()
    dtype = getattr(native.dtype, "numpy_dtype", native.dtype)
    numbers = native.to_numpy(dtype=dtype, na_value=np.nan if dtype.kind == "f" else 0)
    values = Values.of(numbers, missing)
    return Coded(values, lambda values: _series(native, values), has_nulls=has_nulls)


def code_categories(native: Any) -> Coded:
    """Return the place of each value among all that occur, or among those that the type lists."""
    if hasattr(native, "cat"):
        codes = native.cat.codes.to_numpy().astype(np.int64)
        categories = native.cat.categories
    else:
        codes, categories = _factorised(_with_one_zero(_without_nan(native)))

    def decode(values: Values) -> Any:
        if not len(categories):
            return _nothing(native)
        return _masked(native, categories.take(values.numbers).to_numpy(), values.missing)

    missing = codes < 0
    return Coded(Values.of(codes, missing), decode, tuple(categories.tolist()))


def decoder_of(native: Any, categories: Sequence[Any]) -> Callable[[Values], Any]:
    """Return how to turn places among these categories into a column like `native`."""
    listed = np.empty(len(categories), dtype=object)
    listed[:] = list(categories)

    def decode(values: Values) -> Any:
        if not len(listed):
            return _nothing(native)
        released = listed[values.numbers]
        if values.missing is not None:
            released[values.missing] = None
        return _masked(native, released, values.missing)

    return decode


def _nothing(native: Any) -> Any:
    return type(native)(None, index=native.index, dtype=native.dtype)


def kind_of_objects(native: Any) -> str:
    """Say what a column of objects holds, as pandas names it."""
    import pandas as pd  # type: ignore[import-untyped, unused-ignore]

    return str(pd.api.types.infer_dtype(native, skipna=True))


def code_instants(native: Any) -> Coded:
    """Return dates as days, and dates with times in the units in which they are stored.

    Times with a zone are local times there, so that whole days stay whole days.
    """
    if native.dtype == object:
        return _date_objects(native)
    is_plain = isinstance(native.dtype, np.dtype)
    arrow = getattr(native.dtype, "pyarrow_dtype", None)
    zone = getattr(native.dtype if arrow is None else arrow, "tz", None)
    unit = np.datetime_data(native.dtype)[0] if is_plain else _unit_of(native)
    numpy_unit = "s" if unit == "D" else unit  # the coarsest that pandas has
    plain = native if zone is None else _clocks(native, unit, zone)
    if unit == "D":  # dates of Arrow, which NumPy takes only with times
        plain = native.astype("timestamp[s][pyarrow]")
    stamps = plain.to_numpy(dtype=f"datetime64[{unit}]", na_value=np.datetime64("NaT"))

    def decode(values: Values) -> Any:
        stored = values.numbers.astype(np.int64).view(f"datetime64[{unit}]")
        released = type(native)(stored.astype(f"datetime64[{numpy_unit}]"), index=native.index)
        if zone is not None:
            released = _localised(released, zone)
        return _with_missing(released.astype(native.dtype), values.missing)

    return Coded(Values.of(stamps.view(np.int64), np.isnat(stamps)), decode, unit=unit)


def _clocks(native: Any, unit: str, zone: Any) -> Any:
    """Return local times in the zone."""
    import pandas as pd

    # For the types of Arrow, earlier versions of pandas show UTC.
    return native.astype(pd.DatetimeTZDtype(unit, zone)).dt.tz_localize(None)


def _localised(clocks: Any, zone: Any) -> Any:
    """Return local times as times with a zone.

    When clocks go back, it is the first of two; a time that clocks skip is counted from the day
    before.
    """
    import pandas as pd

    def located(shown: Any, nonexistent: str) -> Any:
        first = np.ones(len(shown), dtype=np.bool_)
        return shown.dt.tz_localize(zone, ambiguous=first, nonexistent=nonexistent)

    found = located(clocks, "NaT")
    skipped = found.isna() & clocks.notna()
    if skipped.any():
        day = pd.Timedelta(days=1)
        found[skipped] = located(clocks[skipped] - day, "shift_forward") + day
    return found


def _date_objects(native: Any) -> Coded:
    missing = native.isna().to_numpy()
    days = np.array(native.where(~missing, None).tolist(), dtype="datetime64[D]")

    def decode(values: Values) -> Any:
        dates = values.numbers.astype(np.int64).view("datetime64[D]").astype(object)
        return _masked(native, dates, values.missing)

    return Coded(Values.of(days.view(np.int64), missing), decode, unit="D")


def texts_of(native: Any) -> tuple[pl.Series, Callable[[pl.Series], Any]]:
    """Return a column of text, and how to turn other texts into such a column."""
    texts = [value if isinstance(value, str) else None for value in native.tolist()]

    def back(series: pl.Series) -> Any:
        return type(native)(series.to_list(), index=native.index, dtype=native.dtype)

    return pl.Series(texts, dtype=pl.String), back


def _unit_of(native: Any) -> str:
    """Return the unit of a type that is not NumPy's: with a time zone, or of Arrow."""
    if hasattr(native.dtype, "unit"):
        return str(native.dtype.unit)
    arrow = native.dtype.pyarrow_dtype
    return str(getattr(arrow, "unit", "D"))


def _without_nan(native: Any) -> Any:
    """Return floats with one mark for missing values; extension types may hold two."""
    if isinstance(native.dtype, np.dtype) or native.dtype.kind != "f":
        return native
    return native.mask((native != native).fillna(False).to_numpy(dtype=np.bool_))


def _with_one_zero(native: Any) -> Any:
    """Return floats without -0.0, which Arrow takes for another category than 0.0."""
    if isinstance(native.dtype, np.dtype) or native.dtype.kind != "f":
        return native
    return native.mask((native == 0.0).fillna(False).to_numpy(dtype=np.bool_), 0.0)


def _factorised(native: Any) -> tuple[Categories, Any]:
    try:
        codes, categories = _by_value(native) if _has_nul(native) else native.factorize(sort=True)
        if native.dtype == object and len({type(value) for value in categories}) > 1:
            raise TypeError
    except TypeError:
        raise DataError(
            f"column {native.name!r} mixes types, so its values have no order. Convert it to text "
            "or numbers first."
        ) from None
    return codes.astype(np.int64), categories


def _has_nul(native: Any) -> bool:
    return native.dtype.kind == "O" and any(
        isinstance(value, str) and "\0" in value for value in native
    )


def _by_value(native: Any) -> tuple[NDArray[Any], Any]:
    """Return codes and categories as pandas does; before version 3, it ends a text at a NUL."""
    present = native.notna().to_numpy(dtype=np.bool_)
    values = native[present].tolist()
    categories = sorted(set(values))
    places = {value: place for place, value in enumerate(categories)}
    codes = np.full(len(native), -1)
    codes[present] = [places[value] for value in values]
    return codes, type(native)(categories, dtype=native.dtype)


def _series(native: Any, values: Values) -> Any:
    return _masked(native, values.numbers, values.missing)


def _masked(native: Any, released: NDArray[Any], missing: Mask | None) -> Any:
    return _with_missing(type(native)(released, index=native.index, dtype=native.dtype), missing)


def _with_missing(series: Any, missing: Mask | None) -> Any:
    if missing is None:
        return series
    return series.where(~missing, None) if series.dtype == object else series.mask(missing)
