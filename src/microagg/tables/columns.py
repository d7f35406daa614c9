"""A quasi-identifier as numbers: what its values mean, and which of them are missing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from microagg.aggregates.choices import Aggregate
from microagg.aggregates.digits import EVERY_DIGIT, Digits
from microagg.aggregates.values import Values
from microagg.core.errors import ParameterError
from microagg.core.validation import check_choice


class ColumnType(StrEnum):
    """What the values of a column are, which decides how they are compared and aggregated."""

    CONTINUOUS = "continuous"
    INTEGER = "integer"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"
    BOOLEAN = "boolean"
    DATE = "date"
    DATETIME = "datetime"

    @property
    def is_categorical(self) -> bool:
        """Whether a group releases a value that one of its records has."""
        return self in (ColumnType.ORDINAL, ColumnType.NOMINAL, ColumnType.BOOLEAN)

    @property
    def is_number(self) -> bool:
        """Whether the values are also numbers in the table."""
        return self in (ColumnType.CONTINUOUS, ColumnType.INTEGER)


# What a type is called for people.
TYPE_WORDS = {
    "continuous": "number",
    "integer": "whole number",
    "ordinal": "ordered category",
    "nominal": "category",
    "boolean": "true or false",
    "date": "date",
    "datetime": "date and time",
}


# What each type can release; the first is the default.
_NUMERIC = {"mean": Aggregate.MEAN, "median": Aggregate.MEDIAN}
AGGREGATES: dict[ColumnType, dict[str, Aggregate]] = {
    ColumnType.CONTINUOUS: _NUMERIC,
    ColumnType.INTEGER: _NUMERIC,
    ColumnType.ORDINAL: {"median": Aggregate.LOWER_MEDIAN, "mode": Aggregate.MODE},
    ColumnType.NOMINAL: {"mode": Aggregate.MODE},
    ColumnType.BOOLEAN: {"mode": Aggregate.MODE},
    ColumnType.DATE: _NUMERIC,
    ColumnType.DATETIME: _NUMERIC,
}
# Month first, as in 12/31/2024, or day first, as in 31/12/2024.
US, EU = "us", "eu"
DATE_ORDERS = (US, EU)
RESOLUTIONS = ("year", "quarter", "month", "day", "hour", "minute", "second")


@dataclass(frozen=True)
class ColumnOptions:
    """What was said of a column; None is left to what is in it."""

    type: ColumnType | None = None
    order: Sequence[Any] | None = None
    aggregate: str | None = None
    resolution: str | None = None
    weight: float = 1.0
    digits: int | str | None = None
    dates: str | None = None  # which of day and month comes first in text that does not tell

    @property
    def stated_type(self) -> ColumnType | None:
        """The type that was said; an order says that it is ordinal."""
        return ColumnType.ORDINAL if self.type is None and self.order is not None else self.type

    def check_for(self, kind: ColumnType, name: str) -> None:
        """Refuse options that a column of this type does not have."""
        if self.order is not None and kind != ColumnType.ORDINAL:
            raise ParameterError(
                f"column {name!r} has an order, which is for the type 'ordinal'; its type is "
                f"{str(kind)!r}. Remove the order, or change the type."
            )
        if self.resolution is not None and kind not in (ColumnType.DATE, ColumnType.DATETIME):
            raise ParameterError(
                f"column {name!r} has a resolution, which is for dates; its type is "
                f"{str(kind)!r}. Remove the resolution."
            )
        if self.digits is not None and not kind.is_number:
            raise ParameterError(
                f"column {name!r} has digits, which are for numbers; its type is {str(kind)!r}. "
                "Remove the digits."
            )
        if self.aggregate is not None:
            what = f"the aggregate of {name!r}, which is {kind},"
            check_choice(what, self.aggregate, AGGREGATES[kind])


@dataclass(frozen=True, eq=False)
class Coded:
    """A native column as numbers; `decode` turns numbers into a native column of the same type.

    `categories` are what codes stand for, lowest first. Dates count steps of `step` units, named as
    in NumPy (quarters are three months); `written` is how they are written if they are text.
    `has_nulls` tells floats that are missing as null from those that are NaN.
    """

    values: Values
    decode: Callable[[Values], Any]
    categories: Sequence[Any] = ()
    unit: str = ""
    step: int = 1
    written: str = ""
    has_nulls: bool = False


@dataclass(frozen=True, eq=False)
class Column:
    """One quasi-identifier of a table, and how to put other values in its place.

    `weight` is how much the column counts when records are compared, `stored` the type it has in
    the table, `digits` the decimals it is released with, and `resolution` that of dates if somebody
    stated it; `finer` are these dates as they were before, if that is coarser. The other fields say
    what the numbers mean, as in `Coded`.
    """

    name: str
    type: ColumnType
    values: Values
    decode: Callable[[Values], Any]
    aggregate: Aggregate
    categories: Sequence[Any] = ()
    unit: str = ""
    step: int = 1
    weight: float = 1.0
    written: str = ""
    has_nulls: bool = False
    stored: str = ""
    digits: Digits = EVERY_DIGIT
    resolution: str | None = None
    finer: Coded | None = None
