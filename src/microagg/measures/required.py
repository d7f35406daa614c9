"""What a plan requires of a protected table besides k records, judged on it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import narwhals as nw
import polars as pl

from microagg.constraints.grammar import Constraint
from microagg.core.arrays import Labels
from microagg.core.errors import DataError, ParameterError
from microagg.plans.manifest_facts import ColumnFacts
from microagg.plans.plan import Plan
from microagg.requirements.base import Evidence, GroupRequirement
from microagg.requirements.constraints import ConstrainedColumns, Violations
from microagg.requirements.found import GroupFinding
from microagg.tables.dates import ambiguous, writing_of
from microagg.tables.frames import Frame, dtype_of, index_names, polars_column
from microagg.tables.resolving import require_numbers_or_dates
from microagg.tables.roles import no_such_column
from microagg.tables.units import naming_column


def required_of(
    plan: Plan | None,
    original: Frame,
    protected: Frame,
    blocks: Sequence[Sequence[str]],
    matches: Labels | None,
) -> tuple[GroupFinding, ...]:
    """Judge a protected table by the plan, with what only the original has.

    `blocks` are the columns whose values together are a combination, `matches` the records of the
    original behind the protected ones. There is one finding on each requirement, about all blocks.
    """
    asked = () if plan is None else plan.requirements
    on_groups = [required for required in asked if isinstance(required, GroupRequirement)]
    if plan is None or not on_groups:
        return ()
    needed = dict.fromkeys([*(name for block in blocks for name in block), *plan.judged_columns])
    for name in needed:
        if name not in protected.columns:
            raise DataError(
                f"the protected table has no column {name!r}, so what the plan requires cannot be "
                "checked. Is this the right plan?"
            )
    table = pl.DataFrame(polars_column(protected[name]).alias(name) for name in needed)
    unpublished = pl.DataFrame(_unpublished(plan, original))
    if matches is not None:
        unpublished = unpublished[matches]
    each = [Evidence(table, tuple(block), unpublished, na=plan.na) for block in blocks]
    return tuple(
        GroupFinding.together([required.judge(evidence) for evidence in each])
        for required in on_groups
    )


def _unpublished(plan: Plan, original: Frame) -> Iterator[pl.Series]:
    """Return the unit and the original values of contributions, if the original has them."""
    unit = plan.unit_column
    if unit is not None and unit in (*original.columns, *index_names(original)):
        yield naming_column(original, unit).alias(unit)
    for name, said in plan.columns.items():
        if said.is_about_contributions and name in original.columns:
            yield polars_column(original[name]).alias(name)


def check_columns_of(constraints: Sequence[Constraint], columns: Sequence[str]) -> None:
    """Refuse constraints on columns that the table does not have."""
    for constraint in constraints:
        for name in constraint.coefficients:
            if name not in columns:
                missing = no_such_column(name, columns)
                raise ParameterError(f"constraint {constraint.text!r}: {missing}")


def constraints_on(
    frame: Frame,
    constraints: Sequence[Constraint],
    released: Mapping[str, ColumnFacts],
    plan: Plan | None,
    dates: str | None,
) -> Violations:
    """Count the records that violate each constraint.

    `released` is what the manifest says of columns: how dates are written in columns of text, and
    which numbers are only as accurate as 32-bit floats, which a text file does not show.
    """
    required = ConstrainedColumns(tuple(constraints))
    forms = _forms(frame, required.columns, released, dates)
    require_numbers_or_dates(frame, required.columns, forms)
    resolutions = {} if plan is None else plan.resolutions
    table = pl.DataFrame(_numbers(frame, name, released) for name in required.columns)
    judge = replace(required, forms=forms, resolutions=resolutions)
    return judge.judge(Evidence(table, required.columns))


def _numbers(frame: Frame, name: str, released: Mapping[str, ColumnFacts]) -> pl.Series:
    column = polars_column(frame[name]).alias(name)
    is_narrow = name in released and released[name].stored == "Float32"
    return column.cast(pl.Float32) if is_narrow and column.dtype.is_numeric() else column


def _forms(
    frame: Frame,
    columns: Sequence[str],
    released: Mapping[str, ColumnFacts],
    dates: str | None,
) -> dict[str, str]:
    """Return how dates are written in columns of text: as the manifest says, or as it looks."""
    forms = {}
    for name in columns:
        if dtype_of(frame, name) != nw.String:
            continue
        if name in released and released[name].written:
            forms[name] = released[name].written
        elif found := writing_of(frame[name].alias(""), dates):
            if found.is_ambiguous:
                raise ambiguous(name)
            forms[name] = found.form
    return forms
