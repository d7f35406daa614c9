"""What was fitted to the whole dataset, and any rows of it opened as records."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from microagg.aggregates.choices import Aggregate, Missing
from microagg.aggregates.digits import EVERY_DIGIT, Digits
from microagg.aggregates.released import group_values
from microagg.aggregates.rounded import points_in_type
from microagg.aggregates.values import Values
from microagg.core.arrays import Labels, Rows
from microagg.release.records import Block, Records
from microagg.release.source import Source
from microagg.requirements.base import Distribution
from microagg.scale.steps.statistics import Judged, Statistics, StrataCounts, with_missing
from microagg.scale.storage.work import WorkFolder
from microagg.scale.tasks.setting import DatasetSetting
from microagg.tables.columns import Coded, Column
from microagg.tables.decimals import Known, digits_of
from microagg.tables.encoding import Encoding
from microagg.tables.fitted_types import FittedType
from microagg.tables.frames import Frame, open_frame
from microagg.tables.judging import Judgement
from microagg.tables.statistics import CategoryStatistics
from microagg.tables.strata import Strata
from microagg.tables.typed import code_strata, open_column

FITTED = "fitted"


@dataclass(frozen=True, eq=False)
class DatasetStrata:
    """All strata, numbered in the order of their values, and what each is released as."""

    found: StrataCounts
    home: Rows  # the stratum that each is released as: itself, unless it was too small

    @property
    def n_merged(self) -> int:
        """How many strata joined another."""
        return int(np.count_nonzero(self.home != np.arange(len(self.home))))

    @property
    def sizes(self) -> Rows:
        """How many records each stratum is released with."""
        counts = self.found.counts
        sizes: Rows = np.bincount(self.home, weights=counts, minlength=len(counts)).astype(np.intp)
        return sizes

    def of_rows(self, columns: dict[str, Coded]) -> Labels:
        """Return the stratum of rows, before any was merged."""
        codes = [with_missing(own.values.numbers, own.values.missing) for own in columns.values()]
        kinds, places = np.unique(np.column_stack(codes), axis=0, return_inverse=True)
        known = self._numbers
        numbers = np.array([known[tuple(row)] for row in kinds.tolist()], dtype=np.intp)
        return numbers[places.reshape(-1)]

    @cached_property
    def _numbers(self) -> dict[tuple[int, ...], int]:
        """The number of every combination of values."""
        return {tuple(row): at for at, row in enumerate(self.found.combinations.tolist())}

    def opened(self, columns: dict[str, Coded]) -> Strata:
        """Return the strata of rows, numbered as in the dataset, and what is released of them."""
        of_record = self.home[self.of_rows(columns)]
        codes = self.found.combinations[of_record]
        released = {
            name: Values.of(np.maximum(0, codes[:, at]), codes[:, at] < 0)
            for at, name in enumerate(columns)
        }
        return Strata(of_record, released, self.n_merged)


@dataclass(frozen=True, eq=False)
class Fitted:
    """Types, digits, encoding and strata of a dataset, by which any rows are opened alike."""

    setting: DatasetSetting
    types: dict[str, FittedType]
    judged: dict[str, Judgement]
    digits: dict[str, Digits]
    encoding: Encoding
    weight_unit: float = 1.0
    strata: DatasetStrata | None = None
    overall: dict[str, float] = field(default_factory=dict)
    distributions: dict[str, Distribution] = field(default_factory=dict)

    @classmethod
    def of(cls, work: WorkFolder) -> "Fitted":
        """Return what was fitted in this work folder."""
        found: Fitted = work.facts(FITTED)
        return found

    def open(self, table: pa.Table) -> Records:
        """Open rows of the work folder as records."""
        frame = open_frame(table)
        roles = self.setting.roles
        columns = {name: self._column(frame, name) for name in roles.quasi_identifiers}
        coded = {name: self._stratum(frame, name) for name in roles.strata}
        block = Block(
            roles.quasi_identifiers, self.encoding, self.encoding.apply([*columns.values()])
        )
        return Records(
            Source(frame, dialect=self.setting.dialect),
            roles,
            columns,
            (block,),
            self.setting.plan.scale,
            self.setting.plan.missing,
            self.setting.weights_in(frame, self.weight_unit),
            self.weight_unit,
            strata=None if self.strata is None else self.strata.opened(coded),
            strata_columns=coded,
            units=None if roles.unit is None else _codes_of_units(table, roles.unit),
            judged=self.judged,
            named_identifiers=roles.identifiers,
            overall=self.overall,
            distributions=self.distributions,
        )

    def matrix(self, frame: Frame) -> Any:
        """Return rows as points in the space of comparison."""
        names = self.setting.roles.quasi_identifiers
        return self.encoding.apply([self._column(frame, name) for name in names])

    def strata_of(self, frame: Frame) -> Labels:
        """Return the stratum of rows, as it is released; 0 if there are none."""
        if self.strata is None:
            return np.zeros(len(frame), dtype=np.intp)
        coded = {name: self._stratum(frame, name) for name in self.setting.roles.strata}
        return self.strata.home[self.strata.of_rows(coded)]

    def _column(self, frame: Frame, name: str) -> Column:
        options = self.setting.options_of(name, self.judged)
        column = open_column(frame, name, options, self.types[name])
        return replace(column, digits=self.digits.get(name, EVERY_DIGIT))

    def _stratum(self, frame: Frame, name: str) -> Coded:
        assert self.strata is not None
        return code_strata(frame, name, self.strata.found.categories[name])


def _codes_of_units(table: pa.Table, name: str) -> Rows:
    """Return the unit of every row as a number from 0; -1 for a row without one."""
    encoded = table.column(name).combine_chunks().dictionary_encode()
    return np.asarray(encoded.indices.fill_null(-1).to_numpy(), dtype=np.intp)


def fit(setting: DatasetSetting, judged: Judged, found: Statistics) -> Fitted:
    """Fit the encoding and the digits to the statistics of all rows."""
    plan, columns = setting.plan, found.columns
    types = {name: own.type for name, own in columns.items()}
    encoding = Encoding.of([*columns.values()], scale=plan.scale, missing=plan.missing)
    strata = None
    if found.strata is not None:
        strata = DatasetStrata(found.strata, np.arange(len(found.strata.counts)))
    fitted = Fitted(setting, types, judged.types, {}, encoding, judged.weight_unit, strata)
    fitted = replace(fitted, digits=_digits(fitted, found))
    return replace(fitted, overall=_overall(fitted, found))


def _overall(fitted: Fitted, found: Statistics) -> dict[str, float]:
    """Return what all records together would release of columns with missing values.

    A median of numbers is that of the sample.
    """
    frame = open_frame(found.sample)
    overall: dict[str, float] = {}
    for name, own in found.columns.items():
        if not own.n_missing or own.present is None:
            continue
        column = fitted._column(frame, name)
        if isinstance(own.present, CategoryStatistics):
            overall[name] = _of_categories(own.present, column.aggregate)
        elif column.aggregate is Aggregate.MEAN:
            mean = np.array([own.present.moments.scaling.offset])
            dtype = column.values.numbers.dtype
            overall[name] = points_in_type(mean, column.digits, dtype=dtype, name=name)[0].item()
        elif len(column.values.present):
            everyone = np.zeros(len(column.values.numbers), dtype=np.intp)
            of_all = group_values(
                column.values,
                everyone,
                column.aggregate,
                Missing.IMPUTE,
                digits=column.digits,
                name=name,
            )
            overall[name] = of_all.numbers[0].item()
    return overall


def _of_categories(counts: CategoryStatistics, how: Aggregate) -> int:
    """Return the most frequent category, or the one in the middle, as a code."""
    if how is Aggregate.MODE:
        return int(counts.weights.argmax())
    return int(np.searchsorted(counts.weights.cumsum(), counts.weights.sum() / 2.0))


def _digits(fitted: Fitted, found: Statistics) -> dict[str, Digits]:
    """Return the decimals that every column of numbers is released with."""
    plan = fitted.setting.plan
    frame = open_frame(found.sample)
    asked = {name: options.digits for name, options in plan.column_options.items()}
    digits = {}
    for name in fitted.types:
        column = fitted._column(frame, name)
        known = Known(found.decimals[name]) if name in found.decimals else None
        digits[name] = digits_of(column, asked.get(name), plan.digits, known)
    return digits
