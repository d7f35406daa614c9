"""What a plan requires of every combination besides k records, judged on a protected table."""

from collections.abc import Iterator, Sequence

import polars as pl

from microagg.core.arrays import Labels
from microagg.core.errors import DataError
from microagg.plans.plan import Plan
from microagg.requirements.base import Evidence, GroupRequirement
from microagg.requirements.found import GroupFinding
from microagg.tables.frames import Frame, index_names, polars_column
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
    original behind the protected ones.
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
    return tuple(required.judge(evidence) for required in on_groups for evidence in each)


def _unpublished(plan: Plan, original: Frame) -> Iterator[pl.Series]:
    """Return the unit and the original values of contributions, if the original has them."""
    unit = plan.unit_column
    if unit is not None and unit in (*original.columns, *index_names(original)):
        yield naming_column(original, unit).alias(unit)
    for name, said in plan.columns.items():
        if said.is_about_contributions and name in original.columns:
            yield polars_column(original[name]).alias(name)
