"""First pass: what the columns hold, found part by part and judged for the whole dataset."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from microagg.plans.plan import Plan
from microagg.release.records import n_infinite, no_units_error, refuse_values
from microagg.release.required import check_suited
from microagg.scale.steps.distributions import Counted, merge_all
from microagg.scale.storage.hashing import hashed
from microagg.scale.storage.work import WorkFolder
from microagg.scale.tasks.setting import DatasetSetting, arrow_column, named_units
from microagg.tables.columns import ColumnType
from microagg.tables.date_texts import Writing, find_writing
from microagg.tables.frames import Frame, dtype_of, polars_column
from microagg.tables.judging import Judgement, NumberFacts, WholeNumbers, judge_text
from microagg.tables.roles import Roles
from microagg.tables.typed import FLOATS, INTEGERS, code_numbers, types_of
from microagg.tables.weighting import WeightRange, weights_in


@dataclass(frozen=True)
class DatasetColumn:
    """What is found out about a column before its type is known.

    `numbers` and `largest` are of columns of numbers, `whole` if all of these are whole; `dates`
    are texts that tell how all texts are written if they are dates: none if some are not, None if
    there is no text.
    """

    stored: str
    n_rows: int
    n_missing: int
    n_infinite: int = 0
    largest: float = 0.0
    numbers: NumberFacts | None = None
    whole: WholeNumbers | None = None
    dates: tuple[str, ...] | None = None
    only: int | None = None  # the number of its value, if it has one only

    @classmethod
    def of(cls, frame: Frame, name: str) -> "DatasetColumn":
        """Return the facts of a part."""
        return replace(cls._of(frame, name), only=_only(polars_column(frame[name])))

    @classmethod
    def _of(cls, frame: Frame, name: str) -> "DatasetColumn":
        dtype = dtype_of(frame, name)
        stored, n = str(dtype), len(frame)
        if dtype in (*INTEGERS, *FLOATS):
            values = code_numbers(frame, name)
            facts = NumberFacts.of(values.present)
            return cls(
                stored,
                n,
                values.n_missing,
                n_infinite(values.numbers),
                _largest(values.present),
                facts,
                WholeNumbers.of(values.present) if facts.is_whole else None,
            )
        column = polars_column(frame[name])
        n_missing = column.null_count()
        if dtype == nw.String:
            return cls(stored, n, n_missing, dates=_telling_dates(column.drop_nulls()))
        return cls(stored, n, n_missing)

    def merge(self, other: "DatasetColumn") -> "DatasetColumn":
        """Return the facts of both parts."""
        numbers, whole = self.numbers, self.whole
        if numbers is not None and other.numbers is not None:
            numbers = numbers.merge(other.numbers)
            whole = _both_whole(whole, other.whole) if numbers.is_whole else None
        return DatasetColumn(
            self.stored,
            self.n_rows + other.n_rows,
            self.n_missing + other.n_missing,
            self.n_infinite + other.n_infinite,
            max(self.largest, other.largest),
            numbers,
            whole,
            _both(self.dates, other.dates),
            self.only if self.only == other.only else None,
        )

    def judge(self, frame: Frame, name: str, *, is_amount: bool, dates: str | None) -> Judgement:
        """Return what the column is; the frame says how it is stored."""
        stored = types_of(frame, name)[0]
        if self.numbers is not None:
            return self.numbers.judge(stored, is_amount=is_amount)
        return judge_text(self.writing(dates), stored)

    def writing(self, order: str | None) -> Writing | None:
        """Return how the texts are written, if they are all dates."""
        if not self.dates:
            return None
        return find_writing(pl.Series(self.dates, dtype=pl.String), order)


def _only(column: pl.Series) -> int | None:
    """Return a number that stands for the value that all rows have; None if they differ."""
    if not len(column) or not column.eq_missing(column.head(1)).all():
        return None
    return int(hashed(column.head(1))[0])


def names_of_files_tell(facts: Iterable[tuple[int, "Facts"]]) -> list[str]:
    """Return the columns that have one value in each file, and not the same in all.

    The facts are those of runs, each with the number of its file.
    """
    values: dict[str, dict[int, set[int | None]]] = {}
    for file, own in facts:
        for name, column in own.columns.items():
            values.setdefault(name, {}).setdefault(file, set()).add(column.only)
    return [
        name
        for name, files in values.items()
        if all(len(own) == 1 and None not in own for own in files.values())
        and len(set.union(*files.values())) > 1
    ]


def _largest(numbers: NDArray[Any]) -> float:
    finite = np.abs(numbers[np.isfinite(numbers)] if numbers.dtype.kind == "f" else numbers)
    return float(finite.max(initial=0))


def _telling_dates(texts: pl.Series) -> tuple[str, ...] | None:
    """Return the few texts that tell how all are written, if they are dates.

    Those are the ones with the highest numbers in each place, and with and without zeros.
    """
    if not len(texts):
        return None
    if find_writing(texts, "eu") is None and find_writing(texts, "us") is None:
        return ()
    different = texts.alias("").unique().sort()
    places = different.str.extract_groups(r"^(\d+)\D(\d+)\D(\d+)(?:[T ](\d+))?").struct.unnest()
    telling = [0]
    for place in places.get_columns():
        if place.null_count():
            continue
        telling.append(int(place.cast(pl.Int64).arg_max() or 0))
        for is_so in (place.str.starts_with("0"), place.str.len_bytes() == 1):
            telling += is_so.arg_true().head(1).to_list()
    return tuple(different.gather(sorted(set(telling))).to_list())


def _both_whole(first: WholeNumbers | None, second: WholeNumbers | None) -> WholeNumbers | None:
    return second if first is None else first.merge(second)


def _both(first: tuple[str, ...] | None, second: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if first is None or second is None:
        return second if first is None else first
    return (*first, *second) if first and second else ()


@dataclass(frozen=True)
class Facts:
    """What the first pass finds: the facts of all quasi-identifiers, weights and units."""

    columns: dict[str, DatasetColumn]
    markers: dict[str, int] = field(default_factory=dict)
    weights: WeightRange | None = None
    n_with_unit: int = 0
    n_following: int = 0  # rows that follow one of the same unit
    values: dict[str, Counted] = field(default_factory=dict)  # of what is compared with the whole

    def with_markers(self, others: Mapping[str, int]) -> "Facts":
        """Return the facts with more entries that mean a missing value."""
        counts = {name: n for name, n in others.items() if name in self.columns}
        for name, count in self.markers.items():
            counts[name] = counts.get(name, 0) + count
        return replace(self, markers=counts)

    def merge(self, other: "Facts") -> "Facts":
        """Return the facts of both parts."""
        merged = {name: own.merge(other.columns[name]) for name, own in self.columns.items()}
        names = dict.fromkeys((*self.markers, *other.markers))
        weights = self.weights
        if weights is not None and other.weights is not None:
            weights = weights.merge(other.weights)
        return Facts(
            merged,
            {name: self.markers.get(name, 0) + other.markers.get(name, 0) for name in names},
            weights,
            self.n_with_unit + other.n_with_unit,
            self.n_following + other.n_following,
            merge_all(self.values, other.values),
        )


def find_facts(work: WorkFolder, run: int) -> Facts:
    """Task: find the facts of the rows of a run."""
    setting = DatasetSetting.of(work)
    read = setting.listing.read(run, setting.needed)
    found: Facts = merged(_of_part(setting, table) for _, table in read)
    return found


def _of_part(setting: DatasetSetting, table: Any) -> Facts:
    frame, markers = setting.opened(table)
    roles = setting.roles
    units = None if roles.unit is None else named_units(frame, roles.unit)
    return Facts(
        {name: DatasetColumn.of(frame, name) for name in roles.quasi_identifiers},
        {name: n for name, n in markers.items() if name in roles.quasi_identifiers},
        None if roles.weights is None else WeightRange.of(weights_in(frame, roles.weights)),
        0 if units is None else units.count(),
        0 if units is None else int((units == units.shift(1)).sum()),
        {name: _counted(frame, name) for name in setting.compared},
    )


def _counted(frame: Frame, name: str) -> Counted:
    check_suited(frame, name)
    return Counted.of(name, arrow_column(frame, name))


def merged(each: Iterable[Any]) -> Any:
    """Return the facts of all parts, merged in their order."""
    found = None
    for own in each:
        found = own if found is None else found.merge(own)
    return found


def check_facts(facts: Facts, plan: Plan, roles: Roles) -> None:
    """Refuse infinite and missing values, and units that nobody has, as for a table."""
    columns, unit = facts.columns, roles.unit
    refuse_values(
        {name: own.n_infinite for name, own in columns.items() if own.n_infinite},
        {name: own.n_missing for name, own in columns.items() if own.n_missing},
        [name for name, own in columns.items() if own.n_missing == own.n_rows],
        plan.missing,
    )
    if facts.weights is not None and roles.weights is not None:
        facts.weights.check(roles.weights)
    if unit is not None and not facts.n_with_unit:
        raise no_units_error(unit)


def date_orders(facts: Mapping[str, DatasetColumn], dates: str | None) -> dict[str, Writing]:
    """Return how columns of text are written that are all dates."""
    found = {name: own.writing(dates) for name, own in facts.items() if own.dates}
    return {name: writing for name, writing in found.items() if writing is not None}


def with_form(column: Any, writing: Writing | None) -> Any:
    """Return a part of a column of dates, written as the whole column is."""
    is_dates = column.type in (ColumnType.DATE, ColumnType.DATETIME)
    if writing is None or not is_dates or not column.written:
        return column
    return replace(column, written=writing.form)
