"""Records before and after protection: what risk and utility measure.

What depends on one side of a column only (its mean and deviation, its sorted or standardised
values) is computed on first use and kept, so that all measures share it. An `Original` can be
paired with any number of releases, which all share its side.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np

from microagg.aggregates.values import Values
from microagg.core.arrays import Counts, Floats, Labels, Mask, Rows
from microagg.kernels.attacks.distance_linkage import MixedPoints
from microagg.tables.columns import Coded, Column, ColumnOptions, ColumnType
from microagg.tables.dates import in_steps_of
from microagg.tables.frames import Frame, polars_column
from microagg.tables.numerals import as_numbers
from microagg.tables.sides import ColumnSide
from microagg.tables.typed import open_column, types_of
from microagg.tables.units import Units

# A missing number is as far from every other as two records are on average.
MISSING_DISTANCE = np.sqrt(2.0)


@dataclass(frozen=True, eq=False)
class OriginalColumn:
    """A column before protection.

    `categories`, `unit` and `step` say what the numbers mean, as in `Column`; `weight` is how much
    the column counts in the information loss. Dates that are released in a coarser resolution count
    `released_in` then, a unit and how many of them.
    """

    name: str
    type: ColumnType
    values: ColumnSide
    categories: Sequence[Any] = ()
    unit: str = ""
    step: int = 1
    weight: float = 1.0
    released_in: tuple[str, int] | None = None

    @classmethod
    def of(cls, column: Column, values: Values | None = None) -> "OriginalColumn":
        """Return a column of a table, dates as they were before they were rounded.

        `values` take the place of its own.
        """
        own: Column | Coded = column
        coarse = None
        if column.finer is not None and values is None:
            own, coarse = column.finer, (column.unit, column.step)
        side = ColumnSide.of_values(own.values if values is None else values)
        meaning = (own.categories, own.unit, own.step, column.weight)
        return cls(column.name, column.type, side, *meaning, coarse)

    def paired(self, after: Values) -> "PairedColumn":
        """Return this column together with what became of it."""
        meaning = (self.categories, self.unit, self.step, self.weight, self.released_in)
        if self.released_in is not None:
            after = in_steps_of(after, self.released_in, (self.unit, self.step))
        side = ColumnSide.of_values(after)
        return PairedColumn(self.name, self.type, self.values, side, *meaning)


@dataclass(frozen=True, eq=False)
class PairedColumn:
    """A column before and after; equal numbers mean equal values on both sides.

    `categories`, `unit` and `step` say what the numbers mean, as in `Column`; `weight` is how much
    the column counts in the information loss. Dates that were released in a coarser resolution are
    multiples of `released_in`, a unit and how many of them.
    """

    name: str
    type: ColumnType
    before: ColumnSide
    after: ColumnSide
    categories: Sequence[Any] = ()
    unit: str = ""
    step: int = 1
    weight: float = 1.0
    released_in: tuple[str, int] | None = None

    @property
    def is_scaled(self) -> bool:
        """Whether differences of the numbers mean anything: numbers, dates, ordered categories."""
        return self.type not in (ColumnType.NOMINAL, ColumnType.BOOLEAN)

    @property
    def is_constant(self) -> bool:
        """Whether a scaled column has no deviation before, and so no unit for changes."""
        return self.before.scaling.unit == 0.0

    @property
    def is_present(self) -> Mask:
        """Which records have a value on both sides."""
        return self.before.is_present & self.after.is_present

    @cached_property
    def is_changed(self) -> bool:
        """Whether any record has another value after than before."""
        before, after = self.before, self.after
        if not np.array_equal(before.numbers, after.numbers):
            return True
        if before.missing is None or after.missing is None:
            return before.n_missing != after.n_missing
        return not np.array_equal(before.missing, after.missing)

    @property
    def changed(self) -> Mask:
        """Which records have another value after than before."""
        came_or_went = self.before.is_present != self.after.is_present
        differ = self.is_present & (self.before.numbers != self.after.numbers)
        return np.asarray(came_or_went | differ)

    @property
    def n_changed(self) -> int:
        """How many records have another value after than before."""
        return int(np.count_nonzero(self.changed))

    @property
    def scaled_before(self) -> Floats:
        """The original values of a scaled column as (value - mean) / standard deviation.

        0 where a value is missing, and everywhere if the original has no deviation.
        """
        return self.before.standardised

    @cached_property
    def scaled_after(self) -> Floats:
        """The released values, with the mean and standard deviation of the original."""
        return self.before.standardise(self.after)

    def before_axes(self, rows: Labels | None = None) -> Iterator[Floats]:
        """Give the original values of a scaled column as coordinates, one axis at a time.

        What is present has a variance of 1. A missing number is at the mean, and on a second axis
        as far from every other as two records are on average. With `rows`, of these records only.
        """
        return self._axes(self.before, self.scaled_before, rows)

    def after_axes(self, rows: Labels | None = None) -> Iterator[Floats]:
        """Give the released values on the same axes."""
        return self._axes(self.after, self.scaled_after, rows)

    def _axes(self, side: ColumnSide, scaled: Floats, rows: Labels | None) -> Iterator[Floats]:
        yield scaled if rows is None else scaled[rows]
        if self.has_missing:
            is_present = side.is_present if rows is None else side.is_present[rows]
            yield np.asarray(MISSING_DISTANCE * ~is_present)

    @property
    def has_missing(self) -> bool:
        """Whether any value is missing, before or after."""
        return self.before.missing is not None or self.after.missing is not None

    def take(self, rows: Rows) -> "PairedColumn":
        """Return the column of these records."""
        before, after = (
            ColumnSide.of_values(side.take(rows)) for side in (self.before, self.after)
        )
        return replace(self, before=before, after=after)


@dataclass(frozen=True, eq=False)
class Original:
    """The columns of a table before protection, to be paired with one release or many.

    `columns` are the quasi-identifiers, what an intruder may know; `sensitive` is what the intruder
    wants to know, and is released as it is. `units` say whom records are about, if that is known,
    `weights` how many of the population each record stands for.
    """

    columns: dict[str, OriginalColumn]
    sensitive: dict[str, OriginalColumn] = field(default_factory=dict)
    units: Units | None = None
    weights: Floats | None = None

    def with_released(self, released: Mapping[str, Values]) -> "Pair":
        """Pair the columns with what is released of them."""
        return Pair(
            {name: column.paired(released[name]) for name, column in self.columns.items()},
            {name: column.paired(column.values) for name, column in self.sensitive.items()},
            units=self.units,
            weights=self.weights,
        )


@dataclass(frozen=True, eq=False)
class Whole:
    """What a sample of records is drawn from: how many there are, and how large classes are there.

    `class_sizes` are those of the classes of the sample, by number: how many of all released
    records show the same.
    """

    n_records: int
    class_sizes: Counts


@dataclass(frozen=True, eq=False)
class Pair:
    """Records before and after protection.

    `columns` are the quasi-identifiers, what an intruder may know; `sensitive` is what the intruder
    wants to know. `dropped` are columns of the original that the protected table does not have,
    `unmatched` counts records of the original that it does not have; `assumed` are sensitive only
    because nothing in them was changed. `units` say whom records are about, if that is known.
    `matches` are the records of the original behind these; None if they are in its order. `weights`
    are how many of the population each record stands for; figures of the population count them.
    `whole` says what these records are a sample of, if they are.
    """

    columns: dict[str, PairedColumn]
    sensitive: dict[str, PairedColumn] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    unmatched: int = 0
    units: Units | None = None
    matches: Labels | None = None
    weights: Floats | None = None
    whole: Whole | None = None

    @property
    def n_records(self) -> int:
        """How many records there are on both sides."""
        return len(next(iter(self.columns.values())).before.numbers)

    @property
    def n_in_all(self) -> int:
        """How many records there are in all, of which these may be a sample."""
        return self.n_records if self.whole is None else self.whole.n_records

    @property
    def class_sizes(self) -> Counts:
        """How many released records each class has, also those that are not in the sample."""
        return np.bincount(self.classes) if self.whole is None else self.whole.class_sizes

    @property
    def scaled_columns(self) -> list[PairedColumn]:
        """The numbers, dates and ordered categories among the quasi-identifiers."""
        return [column for column in self.columns.values() if column.is_scaled]

    def points_before(self, rows: Labels | None = None) -> MixedPoints:
        """Return the original records, or some of them, as points in the space of comparison.

        Its units are the original's standard deviations. Nominal columns are codes; two different
        ones are as far apart as `code_distances` says, and a missing one is one more code.
        """
        return self._points(rows, lambda column: column.before, PairedColumn.before_axes)

    def points_after(self, rows: Labels | None = None) -> MixedPoints:
        """Return the released records, or some of them, as points in the same space."""
        return self._points(rows, lambda column: column.after, PairedColumn.after_axes)

    @property
    def code_distances(self) -> Floats:
        """How far apart different codes of each nominal column are, squared."""
        nominal = (column for column in self.columns.values() if not column.is_scaled)
        return np.array([column.before.squared_distance for column in nominal])

    def _points(
        self,
        rows: Labels | None,
        side: Callable[[PairedColumn], ColumnSide],
        axes: Callable[[PairedColumn, Labels | None], Iterable[Floats]],
    ) -> MixedPoints:
        n = self.n_records if rows is None else len(rows)
        numbers = [axis for column in self.scaled_columns for axis in axes(column, rows)]
        codes = [side(column).codes for column in self.columns.values() if not column.is_scaled]
        return MixedPoints(
            np.column_stack(numbers) if numbers else np.empty((n, 0)),
            np.column_stack([own if rows is None else own[rows] for own in codes])
            if codes
            else np.empty((n, 0), dtype=np.int64),
        )

    @cached_property
    def classes(self) -> Labels:
        """The class of every record: those that show the same after protection have the same."""
        return classes_of([column.after for column in self.columns.values()])

    def take(self, rows: Rows) -> "Pair":
        """Return the pair of these records."""
        return replace(
            self,
            columns={name: column.take(rows) for name, column in self.columns.items()},
            sensitive={name: column.take(rows) for name, column in self.sensitive.items()},
            units=None if self.units is None else self.units.take(rows),
            matches=rows if self.matches is None else self.matches[rows],
            weights=None if self.weights is None else self.weights[rows],
            whole=None,
        )


def classes_of(columns: Iterable[Values]) -> Labels:
    """Number the records by what they show, equal for equal; a missing value is a value."""
    labels: Labels | None = None
    for values in columns:
        _, places = np.unique(values.numbers, return_inverse=True)
        codes = places.reshape(-1) + 1
        if values.missing is not None:
            codes = np.where(values.missing, 0, codes)
        if labels is None:
            labels = codes
        else:
            _, labels = np.unique(labels * (int(codes.max()) + 1) + codes, return_inverse=True)
            labels = labels.reshape(-1)
    assert labels is not None
    return np.unique(labels, return_inverse=True)[1].reshape(-1)


def original_of(
    frame: Frame,
    columns: Mapping[str, Column],
    strata: Mapping[str, Coded] | None = None,
    sensitive: Sequence[str] = (),
    decimal: str | None = None,
    units: Units | None = None,
    weights: Floats | None = None,
) -> Original:
    """Return the original side of a table; strata are among the columns that anybody may know.

    They do not count in the information loss. Sensitive columns of types that cannot be measured,
    such as lists, are left out. Those of a CSV file are text, whatever they hold; its `decimal`
    mark says how to read their numbers.
    """
    known = {name: OriginalColumn.of(column) for name, column in columns.items()}
    for name, coded in (strata or {}).items():
        side = ColumnSide.of_values(coded.values)
        known[name] = OriginalColumn(name, ColumnType.NOMINAL, side, coded.categories, weight=0.0)
    measurable = [name for name in sensitive if name in frame.columns and types_of(frame, name)]
    return Original(
        {name: known[name] for name in frame.columns if name in known},
        {name: _sensitive_column(frame, name, decimal) for name in measurable},
        units,
        weights,
    )


def _sensitive_column(frame: Frame, name: str, decimal: str | None) -> OriginalColumn:
    if decimal is not None and frame[name].dtype == nw.String:
        numbers = as_numbers(polars_column(frame[name]), decimal).alias(name)
        frame = nw.from_native(numbers.to_frame(), eager_only=True)
    return OriginalColumn.of(open_column(frame, name, ColumnOptions()))
