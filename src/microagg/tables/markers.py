"""Entries of a table that mean a missing value."""

from collections.abc import Sequence
from functools import reduce
from operator import or_

import narwhals as nw

from microagg.tables.frames import Frame, dtype_of
from microagg.tables.typed import is_number


def without_entries(
    frame: Frame, names: Sequence[str], entries: Sequence[str]
) -> tuple[Frame, dict[str, int]]:
    """Return a table without these texts and numbers in some columns, and how many each had."""
    if not entries:
        return frame, {}
    numbers = [number for entry in entries if (number := _number(entry)) is not None]
    counts: dict[str, int] = {}
    kept = []
    column = nw.col("x")  # not by its own name, which polars may take for a pattern
    for name in names:
        own_frame = frame[name].alias("x").to_frame()
        if dtype_of(frame, name) in (nw.String, nw.Categorical, nw.Enum):
            found = column.cast(nw.String).str.strip_chars().is_in(list(entries))
        elif is_number(frame, name) and (own := _possible(dtype_of(frame, name), numbers)):
            # Libraries differ in how they look for whole numbers in a list among others.
            found = reduce(or_, (column == number for number in own))
        else:
            continue
        found = found.fill_null(False)
        if count := int(own_frame.select(found.sum())["x"].item()):
            counts[name] = count
            kept.append(own_frame.select(nw.when(~found).then(column))["x"].alias(name))
    return (frame.with_columns(*kept) if kept else frame), counts


def _possible(dtype: nw.dtypes.DType, numbers: Sequence[float]) -> list[float]:
    """Return the numbers that a column of this type can hold."""
    if not dtype.is_integer():
        return [*map(float, numbers)]
    least = 0 if dtype.is_unsigned_integer() else -(2**63)
    return [number for number in numbers if isinstance(number, int) and least <= number < 2**63]


def _number(entry: str) -> float | None:
    try:
        number = float(entry)
    except ValueError:
        return None
    return int(number) if number.is_integer() else number
