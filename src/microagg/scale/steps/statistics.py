"""Second pass: what the encoding is fitted to, the strata, and a sample of the rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg.core.arrays import Floats, Mask, Rows, Wholes
from microagg.core.decimals import decimals_of
from microagg.scale.steps.types import merged, with_form
from microagg.scale.storage.hashing import mixed
from microagg.scale.storage.shuffle import ROW
from microagg.scale.storage.work import WorkFolder
from microagg.scale.tasks.setting import DatasetSetting, arrow_column, named_units
from microagg.tables.columns import US, Column
from microagg.tables.date_texts import Writing
from microagg.tables.frames import Frame
from microagg.tables.judging import Judgement
from microagg.tables.moments import Moments
from microagg.tables.statistics import ColumnStatistics
from microagg.tables.typed import code_strata, open_column

JUDGED = "judged"
# With the seed of the sample, rows get other numbers than elsewhere.
_SAMPLE = 1


@dataclass(frozen=True, eq=False)
class Judged:
    """What the first pass found that the second needs to know."""

    types: dict[str, Judgement]
    writings: dict[str, Writing]  # how dates are written in columns of text
    largest: dict[str, float]
    weight_unit: float
    sample_share: float


@dataclass(frozen=True, eq=False)
class StrataCounts:
    """How many records have each combination of the values that define strata.

    Values are codes, their places among the `categories` of a column; -1 is a missing value.
    """

    categories: dict[str, tuple[Any, ...]]
    combinations: Rows
    counts: Rows

    @classmethod
    def of(cls, frame: Frame, names: Sequence[str]) -> "StrataCounts":
        """Return the counts of a part."""
        categories, codes = {}, []
        for name in names:
            coded = code_strata(frame, name)
            categories[name] = tuple(coded.categories)
            codes.append(with_missing(coded.values.numbers, coded.values.missing))
        found, counts = np.unique(np.column_stack(codes), axis=0, return_counts=True)
        return cls(categories, found, counts)

    def merge(self, other: "StrataCounts") -> "StrataCounts":
        """Return the counts of both parts."""
        categories = {
            name: own
            if own == other.categories[name]
            else tuple(sorted({*own, *other.categories[name]}))
            for name, own in self.categories.items()
        }
        both = np.concatenate([part._coded_as(categories) for part in (self, other)])
        counts = np.concatenate((self.counts, other.counts))
        found, places = np.unique(both, axis=0, return_inverse=True)
        totals = np.bincount(places.reshape(-1), weights=counts).astype(np.intp)
        return StrataCounts(categories, found, totals)

    def _coded_as(self, categories: Mapping[str, tuple[Any, ...]]) -> Rows:
        columns = []
        for at, (name, own) in enumerate(self.categories.items()):
            places = {value: place for place, value in enumerate(categories[name])}
            to_place = np.array([*(places[value] for value in own), -1], dtype=np.intp)
            columns.append(to_place[self.combinations[:, at]])  # -1 is the last
        return np.column_stack(columns)


def with_missing(numbers: NDArray[Any], missing: Mask | None) -> Rows:
    """Return codes, and -1 for a missing value."""
    codes = numbers.astype(np.intp)
    return codes if missing is None else np.where(missing, -1, codes)


@dataclass(frozen=True, eq=False)
class Statistics:
    """What the second pass finds.

    `decimals` are the most that the floats of a column have, None if they have every digit;
    `moments` those of dates before they were rounded to a coarser resolution.
    """

    columns: dict[str, ColumnStatistics]
    decimals: dict[str, int | None]
    moments: dict[str, Moments]
    strata: StrataCounts | None
    sample: pa.Table

    def merge(self, other: "Statistics") -> "Statistics":
        """Return the statistics of both parts; the first must come first each time."""
        strata = self.strata
        if strata is not None and other.strata is not None:
            strata = strata.merge(other.strata)
        moments = dict(self.moments)
        for name, own in other.moments.items():
            moments[name] = moments[name].merge(own) if name in moments else own
        return Statistics(
            {name: own.merge(other.columns[name]) for name, own in self.columns.items()},
            {n: _most(own, other.decimals[n]) for n, own in self.decimals.items()},
            moments,
            strata,
            pa.concat_tables([self.sample, other.sample]),
        )


def _most(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else max(one, other)


def find_statistics(work: WorkFolder, run: int) -> Statistics:
    """Task: find the statistics of the rows of a run."""
    setting, judged = DatasetSetting.of(work), work.facts(JUDGED)
    read = setting.listing.read(run, setting.needed)
    found: Statistics = merged(_of_part(setting, judged, table) for _, table in read)
    return found


def _of_part(setting: DatasetSetting, judged: Judged, table: pa.Table) -> Statistics:
    frame, _ = setting.opened(table)
    weights = setting.weights_in(frame, judged.weight_unit)
    columns = [open_part(setting, judged, frame, name) for name in setting.roles.quasi_identifiers]
    decimals, moments = {}, {}
    for column in columns:
        numbers = column.values.present
        if column.type.is_number and numbers.dtype.kind == "f":
            decimals[column.name] = decimals_of(numbers, judged.largest[column.name])
        if column.resolution is not None and len(numbers):
            times = unrounded_times(column)
            moments[column.name] = Moments.of(times[_present(column)], _own(weights, column))
    return Statistics(
        {
            column.name: ColumnStatistics.of(column, scale=setting.plan.scale, weights=weights)
            for column in columns
        },
        decimals,
        moments,
        StrataCounts.of(frame, setting.roles.strata) if setting.roles.strata else None,
        work_table(setting, frame).filter(pa.array(_is_sampled(table, judged.sample_share))),
    )


def open_part(setting: DatasetSetting, judged: Judged, frame: Frame, name: str) -> Column:
    """Open a part of a column whose categories and steps in the whole are not known yet."""
    options = setting.options_of(name, judged.types)
    writing = judged.writings.get(name)
    if writing is not None and writing.order:
        order = US if writing.order.startswith("month") else "eu"
        options = replace(options, dates=order)
    return with_form(open_column(frame, name, options), writing)  # type: ignore[no-any-return]


def unrounded_times(column: Column) -> Wholes:
    """Return dates as they were before they were rounded, in the unit in which they are stored."""
    from microagg.tables.dates import in_steps_of

    if column.finer is not None:
        return np.asarray(column.finer.values.numbers * column.finer.step, dtype=np.int64)
    coarse = (column.unit, column.step)
    return np.asarray(in_steps_of(column.values, coarse, (stored_unit(column), 1)).numbers)


def stored_unit(column: Column) -> str:
    """Return the unit in which dates are stored: days, or fractions of a second."""
    if column.finer is not None:
        return column.finer.unit
    if column.type == "date":
        return "D"
    named = column.stored.partition("time_unit='")[2].partition("'")[0]
    return named or "us"


def _present(column: Column) -> Any:
    return slice(None) if column.values.missing is None else ~column.values.missing


def _own(weights: Floats | None, column: Column) -> Floats | None:
    return None if weights is None else weights[_present(column)]


def _is_sampled(table: pa.Table, share: float) -> Mask:
    rows = table.column(ROW).to_numpy()
    if share >= 1.0:
        return np.ones(len(rows), dtype=np.bool_)
    return np.asarray(mixed(rows, _SAMPLE) < np.uint64(int(share * 2.0**64)))


def work_table(setting: DatasetSetting, frame: Frame) -> pa.Table:
    """Return rows as the work folder holds them: plain values, and units that are named alike."""
    names = [*setting.needed, ROW]
    arrays = [
        named_units(frame, name).to_arrow()
        if name == setting.roles.unit
        else arrow_column(frame, name)
        for name in names
    ]
    return pa.table(arrays, names=names)
