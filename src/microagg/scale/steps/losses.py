"""What grouping and release lose, added up from regions to what the whole dataset loses.

The figures are those that `measure` finds in all rows together, up to rounding.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from microagg.aggregates.values import Values
from microagg.core.arrays import Floats, Labels, Mask
from microagg.measures.utility.column_loss import ColumnLoss
from microagg.measures.utility.indicator_errors import indicator_errors
from microagg.measures.utility.information_loss import Errors
from microagg.release.grouping import errors_of, in_table_weights
from microagg.release.records import Records
from microagg.scale.steps.statistics import Statistics, stored_unit, unrounded_times
from microagg.tables.columns import Column
from microagg.tables.dates import in_steps_of
from microagg.tables.encoding import Encoding
from microagg.tables.fitted_columns import FittedCategories, FittedNumbers
from microagg.tables.moments import Moments
from microagg.tables.pairs import MISSING_DISTANCE
from microagg.tables.statistics import CategoryStatistics


class ColumnSums(NamedTuple):
    """Of one column in some records: squared changes, weight that went missing or was filled in.

    Changes are in standard deviations; those of categories count 1.
    """

    changes: float
    came_or_went: float
    changed: bool

    def plus(self, other: "ColumnSums") -> "ColumnSums":
        """Return the sums of both sets of records."""
        return ColumnSums(
            self.changes + other.changes,
            self.came_or_went + other.came_or_went,
            self.changed or other.changed,
        )


@dataclass(frozen=True, eq=False)
class Spread:
    """Weight, mean and sum of squared deviations of records, on every axis."""

    weight: float
    mean: Floats
    squares: Floats

    @classmethod
    def of(cls, X: Floats, weights: Floats | None) -> "Spread":
        """Return the spread of these records."""
        own = np.ones(len(X)) if weights is None else weights
        total = float(own.sum())
        mean = np.array([float((own * axis).sum()) / total for axis in X.T])
        squares = [
            float((own * np.square(axis - m)).sum()) for axis, m in zip(X.T, mean, strict=True)
        ]
        return cls(total, mean, np.array(squares))

    def merge(self, other: "Spread") -> "Spread":
        """Return the spread of both sets of records (Chan, Golub and LeVeque, 1979)."""
        total = self.weight + other.weight
        apart = other.mean - self.mean
        share = other.weight / total
        between = np.square(apart) * self.weight * share
        return Spread(total, self.mean + apart * share, self.squares + other.squares + between)


@dataclass(frozen=True, eq=False)
class Lost:
    """What some records lose: of their groups, and of the released values by column."""

    sse: float
    spread: Spread
    columns: dict[str, ColumnSums]

    def merge(self, other: "Lost") -> "Lost":
        """Return what both sets of records lose."""
        return Lost(
            self.sse + other.sse,
            self.spread.merge(other.spread),
            {name: own.plus(other.columns[name]) for name, own in self.columns.items()},
        )


def lost_in(
    records: Records,
    labels: Labels,
    released: Mapping[str, Values],
    moments: Mapping[str, Moments],
) -> Lost:
    """Return what a region loses; `moments` are those of dates before they were rounded."""
    (block,) = records.blocks
    weights = np.ones(len(labels)) if records.weights is None else records.weights
    sums = {
        name: _sums(column, released[name], weights, _moments_of(block.encoding, name, moments))
        for name, column in records.columns.items()
    }
    sse = errors_of(records, [labels]).sse / records.weight_unit
    spread = Spread.of(block.encoding.exact_axes(block.X), records.weights)
    return Lost(sse, spread, sums)


def _moments_of(encoding: Encoding, name: str, moments: Mapping[str, Moments]) -> Moments | None:
    """Return what a column is standardised by; None for categories without an order."""
    if name in moments:
        return moments[name]
    fitted = next(own for own in encoding.columns if own.type.name == name)
    return fitted.moments if isinstance(fitted, FittedNumbers) else None


def _sums(column: Column, after: Values, weights: Floats, moments: Moments | None) -> ColumnSums:
    there, still_there = _present(column.values), _present(after)
    moved = there != still_there
    before, now = column.values.numbers, after.numbers
    if moments is not None and column.resolution is not None:
        coarse, unit = (column.unit, column.step), stored_unit(column)
        before, now = unrounded_times(column), in_steps_of(after, coarse, (unit, 1)).numbers
    differ = moved | (there & still_there & (before != now))
    changed = bool(weights[differ].any())
    came_or_went = float(weights @ moved)
    if moments is None:
        return ColumnSums(float(weights @ differ), came_or_went, changed)
    one, other = (
        np.where(known, moments.standardised(numbers), 0.0)
        for numbers, known in ((before, there), (now, still_there))
    )
    return ColumnSums(float(weights @ np.square(one - other)), came_or_went, changed)


def _present(values: Values) -> Mask:
    if values.missing is None:
        return np.ones(len(values.numbers), dtype=np.bool_)
    return ~values.missing


def released_loss(
    lost: Lost, found: Statistics, weight_unit: float, encoding: Encoding
) -> ColumnLoss:
    """Return what the released values of the whole dataset lose, by column and in all."""
    total, n = lost.spread.weight, next(iter(found.columns.values())).n_records
    spread = total * weight_unit * (n - 1) / n
    losses: dict[str, float | None] = {}
    sse = sst = 0.0
    is_known = False
    for name, sums in lost.columns.items():
        errors = _errors(name, sums, found, total, encoding)
        is_new = errors.sst == 0.0 and sums.changed
        losses[name] = None if is_new else errors.information_loss
        weight = found.columns[name].weight
        if is_new or weight == 0.0:
            continue
        is_known = True
        if errors.sst > 0.0:
            sse += weight * spread * errors.sse / errors.sst
            sst += weight * spread
    loss = Errors(sse, sst).information_loss if is_known else None
    return ColumnLoss(loss, sse, sst, losses)


def _errors(
    name: str, sums: ColumnSums, found: Statistics, total: float, encoding: Encoding
) -> Errors:
    statistics = found.columns[name]
    moments = _moments_of(encoding, name, found.moments)
    if moments is None:
        present = statistics.present
        if present is None:  # all values are missing
            return Errors(sums.changes, 0.0)
        assert isinstance(present, CategoryStatistics)
        shares = np.append(present.weights, statistics.missing_weight) / total
        varies = np.count_nonzero(shares) > 1
        sst = total * float(1.0 - np.square(shares).sum()) if varies else 0.0
        return Errors(2.0 * sums.changes, sst)
    n = max(2, moments.n)
    sst = 0.0 if moments.is_constant else moments.total * (n - 1) / n
    absent = statistics.missing_weight
    if not statistics.n_missing and not sums.came_or_went:
        return Errors(sums.changes, sst)
    variance = 1.0  # of what is present, in its own standard deviations
    apart = MISSING_DISTANCE**2 * variance
    return Errors(
        sums.changes + apart * sums.came_or_went, sst + apart * absent * (1.0 - absent / total)
    )


def grouping_errors(
    lost: Lost, found: Statistics, weight_unit: float, encoding: Encoding
) -> Errors:
    """Return the squared errors of all groups about their means, and of all records."""
    sst = float(lost.spread.squares.sum())
    for fitted in encoding.compact:
        sst += fitted.apart * _spread_of_categories(fitted, found)
    return in_table_weights([Errors(lost.sse, sst)], weight_unit)


def _spread_of_categories(fitted: FittedCategories, found: Statistics) -> float:
    """Return the squared error of all records in a column of very many categories."""
    statistics = found.columns[fitted.type.name]
    assert isinstance(statistics.present, CategoryStatistics)
    weights = statistics.present.weights[statistics.present.occurring]
    if statistics.n_missing:
        weights = np.append(weights, statistics.missing_weight)
    codes = np.arange(len(weights))
    everyone = np.zeros(len(weights), dtype=np.intp)
    return indicator_errors(codes, everyone, weights, fitted.shares).sst
