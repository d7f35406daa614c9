"""Fifth stage: the finished table, checked independently of the code that grouped it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from microagg.core.errors import GuaranteeError
from microagg.plans.plan import Plan
from microagg.release.grouping import Groups
from microagg.release.records import Records
from microagg.release.released import Released
from microagg.requirements.base import Finding
from microagg.requirements.records import Classes
from microagg.tables.frames import Frame, open_frame, polars_column, with_released
from microagg.tables.keys import random_keys


@dataclass(frozen=True, eq=False)
class Verified:
    """The finished table, of the same kind as the input; `key` is its column of random keys.

    `classes` are those of the block with the smallest. They have k records, if that is promised.
    """

    table: Any
    key: str | None
    classes: Classes


def finish(plan: Plan, records: Records, groups: Groups, released: Released) -> Verified:
    """Insert the released values, and verify on the finished table what was promised."""
    columns = {
        name: column.decode(released.values[name]) for name, column in records.columns.items()
    }
    if records.strata is not None:
        for name, values in records.strata.released.items():
            columns[name] = records.strata_columns[name].decode(values)
    dropped, key = list(records.roles.identifiers), None
    if plan.keep_key:
        key, *dropped = _key_first(plan, dropped)
        columns[key] = random_keys(records.frame, key)
    table = with_released(records.frame, columns, dropped=dropped)
    frame, strata = open_frame(table), records.roles.strata
    blocks = [shown(frame, (*block.names, *strata)) for block in records.blocks]
    findings = [requirement.judge(own) for requirement in plan.requirements for own in blocks]
    if groups.promise.is_verified:
        _refuse_unless_satisfied(findings)
    classes = [found for found in findings if isinstance(found, Classes)]
    return Verified(table, key, min(classes, key=lambda found: found.smallest))


def _key_first(plan: Plan, identifiers: Sequence[str]) -> list[str]:
    """Return the identifiers, beginning with the one that becomes a key."""
    first = next(name for name in plan.columns if name in identifiers)
    return [first, *(name for name in identifiers if name != first)]


def _refuse_unless_satisfied(findings: Sequence[Finding]) -> None:
    for found in findings:
        if not found.satisfied:
            raise GuaranteeError(
                f"{found.complaint}; nothing was released. This is a defect of the method: "
                "please report it."
            )


def shown(frame: Frame, columns: Sequence[str]) -> pl.DataFrame:
    """Return these columns of a table."""
    return pl.DataFrame({name: polars_column(frame[name]) for name in columns})
