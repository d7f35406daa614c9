"""Groups -> what each group releases, and what that costs and promises."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from microagg.aggregates.mean import in_type
from microagg.aggregates.medoid import medoids
from microagg.aggregates.released import Missing, group_values, satisfied_means
from microagg.aggregates.values import Values
from microagg.constraints.equalities import Equalities
from microagg.constraints.system import Satisfied, System
from microagg.core.arrays import Floats, Labels
from microagg.core.errors import GuaranteeError
from microagg.core.registry import Method
from microagg.measures.utility.information_loss import Errors, squared_errors
from microagg.plans.manifest import Promise
from microagg.release.grouping import Grouped, group
from microagg.release.records import Block, Records
from microagg.tables.columns import Column
from microagg.tables.encoding import encode
from microagg.tables.scaling import UNSCALED, Scaling, scaling, standardised

# Squares of larger numbers, and sums of these, would overflow.
_FARTHEST = 1e150


@dataclass(frozen=True, eq=False)
class Constrained:
    """What constraints did.

    `violations` counts the records that violate each constraint; `added` is what satisfying them
    adds to the squared error.
    """

    violations: dict[str, int]
    satisfied: tuple[Satisfied, ...]
    added: float


@dataclass(frozen=True, eq=False)
class NewCombinations:
    """Combinations of categories that no record had before, and the records that show them."""

    combinations: int
    records: int


@dataclass(frozen=True, eq=False)
class Outcome:
    """Groups, what they release and promise, and their errors where they were compared."""

    grouped: Grouped
    released: dict[str, Values]  # of every record
    errors: Errors
    constrained: Constrained | None
    new_combinations: NewCombinations | None
    promise: str

    @property
    def labels(self) -> Labels:
        """The group of every record; where there are several blocks, a column for each."""
        if len(self.grouped.labels) == 1:
            return self.grouped.labels[0]
        return np.column_stack(self.grouped.labels)


def group_and_aggregate(
    method: Method,
    estimator: Any,
    records: Records,
    systems: Sequence[System | None],
    *,
    scale: str,
    valid_combinations: bool = False,
) -> Outcome:
    """Group the records with the estimator, and aggregate every group within the constraints.

    There is a system of constraints, or None, for each block of columns. Methods whose records draw
    release the centres that were drawn, others the aggregates of groups.
    """
    if method.draws and systems[0] is not None:
        scalings = _scalings(records, scale)
        estimator.set_params(constraints=_scaled_equalities(systems[0], records, scalings))
    grouped = group(estimator, records)
    errors = _errors(method, grouped, records)
    released: dict[str, Values] = {}
    constrained: list[Constrained] = []
    for block, labels, system in zip(records.blocks, grouped.labels, systems, strict=True):
        values, found = _aggregated(
            block, labels, records, system, method, grouped, scale, valid_combinations
        )
        released |= {name: values[name].take(labels) for name in block.names}
        constrained += [found] if found is not None else []
    return Outcome(
        grouped,
        {name: released[name] for name in records.columns},
        errors,
        _together(constrained),
        _new_combinations(records, released),
        promise=_promise_of(method, estimator, records),
    )


def _aggregated(
    block: Block,
    labels: Labels,
    records: Records,
    system: System | None,
    method: Method,
    grouped: Grouped,
    scale: str,
    valid_combinations: bool,
) -> tuple[dict[str, Values], Constrained | None]:
    """Return what each group of a block releases, and what constraints had to do with it."""
    columns = {name: records.columns[name] for name in block.names}
    points = _drawn_points(grouped.parts[0].fitted, system, records, scale) if method.draws else {}
    free = [name for name in block.names if system is None or name not in system.columns]
    values = _values_of_groups(free, labels, records, points)
    if valid_combinations:
        values |= _medoids(columns, labels, records)
    if system is None:
        return values, None
    units = {name: _unit(columns[name], scale) for name in system.columns}
    numbers = {name: columns[name].values for name in system.columns}
    satisfied = satisfied_means(
        system, numbers, labels, units, weights=records.weights, points=points or None
    )
    for name in system.columns:
        dtype = numbers[name].numbers.dtype
        values[name] = Values(in_type(satisfied.values[name], dtype=dtype, name=name))
    _check_satisfied(
        system.violations({c: values[c].numbers[labels] for c in system.columns}, units)
    )
    violations = system.violations(_complete(numbers), units)
    added = _added_error(columns, labels, satisfied, records.weights, scale)
    return values, Constrained(violations, (satisfied,), added)


def unconstrained_values(
    method: Method, estimator: Any, records: Records, scale: str
) -> dict[str, Values]:
    """Return what every record of a table in one block releases by the groups of an estimator."""
    points = _drawn_points(estimator, None, records, scale) if method.draws else {}
    values = _values_of_groups(records.columns, estimator.labels_, records, points)
    return {name: own.take(estimator.labels_) for name, own in values.items()}


def _values_of_groups(
    names: Iterable[str], labels: Labels, records: Records, points: Mapping[str, Floats]
) -> dict[str, Values]:
    """Return what each group releases of these columns: its aggregate, or the point it drew."""
    values = {}
    for name in names:
        column = records.columns[name]
        if name in points:
            dtype = column.values.numbers.dtype
            values[name] = Values(in_type(points[name], dtype=dtype, name=name))
        else:
            values[name] = group_values(
                column.values,
                labels,
                column.aggregate,
                records.missing,
                records.weights,
                name=name,
            )
    return values


def errors_of(method: Method, estimator: Any, X: Floats) -> Errors:
    """Return the squared errors of fitted groups: about drawn centres where records draw."""
    centers = _drawn_centers(estimator) if method.draws else None
    return squared_errors(X, estimator.labels_, centers)


def _errors(method: Method, grouped: Grouped, records: Records) -> Errors:
    """Return the squared errors of all blocks together."""
    if method.draws:
        return errors_of(method, grouped.parts[0].fitted, records.X)
    each = [
        squared_errors(block.X, labels, weights=records.weights)
        for block, labels in zip(records.blocks, grouped.labels, strict=True)
    ]
    return Errors(sum(error.sse for error in each), sum(error.sst for error in each))


def _medoids(columns: Mapping[str, Column], labels: Labels, records: Records) -> dict[str, Values]:
    """Return the categories of the record of each group that is most like all of it in these."""
    chosen = {name: column for name, column in columns.items() if column.type.is_categorical}
    if not chosen:
        return {}
    X = encode(
        list(chosen.values()),
        scale="standardise",
        missing=records.missing,
        weights=records.weights,
    )
    usable = None
    if records.missing is Missing.IMPUTE:
        masks = [c.values.missing for c in chosen.values() if c.values.missing is not None]
        usable = ~np.logical_or.reduce(masks) if masks else None
        if usable is not None and not usable.any():
            raise GuaranteeError(
                "no record has a value in every categorical column, so that there is no valid "
                "combination to release; nothing was released. Leave out --valid-combinations, or "
                "use --missing value."
            )
    rows = medoids(X, labels, records.weights, usable)
    return {name: column.values.take(rows) for name, column in chosen.items()}


def _new_combinations(records: Records, released: Mapping[str, Values]) -> NewCombinations | None:
    """Count what no record of the table shows; None with fewer than two categorical columns."""
    names = [name for name, column in records.columns.items() if column.type.is_categorical]
    if len(names) < 2:
        return None
    before = _codes({name: records.columns[name].values for name in names}).unique()
    after = _codes({name: released[name] for name in names})
    new = after.join(before, on=before.columns, how="anti", nulls_equal=True)
    return NewCombinations(new.n_unique() if len(new) else 0, len(new))


def _codes(columns: Mapping[str, Values]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            pl.Series(str(at), values.numbers).cast(pl.Int64)
            if values.missing is None
            else pl.Series(str(at), values.numbers)
            .cast(pl.Int64)
            .set(pl.Series(values.missing), None)
            for at, values in enumerate(columns.values())
        ]
    )


def _scalings(records: Records, scale: str) -> dict[str, Scaling]:
    """Return how the columns of the matrix become those of the table; the scale is linear."""
    if scale == UNSCALED:
        return dict.fromkeys(records.columns, Scaling(0.0, 1.0))
    return {name: scaling(column.values.numbers) for name, column in records.columns.items()}


def _unit(column: Column, scale: str) -> float:
    return 1.0 if scale == UNSCALED else scaling(column.values.present).unit


def _complete(columns: Mapping[str, Values]) -> dict[str, NDArray[Any]]:
    """Return the records in which no value is missing."""
    masks = [values.missing for values in columns.values() if values.missing is not None]
    if not masks:
        return {name: values.numbers for name, values in columns.items()}
    there = ~np.logical_or.reduce(masks)
    return {name: values.numbers[there] for name, values in columns.items()}


def _drawn_centers(estimator: Any) -> Floats:
    """Return the centres that some record drew; those that none did come after them."""
    centers: Floats = estimator.centers_[: estimator.n_groups_]
    return centers


def _scaled_equalities(
    system: System, records: Records, scalings: Mapping[str, Scaling]
) -> tuple[Floats, Floats]:
    """Return the equalities in the units of the matrix, but for those that hold constants.

    Constants do not move in the matrix; what has to be done about them is done afterwards.
    """
    offsets, units = np.array([scalings[name] for name in records.columns]).T
    A, b = system.equalities(tuple(records.columns))
    free = (A[:, units == 0] == 0).all(axis=1)
    return (A * units)[free], (b - A @ offsets)[free]


def _drawn_points(
    estimator: Any, system: System | None, records: Records, scale: str
) -> dict[str, Floats]:
    """Return the drawn centres in the units of the table, on the equalities there."""
    scalings = _scalings(records, scale)
    offsets, units = np.array([scalings[name] for name in records.columns]).T
    points = _drawn_centers(estimator) * units + offsets
    if system is not None:
        A, b = system.equalities(tuple(records.columns))
        points = Equalities.measured(A, b, units).project(points)
    return dict(zip(records.columns, points.T, strict=True))


def _check_satisfied(violations: Mapping[str, int]) -> None:
    """Refuse to go on if released values violate a constraint, whoever made them."""
    for text, count in violations.items():
        if count:
            raise GuaranteeError(
                f"constraint {text!r} does not hold in {count} of the records to be released; "
                "nothing was released. Change the units of its columns, or remove it."
            )


def _added_error(
    columns: Mapping[str, Column],
    labels: Labels,
    satisfied: Satisfied,
    weights: Floats | None,
    scale: str,
) -> float:
    """Return the squared error that is added by what constraints made of the values.

    It counts in standard deviations, or as the numbers are where they are not scaled.
    """
    added = 0.0
    for name, values in satisfied.values.items():
        column = columns[name]
        there = slice(None) if column.values.missing is None else ~column.values.missing
        numbers, groups = column.values.present, labels[there]
        offset, unit = (0.0, 1.0) if scale == UNSCALED else scaling(numbers)
        if unit == 0.0:
            continue
        own = numbers.astype(np.float64) if scale == UNSCALED else standardised(numbers)
        with np.errstate(over="ignore"):  # in units of a column that hardly differs
            scaled = [(chosen - offset) / unit for chosen in (values, satisfied.plain[name])]
        with_it, without = (
            np.square(own - np.clip(chosen, -_FARTHEST, _FARTHEST)[groups]) for chosen in scaled
        )
        counts = 1.0 if weights is None else weights[there]
        added += column.weight * float((counts * (with_it - without)).sum())
    return added


def _together(each: Sequence[Constrained]) -> Constrained | None:
    """Return what constraints did in all blocks; None without any."""
    if not each:
        return None
    violations = {text: count for one in each for text, count in one.violations.items()}
    satisfied = tuple(found for one in each for found in one.satisfied)
    return Constrained(violations, satisfied, sum(one.added for one in each))


def _promise_of(method: Method, estimator: Any, records: Records) -> str:
    """Return what the release promises of the records that share a released combination."""
    if len(records.blocks) > 1:
        return Promise.BLOCKWISE
    if not method.draws or estimator.strict_k:
        return Promise.K_ANONYMITY
    return Promise.NOTHING if n_expecting_fewer(estimator) else Promise.PROBABILISTIC


def n_expecting_fewer(estimator: Any) -> int:
    """Return how many centres of a draw expect fewer than k records."""
    enough = estimator.k * (1.0 - 1e-9)  # sums of memberships round
    return int(np.count_nonzero(estimator.expected_sizes_ < enough))
