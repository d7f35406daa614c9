"""What a column is, as a person would see it: one judgement for plans, releases and measures."""

from dataclasses import dataclass

import narwhals as nw
import numpy as np

from microagg.tables.columns import ColumnType
from microagg.tables.dates import writing_of
from microagg.tables.frames import Frame, dtype_of
from microagg.tables.typed import FLOATS, INTEGERS, code_numbers, types_of

# Whole numbers of so few values, each in so many records on average, are codes, not amounts.
FEW_CODES, RECORDS_PER_CODE = 12, 10
# Floats hold whole numbers up to this one exactly.
_LARGEST_WHOLE = 2**53


@dataclass(frozen=True, slots=True)
class Judgement:
    """The type of a column, and why it is not the one that its storage suggests, if it is not.

    `is_ambiguous` if its texts are dates, and nothing tells the day from the month.
    """

    type: ColumnType
    why: str = ""
    is_ambiguous: bool = False


def judge_type(
    frame: Frame,
    name: str,
    *,
    label: ColumnType | None = None,
    is_amount: bool = False,
    dates: str | None = None,
) -> Judgement:
    """Return what a column is, if nobody says.

    `label` is the type that labels in its file imply. Codes are never averaged: few whole numbers
    that all occur often are nominal, unless something says that they are amounts. `dates` says
    which of day and month comes first in texts that do not tell.
    """
    if label is not None and not is_amount:
        is_ordered = dtype_of(frame, name) == nw.Enum
        why = "its levels are ordered" if is_ordered else "all its values have labels"
        return Judgement(label, f"{why} in the file")
    stored = types_of(frame, name)[0]
    dtype = dtype_of(frame, name)
    if dtype in (*INTEGERS, *FLOATS):
        return _judge_number(frame, name, stored, is_amount=is_amount)
    if dtype == nw.String:
        found = writing_of(frame[name].alias(""), dates)  # a name may look like a pattern
        if found is not None:
            order = "" if found.is_ambiguous or not found.order else f", {found.order}"
            return Judgement(found.type, f"all its texts are dates{order}", found.is_ambiguous)
    return Judgement(stored)


def _judge_number(frame: Frame, name: str, stored: ColumnType, *, is_amount: bool) -> Judgement:
    values = code_numbers(frame, name)
    present = values.present
    if not len(present):
        return Judgement(stored)
    is_float = present.dtype.kind == "f"
    if is_float and not (np.abs(present) < _LARGEST_WHOLE).all():  # nor if one is infinite
        return Judgement(stored)
    if is_float and not (np.rint(present) == present).all():
        return Judgement(stored)
    if not is_amount and _are_codes(present):
        count = len(np.unique(present))
        return Judgement(ColumnType.NOMINAL, f"{count} different whole numbers: codes")
    if is_float:
        return Judgement(ColumnType.INTEGER, "whole numbers stored as decimals")
    return Judgement(stored)


def _are_codes(present: np.ndarray) -> bool:
    """Whether whole numbers have few values that occur often; the mean of one value is itself."""
    if len(np.unique(present[: RECORDS_PER_CODE * FEW_CODES])) > FEW_CODES:
        return False
    count = len(np.unique(present))
    return 1 < count <= FEW_CODES and len(present) >= RECORDS_PER_CODE * count
