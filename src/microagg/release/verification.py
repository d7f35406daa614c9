"""Fifth stage: the finished table, checked independently of the code that grouped it."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from microagg.core.arrays import Order
from microagg.core.errors import DataError, GuaranteeError
from microagg.plans.plan import Plan
from microagg.release.grouping import Groups
from microagg.release.records import Records
from microagg.release.released import Released
from microagg.release.required import decimal_of, unpublished_for
from microagg.requirements.base import Evidence, Finding
from microagg.requirements.constraints import ConstrainedColumns, Violations
from microagg.requirements.found import GroupFinding
from microagg.requirements.hybrid import MovedMoments, moved_moments
from microagg.requirements.keys import RandomKeys
from microagg.requirements.records import Classes
from microagg.requirements.shared import SharedValues, shared_values
from microagg.tables.frames import Frame, open_frame, polars_column, with_released
from microagg.tables.keys import random_keys, random_order
from microagg.tables.units import naming_column


@dataclass(frozen=True, eq=False)
class Verified:
    """The finished table, of the same kind as the input; `key` is its column of random keys.

    `classes` are those of the block with the smallest. They have k records, if that is promised.
    `findings` are those of the requirements on groups, over all blocks. `identifiers` are those of
    the records, as they were; None if they were not read. `moved` says how far the means and
    covariances of hybrid records are from those of the original ones. `shared` counts for sensitive
    columns the combinations whose records all have the same value, in the block with most of them.
    `order` are the original rows of the table's records, if they were shuffled.
    """

    table: Any
    key: str | None
    classes: Classes
    findings: tuple[GroupFinding, ...]
    identifiers: pl.DataFrame | None
    moved: MovedMoments | None = None
    shared: tuple[SharedValues, ...] = ()
    order: Order | None = None


def finish(plan: Plan, records: Records, groups: Groups, released: Released) -> Verified:
    """Insert the released values, and verify on the finished table what was promised."""
    # The first in the order of the table.
    key = records.roles.identifiers[0] if plan.keep_key else None
    order = random_order(len(records.frame)) if plan.shuffle else None
    table = _released_table(records, released, key, order)
    unpublished = unpublished_for(plan, records)
    if order is not None and unpublished.width:
        unpublished = unpublished[order]
    blocks = [(*block.names, *records.roles.strata) for block in records.blocks]
    each = evidence_on(
        open_frame(table),
        blocks,
        unpublished,
        needed=plan.judged_columns,
        decimal=decimal_of(records.source),
        na=plan.na,
    )
    in_blocks = [[judge.judge(own) for own in each] for judge in plan.requirements]
    findings = [found for blocks in in_blocks for found in blocks]
    moved = _moved_moments(records, groups, each[0].table, order) if plan.hybrid else None
    if groups.hold_k and not plan.hybrid:
        _refuse_unless_satisfied(findings)
    if key is not None:
        _refuse_unless_satisfied([RandomKeys(key).judge(each[0])])
    if plan.constraints:
        forms = {name: column.written for name, column in records.columns.items()}
        required = ConstrainedColumns(plan.constraints, forms, plan.resolutions)
        _refuse_violations(required.judge(each[0]))
    on_groups = tuple(
        GroupFinding.together([found for found in blocks if isinstance(found, GroupFinding)])
        for blocks in in_blocks
        if isinstance(blocks[0], GroupFinding)
    )
    return Verified(
        table,
        key,
        smallest_classes(findings),
        on_groups,
        _identifiers(records),
        moved,
        () if plan.hybrid else _shared(each, records.roles.sensitive),
        order,
    )


def _released_table(
    records: Records, released: Released, key: str | None, order: Order | None
) -> Any:
    """Return the finished table, of the same kind as the one that was given."""
    columns = {
        name: column.decode(released.values[name]) for name, column in records.columns.items()
    }
    if records.strata is not None:
        for name, values in records.strata.released.items():
            columns[name] = records.strata_columns[name].decode(values)
    if key is not None:
        columns[key] = random_keys(records.frame, key)
    dropped = [name for name in records.roles.unpublished if name != key]
    return with_released(records.frame, columns, dropped=dropped, order=order)


def _shared(each: Iterable[Evidence], sensitive: Iterable[str]) -> tuple[SharedValues, ...]:
    """Count combinations that share a sensitive value, in the block with most of them."""
    most: dict[str, SharedValues] = {}
    for evidence in each:
        for found in shared_values(evidence, sensitive):
            if found.column not in most or found.shared > most[found.column].shared:
                most[found.column] = found
    return tuple(most.values())


def _moved_moments(
    records: Records, groups: Groups, table: pl.DataFrame, order: Order | None
) -> MovedMoments:
    """Return how far means and covariances of groups moved, if rounding explains it."""
    if order is not None:
        table = table[np.argsort(order)]
    found = MovedMoments.together(
        moved_moments(
            [records.columns[name].values.numbers for name in block.names],
            [table.get_column(name).to_numpy() for name in block.names],
            labels,
        )
        for block, labels in zip(records.blocks, groups.labels, strict=True)
    )
    if not found.kept:
        raise GuaranteeError(
            "means or covariances of groups of the finished table are not those of the original "
            "records; nothing was released. This is a bug in microagg: please report it."
        )
    return found


def _identifiers(records: Records) -> pl.DataFrame | None:
    """Return the columns that say whom records are about, if they were read."""
    if any(name in records.source.not_read for name in records.named_identifiers):
        return None
    named = {name: naming_column(records.frame, name) for name in records.roles.naming}
    return pl.DataFrame(named)


def _refuse_unless_satisfied(findings: Iterable[Finding]) -> None:
    for found in findings:
        if found.satisfied is None:
            raise GuaranteeError(f"{found.complaint}; nothing was released.")
        if not found.satisfied:
            raise GuaranteeError(
                f"{found.complaint}; nothing was released. This is a bug in microagg: "
                "please report it."
            )


def _refuse_violations(found: Violations) -> None:
    if not found.satisfied:
        raise GuaranteeError(
            f"{found.complaint}; nothing was released. Change the units of its columns, or remove "
            "it."
        )


def evidence_on(
    frame: Frame,
    blocks: Iterable[Sequence[str]],
    unpublished: pl.DataFrame | None = None,
    *,
    needed: Iterable[str] = (),
    decimal: str = ".",
    na: tuple[str, ...] = (),
) -> list[Evidence]:
    """Return the evidence for judging a finished table by the columns of each block."""
    combinations = [tuple(names) for names in blocks]
    table = _published(frame, {*needed, *(name for names in combinations for name in names)})
    return [Evidence(table, names, unpublished, decimal, na) for names in combinations]


def _published(frame: Frame, needed: Collection[str]) -> pl.DataFrame:
    """Return the columns of a table, without those that are not needed and polars cannot hold."""
    columns = {}
    for name in frame.columns:
        try:
            columns[name] = polars_column(frame.get_column(name))
        except DataError:  # such as lists of several types in a sensitive column
            if name in needed:
                raise
    return pl.DataFrame(columns)


def smallest_classes(findings: Iterable[Finding]) -> Classes:
    """Return the classes of the block that has the smallest."""
    classes = (found for found in findings if isinstance(found, Classes))
    return min(classes, key=lambda found: found.smallest)
