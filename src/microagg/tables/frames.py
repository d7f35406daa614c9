"""DataFrames of pandas, polars or Arrow, which go out as they came in; through narwhals."""

from collections.abc import Collection, Mapping
from typing import Any

import narwhals as nw
import polars as pl
from narwhals.exceptions import NarwhalsError
from narwhals.typing import IntoDType

from microagg.core.arrays import Order
from microagg.core.errors import DataError, ParameterError
from microagg.tables import used_categories
from microagg.tables.polars_columns import as_polars

Frame = nw.DataFrame[Any]

_OF_FILES = (
    " Read the file first; microagg.protect_file, microagg.verify and microagg.measure take files."
)
_HINTS = {
    "LazyFrame": " Call .collect() on it first.",
    "Series": " Call .to_frame() on it first.",
    "ndarray": " For a bare matrix use a method itself: microagg.partitions.get('mdav')(k=5).",
    "str": _OF_FILES,
    "PosixPath": _OF_FILES,
    "WindowsPath": _OF_FILES,
}


def open_frame(table: object) -> Frame:
    """Return `table` behind one interface, or refuse what is not a DataFrame with named columns."""
    try:
        frame = nw.from_native(table, eager_only=True)  # type: ignore[call-overload]
    except NarwhalsError:
        raise DataError(
            f"every column needs a name of its own; {_repeated(table)} more than once. "
            "Rename the columns first."
        ) from None
    except TypeError:
        kind = type(table).__name__
        raise ParameterError(
            f"table must be a DataFrame of pandas, polars or pyarrow; got {kind}."
            f"{_HINTS.get(kind, '')}"
        ) from None
    if nameless := [name for name in frame.columns if not isinstance(name, str)]:
        raise DataError(
            f"column names must be text; {len(nameless)} of {len(frame.columns)} are not. "
            "Rename them first, for example table.columns = [f'x{i}' for i in range(d)]."
        )
    opened: Frame = frame
    return opened


def has_column(frame: Frame, name: str) -> bool:
    """Whether a table has a column of this name, without listing all of them."""
    native = frame.to_native()
    if isinstance(native, pl.DataFrame):
        return native.get_column(name, default=None) is not None
    if frame.implementation.is_pandas_like():
        return name in native.columns
    return bool(native.schema.get_field_index(name) >= 0)


def dtype_of(frame: Frame, name: str) -> nw.dtypes.DType:
    """Return the type of a column; narwhals does not know all the time zones of pandas."""
    dtype = frame.get_column(name).dtype
    if dtype == nw.Unknown and frame.implementation.is_pandas_like():
        native = frame.to_native()[name].dtype
        if native.kind == "M":
            return nw.Datetime(native.unit, str(native.tz))
    return dtype


def type_name(dtype: nw.dtypes.DType | str) -> str:
    """Return the name of a type, without the categories that it may list: those are values.

    >>> type_name(nw.Enum(["Smith", "Jones"]))
    'Enum'
    """
    return str(dtype).partition("(")[0]


def _repeated(table: object) -> str:
    names = getattr(table, "column_names", None) or list(getattr(table, "columns", ()))
    names = [str(name) for name in names]
    repeated = sorted({name for name in names if names.count(name) > 1})
    listing = ", ".join(repr(name) for name in repeated) or "some"
    return f"{listing} {'appears' if len(repeated) == 1 else 'appear'}"


def index_names(frame: Frame) -> tuple[str, ...]:
    """Return the names of a pandas index, which is a column by another name; row numbers have none.

    An index that would be published without anybody having named it is refused.
    """
    if not frame.implementation.is_pandas_like():
        return ()
    index = frame.to_native().index
    if list(index.names) == [None]:
        if index.dtype.kind not in "iu":
            raise DataError(
                "the table's index has no name and does not hold integers, so it could identify "
                "records. Name it (rename_axis) and give it a role, or call "
                "reset_index(drop=True) first."
            )
        return ()
    return _check_levels(list(index.names), frame.columns)


def _check_levels(names: list[Any], columns: Collection[str]) -> tuple[str, ...]:
    if odd := [name for name in names if not isinstance(name, str)]:
        raise DataError(
            f"names of the table's index must be text; {len(odd)} of {len(names)} are not. Name "
            "every level (rename_axis) and give it a role, or call reset_index(drop=True) first."
        )
    if twice := [name for name in names if name in columns or names.count(name) > 1]:
        raise DataError(
            f"the table's index {twice[0]!r} has the name of another level or column. Rename one "
            "of them, or call reset_index(drop=True) first."
        )
    return tuple(names)


def with_released(
    frame: Frame,
    released: Mapping[str, Any],
    *,
    dropped: Collection[str],
    order: Order | None = None,
) -> Any:
    """Return a new native table with the `released` columns in place and `dropped` left out.

    The order of columns stays, and that of rows, unless `order` lists the rows in another. What
    lies beside the values does not, as it may say anything: `attrs`, the name of the columns,
    attributes of subclasses and row numbers of pandas, metadata of Arrow, categories that no record
    holds. Levels of an index that have a name are columns. The released columns are native ones, in
    the order of the original. The original table is not touched.
    """
    native = frame.to_native()
    left_out = set(dropped)
    kept = [name for name in frame.columns if name not in left_out]
    if frame.implementation.is_pandas_like():
        table = frame.implementation.to_native_namespace().DataFrame(native[kept].copy())
        table = table.rename_axis(columns=None)
        table.attrs = {}
        for name, column in released.items():
            table[name] = column
        # A key is in a column with the name of the index level that it replaces.
        gone = {*dropped, *released}
        if order is not None:
            table = table.iloc[order]
        if levels := [name for name in table.index.names if name is not None and name in gone]:
            table = table.reset_index(level=levels, drop=True)
        if list(table.index.names) == [None]:
            table = table.reset_index(drop=True)
        return used_categories.of_pandas(table, sorts=order is not None)
    columns = [released.get(name, native[name]) for name in kept]
    if isinstance(native, pl.DataFrame):
        own = map(used_categories.of_polars, columns)
        table = pl.DataFrame(dict(zip(kept, own, strict=True)))
        return table if order is None else table[order]
    columns = [used_categories.of_arrow(own, sorts=order is not None) for own in columns]
    # A key that replaces an identifier has its own type.
    fields = [
        native.schema.field(name).remove_metadata().with_type(column.type)
        for name, column in zip(kept, columns, strict=True)
    ]
    schema = frame.implementation.to_native_namespace().schema(fields)
    table = type(native).from_arrays(columns, schema=schema)
    return table if order is None else table.take(order)


def new_table(like: Frame, values: Mapping[str, list[Any]], schema: Mapping[str, IntoDType]) -> Any:
    """Return a native table of the same kind as `like`; None is a missing value."""
    if like.implementation.is_pandas_like():
        # With missing values, integers and booleans need types of their own.
        types: dict[Any, str] = {nw.Int64: "Int64", nw.Float64: "float64", nw.Boolean: "boolean"}
        own = {name: types[dtype] for name, dtype in schema.items() if dtype in types}
        return like.implementation.to_native_namespace().DataFrame(values).astype(own)
    return nw.from_dict(values, schema, backend=like.implementation).to_native()


def to_polars(table: Any) -> pl.DataFrame:
    """Return the table as a polars one; named levels of an index become columns again."""
    frame = open_frame(table)
    if frame.implementation.is_pandas_like():
        native = frame.to_native()
        if nameless := [i for i, name in enumerate(native.index.names) if name is None]:
            native = native.reset_index(level=nameless, drop=True)
        if any(name is not None for name in native.index.names):
            native = native.reset_index()
        frame = open_frame(native)
    if isinstance(native := frame.to_native(), pl.DataFrame):
        return native
    # By name: in a list, polars would rename a column whose name is empty.
    return pl.DataFrame({name: polars_column(frame.get_column(name)) for name in frame.columns})


def polars_column(series: nw.Series[Any]) -> pl.Series:
    """Return a column as polars holds it, without its name, which polars may take for a pattern."""
    return _as_polars(series).alias("")


def _as_polars(series: nw.Series[Any]) -> pl.Series:
    whole_or_float = series.dtype.is_integer() or series.dtype.is_float()
    if whole_or_float and isinstance(native := series.to_native(), pl.Series):
        return native
    if whole_or_float and not series.null_count():
        return pl.Series(series.to_numpy())
    try:
        column = series.to_frame().to_polars().to_series()
    except ImportError:  # pandas passes text to polars through pyarrow, which may not be installed
        values = [None if value != value else value for value in series.to_list()]
        return _text_column(series.name, values)
    except MemoryError:
        raise
    except Exception:  # a library's message may quote values
        column = _in_utc(series)
    # Some versions of polars take periods for the whole numbers that they are stored as.
    is_storage = series.dtype == nw.Unknown and column.dtype.is_numeric()
    if column.dtype == pl.Object or is_storage:
        raise _unwritable(series.name)
    return column


def _in_utc(series: nw.Series[Any]) -> pl.Series:
    """Return times in UTC if polars does not have their zone, such as +05:30."""
    if dtype_of(series.to_frame(), series.name) != nw.Datetime:
        raise _unwritable(series.name) from None
    native = series.to_native()
    if series.implementation.is_pandas_like():
        plain = native.dt.tz_convert("UTC").dt.tz_localize(None).dt.as_unit("us").to_numpy()
        return pl.Series(plain).dt.replace_time_zone("UTC")
    return as_polars(native).alias(series.name)


def _text_column(name: str, values: list[Any]) -> pl.Series:
    try:
        return pl.Series(name, values)
    except MemoryError:
        raise
    except Exception:  # a library's message may quote values
        raise _unwritable(name) from None


def _unwritable(name: str) -> DataError:
    return DataError(
        f"column {name!r} mixes types, or has a type that no file format holds. Convert it to "
        "text, numbers or dates first."
    )
