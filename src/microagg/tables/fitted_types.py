"""What a column holds, found from one table or merged from its parts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from microagg.aggregates.values import Values
from microagg.core.arrays import Wholes
from microagg.core.errors import DataError
from microagg.tables.columns import Column, ColumnType


@dataclass(frozen=True)
class FittedType:
    """What `open_column` found out about a column; it opens any part of the column like the whole.

    `is_empty` if every value was missing: then the rest says nothing about other parts. The other
    fields are those of `Column`.
    """

    name: str
    type: ColumnType
    categories: tuple[Any, ...] = ()
    unit: str = ""
    step: int = 1
    written: str = ""
    has_nulls: bool = False
    stored: str = ""
    is_empty: bool = False

    @classmethod
    def of(cls, column: Column) -> "FittedType":
        """Return what was found out when a column was opened."""
        return cls(
            name=column.name,
            type=column.type,
            categories=tuple(column.categories),
            unit=column.unit,
            step=column.step,
            written=column.written,
            has_nulls=column.has_nulls,
            stored=column.stored,
            is_empty=len(column.values.present) == 0,
        )

    def merge(self, other: "FittedType") -> "FittedType":
        """Return what holds for both parts, or refuse parts that do not go together."""
        has_nulls = self.has_nulls or other.has_nulls
        if self.is_empty or other.is_empty:
            known = other if self.is_empty else self
            return replace(known, has_nulls=has_nulls)
        for field, words in _MUST_AGREE.items():
            first, second = getattr(self, field), getattr(other, field)
            if first != second:
                raise DataError(
                    f"column {self.name!r} is {words} {str(first)!r} in one part of the data and "
                    f"{str(second)!r} in another. Make all parts alike."
                )
        return replace(
            self,
            categories=_union(self, other),
            step=min(self.step, other.step),
            has_nulls=has_nulls,
        )

    def values_of(self, column: Column) -> Values:
        """Return the values of a part as numbers that mean the same as in the whole."""
        values = column.values
        if not len(values.present):
            return values
        if self.type.is_categorical:
            if tuple(column.categories) == self.categories:
                return values
            return recoded(values, column.categories, self.categories, self.name)
        if column.step == self.step:
            return values
        if column.step % self.step:
            raise DataError(
                f"the times in column {self.name!r} are rounded more finely in a part of the data "
                "than in what the encoding was fitted to. Fit it to all parts."
            )
        return replace(values, numbers=values.numbers * (column.step // self.step))


_MUST_AGREE = {
    "stored": "stored as",
    "type": "of the type",
    "unit": "counted in the unit",
    "written": "written like",
}


def recoded(values: Values, own: Sequence[Any], known: Sequence[Any], name: str) -> Values:
    """Return codes of `own` categories as codes of `known` ones."""
    places = {category: place for place, category in enumerate(known)}
    to_place = np.array([places.get(category, -1) for category in own] or [-1], dtype=np.int64)
    numbers: Wholes = to_place[values.numbers]
    if values.missing is not None:
        numbers = np.where(values.missing, 0, numbers)
    if (new := np.unique(values.numbers[numbers < 0])).size:
        raise DataError(
            f"column {name!r} holds {new.size} values that are not among those of the rest of the "
            "data. Collect its values from all parts first."
        )
    return Values(numbers, values.missing)


def _union(first: FittedType, second: FittedType) -> tuple[Any, ...]:
    """Return the categories of both: as they are listed if both agree, otherwise sorted."""
    if first.categories == second.categories:
        return first.categories
    every = set(first.categories).union(second.categories)
    if first.type == ColumnType.ORDINAL and any(isinstance(category, str) for category in every):
        raise DataError(
            f"column {first.name!r} is ordinal, and its categories are not the same in all parts "
            "of the data. Give their order, lowest first."
        )
    return tuple(sorted(every))
