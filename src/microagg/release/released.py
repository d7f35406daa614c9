"""Fourth stage: the released values of each group, within the constraints."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from microagg.aggregates.hybrid import hybrid_records
from microagg.aggregates.mean import in_type
from microagg.aggregates.released import group_values
from microagg.aggregates.rounded import points_in_type
from microagg.aggregates.values import Values
from microagg.constraints.system import System
from microagg.core.arrays import Floats, Labels
from microagg.measures.utility.column_loss import ColumnLoss, column_loss
from microagg.release.categories import CategoryChoice, ChosenCategories, choose_categories
from microagg.release.constrained import Constrained, constrained_values, in_table_units
from microagg.release.grouping import Groups, drawn_centers
from microagg.release.records import Records
from microagg.tables.pairs import Pair, original_of
from microagg.tables.units import Units

# With the seed, it starts other random numbers than those of the method.
_HYBRID = 1


@dataclass(frozen=True, eq=False)
class NewCombinations:
    """Combinations of categories that no record had before, and how many records have them."""

    combinations: int
    records: int


@dataclass(frozen=True, eq=False)
class Released:
    """The released values of the quasi-identifiers, for every record."""

    values: dict[str, Values]
    constrained: Constrained | None
    new_combinations: NewCombinations | None
    categories: ChosenCategories | None = None

    def shown(self, records: Records) -> dict[str, Values]:
        """Return the released quasi-identifiers and the strata of every record."""
        strata = {} if records.strata is None else records.strata.released
        return {**self.values, **strata}

    def pair_of(self, records: Records) -> Callable[[], Pair]:
        """Return a function that opens the records before and after, without keeping the matrix."""
        dialect, after = records.source.dialect, self.shown(records)
        original = partial(
            original_of,
            records.frame,
            records.columns,
            records.strata_columns,
            records.roles.worth_knowing,
            None if dialect is None else dialect.decimal,
            _units(records),
            records.table_weights,
        )
        return lambda: original().with_released(after)


def loss_of(records: Records, released: Released) -> ColumnLoss:
    """Return what the released values of the quasi-identifiers lose."""
    original = original_of(records.frame, records.columns, weights=records.table_weights)
    return column_loss(original.with_released(released.values))


def _units(records: Records) -> Units | None:
    unit = records.roles.unit
    return None if unit is None or records.units is None else Units(unit, records.units)


def aggregate(
    records: Records,
    groups: Groups,
    systems: Sequence[System | None],
    asked: CategoryChoice = CategoryChoice(),  # noqa: B008
) -> Released:
    """Aggregate every group within the constraints; there is a system, or None, for each block.

    If records draw their values, these are the drawn centres.
    """
    released: dict[str, Values] = {}
    constrained: list[Constrained] = []
    chosen: list[ChosenCategories] = []
    for block, labels, system in zip(records.blocks, groups.labels, systems, strict=True):
        points = {}
        if groups.method.draws:
            points = in_table_units(drawn_centers(groups.estimator), system, records)
        chosen.append(choose_categories(block, labels, records, asked))
        values = dict(chosen[-1].values)
        done = {*values, *(() if system is None else system.columns)}
        free = [name for name in block.names if name not in done]
        values |= _values_of_groups(free, labels, records, points)
        if system is not None:
            satisfying, found = constrained_values(system, block, labels, records, points)
            values |= satisfying
            constrained.append(found)
        released |= {name: values[name].take(labels) for name in block.names}
    in_order = {name: released[name] for name in records.columns}
    return Released(
        in_order,
        Constrained.together(constrained),
        _new_combinations(records, in_order),
        ChosenCategories.together(chosen),
    )


def synthesise(records: Records, groups: Groups, systems: Sequence[System | None]) -> Released:
    """Make hybrid records in every group; they keep the equalities, which all records satisfy."""
    rng = np.random.default_rng([_HYBRID, groups.seed or 0])
    released: dict[str, Values] = {}
    for block, labels in zip(records.blocks, groups.labels, strict=True):
        numbers = [records.columns[name].values.numbers for name in block.names]
        made = hybrid_records(np.column_stack(numbers).astype(np.float64), labels, rng)
        for name, own, new in zip(block.names, numbers, made.T, strict=True):
            released[name] = Values(in_type(new, dtype=own.dtype, name=name))
    kept = [
        Constrained({own.text: 0 for own in system.constraints}, (), 0.0)
        for system in systems
        if system is not None
    ]
    in_order = {name: released[name] for name in records.columns}
    return Released(in_order, Constrained.together(kept), None)


def _values_of_groups(
    names: Iterable[str], labels: Labels, records: Records, points: Mapping[str, Floats]
) -> dict[str, Values]:
    """Return the values of each group in these columns: its aggregate, or a drawn centre."""
    values = {}
    for name in names:
        column = records.columns[name]
        if name in points:
            dtype = column.values.numbers.dtype
            drawn = points_in_type(points[name], column.digits, dtype=dtype, name=name)
            values[name] = Values(drawn)
        else:
            values[name] = group_values(
                column.values,
                labels,
                column.aggregate,
                records.missing,
                records.weights,
                column.digits,
                name=name,
                overall=records.overall.get(name),
            )
    return values


def _new_combinations(records: Records, released: Mapping[str, Values]) -> NewCombinations | None:
    """Count new combinations; None with fewer than two categorical columns."""
    names = [name for name, column in records.columns.items() if column.type.is_categorical]
    if len(names) < 2:
        return None
    before = _codes([records.columns[name].values for name in names]).unique()
    after = _codes([released[name] for name in names])
    new = after.join(before, on=before.columns, how="anti", nulls_equal=True)
    return NewCombinations(new.n_unique() if len(new) else 0, len(new))


def _codes(columns: Sequence[Values]) -> pl.DataFrame:
    codes = [pl.Series(str(at), own.numbers).cast(pl.Int64) for at, own in enumerate(columns)]
    return pl.DataFrame(
        [
            own if values.missing is None else own.set(pl.Series(values.missing), None)
            for own, values in zip(codes, columns, strict=True)
        ]
    )
