"""A quasi-identifier as numbers: what its values mean, and which of them are missing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from microagg.aggregates.choices import Aggregate
from microagg.aggregates.values import Values


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


@dataclass(frozen=True)
class ColumnOptions:
    """What was said of a column; None is left to what is in it."""

    type: ColumnType | None = None
    order: Sequence[Any] | None = None
    aggregate: str | None = None
    resolution: str | None = None
    weight: float = 1.0


@dataclass(frozen=True, eq=False)
class Coded:
    """A native column as numbers; `decode` turns numbers into a native column of the same type.

    `categories` are what codes stand for, lowest first. Dates count steps of `step` units, named as
    in NumPy; `written` is how they are written if they are text. `has_nulls` tells floats that are
    missing as null from those that are NaN.
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

    `weight` is how much the column counts when records are compared, and `stored` the type it has
    in the table. The other fields say what the numbers mean, as in `Coded`.
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
