"""Columns as each library stores them: made of plain values, and read back as such."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float64")
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
QI, IDENTIFIER, SENSITIVE, STRATUM, WEIGHT = (
    *("quasi-identifier", "identifier", "sensitive"),
    *("stratum", "weight"),
)


@dataclass
class Drawn:
    """One column: `values` are plain (None is missing, times are whole units since 1970).

    `storage` is a type in words, such as "int8", "Int8" (which holds missing ones), "arrow int8".
    """

    name: str
    kind: str
    storage: str
    values: list[Any]
    role: str = QI
    said: dict[str, Any] = field(default_factory=dict)
    categories: list[Any] = field(default_factory=list)
    unit: str = ""
    zone: str | None = None


def arrow_type(column: Drawn) -> pa.DataType:
    kind = column.storage.removeprefix("arrow ")
    if column.kind == "datetime":
        return pa.timestamp(column.unit, tz=column.zone)
    if kind == "dictionary":
        return pa.dictionary(pa.int32(), pa.string())
    named = {"float32": pa.float32(), "float64": pa.float64(), "date": pa.date32()}
    return named.get(kind) or getattr(pa, {"bool": "bool_"}.get(kind, kind))()


def arrow_column(column: Drawn) -> pa.Array:
    dtype = arrow_type(column)
    if column.storage.endswith("dictionary"):
        return pa.array(column.values, type=pa.string()).dictionary_encode().cast(dtype)
    if column.kind == "date":
        return pa.array(column.values, type=pa.int32()).cast(dtype)
    if column.kind == "datetime":
        return pa.array(column.values, type=pa.int64()).cast(dtype)
    return pa.array(column.values, type=dtype)


def polars_column(column: Drawn) -> pl.Series:
    named = {"float32": pl.Float32, "float64": pl.Float64, "bool": pl.Boolean, "string": pl.String}
    values = column.values
    if column.kind == "date":
        return pl.Series(column.name, values, dtype=pl.Int32).cast(pl.Date)
    if column.kind == "datetime":
        dtype = pl.Datetime(column.unit, column.zone)
        return pl.Series(column.name, values, dtype=pl.Int64).cast(dtype)
    if column.storage == "enum":
        return pl.Series(column.name, values, dtype=pl.Enum(column.categories))
    if column.storage == "categorical":
        return pl.Series(column.name, values, dtype=pl.Categorical)
    whole = {name: getattr(pl, name.title().replace("Ui", "UI")) for name in INTEGERS}
    return pl.Series(column.name, values, dtype=(named | whole)[column.storage])


def pandas_column(column: Drawn, index: Any) -> pd.Series:
    values, storage = column.values, column.storage
    if storage.startswith("arrow "):
        made = arrow_column(column)
        return pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([made])), index=index)
    if storage in ("categorical", "ordered"):
        dtype = pd.CategoricalDtype(column.categories, ordered=storage == "ordered")
        return pd.Series(pd.Categorical(values, dtype=dtype), index=index)
    if column.kind == "datetime":
        nat = np.iinfo(np.int64).min
        stamps = np.array([nat if v is None else v for v in values], dtype=np.int64)
        made = pd.Series(stamps.view(f"datetime64[{column.unit}]"), index=index)
        return made.dt.tz_localize("UTC").dt.tz_convert(column.zone) if column.zone else made
    if column.kind == "date":
        days = [None if v is None else datetime.date.fromordinal(719_163 + v) for v in values]
        return pd.Series(days, index=index, dtype=object)
    if storage in FLOATS:
        values = [np.nan if v is None else v for v in values]
    return pd.Series(values, index=index, dtype=storage)


def plain(table: Any, name: str) -> list[Any]:
    """Return a column as plain values; times are whole units, None is missing, NaN stays."""
    native = table[name]
    if isinstance(native, pl.Series):
        native = native.alias("")  # polars takes a name such as "^a$" for a pattern
        if native.dtype.is_temporal():
            return native.to_physical().to_list()
        return native.to_list()
    if isinstance(native, pd.Series):
        return _plain_pandas(native)
    return _plain_arrow(native)


def _plain_arrow(native: Any) -> list[Any]:
    if pa.types.is_timestamp(native.type):
        return native.cast(pa.int64()).to_pylist()
    if pa.types.is_date32(native.type):
        return native.cast(pa.int32()).to_pylist()
    return native.to_pylist()


def _plain_pandas(native: pd.Series) -> list[Any]:
    if isinstance(native.dtype, pd.ArrowDtype):
        return _plain_arrow(pa.chunked_array(native.array.__arrow_array__()))
    if isinstance(native.dtype, pd.DatetimeTZDtype):
        native = native.dt.tz_convert("UTC").dt.tz_localize(None)
    if native.dtype.kind == "M":
        stamps = native.to_numpy().view("int64").tolist()
    else:
        stamps = native.tolist()
    days = [v.toordinal() - 719_163 if isinstance(v, datetime.date) else v for v in stamps]
    return [None if gone else v for v, gone in zip(days, native.isna(), strict=True)]


def key(value: Any) -> Any:
    """Return what tells a shown value from others: -0.0 is not 0.0, and NaN is not nothing."""
    return ("float", repr(value)) if isinstance(value, float) else value


def is_there(value: Any) -> bool:
    return value is not None and value == value


def same(before: Sequence[Any], after: Sequence[Any]) -> bool:
    return list(map(key, before)) == list(map(key, after))
