"""A column of a table -> a quasi-identifier of a type, guessed from how it is stored, or given."""

from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import narwhals as nw
import numpy as np

from microagg.aggregates.choices import Aggregate
from microagg.aggregates.values import Values
from microagg.core.errors import DataError, ParameterError
from microagg.tables import pandas_columns, polars_columns
from microagg.tables.columns import AGGREGATES, Coded, Column, ColumnOptions, ColumnType
from microagg.tables.dates import as_dates, finer_than, rounded_to
from microagg.tables.fitted_types import FittedType, recoded
from microagg.tables.frames import Frame, dtype_of, has_column, type_name

INTEGERS = (nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32, nw.UInt64)
FLOATS = (nw.Float32, nw.Float64)
_CATEGORIES = (nw.String, nw.Categorical, nw.Enum)
_TEXT = str(nw.String())

# Types that a column can have, by how it is stored; the first is the default.
_NUMBERS_AS = (ColumnType.ORDINAL, ColumnType.NOMINAL, ColumnType.BOOLEAN)
_STORED: tuple[tuple[tuple[Any, ...], tuple[ColumnType, ...]], ...] = (
    (INTEGERS, (ColumnType.INTEGER, *_NUMBERS_AS)),
    (FLOATS, (ColumnType.CONTINUOUS, ColumnType.INTEGER, *_NUMBERS_AS)),
    ((nw.Boolean,), (ColumnType.BOOLEAN, ColumnType.NOMINAL)),
    (
        (nw.String,),
        (*_NUMBERS_AS[1::-1], ColumnType.BOOLEAN, ColumnType.DATE, ColumnType.DATETIME),
    ),
    ((nw.Categorical, nw.Enum), (ColumnType.NOMINAL, ColumnType.ORDINAL, ColumnType.BOOLEAN)),
    ((nw.Date,), (ColumnType.DATE,)),
    ((nw.Datetime,), (ColumnType.DATETIME,)),
)
# What pandas may hold in columns of objects, by its own names.
_OBJECTS: dict[str, Any] = {"boolean": nw.Boolean, "date": nw.Date}


def types_of(frame: Frame, name: str) -> tuple[ColumnType, ...]:
    """Return the types that a column can have, likeliest first; none for lists and the like."""
    return types_as_stored(frame, name, dtype_of(frame, name))


def types_as_stored(frame: Frame, name: str, dtype: nw.dtypes.DType) -> tuple[ColumnType, ...]:
    """Return the types that a column can have, which is known to be stored as `dtype`."""
    if dtype == nw.Object and frame.implementation.is_pandas_like():
        dtype = _OBJECTS.get(pandas_columns.kind_of_objects(frame.to_native()[name]), dtype)
    possible = next((types for stored, types in _STORED if dtype in stored), ())
    if dtype in _CATEGORIES and _is_ordered(frame, name):
        return (ColumnType.ORDINAL, *(kind for kind in possible if kind != ColumnType.ORDINAL))
    return possible


def order_of(frame: Frame, name: str) -> Sequence[Any] | None:
    """Return the order of the categories if the type of the column has one, otherwise None."""
    if not _is_ordered(frame, name):
        return None
    order: list[Any] = frame.to_native()[name].dtype.categories.tolist()
    return order


def is_number(frame: Frame, name: str) -> bool:
    """Whether a column is stored as numbers."""
    return has_column(frame, name) and dtype_of(frame, name) in (*INTEGERS, *FLOATS)


def open_column(
    frame: Frame, name: str, options: ColumnOptions, fitted: FittedType | None = None
) -> Column:
    """Return a column as numbers, with the type that was asked for or else the likeliest.

    With `fitted`, the table is a part of a larger one, and its column is opened like the whole:
    with the same type, the same codes for the same categories, and the same steps for dates.
    """
    finer = None
    if fitted is None:
        dtype = dtype_of(frame, name)
        kind, stored = _type(frame, name, options, dtype), str(dtype)
    else:
        kind, stored = fitted.type, fitted.stored
    backend, native = _backend(frame), frame.get_column(name).to_native()
    if kind.is_number:
        coded = _numbers(backend.code_numbers(native, _has_nulls(fitted)), kind, name)
    elif kind.is_categorical:
        coded = backend.code_categories(native)
        if fitted is not None:
            coded = _coded_like(coded, fitted.categories, backend, native, name)
        else:
            coded = _categories(coded, frame, name, kind, options.order)
    else:
        if stored == _TEXT:
            texts, back = backend.texts_of(native)
            form = "" if fitted is None else fitted.written
            coded = as_dates(texts, back, kind, name, form=form, order=options.dates)
        else:
            coded = backend.code_instants(native)
        rest = None if fitted is None else (fitted.unit, fitted.step)
        whole = rounded_to(coded, options.resolution, name, rest)
        if options.resolution is not None:
            finer = finer_than(whole, coded, name)
        coded = whole
    return Column(
        name=name,
        type=kind,
        values=coded.values,
        decode=coded.decode,
        aggregate=_aggregate(kind, options.aggregate),
        categories=coded.categories,
        unit=coded.unit,
        step=coded.step,
        weight=options.weight,
        written=coded.written,
        has_nulls=coded.has_nulls,
        stored=stored,
        resolution=options.resolution,
        finer=finer,
    )


def code_strata(frame: Frame, name: str, categories: Sequence[Any] | None = None) -> Coded:
    """Return the values of a column that defines strata as codes, in sorted order.

    With `categories`, the codes are their places there: the table is part of a larger one.
    """
    if not types_of(frame, name):
        raise DataError(
            f"strata must be numbers, text, categories or dates; {name!r} is stored as "
            f"{type_name(dtype_of(frame, name))}. Convert it first."
        )
    backend, native = _backend(frame), frame.get_column(name).to_native()
    coded: Coded = backend.code_categories(native)
    if categories is None:
        return coded
    return _coded_like(coded, categories, backend, native, name)


def code_numbers(frame: Frame, name: str) -> Values:
    """Return a column of numbers as they are."""
    values: Values = _backend(frame).code_numbers(frame.get_column(name).to_native()).values
    return values


def _backend(frame: Frame) -> ModuleType:
    return pandas_columns if frame.implementation.is_pandas_like() else polars_columns


def _has_nulls(fitted: FittedType | None) -> bool:
    return fitted is not None and fitted.has_nulls


def _is_ordered(frame: Frame, name: str) -> bool:
    if not frame.implementation.is_pandas_like():
        return False
    return getattr(frame.to_native()[name].dtype, "ordered", False) is True


def _type(frame: Frame, name: str, options: ColumnOptions, dtype: nw.dtypes.DType) -> ColumnType:
    possible = types_as_stored(frame, name, dtype)
    wanted = options.stated_type or possible[0]
    if wanted not in possible:
        listing = ", ".join(repr(str(kind)) for kind in possible)
        raise DataError(
            f"column {name!r} is stored as {type_name(dtype)} and cannot have the "
            f"type {str(wanted)!r}, only one of {listing}. Choose one of them, or convert it first."
        )
    options.check_for(wanted, name)
    return wanted


def _aggregate(kind: ColumnType, asked: str | None) -> Aggregate:
    possible = AGGREGATES[kind]
    return next(iter(possible.values())) if asked is None else possible[asked]


def _numbers(coded: Coded, kind: ColumnType, name: str) -> Coded:
    """Return floats as integers if that is the type of the column."""
    numbers = coded.values.numbers
    if kind != ColumnType.INTEGER or numbers.dtype.kind != "f":
        return coded
    present = coded.values.present
    if not (np.isfinite(present) & (np.rint(present) == present) & (abs(present) < 2**53)).all():
        raise DataError(
            f"column {name!r} cannot have the type 'integer': not all of its numbers are whole. "
            "Leave its type out, or round it first."
        )

    def decode(values: Values) -> Any:
        return coded.decode(Values(values.numbers.astype(numbers.dtype), values.missing))

    whole = Values(numbers.astype(np.int64), coded.values.missing)
    return replace(coded, values=whole, decode=decode)


def _categories(
    coded: Coded, frame: Frame, name: str, kind: ColumnType, order: Sequence[Any] | None
) -> Coded:
    if kind == ColumnType.BOOLEAN and len(np.unique(coded.values.present)) > 2:
        raise DataError(
            f"column {name!r} cannot have the type 'boolean': it has more than two values. "
            "Use the type 'nominal'."
        )
    if kind != ColumnType.ORDINAL:
        return coded
    if order is not None:
        return _in_order(coded, frame, name, order)
    if dtype_of(frame, name) in _CATEGORIES and not _has_own_order(frame, name):
        raise ParameterError(
            f"column {name!r} is ordinal and holds text, so its order must be given, lowest first "
            f"(--order {name}=low,middle,high, or 'order' in a plan or in columns=...)."
        )
    return coded


def _has_own_order(frame: Frame, name: str) -> bool:
    return _is_ordered(frame, name) or dtype_of(frame, name) == nw.Enum


def _in_order(coded: Coded, frame: Frame, name: str, order: Sequence[Any]) -> Coded:
    """Return codes that follow the given order."""
    stored = {str(category): category for category in coded.categories}
    is_number_type = dtype_of(frame, name) in (*INTEGERS, *FLOATS)
    known = tuple(
        stored.get(entry, _as_number(entry) if is_number_type else entry)
        if isinstance(entry, str)
        else entry
        for entry in order
    )
    if len(set(known)) < len(known):
        raise ParameterError(f"the order of column {name!r} lists a value twice. List it once.")
    occurring = np.unique(coded.values.present).tolist()
    listed = set(known)
    if unknown := sum(coded.categories[code] not in listed for code in occurring):
        raise DataError(
            f"the order of column {name!r} leaves out {unknown} of its {len(occurring)} values. "
            "List every value, lowest first."
        )
    return _coded_like(coded, known, _backend(frame), frame.get_column(name).to_native(), name)


def _as_number(entry: str) -> Any:
    """Return the number that a text stands for, as on the command line every category is text."""
    for number_type in (int, float):
        try:
            number = number_type(entry)
        except ValueError:
            continue
        if str(number) == entry:
            return number
    return entry


def _coded_like(
    coded: Coded, categories: Sequence[Any], backend: ModuleType, native: Any, name: str
) -> Coded:
    """Return codes that are places among the given categories."""
    values = coded.values
    if len(values.present):
        values = recoded(values, coded.categories, categories, name)
    return Coded(values, backend.decoder_of(native, categories), tuple(categories))
