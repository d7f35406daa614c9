"""What users of scikit-learn call X, a DataFrame or an array, as a table and back."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from numbers import Integral, Real
from typing import Any, Self

import narwhals as nw
import numpy as np
import polars as pl
from narwhals.exceptions import NarwhalsError
from numpy.typing import NDArray

from microagg.core.errors import DataError
from microagg.core.validation import as_dense, check_shape
from microagg.tables.frames import open_frame, to_polars

_TEXT = (nw.String, nw.Categorical, nw.Enum)
_UNITS = ("D", "ms", "us", "ns")  # of NumPy's times, those that polars has as well


class MixedTypesError(DataError, TypeError):
    """A column of an array of objects holds what no column of a table can."""


@dataclass(frozen=True, eq=False)
class Features:
    """X, a DataFrame as it was given, or an array; `library` is that of the DataFrame."""

    X: Any
    library: nw.Implementation | None

    @classmethod
    def of(cls, X: Any) -> Self:
        """Return X if it holds at least one record and one column."""
        library = _library(X)
        if library is None:
            return cls(_as_array(X), None)
        check_shape(np.broadcast_to(0, X.shape))
        return cls(X, library)

    def table(self, names: Iterable[str] | None = None) -> Any:
        """Return X as a table without an index, whose columns have these names, or their own.

        Columns without names, or whose names are not text, are x0, x1 and so on.
        """
        if self.library is None:
            named = self._numbered() if names is None else list(names)
            columns = (self.X[:, at] for at in range(self.X.shape[1]))
            return pl.DataFrame(list(map(_series, named, columns)))
        if not self._is_pandas:
            if names is None:
                return self.X
            frame = open_frame(self.X)
            return frame.rename(dict(zip(frame.columns, names, strict=True))).to_native()
        if names is None:
            is_text = all(isinstance(name, str) for name in self.X.columns)
            names = list(self.X.columns) if is_text else self._numbered()
        return self.X.reset_index(drop=True).set_axis(list(names), axis=1)

    @property
    def index_may_identify(self) -> bool:
        """Whether X has an index that is more than row numbers."""
        if not self._is_pandas:
            return False
        index = self.X.index
        return list(index.names) != [None] or index.dtype.kind not in "iu"

    def in_form(self, table: Any, output: str = "default") -> Any:
        """Return a table of as many records in the form of X: an array, or the same DataFrame.

        `output` names another library for DataFrames. In pandas, the index is that of X.
        """
        if self.library is None:
            return _stacked(table, self.X.dtype)
        converted = _converted(table, str(self.library) if output == "default" else output)
        if self._is_pandas and _library(converted) == self.library:
            converted = converted.set_axis(self.X.index, axis=0).set_axis(self.X.columns, axis=1)
        return converted

    @property
    def _is_pandas(self) -> bool:
        return self.library is not None and self.library.is_pandas_like()

    def _numbered(self) -> list[str]:
        return [f"x{at}" for at in range(self.X.shape[1])]


def _library(X: Any) -> nw.Implementation | None:
    """Return the library of a DataFrame; None for anything else."""
    try:
        frame = nw.from_native(X, pass_through=True, eager_only=True)
    except NarwhalsError:
        frame = open_frame(X)  # which says what is wrong
    if isinstance(frame, nw.DataFrame):
        return frame.implementation
    if hasattr(X, "collect"):
        open_frame(X)  # which says what to do with a LazyFrame
    return None


def _as_array(X: Any) -> NDArray[Any]:
    """Return X as a matrix of something that a table can hold."""
    array = as_dense(X)
    if array.ndim == 0:
        raise DataError(
            "X must be a DataFrame of pandas, polars or pyarrow, or a matrix; got "
            f"{type(X).__name__}."
        )
    if array.dtype.kind == "U" and not hasattr(X, "dtype"):
        array = np.asarray(X, dtype=object)  # numbers among text stay numbers
    if array.dtype.kind == "c":
        raise DataError("Complex data not supported: X must contain real numbers.")
    if array.dtype.kind not in "fiubUOM":
        raise DataError(
            "X must contain numbers, text, booleans or dates; got an array of the type "
            f"{array.dtype.name!r}."
        )
    check_shape(array)
    return array


def _series(name: str, values: NDArray[Any]) -> pl.Series:
    """Return a column of an array as a column of a table."""
    kind = values.dtype.kind
    if kind == "O":
        return _series_of_objects(name, values.tolist())
    if kind == "f" and values.dtype.itemsize not in (4, 8):
        values = values.astype(np.float32 if values.dtype.itemsize < 4 else np.float64)
    if kind == "M" and np.datetime_data(values.dtype)[0] not in _UNITS:
        values = values.astype("datetime64[ms]")
    return pl.Series(name, values.tolist() if kind == "U" else np.ascontiguousarray(values))


def _series_of_objects(name: str, values: Sequence[Any]) -> pl.Series:
    missing = [value is None or value != value for value in values]
    present = [value for value, is_out in zip(values, missing, strict=True) if not is_out]
    kinds = {_kind(value) for value in present}
    if kinds == {int, float}:
        kinds = {float}
    if len(kinds) > 1 or object in kinds:
        types = sorted({type(value).__name__ for value in present})
        raise MixedTypesError(
            "each column of the argument must be all strings, all numbers, all true or false, or "
            f"all dates; got {' and '.join(types)} in {name!r}."
        )
    kind = kinds.pop() if kinds else float
    if kind is float:
        numbers = [np.nan if out else value for value, out in zip(values, missing, strict=True)]
        return pl.Series(name, np.array(numbers, dtype=np.float64))
    each = zip(values, missing, strict=True)
    plain = kind if kind in (bool, int, str) else lambda value: value
    return pl.Series(name, [None if out else plain(value) for value, out in each])


def _kind(value: Any) -> type:
    """Return the Python type of which a value is one, or `object`."""
    if isinstance(value, (bool, np.bool_)):
        return bool
    for kind, known in ((int, Integral), (float, Real), (str, str), (datetime, datetime)):
        if isinstance(value, known):
            return kind
    return date if isinstance(value, date) else object


def _converted(table: Any, library: str) -> Any:
    """Return the table as one of another library."""
    frame = open_frame(table)
    if str(frame.implementation) == library:
        return table
    if frame.implementation.is_pandas_like():
        table = table.reset_index(drop=True)
        frame = open_frame(table)  # whose index would become a column
    if library == "polars":
        return to_polars(table)
    return frame.to_arrow() if library == "pyarrow" else frame.to_pandas()


def _stacked(table: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a table as an array, of the type of X if that holds its values."""
    frame = open_frame(table)
    if dtype.kind in "OU" or any(column.dtype in _TEXT for column in frame.iter_columns()):
        objects = np.empty(frame.shape, dtype=object)
        for at, column in enumerate(frame.iter_columns()):
            objects[:, at] = column.to_list()
        return objects.astype(str) if dtype.kind == "U" else objects
    stacked = np.column_stack([column.to_numpy() for column in frame.iter_columns()])
    is_narrower = stacked.dtype.kind == dtype.kind and dtype.kind in "fM"
    return stacked.astype(dtype) if is_narrower else stacked
