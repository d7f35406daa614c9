"""First stage: a table, and where it came from."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from microagg.core.errors import DataError
from microagg.files.annotations import Annotations
from microagg.files.dialect import Dialect
from microagg.files.formats import STANDARD, check_fits, open_table
from microagg.files.labelled import labelled_types
from microagg.plans.plan import Plan
from microagg.tables.columns import ColumnType
from microagg.tables.digest import table_digest
from microagg.tables.frames import Frame, open_frame
from microagg.tables.markers import without_entries


@dataclass(frozen=True, eq=False)
class Source:
    """A table with at least one record, and what is known about the file it came from.

    `dialect`, `annotations` and `sheet` are those of the file, so that the output can use them;
    `types` are those that its labels imply. `markers` counts the entries of each column that mean a
    missing value, such as NA. `not_read` are columns of the file to drop that are not needed.
    """

    frame: Frame
    file: str | None = None
    file_sha256: str | None = None
    dialect: Dialect | None = None
    annotations: Annotations | None = None
    sheet: str | None = None
    types: Mapping[str, ColumnType] = field(default_factory=dict)
    markers: Mapping[str, int] = field(default_factory=dict)
    not_read: tuple[str, ...] = ()

    @classmethod
    def of(cls, table: Any) -> Self:
        """Return a table in memory as a source."""
        frame = open_frame(table)
        if not len(frame):
            raise DataError("the table has no records.")
        return cls(frame)

    def without(self, na: Sequence[str], unchanged: Collection[str]) -> Self:
        """Return the source with missing values for these texts and numbers.

        Columns that are published unchanged keep them.
        """
        kept = set(unchanged)
        names = [name for name in self.frame.columns if name not in kept]
        frame, found = without_entries(self.frame, names, na)
        if not found:
            return self
        both = (*self.markers, *found)
        counts = {name: self.markers.get(name, 0) + found.get(name, 0) for name in both}
        # The digest is that of the table as it was given.
        return replace(self, frame=frame, markers=counts, file_sha256=self.sha256)

    @cached_property
    def sha256(self) -> str | None:
        """The SHA-256 of the file, or of the table if there is no file."""
        return self.file_sha256 or table_digest(self.frame)


def read_source(
    path: str,
    plan: Plan,
    *,
    dialect: Dialect | None = None,
    target: str | None = None,
    with_identifiers: bool = False,
) -> Source:
    """Read a file for a plan.

    Columns to drop are not read, except for identifiers: it matters where they repeat, unless
    every record is about somebody else. Columns that the format of the `target` does not support
    are refused before any long work.
    """
    file = open_table(path, dialect=replace(dialect or Dialect(), na=plan.na))
    roles = plan.roles_in(file.columns)
    needed = with_identifiers or not plan.counts_rows
    not_read = roles.left_out if needed else (*roles.identifiers, *roles.left_out)
    table = file.table(
        as_text=(*roles.naming, *roles.sensitive, *roles.published),
        columns=set(file.columns).difference(not_read),
    )
    if target is not None:
        check_fits(table.drop(roles.unpublished, strict=False), target)
    frame = open_frame(table)
    return Source(
        frame,
        file=None if path == STANDARD else Path(path).name,
        file_sha256=file.sha256,
        dialect=file.dialect,
        annotations=file.annotations,
        sheet=getattr(file, "sheet", None),
        types=labelled_types(frame, file.annotations),
        markers=dict(getattr(file, "markers", {})),
        not_read=tuple(not_read),
    )
