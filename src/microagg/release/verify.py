"""Whether a table or a file satisfies k and other requirements, whatever tool made it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from microagg.constraints.grammar import Constraint
from microagg.core.errors import DataError
from microagg.files.dialect import Dialect
from microagg.files.formats import dialect_for
from microagg.measures.required import check_columns_of, constraints_on
from microagg.plans.audits import order_of
from microagg.plans.beside import existing_manifest, manifest_beside, open_released
from microagg.plans.manifest import Manifest
from microagg.plans.plan import Plan
from microagg.release.findings import Verification
from microagg.release.originals import original_columns
from microagg.release.release import PathName
from microagg.release.verification import evidence_on
from microagg.release.verify_request import (
    Checks,
    VerifySubject,
    check_original_is_needed,
    requested,
)
from microagg.requirements.base import Evidence, Finding
from microagg.requirements.constraints import ConstrainedColumns, Violations
from microagg.requirements.identifiers import NoIdentifiers
from microagg.requirements.keys import RandomKeys
from microagg.tables.frames import Frame, open_frame, polars_column


def verify_table(
    table: Any,
    given: Checks,
    plan: Plan | PathName | None,
    original: Any,
    audit: PathName | None,
    dialect: Dialect,
    dates: str | None,
) -> Verification:
    """Verify a DataFrame or a file, as `microagg.verify` does."""
    opened = _Opened(table, dialect_for(table, dialect, original))
    request = requested(given, plan, opened)
    asked = request.asked
    own = dialect_for(original, dialect, table)
    evidence = _evidence(opened, asked, request.combinations, original, audit, own)
    findings = [[judge.judge(own) for judge in asked.requirements] for own in evidence]
    on_table: list[Finding] = []
    if asked.dropped:
        on_table.append(NoIdentifiers(asked.dropped).judge(opened.names))
    if asked.key is not None:
        on_table.append(RandomKeys(asked.key).judge(evidence[0]))
    if asked.constraints:
        order = dates or (None if asked.plan is None else asked.plan.dates)
        on_table.append(_violations(opened, asked.constraints, asked.plan, order))
    return Verification(
        tuple(map(tuple, findings)),
        request.columns,
        request.blocks,
        tuple(on_table),
        asked.manifest,
    )


class _Opened(VerifySubject):
    """A table in memory or in a file, opened once."""

    def __init__(self, table: Any, dialect: Dialect) -> None:
        super().__init__(str(table) if isinstance(table, (str, PathLike)) else None)
        self._file = None if self.path is None else open_released(self.path, dialect)
        self._frame = open_frame(table) if self._file is None else None

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple((self._file or self._frame).columns)  # type: ignore[union-attr]

    @property
    def decimal(self) -> str:
        """The decimal mark of the fields as they are written."""
        dialect = None if self._file is None else self._file.dialect
        return (None if dialect is None else dialect.decimal) or "."

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, and the levels of a pandas index."""
        index = getattr(None if self._frame is None else self._frame.to_native(), "index", None)
        return (*self.columns, *getattr(index, "names", ()))

    @property
    def manifest_path(self) -> Path | None:
        return None if self.path is None else existing_manifest(self.path)

    def _own_manifest(self) -> Manifest | None:
        return manifest_beside(str(self.path), self._file)

    def as_written(self) -> Frame:
        """Return the table; of a text file, the fields as written."""
        if self._file is None:
            return self._frame  # type: ignore[return-value]
        return open_frame(self._file.table(as_text=self.columns))

    def numbers(self, columns: Sequence[str]) -> Frame:
        """Return the table with these columns as numbers, if they are numeric."""
        if self._file is None:
            return self._frame  # type: ignore[return-value]
        return open_frame(self._file.table(columns=columns))


def _evidence(
    opened: _Opened,
    asked: Checks,
    blocks: Iterable[Sequence[str]],
    original: Any,
    audit: PathName | None,
    dialect: Dialect,
) -> list[Evidence]:
    frame = opened.as_written()
    if not len(frame):
        raise DataError("the table has no records.")
    needed = () if asked.plan is None else asked.plan.judged_columns
    na = () if asked.plan is None else asked.plan.na
    published = evidence_on(frame, blocks, needed=needed, decimal=opened.decimal, na=na)
    if original is None:
        return published
    check_original_is_needed(asked)
    assert asked.plan is not None
    order = order_of(audit, len(frame), is_shuffled=asked.is_shuffled)
    known = original_columns(original, asked.plan, published, asked.source, dialect, order)
    return [replace(own, unpublished=known) for own in published]


def violations_in(
    path: PathName,
    constraints: Sequence[Constraint],
    dialect: Dialect,
    plan: Plan | None = None,
    dates: str | None = None,
) -> tuple[dict[str, int], int]:
    """Return how many records of a file violate each constraint, and how many have gaps.

    The latter lack a value of a column that the constraints name, and are not counted otherwise.
    Only these columns are read. A plan may say how its dates are compared.
    """
    opened = _Opened(path, dialect)
    check_columns_of(constraints, opened.columns)
    names = ConstrainedColumns(tuple(constraints)).columns
    frame = opened.numbers(names)
    every = pl.DataFrame(polars_column(frame[name]).alias(name) for name in names)
    whole = every.fill_nan(None).drop_nulls()
    found = _counted(opened, open_frame(whole), constraints, plan, dates)
    return found.counts, len(every) - len(whole)


def _violations(
    opened: _Opened, constraints: Sequence[Constraint], plan: Plan | None, dates: str | None
) -> Violations:
    """Count the records that violate each constraint."""
    check_columns_of(constraints, opened.columns)
    frame = opened.numbers(ConstrainedColumns(tuple(constraints)).columns)
    return _counted(opened, frame, constraints, plan, dates)


def _counted(
    opened: _Opened,
    frame: Frame,
    constraints: Sequence[Constraint],
    plan: Plan | None,
    dates: str | None,
) -> Violations:
    beside = opened.manifest(warns=False)
    return constraints_on(frame, constraints, {} if beside is None else beside.columns, plan, dates)
