"""A column of a table -> a quasi-identifier of a type: guessed from how it is stored, or given."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import narwhals as nw
import numpy as np

from microagg.aggregates.released import Aggregate
from microagg.aggregates.values import Values
from microagg.core.errors import DataError, ParameterError
from microagg.core.validation import check_choice
from microagg.tables import pandas_columns, polars_columns
from microagg.tables.columns import AGGREGATES, Coded, Column, ColumnType
from microagg.tables.dates import as_dates, rounded_to
from microagg.tables.frames import Frame, dtype_of

INTEGERS = (nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32, nw.UInt64)
FLOATS = (nw.Float32, nw.Float64)
_CATEGORIES = (nw.String, nw.Categorical, nw.Enum)

# Types that a column can have, by how it is stored; the first is what it has if nobody says more.
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
# What pandas may hold in columns of its objects type, in its words.
_OBJECTS: dict[str, Any] = {"boolean": nw.Boolean, "date": nw.Date}


@dataclass(frozen=True)
class ColumnOptions:
    """What was said of a column; None where it was left to what is in it."""

    type: ColumnType | None = None
    order: Sequence[Any] | None = None
    aggregate: str | None = None
    resolution: str | None = None
    weight: float = 1.0


def types_of(frame: Frame, name: str) -> tuple[ColumnType, ...]:
    """Return the types that a column can have, the likeliest first; none for lists and the like."""
    dtype = dtype_of(frame, name)
    if dtype == nw.Object and frame.implementation.is_pandas_like():
        dtype = _OBJECTS.get(pandas_columns.kind_of_objects(frame.to_native()[name]), dtype)
    possible = next((types for stored, types in _STORED if dtype in stored), ())
    if _is_ordered(frame, name):
        return (ColumnType.ORDINAL, *(kind for kind in possible if kind != ColumnType.ORDINAL))
    return possible


def order_of(frame: Frame, name: str) -> Sequence[Any] | None:
    """Return the order that the type of a column gives its categories; None if it gives none."""
    if not _is_ordered(frame, name):
        return None
    order: list[Any] = frame.to_native()[name].dtype.categories.tolist()
    return order


def is_number(frame: Frame, name: str) -> bool:
    """Whether a column is stored as numbers."""
    return name in frame.columns and dtype_of(frame, name) in (*INTEGERS, *FLOATS)


def open_column(frame: Frame, name: str, options: ColumnOptions) -> Column:
    """Return a column as numbers, of the type that was wished for or else the likeliest."""
    kind = _type(frame, name, options)
    native = frame[name].to_native()
    backend = _backend(frame)
    if kind.is_number:
        coded = _numbers(backend.code_numbers(native), kind, name)
    elif kind.is_categorical:
        coded = _categories(backend.code_categories(native), frame, name, kind, options.order)
    else:
        if dtype_of(frame, name) == nw.String:
            texts, back = backend.texts_of(native)
            coded = as_dates(texts, back, kind, name)
        else:
            coded = backend.code_instants(native)
        coded = rounded_to(coded, options.resolution, name)
    return Column(
        name=name,
        type=kind,
        values=coded.values,
        decode=coded.decode,
        aggregate=_aggregate(kind, options, name),
        categories=coded.categories,
        unit=coded.unit,
        step=coded.step,
        weight=options.weight,
    )


def code_strata(frame: Frame, name: str) -> Coded:
    """Return the values of a column that tells strata apart as codes, in their order."""
    if not types_of(frame, name):
        raise DataError(
            f"strata must be numbers, text, categories or dates; {name!r} is stored as "
            f"{dtype_of(frame, name)}. Convert it first."
        )
    native = frame[name].to_native()
    coded: Coded = _backend(frame).code_categories(native)
    return coded


def code_numbers(frame: Frame, name: str) -> Values:
    """Return a column of numbers as they are."""
    values: Values = _backend(frame).code_numbers(frame[name].to_native()).values
    return values


def _backend(frame: Frame) -> ModuleType:
    return pandas_columns if frame.implementation.is_pandas_like() else polars_columns


def _is_ordered(frame: Frame, name: str) -> bool:
    if not frame.implementation.is_pandas_like():
        return False
    return getattr(frame.to_native()[name].dtype, "ordered", False) is True


def _type(frame: Frame, name: str, options: ColumnOptions) -> ColumnType:
    possible = types_of(frame, name)
    wanted = options.type or (ColumnType.ORDINAL if options.order is not None else possible[0])
    if wanted not in possible:
        listing = ", ".join(repr(str(kind)) for kind in possible)
        raise DataError(
            f"column {name!r} is stored as {dtype_of(frame, name)} and cannot be of the type "
            f"{str(wanted)!r}; it can be one of {listing}. Choose one of them, or convert it first."
        )
    if options.order is not None and wanted != ColumnType.ORDINAL:
        raise ParameterError(
            f"column {name!r} has an order, which is for the type 'ordinal'; its type is "
            f"{str(wanted)!r}. Remove the order, or change the type."
        )
    if options.resolution is not None and wanted not in (ColumnType.DATE, ColumnType.DATETIME):
        raise ParameterError(
            f"column {name!r} has a resolution, which is for dates; its type is {str(wanted)!r}. "
            "Remove the resolution."
        )
    return wanted


def _aggregate(kind: ColumnType, options: ColumnOptions, name: str) -> Aggregate:
    possible = AGGREGATES[kind]
    if options.aggregate is None:
        return next(iter(possible.values()))
    what = f"the aggregate of {name!r}, which is {kind},"
    return possible[check_choice(what, options.aggregate, possible)]


def _numbers(coded: Coded, kind: ColumnType, name: str) -> Coded:
    """Return whole numbers as such where they are stored as floats."""
    numbers = coded.values.numbers
    if kind != ColumnType.INTEGER or numbers.dtype.kind != "f":
        return coded
    present = coded.values.present
    if not (np.isfinite(present) & (np.rint(present) == present) & (abs(present) < 2**53)).all():
        raise DataError(
            f"column {name!r} is to be of the type 'integer', and not all of its numbers are "
            "whole. Leave its type out, or round it first."
        )

    def decode(values: Values) -> Any:
        return coded.decode(Values(values.numbers.astype(numbers.dtype), values.missing))

    return Coded(Values(numbers.astype(np.int64), coded.values.missing), decode)


def _categories(
    coded: Coded, frame: Frame, name: str, kind: ColumnType, order: Sequence[Any] | None
) -> Coded:
    if kind == ColumnType.BOOLEAN and len(np.unique(coded.values.present)) > 2:
        raise DataError(
            f"column {name!r} is to be of the type 'boolean', and it has more than two values. "
            "Use the type 'nominal'."
        )
    if kind != ColumnType.ORDINAL:
        return coded
    if order is not None:
        return _in_order(coded, order, name)
    if dtype_of(frame, name) in _CATEGORIES and not _has_own_order(frame, name):
        raise ParameterError(
            f"column {name!r} is ordinal and holds text: its order must be given, the lowest "
            f"first (--order {name}=low,middle,high, or 'order' in a plan or in columns=...)."
        )
    return coded


def _has_own_order(frame: Frame, name: str) -> bool:
    return _is_ordered(frame, name) or dtype_of(frame, name) == nw.Enum


def _in_order(coded: Coded, order: Sequence[Any], name: str) -> Coded:
    """Return codes that follow the given order."""
    place = {category: at for at, category in enumerate(order)}
    if len(place) < len(order):
        raise ParameterError(f"the order of column {name!r} names a value twice. Name it once.")
    occurring = np.unique(coded.values.present).tolist()
    if unknown := sum(_same(coded.categories[code], place) is None for code in occurring):
        raise DataError(
            f"the order of column {name!r} leaves out {unknown} of its {len(occurring)} values. "
            "List every value, the lowest first."
        )
    places = [_same(category, place) for category in coded.categories]
    # One entry at least: where nothing is there, all codes are 0.
    to_place = np.array([-1 if at is None else at for at in places] or [0], dtype=np.int64)
    to_code = np.zeros(len(order), dtype=np.int64)
    for code, at in enumerate(places):
        if at is not None:
            to_code[at] = code

    def decode(values: Values) -> Any:
        return coded.decode(replace(values, numbers=to_code[values.numbers]))

    numbers = to_place[coded.values.numbers]
    missing = coded.values.missing
    if missing is not None:
        numbers = np.where(missing, 0, numbers)
    return Coded(Values(numbers, missing), decode, tuple(order))


def _same(category: Any, place: dict[Any, int]) -> int | None:
    """Return the place of a category; on the command line every category is text."""
    return place.get(category, place.get(str(category)))
