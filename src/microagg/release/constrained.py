"""Constraints on the columns of a table: as systems, in the units of the matrix, and their cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.aggregates.mean import in_type
from microagg.aggregates.released import satisfied_means
from microagg.aggregates.values import Values
from microagg.constraints.equalities import Equalities
from microagg.constraints.grammar import Constraint
from microagg.constraints.system import Satisfied, System, check_exact
from microagg.core.arrays import Floats, Labels
from microagg.core.errors import ParameterError
from microagg.core.validation import FARTHEST
from microagg.release.dated import in_steps
from microagg.release.records import Block, Records
from microagg.release.suitability import check_constrained, check_rounded
from microagg.tables.scaling import Scaling


@dataclass(frozen=True, eq=False)
class Constrained:
    """What it took to satisfy the constraints.

    `violations` counts the records that violate each constraint; `added` is the squared error that
    satisfying them adds.
    """

    violations: dict[str, int]
    satisfied: tuple[Satisfied, ...]
    added: float

    @classmethod
    def together(cls, each: Sequence["Constrained"]) -> "Constrained | None":
        """Return what it took in all blocks; None without constraints."""
        if not each:
            return None
        violations = {text: count for one in each for text, count in one.violations.items()}
        satisfied = tuple(found for one in each for found in one.satisfied)
        return cls(violations, satisfied, sum(one.added for one in each))


def systems_of(constraints: Sequence[Constraint], records: Records) -> list[System | None]:
    """Return the constraints on the columns of every block, None where there are none."""
    of_block: list[list[Constraint]] = [[] for _ in records.blocks]
    for constraint in constraints:
        columns = constraint.coefficients.keys()
        shared = (at for at, block in enumerate(records.blocks) if columns & {*block.names})
        of_block[next(shared, 0)].append(constraint)
    return [
        _system(own, records, block) if own else None
        for own, block in zip(of_block, records.blocks, strict=True)
    ]


def _system(constraints: Sequence[Constraint], records: Records, block: Block) -> System:
    for constraint in constraints:
        _check_block(constraint, records, block)
    columns = {
        name: records.columns[name]
        for name in block.names
        if any(name in constraint.coefficients for constraint in constraints)
    }
    check_constrained(columns, records)
    constraints = [in_steps(constraint, columns) for constraint in constraints]
    limits, digits = {}, {}
    for name, column in columns.items():
        numbers, released = column.values.numbers, column.digits.released
        if numbers.dtype.kind in "iu":
            check_exact(name, numbers)
            limits[name] = (int(np.iinfo(numbers.dtype).min), int(np.iinfo(numbers.dtype).max))
        if released is not None and column.digits.rounds(numbers.dtype):
            check_rounded(column, released)
            digits[name] = released
    return System.of(
        constraints,
        block.names,
        integers=limits,
        digits=digits,
        other_columns=_other_columns(records),
    )


def _check_block(constraint: Constraint, records: Records, block: Block) -> None:
    for name in constraint.coefficients:
        if name in records.columns and name not in block.names:
            inside = next(own for own in constraint.coefficients if own in block.names)
            raise ParameterError(
                f"constraint {constraint.text!r}: its columns must be in one block, which is "
                f"averaged as a whole; {inside!r} and {name!r} are in different ones. Put them "
                "into the same block, or remove the constraint."
            )


def _other_columns(records: Records) -> dict[str, str]:
    roles = records.roles
    others = dict.fromkeys((*records.source.not_read, *roles.left_out), "dropped")
    others |= dict.fromkeys(records.named_identifiers, "an identifier")
    others |= {} if roles.unit is None else {roles.unit: "the unit"}
    others |= dict.fromkeys(roles.sensitive, "sensitive")
    others |= dict.fromkeys(roles.published, "published unchanged")
    others |= dict.fromkeys(roles.strata, "a stratum")
    return others | ({} if roles.weights is None else {roles.weights: "a weight"})


def constrained_values(
    system: System, block: Block, labels: Labels, records: Records, points: Mapping[str, Floats]
) -> tuple[dict[str, Values], Constrained]:
    """Return what each group releases of the columns of a system, and what that took."""
    columns = {name: records.columns[name] for name in block.names}
    units = {name: block.encoding.scaling_of(name).unit for name in system.columns}
    numbers = {name: columns[name].values for name in system.columns}
    satisfied = satisfied_means(
        system,
        numbers,
        labels,
        units,
        weights=records.weights,
        points=points or None,
        overall=records.overall,
    )
    values = {}
    for name in system.columns:
        dtype = numbers[name].numbers.dtype
        values[name] = Values(in_type(satisfied.values[name], dtype=dtype, name=name))
    violations = system.violations(_complete(numbers), units)
    added = _added_error(block, labels, satisfied, records)
    return values, Constrained(violations, (satisfied,), added)


def scaled_equalities(system: System, records: Records) -> tuple[Floats, Floats]:
    """Return the equalities in the units of the matrix, except for those on constant columns.

    Constants do not move in the matrix; those constraints are satisfied afterwards.
    """
    offsets, units = np.array(_scalings(records)).T
    A, b = system.equalities(tuple(records.columns))
    free = (A[:, units == 0] == 0).all(axis=1)
    return (A * units)[free], (b - A @ offsets)[free]


def in_table_units(centers: Floats, system: System | None, records: Records) -> dict[str, Floats]:
    """Return drawn centres in the units of the table, where they satisfy the equalities."""
    offsets, units = np.array(_scalings(records)).T
    points = centers * units + offsets
    if system is not None:
        A, b = system.equalities(tuple(records.columns))
        points = Equalities.measured(A, b, units).project(points)
    return dict(zip(records.columns, points.T, strict=True))


def _scalings(records: Records) -> list[Scaling]:
    """Return the linear scalings between columns of the matrix and of the table."""
    (block,) = records.blocks
    return [block.encoding.scaling_of(name) for name in records.columns]


def _complete(columns: Mapping[str, Values]) -> dict[str, NDArray[Any]]:
    """Return the records in which no value is missing."""
    masks = [values.missing for values in columns.values() if values.missing is not None]
    if not masks:
        return {name: values.numbers for name, values in columns.items()}
    there = ~np.logical_or.reduce(masks)
    return {name: values.numbers[there] for name, values in columns.items()}


def _added_error(block: Block, labels: Labels, satisfied: Satisfied, records: Records) -> float:
    """Return the squared error that satisfying the constraints adds.

    It is in standard deviations, or in the units of the table where numbers are not scaled.
    """
    added, weights = 0.0, records.weights
    for name, values in satisfied.values.items():
        column = records.columns[name]
        there = slice(None) if column.values.missing is None else ~column.values.missing
        numbers, groups = column.values.present, labels[there]
        offset, unit = block.encoding.scaling_of(name)
        if unit == 0.0:
            continue
        own = block.encoding.standardised(name, numbers)
        with np.errstate(over="ignore"):  # in units of a nearly constant column
            scaled = [(chosen - offset) / unit for chosen in (values, satisfied.plain[name])]
        with_it, without = (
            np.square(own - np.clip(chosen, -FARTHEST, FARTHEST)[groups]) for chosen in scaled
        )
        counts = 1.0 if weights is None else weights[there]
        added += column.weight * float((counts * (with_it - without)).sum())
    return added * records.weight_unit
