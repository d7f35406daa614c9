"""The categories that groups release: those of one of their records, or column by column."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from microagg.aggregates.candidates import Categories, candidates_of
from microagg.aggregates.choices import Aggregate, Missing
from microagg.aggregates.margins import KeptMargins, keep_margins
from microagg.aggregates.medoid import medoids
from microagg.aggregates.released import group_values
from microagg.aggregates.values import Values
from microagg.core.arrays import Floats, Labels, Mask, Rows
from microagg.plans.plan import Plan
from microagg.release.records import Block, Records
from microagg.tables.category_codes import category_codes
from microagg.tables.columns import Column
from microagg.tables.encoding import encode

# A column of weight 0 decides only between records that are otherwise equal.
_LEAST_WEIGHT = 1e-6


class CategoryChoice(NamedTuple):
    """What was asked for: only combinations that exist, and totals that are kept."""

    valid_combinations: bool = True
    keep_margins: bool = False

    @classmethod
    def of(cls, plan: Plan) -> Self:
        """Return what a plan asks for."""
        return cls(plan.valid_combinations, plan.keep_margins)


class Margins(NamedTuple):
    """How far the totals of categories are from the original, summed over all of them.

    In the weight of records: as released, as if each group released what loses least, and as no
    choice with so little extra loss could be below. `extra_loss` is what this adds to the loss of
    the categories, as a share of it.
    """

    deviation: float
    least_loss_deviation: float
    lower_bound: float
    extra_loss: float


@dataclass(frozen=True, eq=False)
class ChosenCategories:
    """What groups release of some columns, by name, and what it took.

    `incomplete_groups` have no record with a value in every categorical column, so that they
    release each column on its own.
    """

    values: dict[str, Values]
    incomplete_groups: int = 0
    kept: tuple[KeptMargins, ...] = ()

    @classmethod
    def together(cls, parts: "Sequence[ChosenCategories]") -> "ChosenCategories":
        """Return the choices of several sets of columns as one."""
        return cls(
            {name: own for part in parts for name, own in part.values.items()},
            sum(part.incomplete_groups for part in parts),
            tuple(kept for part in parts for kept in part.kept),
        )

    def margins(self, weight_unit: float = 1.0) -> Margins | None:
        """Return how far totals are from the original; None if that was not asked for."""
        if not self.kept:
            return None
        least = sum(own.least_loss for own in self.kept)
        extra = sum(own.loss for own in self.kept) - least
        return Margins(
            sum(own.deviation for own in self.kept) * weight_unit,
            sum(own.least_loss_deviation for own in self.kept) * weight_unit,
            sum(own.lower_bound for own in self.kept) * weight_unit,
            extra / least if least > 0.0 else 0.0,
        )


def choose_categories(
    block: Block, labels: Labels, records: Records, asked: CategoryChoice
) -> ChosenCategories:
    """Choose what each group releases of the categorical columns of a block.

    A column on its own whose totals need not be kept is left out: its aggregate says what groups
    release.
    """
    columns = [records.columns[name] for name in block.names]
    columns = [column for column in columns if column.type.is_categorical]
    together = [columns] if asked.valid_combinations else [[column] for column in columns]
    return ChosenCategories.together(
        [
            _of_columns(own, labels, records, keep=asked.keep_margins)
            for own in together
            if len(own) > 1 or (own and asked.keep_margins)
        ]
    )


def _of_columns(
    columns: Sequence[Column], labels: Labels, records: Records, *, keep: bool
) -> ChosenCategories:
    """Choose one record for each group that has a complete one, and release its categories."""
    coded = [_coded(column, records) for column in columns]
    found = candidates_of(coded, labels, records.weights)
    n_groups = int(labels.max()) + 1
    incomplete = np.setdiff1d(np.arange(n_groups), found.groups)
    if keep and not len(found.groups):  # then totals can be kept in each column on its own
        each = [_of_columns([column], labels, records, keep=True) for column in columns]
        return replace(ChosenCategories.together(each), incomplete_groups=n_groups)
    released = _of_each_column(columns, labels, records, n_groups, is_needed=len(incomplete) > 0)
    if not len(found.groups):
        return ChosenCategories(released, len(incomplete))
    chosen = medoids(found)
    kept: tuple[KeptMargins, ...] = ()
    if keep:
        offsets = np.cumsum([0, *(own.n_codes for own in coded[:-1])])
        others = np.column_stack([_codes(released[c.name], c, records) for c in columns])
        kept = (keep_margins(found, chosen, others + offsets),)
        chosen = kept[0].chosen
    rows, groups = found.rows[chosen], found.groups[chosen]
    values = {c.name: _put(released[c.name], groups, c.values.take(rows)) for c in columns}
    return ChosenCategories(values, len(incomplete) if len(columns) > 1 else 0, kept)


def _coded(column: Column, records: Records) -> Categories:
    """Return the column with its codes; missing is one of them unless it is to be imputed."""
    codes = _codes(column.values, column, records)
    known = None
    if records.missing is Missing.IMPUTE and column.values.missing is not None:
        known = ~column.values.missing
    points = None
    if column.aggregate is Aggregate.LOWER_MEDIAN:
        points = _points(column, codes, known, records)
    return Categories(codes, points, known, column.weight or _LEAST_WEIGHT)


def _codes(values: Values, column: Column, records: Records) -> Rows:
    """Return codes from 0, at which missing is first if it is a value."""
    has_missing = records.missing is not Missing.IMPUTE and column.values.missing is not None
    return np.maximum(category_codes(values) + has_missing, 0).astype(np.intp)


def _points(column: Column, codes: Rows, known: Mask | None, records: Records) -> Floats:
    """Return the points at which ordered categories are compared, a row for each code."""
    own = replace(column, weight=1.0)
    X = encode([own], scale="standardise", missing=records.missing, weights=records.weights)
    points = np.zeros((int(codes.max()) + 1, X.shape[1]))
    there = np.arange(len(codes)) if known is None else np.flatnonzero(known)
    points[codes[there]] = X[there]
    return points


def _of_each_column(
    columns: Sequence[Column], labels: Labels, records: Records, n_groups: int, *, is_needed: bool
) -> dict[str, Values]:
    """Return what groups release of each column on its own, if any group needs that."""
    if not is_needed:
        dtypes = {column.name: column.values.numbers.dtype for column in columns}
        return {name: Values(np.zeros(n_groups, dtype)) for name, dtype in dtypes.items()}
    missing, weights = records.missing, records.weights
    return {
        name: group_values(
            own.values,
            labels,
            own.aggregate,
            missing,
            weights,
            name=name,
            overall=records.overall.get(name),
        )
        for name, own in ((column.name, column) for column in columns)
    }


def _put(values: Values, places: Rows, new: Values) -> Values:
    """Return the values with new ones at these places."""
    numbers = values.numbers.copy()
    numbers[places] = new.numbers
    missing = np.zeros(len(numbers), dtype=np.bool_)
    missing[places] = False if new.missing is None else new.missing
    return Values.of(numbers, missing)
