"""What a column is, as a person would see it: one judgement for plans, releases and measures."""

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from microagg.tables.columns import ColumnType
from microagg.tables.date_texts import Writing
from microagg.tables.dates import writing_of
from microagg.tables.frames import Frame, dtype_of
from microagg.tables.typed import FLOATS, INTEGERS, code_numbers, types_as_stored

# Whole numbers of at most this many values, each in at least this many records on average, are
# codes, not amounts.
FEW_CODES, RECORDS_PER_CODE = 12, 10
# Whole numbers of fewer records than this are dense, or in order, by chance.
_ENOUGH = 20
# Numbers that count records are at most this far apart on average, in any order and if ascending.
_DENSE, _WITH_GAPS = 1.1, 200.0
# Dates that are written as whole numbers are between these.
_FIRST_DAY, _LAST_DAY = 18_000_101, 21_991_231
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
    dtype = dtype_of(frame, name)
    stored = types_as_stored(frame, name, dtype)[0]
    if dtype in (*INTEGERS, *FLOATS):
        return _judge_number(frame, name, stored, is_amount=is_amount)
    if dtype == nw.String:
        found = writing_of(frame[name].alias(""), dates)  # a name may look like a pattern
        return judge_text(found, stored)
    return Judgement(stored)


def judge_text(found: Writing | None, stored: ColumnType) -> Judgement:
    """Return what a column of text is, by how all of it is written if it is dates."""
    if found is None:
        return Judgement(stored)
    order = "" if found.is_ambiguous or not found.order else f", {found.order}"
    return Judgement(found.type, f"all its texts are dates{order}", found.is_ambiguous)


def _judge_number(frame: Frame, name: str, stored: ColumnType, *, is_amount: bool) -> Judgement:
    present = code_numbers(frame, name).present
    return NumberFacts.of(present, few=not is_amount).judge(stored, is_amount=is_amount)


@dataclass(frozen=True)
class NumberFacts:
    """What a column of numbers is judged by, from a whole table or merged from its parts.

    `few` are the different numbers, if they are so few that they may be codes.
    """

    n_present: int
    is_float: bool
    is_whole: bool
    few: frozenset[float] | None

    @classmethod
    def of(cls, present: NDArray[Any], *, few: bool = True) -> "NumberFacts":
        """Return what numbers show; those known to be amounts need not be checked for `few`."""
        is_float = present.dtype.kind == "f"
        # Nor are they whole if one is infinite.
        is_whole = not is_float or bool(
            (np.abs(present) < _LARGEST_WHOLE).all() and (np.rint(present) == present).all()
        )
        return cls(len(present), is_float, is_whole, _few(present) if few and is_whole else None)

    def merge(self, other: "NumberFacts") -> "NumberFacts":
        """Return what the numbers of both parts show."""
        few = None
        if self.few is not None and other.few is not None:
            few = self.few | other.few if len(self.few | other.few) <= FEW_CODES else None
        is_float, is_whole = self.is_float or other.is_float, self.is_whole and other.is_whole
        return NumberFacts(self.n_present + other.n_present, is_float, is_whole, few)

    def judge(self, stored: ColumnType, *, is_amount: bool) -> Judgement:
        """Return what the column is; the mean of one value is itself, so it is not a code."""
        if not self.n_present or not self.is_whole:
            return Judgement(stored)
        count = 0 if is_amount or self.few is None else len(self.few)
        if count > 1 and self.n_present >= RECORDS_PER_CODE * count:
            return Judgement(ColumnType.NOMINAL, f"{count} different whole numbers: codes")
        if self.is_float:
            return Judgement(ColumnType.INTEGER, "whole numbers stored as decimals")
        return Judgement(stored)


def _few(present: NDArray[Any]) -> frozenset[float] | None:
    if len(np.unique(present[: RECORDS_PER_CODE * FEW_CODES])) > FEW_CODES:
        return None
    different = np.unique(present)
    return frozenset(different.tolist()) if len(different) <= FEW_CODES else None


@dataclass(frozen=True)
class WholeNumbers:
    """What whole numbers show of what they count, from a whole column or merged from its parts.

    `are_days` if all are dates such as 20240131: their means are not.
    """

    n: int
    low: int
    high: int
    first: int
    last: int
    is_ascending: bool
    are_days: bool

    @classmethod
    def of(cls, numbers: NDArray[Any]) -> "WholeNumbers | None":
        """Return what whole numbers show; None if there are none."""
        if not len(numbers):
            return None
        low, high, first, last = map(int, (numbers.min(), numbers.max(), numbers[0], numbers[-1]))
        is_ascending = bool((numbers[:-1] <= numbers[1:]).all())
        return cls(len(numbers), low, high, first, last, is_ascending, _are_days(numbers))

    def merge(self, other: "WholeNumbers | None") -> "WholeNumbers":
        """Return what those of both parts show, of which this one comes first."""
        if other is None:
            return self
        return WholeNumbers(
            self.n + other.n,
            min(self.low, other.low),
            max(self.high, other.high),
            self.first,
            other.last,
            self.is_ascending and other.is_ascending and self.last <= other.first,
            self.are_days and other.are_days,
        )

    @property
    def count_records(self) -> bool:
        """Whether they count records: dense, ascending or of one length, but not dates.

        Amounts may be in ascending order as well, but then they have larger gaps.
        """
        if self.n < _ENOUGH or self.are_days:
            return False
        gap = (self.high - self.low) / self.n
        is_long = self.low >= 10**6 and len(str(self.low)) == len(str(self.high))
        return gap < _DENSE or is_long or (gap < _WITH_GAPS and self.is_ascending)


def _are_days(numbers: NDArray[Any]) -> bool:
    if numbers.min() < _FIRST_DAY or numbers.max() > _LAST_DAY:
        return False
    months, days = numbers // 100 % 100, numbers % 100
    return bool(((months >= 1) & (months <= 12) & (days >= 1) & (days <= 31)).all())


def counts_records(numbers: NDArray[Any]) -> bool:
    """Whether whole numbers count records, as serial numbers do."""
    found = WholeNumbers.of(numbers)
    return found is not None and found.count_records


def are_days(numbers: NDArray[Any]) -> bool:
    """Whether all are dates such as 20240131, written as whole numbers: their means are not."""
    found = WholeNumbers.of(numbers)
    return found is not None and found.are_days
