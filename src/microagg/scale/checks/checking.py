"""Last passes: the finished files are read again and judged, apart from the code that made them.

Rows that show the same combination meet in one bucket, where the judges of tables look at them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import polars as pl
import pyarrow as pa

from microagg.core.errors import GuaranteeError
from microagg.plans.plan import Plan
from microagg.requirements.base import Distribution, Evidence, Finding
from microagg.requirements.constraints import ConstrainedColumns, Violations
from microagg.requirements.found import GroupFinding
from microagg.requirements.records import Classes
from microagg.requirements.shared import SharedValues, shared_values
from microagg.scale.checks.key_check import KeyOrder, keep_keys
from microagg.scale.sources.delimited import (
    CSV_BYTES,
    FINISHED,
    CsvSetting,
    as_judged,
    read_finished,
)
from microagg.scale.sources.listing import Listing, find_files, list_files
from microagg.scale.sources.spans import PART_BYTES
from microagg.scale.steps.writing import output_schema
from microagg.scale.storage.hashing import can_be_hashed, hashed, hashed_rows
from microagg.scale.storage.shuffle import OURS, ROW, Slices, Sources, write_sorted
from microagg.scale.storage.work import WorkFolder
from microagg.scale.tasks.opened import COPIES, read_together
from microagg.scale.tasks.passes import Passes
from microagg.scale.tasks.setting import DatasetSetting, arrow_column, named_units, polars_frame
from microagg.tables.frames import open_frame
from microagg.tables.polars_columns import as_polars

CHECK, CHECKING, JUDGE = "check", "checking", "judge"
# Rows of a bucket, about.
BUCKET_ROWS = 131_072
_ORIGINAL = f"{OURS}original "


@dataclass(frozen=True, eq=False)
class Checking:
    """What is checked: the files in a folder, into how many buckets their rows go.

    `constrained` are the constraints that every row must satisfy, if there are any; `overall` says
    how often the values are there that those of a combination are compared with.
    """

    finished: Listing
    n_buckets: int
    constrained: ConstrainedColumns | None
    sources: Sources | None = None
    overall: Mapping[str, Distribution] = field(default_factory=dict)


class CheckedFile(NamedTuple):
    """Where the rows of a file are by bucket, and what was counted in it.

    That is how many rows violate each constraint, and, part by part, the order of keys and the
    values that those of a combination are compared with.
    """

    slices: tuple[tuple[int, Slices], ...]
    violations: dict[str, int]
    keys: tuple[KeyOrder | None, ...] = ()
    values: tuple[dict[str, pl.DataFrame], ...] = ()


class JudgedBucket(NamedTuple):
    """What the judges found in a bucket; a column that has one value there has its number."""

    findings: tuple[Finding, ...]
    shared: tuple[SharedValues, ...]
    alone: dict[str, int]


def n_buckets_of(listing: Listing) -> int:
    """Return into how many buckets the rows of finished files go; wide rows need more of them."""
    rows = min(BUCKET_ROWS, max(1_000, int(PART_BYTES / max(1.0, listing.width))))
    return max(1, -(-listing.n_rows // rows))


def bucket_bytes(sources: Sources, listing: Listing, n_columns: int) -> int:
    """Return how many bytes a task takes that looks at the largest bucket."""
    most = int(sources.sizes.max(initial=0))
    return int(most * max(listing.width, 10.0 * n_columns) * COPIES)


def open_finished(passes: Passes, setting: DatasetSetting, staging: Path) -> Listing:
    """Return the finished files if they are those of the input, each with as many rows."""
    before, found = setting.listing, find_files(staging)
    if setting.dialect is None:
        after = list_files(found)
    else:  # a CSV file is compared as it is written
        columns = tuple(output_schema(setting, before.files[0]).names)
        paths = tuple(file.local for file in found.files)
        asked = CsvSetting(paths, setting.dialect, columns, frozenset(columns))
        passes.work.keep(FINISHED, asked)
        passes.run(FINISHED, read_finished, len(paths), bytes_each=CSV_BYTES)
        places = [passes.work.place(FINISHED, at, "arrow") for at in range(len(paths))]
        after = list_files(found, places)
    if [(f.name, f.n_rows) for f in before.files] != [(f.name, f.n_rows) for f in after.files]:
        raise GuaranteeError(
            "the finished files do not have the names and rows of the input files; nothing was "
            "released. This is a bug in microagg: please report it."
        )
    return after


def check_file(work: WorkFolder, number: int) -> CheckedFile:
    """Task: compare a finished file with its input, and sort its rows into buckets."""
    setting: DatasetSetting = DatasetSetting.of(work)
    checking: Checking = work.facts(CHECKING)
    kept = [n for n in setting.roles.unchanged if n in setting.listing.files[number].schema.names]
    slices, violations, keys, values = [], dict[str, int](), [], []
    for at, before, after in _both_sides(setting, checking, number, kept):
        _refuse_changes(before, after, kept, setting.decimal)
        if checking.constrained is not None:
            found = _violations(checking.constrained, after, setting.decimal)
            violations = {text: violations.get(text, 0) + n for text, n in found.counts.items()}
        if setting.key is not None:
            keys.append(keep_keys(work, at, after[setting.key]))
        table = _evidence_table(setting, before, after)
        values.append({n: value_counts(as_polars(table[n])) for n in setting.compared})
        shown = [as_polars(table[name]) for name in setting.roles.shown]
        buckets = (hashed_rows(shown) % np.uint64(checking.n_buckets)).astype(np.intp)
        path = work.place(CHECK, at, "arrow")
        slices.append((at, write_sorted(work, path, table, buckets)))
    return CheckedFile(tuple(slices), violations, tuple(keys), tuple(values))


def value_counts(column: pl.Series) -> pl.DataFrame:
    """Return how often each value is in a part."""
    return column.alias("value").value_counts(name="count")


class WithValues(Protocol):
    """What was counted in a file, part by part."""

    @property
    def values(self) -> tuple[dict[str, pl.DataFrame], ...]:
        """How often each value is in each of its parts, by column."""
        ...


def counted_in(files: Iterable[WithValues]) -> dict[str, Distribution]:
    """Return how often each value is in all finished files."""
    parts = [own for file in files for own in file.values]
    found = {}
    for name in parts[0] if parts else ():
        every = pl.concat([own[name] for own in parts])
        added_up = every.group_by("value").agg(pl.col("count").sum())
        counts = added_up.get_column("count").to_numpy().astype(np.intp)
        found[name] = Distribution(added_up.get_column("value"), counts)
    return found


def _both_sides(
    setting: DatasetSetting, checking: Checking, number: int, kept: Sequence[str]
) -> Iterator[tuple[int, pa.Table, pa.Table]]:
    """Give the rows of a file as they were and as they are, in parts of the same rows."""
    plan, roles = setting.plan, setting.roles
    amounts = [name for name, said in plan.columns.items() if said.is_about_contributions]
    needed = dict.fromkeys((*kept, *amounts, *((roles.unit,) if roles.unit else ())))
    keys = () if setting.key is None else (setting.key,)
    wanted = dict.fromkeys((*roles.shown, *kept, *keys))
    yield from read_together(setting.listing, [*needed], checking.finished, [*wanted], number)


def _refuse_changes(
    before: pa.Table, after: pa.Table, columns: Iterable[str], decimal: str
) -> None:
    one, other = open_frame(before), open_frame(after)
    for name in columns:
        if not _same(arrow_column(one, name), arrow_column(other, name), decimal):
            raise GuaranteeError(
                f"column {name!r} is to be published unchanged, and differs in the finished files; "
                "nothing was released. This is a bug in microagg: please report it."
            )


def _same(one: Any, other: Any, decimal: str) -> bool:
    if pa.types.is_nested(one.type) and one.type == other.type:
        # To polars, NaN is the same as NaN; it does not have all types.
        return bool(one.equals(other)) or as_polars(one).equals(as_polars(other))
    if one.type == other.type and not pa.types.is_floating(one.type):
        return bool(one.equals(other))
    # Numbers may be written in several ways; NaN is the same as NaN.
    both = [as_judged(column, decimal) for column in (one, other)]
    if not all(own.dtype.is_numeric() or own.null_count() == len(own) for own in both):
        return bool(one.cast(pa.large_string()).equals(other.cast(pa.large_string())))
    both = [own.cast(pl.Float64) for own in both]
    return bool(np.array_equal(hashed(both[0]), hashed(both[1])))


def _violations(constrained: ConstrainedColumns, after: pa.Table, decimal: str) -> Violations:
    dated = constrained.forms
    columns = {
        name: as_polars(after[name]).alias(name)
        if dated.get(name)
        else as_judged(after[name], decimal).alias(name)
        for name in constrained.columns
    }
    return constrained.judge(Evidence(pl.DataFrame(columns), constrained.columns))


def _evidence_table(setting: DatasetSetting, before: pa.Table, after: pa.Table) -> pa.Table:
    """Return what judges look at: what the rows show, and what is not published."""
    plan, roles = setting.plan, setting.roles
    shown, original = open_frame(after), open_frame(before)
    published = dict.fromkeys((*roles.shown, *plan.judged_columns, *roles.sensitive))
    columns = {name: arrow_column(shown, name) for name in published}
    columns = {name: own for name, own in columns.items() if can_be_hashed(own.type)}
    if roles.unit is not None:
        columns[_ORIGINAL + roles.unit] = named_units(original, roles.unit).to_arrow()
    for name, said in plan.columns.items():
        if said.is_about_contributions:
            columns[_ORIGINAL + name] = arrow_column(original, name)
    columns[ROW] = before[ROW]
    return pa.table(columns)


def judge_bucket(work: WorkFolder, number: int) -> JudgedBucket | None:
    """Task: let the judges look at the rows of a bucket; None if there are none."""
    setting: DatasetSetting = DatasetSetting.of(work)
    checking: Checking = work.facts(JUDGE)
    assert checking.sources is not None
    table = checking.sources.read(work, [number])
    if table is None:
        return None
    rows = polars_frame(table)
    # Names may look like patterns to polars, but not to get_column.
    columns = {name: rows.get_column(name) for name in rows.columns}
    evidence = Evidence(
        pl.DataFrame({name: own for name, own in columns.items() if not name.startswith(OURS)}),
        setting.roles.shown,
        pl.DataFrame(
            {
                name.removeprefix(_ORIGINAL): own
                for name, own in columns.items()
                if name.startswith(_ORIGINAL)
            }
        ),
        setting.decimal,
        setting.plan.na,
        checking.overall,
    )
    findings = tuple(judge.judge(evidence) for judge in setting.plan.requirements)
    shared = tuple(shared_values(evidence, setting.roles.sensitive))
    counted = {own.column for own in shared}
    alone = {
        name: int(hashed(rows.get_column(name).head(1))[0])
        for name in setting.roles.sensitive
        if name in rows.columns and name not in counted
    }
    return JudgedBucket(findings, shared, alone)


@dataclass(frozen=True, eq=False)
class Checked:
    """What was found in all buckets."""

    classes: Classes
    findings: tuple[GroupFinding, ...]
    shared: tuple[SharedValues, ...]


def together(buckets: Iterable[JudgedBucket | None]) -> Checked:
    """Return what was found in the whole dataset, or refuse it."""
    each = [own for own in buckets if own is not None]
    for own in each:
        for found in own.findings:
            if not found.satisfied:
                raise GuaranteeError(
                    f"{found.complaint}; nothing was released. This is a bug in microagg: "
                    "please report it."
                )
    classes = classes_together([f for own in each for f in own.findings if isinstance(f, Classes)])
    on_groups = zip(
        *([f for f in own.findings if isinstance(f, GroupFinding)] for own in each), strict=True
    )
    findings = tuple(GroupFinding.together(found) for found in on_groups)
    return Checked(classes, findings, tuple(_shared(each)))


def classes_together(each: Sequence[Classes]) -> Classes:
    """Return the classes of all buckets: those of a combination are in one of them."""
    below: dict[int, int] = {}
    for own in each:
        for size, count in own.below.items():
            below[size] = below.get(size, 0) + count
    return Classes(
        each[0].k,
        sum(own.n_records for own in each),
        min(own.smallest for own in each),
        sum(own.count for own in each),
        below,
    )


def _shared(each: Sequence[JudgedBucket]) -> Iterator[SharedValues]:
    """Add up combinations that share a value; in a bucket of one value, all of them do."""
    names = dict.fromkeys(n for own in each for n in (*own.alone, *(s.column for s in own.shared)))
    for name in names:
        known = {own.alone[name] for own in each if name in own.alone}
        counted = [s for own in each for s in own.shared if s.column == name]
        if not counted and len(known) < 2:  # one value in the whole dataset
            continue
        alone = [
            next(found.count for found in own.findings if isinstance(found, Classes))
            for own in each
            if name in own.alone
        ]
        yield SharedValues(
            name,
            sum(own.shared for own in counted) + sum(alone),
            sum(own.combinations for own in counted) + sum(alone),
        )


def refuse_violations(plan: Plan, files: Iterable[CheckedFile]) -> None:
    """Refuse files in which a row violates a constraint."""
    counts = {own.text: 0 for own in plan.constraints}
    for file in files:
        for text, count in file.violations.items():
            counts[text] = counts.get(text, 0) + count
    found = Violations(counts)
    if not found.satisfied:
        raise GuaranteeError(
            f"{found.complaint}; nothing was released. Change the units of its columns, or remove "
            "it."
        )
