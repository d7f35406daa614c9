"""Whether a method suits the records, checked before any long work."""

from collections.abc import Iterable, Mapping

import numpy as np

from microagg.aggregates.choices import Missing
from microagg.bounds.choices import AUTO, NONE
from microagg.constraints.system import System
from microagg.core.decimals import fits_steps
from microagg.core.errors import ConstraintWarning, DataError, ParameterError, warn
from microagg.core.registry import Method
from microagg.core.words import counted
from microagg.plans.plan import Plan
from microagg.release.records import Records
from microagg.tables.columns import Column
from microagg.tables.scaling import LINEAR

# Whole numbers up to this size are exact as floats.
_EXACT = 2**53


def check_method(method: Method, records: Records) -> None:
    """Refuse a method that cannot group these records."""
    if method.single_column:
        _check_single_column(method, records)
    if method.draws:
        _check_drawable(method, records)


def _check_single_column(method: Method, records: Records) -> None:
    for block in records.blocks:
        if len(block.names) > 1:
            listing = ", ".join(repr(name) for name in block.names)
            raise ParameterError(
                f"method {method.name!r} takes exactly one quasi-identifier; got "
                f"{len(block.names)}: {listing}. Give the others another role, or use a method for "
                "several columns such as 'mdav'."
            )
        if block.X.shape[1] > 1:
            raise ParameterError(
                f"method {method.name!r} takes one column of numbers; {block.names[0]!r} has "
                "values without an order, or missing ones. Use another method, such as 'mdav'."
            )


def _check_drawable(method: Method, records: Records) -> None:
    """Methods whose records draw release centres, not aggregates."""
    columns = records.columns.values()
    unfit = {
        "strata": records.strata is not None,
        "weights": records.weights is not None,
        "blocks": len(records.blocks) > 1,
        "missing values": bool(records.n_missing),
        f"the scale {records.scale!r}": records.scale not in LINEAR,
        "quasi-identifiers other than numbers": not all(c.type.is_number for c in columns),
        "medians": any(c.type.is_number and c.aggregate != "mean" for c in columns),
        "column weights": any(column.weight != 1.0 for column in columns),
    }
    if found := [what for what, is_there in unfit.items() if is_there]:
        raise ParameterError(
            f"method {method.name!r} draws centres of numbers; it does not work with "
            f"{' or with '.join(found)}. Use another method, such as 'auto'."
        )


def check_hybrid(plan: Plan, records: Records, systems: Iterable[System | None]) -> None:
    """Refuse hybrid records where they cannot be made, or would be too close to the original."""
    if not plan.hybrid:
        return
    for column in records.columns.values():
        _check_synthetic(column)
    for block in records.blocks:
        if plan.k < (least := 2 * len(block.names) + 1):
            where = "" if len(records.blocks) == 1 else f" in the block of {block.names[0]!r}"
            raise ParameterError(
                f"hybrid (--hybrid) needs k of at least {least}, twice the number of "
                f"quasi-identifiers{where} and one more; got {plan.k}. In smaller groups synthetic "
                "records are too close to the original ones. Raise k, or give columns another role"
                ", or divide them into blocks (--block, or blocks=[...] in Python)."
            )
    for system in systems:
        if system is not None:
            _check_equalities(system, records)


def _check_synthetic(column: Column) -> None:
    if not column.type.is_number:
        raise ParameterError(
            f"hybrid records (--hybrid) are made of numbers; {column.name!r} is of the type "
            f"{str(column.type)!r}. Give it another role, or leave hybrid out."
        )
    if column.aggregate != "mean":
        raise ParameterError(
            f"hybrid records (--hybrid) have the means of their groups; {column.name!r} has the "
            f"aggregate {str(column.aggregate)!r}. Remove one or the other."
        )
    numbers = column.values.numbers
    if numbers.dtype.kind in "iu" and max(-int(numbers.min()), int(numbers.max())) > _EXACT:
        raise DataError(
            f"the whole numbers of {column.name!r} are too large for hybrid records (--hybrid): "
            "they must be below 2**53. Divide the column, or convert it to floats."
        )


def _check_equalities(system: System, records: Records) -> None:
    """Hybrid records satisfy the equalities that all original ones satisfy, but for rounding."""
    numbers = {name: records.columns[name].values.numbers for name in system.columns}
    for constraint in system.constraints:
        for name in constraint.coefficients:
            if numbers[name].dtype.kind in "iu":
                is_float = records.columns[name].stored.startswith("Float")
                use = "Use" if is_float else "Convert the column to floats and use"
                raise ParameterError(
                    f"constraint {constraint.text!r}: {name!r} has whole numbers, to which hybrid "
                    f"records (--hybrid) are rounded, so totals no longer add up. {use} the "
                    f"type continuous (--type {name}=continuous), or remove the constraint."
                )
    for text, count in system.violations(numbers).items():
        if count:
            raise DataError(
                f"constraint {text!r} is violated by {counted(count, 'record')}: hybrid records "
                "(--hybrid) satisfy only what all records satisfy. Correct them first, or remove "
                "the constraint."
            )


def bound_for(asked: str, records: Records) -> str:
    """Return which bound to compute: none with weights, which no bound takes into account."""
    if records.weights is None:
        return asked
    if asked in (AUTO, NONE):
        return NONE
    raise ParameterError(
        f"a bound (--bound {asked}) is for records without weights. Leave it out, or the weights."
    )


def warn_of_violations(systems: Iterable[System | None], records: Records) -> None:
    """Warn of constraints that most records violate: they may not say what was meant."""
    for system in systems:
        if system is None:
            continue
        columns = {name: records.columns[name].values for name in system.columns}
        masks = [values.missing for values in columns.values() if values.missing is not None]
        there = ~np.logical_or.reduce(masks) if masks else slice(None)
        numbers = {name: values.numbers[there] for name, values in columns.items()}
        warn_of_counts(system.violations(numbers), len(next(iter(numbers.values()))))


def warn_of_counts(violations: Mapping[str, int], n: int) -> None:
    """Warn of constraints that most of n records violate."""
    for text, count in violations.items():
        if 2 * count > n:
            warn(
                f"constraint {text!r} is violated by {count:,} of {counted(n, 'record')} "
                f"({100 * count / n:.0f} %), so satisfying it changes most of the table. "
                "Check that it says what you mean.",
                ConstraintWarning,
            )


def check_constrained(columns: Iterable[str], records: Records) -> None:
    """Refuse constraints on columns that do not release a mean."""
    for name in columns:
        column = records.columns[name]
        if column.type.is_categorical:
            raise ParameterError(
                f"constraints are on numbers and dates; {name!r} is of the type "
                f"{str(column.type)!r}. Remove the constraint, or change the type."
            )
        if column.aggregate != "mean":
            raise ParameterError(
                f"constraints start from means; {name!r} has the aggregate "
                f"{str(column.aggregate)!r}. Remove the constraint, or the aggregate."
            )
        if column.values.n_missing and records.missing is not Missing.IMPUTE:
            raise DataError(
                f"{name!r} is in a constraint, but some of its values are missing and cannot "
                "satisfy it. Use --missing impute (missing='impute' in Python), or remove the "
                "constraint."
            )


def check_rounded(column: Column, digits: int) -> None:
    """Refuse constraints on rounded numbers that have more digits than floats can hold."""
    if not fits_steps(column.values.present, digits):
        raise DataError(
            f"{column.name!r} is in a constraint, which must hold on its released digits, but it "
            f"has numbers too large for floats to hold with digits={digits}. Release fewer digits, "
            f"or every one (--digits {column.name}=all)."
        )
