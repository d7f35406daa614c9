"""Whether a dataset keeps what is asked of it: rows that show the same are counted together.

The judges are those of tables. None of the code that groups records is used here.
"""

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa

from microagg.core.errors import DataError, ParameterError
from microagg.files.dialect import Dialect
from microagg.plans.audits import refuse_shuffled
from microagg.plans.manifest import Manifest
from microagg.plans.plan import Plan
from microagg.release.findings import Verification
from microagg.release.release import PathName
from microagg.release.verify_request import (
    Checks,
    VerifySubject,
    check_original_is_needed,
    requested,
)
from microagg.requirements.base import Distribution, Evidence, Finding, Requirement
from microagg.requirements.found import GroupFinding
from microagg.requirements.identifiers import NoIdentifiers
from microagg.requirements.keys import Keys
from microagg.requirements.records import Classes
from microagg.scale.checks.checking import (
    bucket_bytes,
    classes_together,
    counted_in,
    n_buckets_of,
    value_counts,
)
from microagg.scale.checks.constrained import violations_in
from microagg.scale.checks.key_check import KeyOrder, holds_all_keys, keep_keys, keys_found
from microagg.scale.sources.delimited import as_judged
from microagg.scale.sources.listing import Listing
from microagg.scale.steps.names import n_buckets
from microagg.scale.storage.hashing import hashed_rows
from microagg.scale.storage.shuffle import OURS, ROW, Slices, Sources, write_sorted
from microagg.scale.storage.work import WorkFolder
from microagg.scale.tasks.memory import memory_limit
from microagg.scale.tasks.opened import (
    OpenedDataset,
    check_same_rows,
    part_bytes,
    read_together,
    row_bytes,
)
from microagg.scale.tasks.passes import Passes
from microagg.scale.tasks.setting import arrow_column, polars_frame
from microagg.tables.frames import open_frame
from microagg.tables.markers import without_entries
from microagg.tables.polars_columns import as_polars
from microagg.tables.roles import no_such_column
from microagg.tables.units import naming_column

_ORIGINAL = f"{OURS}original "
_KEYS, _COMPLETE = "key-column", "all-keys"


@contextmanager
def temporary_work(work_dir: PathName | None) -> Iterator[WorkFolder]:
    """Make a private work folder that is gone in the end, however that comes."""
    if work_dir is not None and not Path(work_dir).is_dir():
        raise ParameterError(
            f"work_dir must be an existing folder, in which the work folder is made; got "
            f"{str(work_dir)!r}. Create it first."
        )
    place = Path(tempfile.mkdtemp(prefix="microagg-", dir=work_dir))
    try:
        yield WorkFolder(place)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def check_room(work: WorkFolder, size: float) -> None:
    """Refuse to begin where the work folder would not fit."""
    free = shutil.disk_usage(work.path).free
    if free < size:
        raise ParameterError(
            f"this needs about {size / 1e9:.1f} GB in {str(work.path.parent)!r}, and only "
            f"{free / 1e9:.1f} GB are free. Free some, or name another place for the work folder "
            "(--work-dir, or work_dir= in Python)."
        )


def verify_dataset(
    path: PathName,
    given: Checks,
    plan: Plan | PathName | None,
    original: Any,
    dialect: Dialect,
    dates: str | None,
    *,
    memory: str | int | None,
    work_dir: PathName | None,
) -> Verification:
    """Verify a folder, or a file that is too large, as `microagg.verify` does."""
    if dialect.sheet is not None or dialect.max_expanded is not None:
        raise ParameterError(
            "sheet and max_expanded (--sheet, --max-expanded) are not for datasets, which are read "
            "in parts. Leave them out."
        )
    limit = memory_limit(memory)
    with temporary_work(work_dir) as work:
        passes = Passes(work, limit)
        opened = _Released(OpenedDataset.at(passes, path, dialect, "released"))
        request = requested(given, plan, opened)
        asked = request.asked
        known = None
        if original is not None:
            check_original_is_needed(asked)
            refuse_shuffled(is_shuffled=asked.is_shuffled)
            known = _original(passes, original, asked, dialect, opened.listing)
        findings = judged_blocks(opened.dataset, known, asked, request.combinations)
        on_table: list[Finding] = []
        if asked.dropped:
            on_table.append(NoIdentifiers(asked.dropped).judge(opened.columns))
        if asked.key is not None:
            on_table.append(_keys(opened.dataset, asked.key))
        if asked.constraints:
            order = dates or (None if asked.plan is None else asked.plan.dates)
            beside = opened.manifest(warns=False)
            on_table.append(violations_in(opened.dataset, asked, beside, order))
    return Verification(
        tuple(findings), request.columns, request.blocks, tuple(on_table), asked.manifest
    )


class _Released(VerifySubject):
    """The dataset that is verified."""

    def __init__(self, dataset: OpenedDataset) -> None:
        super().__init__(str(dataset.found.root))
        self.dataset, self.what = dataset, dataset.what

    @property
    def listing(self) -> Listing:
        return self.dataset.listing

    @property
    def columns(self) -> tuple[str, ...]:
        return self.listing.columns

    @property
    def manifest_path(self) -> Path | None:
        return self.dataset.manifest_path

    def _own_manifest(self) -> Manifest | None:
        return self.dataset.manifest()


def _original(
    passes: Passes, original: Any, asked: Checks, dialect: Dialect, released: Listing
) -> OpenedDataset:
    """Open the original, which must be the one that a manifest names."""
    found: OpenedDataset = OpenedDataset.at(passes, original, dialect, "original")
    if asked.source.sha256 is None:
        raise DataError(
            "nothing shows that the original has the records of the protected dataset. Verify the "
            "folder or file beside its manifest, which names the original by its SHA-256."
        )
    if found.sha256 != asked.source.sha256:
        raise DataError(
            "the original is not the dataset that the manifest names. Give the one that was "
            "protected, with the same files."
        )
    check_same_rows(found.listing, released)
    assert asked.plan is not None
    for name in _needed(asked.plan):
        if name not in found.listing.columns:
            missing = str(no_such_column(name, found.listing.columns))
            raise DataError(missing.replace("the table", "the original", 1))
    return found


def _needed(plan: Plan) -> list[str]:
    """Return the columns of the original that requirements are about."""
    amounts = [name for name, said in plan.columns.items() if said.is_about_contributions]
    return amounts if plan.unit_column is None else [plan.unit_column, *amounts]


def _unpublished(plan: Plan, original: Listing) -> list[str]:
    """Return those that the original has."""
    return [name for name in _needed(plan) if name in original.columns]


@dataclass(frozen=True, eq=False)
class Verifying:
    """What is judged, by what, and into how many buckets the rows go.

    `compared` are columns whose distributions are compared with those `overall`.
    """

    released: Listing
    original: Listing | None
    combination: tuple[str, ...]
    published: tuple[str, ...]
    unpublished: tuple[str, ...]
    unit: str | None
    requirements: tuple[Requirement, ...]
    decimals: tuple[str, str]  # of the released and the original files
    na: tuple[str, ...]
    n_buckets: int
    compared: tuple[str, ...] = ()
    sources: Sources | None = None
    overall: Mapping[str, Distribution] = field(default_factory=dict)


def judged_blocks(
    released: OpenedDataset,
    original: OpenedDataset | None,
    asked: Checks,
    blocks: Iterable[Sequence[str]],
) -> list[tuple[Finding, ...]]:
    """Let the judges look at all combinations of the columns of each block."""
    return [
        _judged(released, original, asked, names, f"block{at}") for at, names in enumerate(blocks)
    ]


def _judged(
    released: OpenedDataset,
    known: OpenedDataset | None,
    asked: Checks,
    names: Sequence[str],
    block: str,
) -> tuple[Finding, ...]:
    listing, plan, passes = released.listing, asked.plan, released.passes
    judged = () if plan is None else plan.judged_columns
    verifying = Verifying(
        listing,
        None if known is None else known.listing,
        tuple(names),
        tuple(dict.fromkeys((*names, *judged))),
        () if known is None or plan is None else tuple(_unpublished(plan, known.listing)),
        None if plan is None else plan.unit_column,
        asked.requirements,
        (released.decimal, "." if known is None else known.decimal),
        () if plan is None else plan.na,
        n_buckets_of(listing),
        () if plan is None else plan.compared_columns,
    )
    n_columns = len(verifying.published) + len(verifying.unpublished)
    check_room(passes.work, listing.n_rows * row_bytes(listing, n_columns))
    work, n_files, to_judge = passes.work, len(listing.files), f"{block}-judged"
    work.keep(block, verifying)
    sort = partial(_sort_file, block)
    passes.run(block, sort, n_files, bytes_each=part_bytes(listing, n_columns))
    files = [*passes.results(block, n_files)]
    sources = Sources.of([own for file in files for own in file.slices], verifying.n_buckets)
    overall = counted_in(files)
    work.keep(to_judge, replace(verifying, sources=sources, overall=overall))
    passes.run(
        to_judge,
        partial(_judge_bucket, to_judge),
        verifying.n_buckets,
        bytes_each=bucket_bytes(sources, listing, n_columns),
    )
    each = [own for own in passes.results(to_judge, verifying.n_buckets) if own is not None]
    work.forget(block)
    return tuple(_together(found) for found in zip(*each, strict=True))


def _together(found: Sequence[Any]) -> Finding:
    """Return what was found of one requirement in all buckets."""
    if isinstance(found[0], Classes):
        return classes_together(found)
    if isinstance(found[0], GroupFinding):
        return GroupFinding.together(found)
    return found[0]  # type: ignore[no-any-return]


class _KeyColumn(NamedTuple):
    listing: Listing
    key: str
    n_buckets: int


def _keys(dataset: OpenedDataset, key: str) -> Keys:
    """Return whether a column holds each number from 1 to n once, and not in order."""
    listing, passes = dataset.listing, dataset.passes
    n_files, n = len(listing.files), n_buckets(listing.n_rows)
    passes.work.keep(_KEYS, _KeyColumn(listing, key, n))
    passes.run(_KEYS, _keep_keys, n_files, bytes_each=part_bytes(listing, 1))
    orders = [own for file in passes.results(_KEYS, n_files) for own in file]
    passes.run(_COMPLETE, _has_all_keys, n)
    return keys_found(key, listing.n_rows, passes.results(_COMPLETE, n), orders)


def _keep_keys(work: WorkFolder, number: int) -> list[KeyOrder | None]:
    """Task: keep the keys of a file, part by part."""
    this: _KeyColumn = work.facts(_KEYS)
    read = read_together(this.listing, [this.key], None, (), number)
    return [keep_keys(work, at, table[this.key]) for at, table, _ in read]


def _has_all_keys(work: WorkFolder, bucket: int) -> bool:
    """Task: say whether each number of a range is a key, once."""
    this: _KeyColumn = work.facts(_KEYS)
    return holds_all_keys(work, this.listing, bucket, this.n_buckets)


class SortedFile(NamedTuple):
    """Where the rows of a file are by bucket, and the values that combinations are compared with.

    The values are those of every part.
    """

    slices: tuple[tuple[str, Slices], ...]
    values: tuple[dict[str, pl.DataFrame], ...]


def _sort_file(name: str, work: WorkFolder, number: int) -> SortedFile:
    """Task: sort the rows of a file into buckets, by what they show."""
    this: Verifying = work.facts(name)
    read = read_together(this.released, this.published, this.original, this.unpublished, number)
    found, values = [], []
    for at, after, before in read:
        table = _evidence_table(this, after, before)
        shown = [as_polars(table[column]) for column in this.combination]
        buckets = (hashed_rows(shown) % np.uint64(this.n_buckets)).astype(np.intp)
        path = work.place(name, at, "arrow")
        slices = write_sorted(work, path, table, buckets)
        found.append((path.relative_to(work.path).as_posix(), slices))
        values.append({own: value_counts(as_polars(table[own])) for own in this.compared})
    return SortedFile(tuple(found), tuple(values))


def _evidence_table(this: Verifying, after: pa.Table, before: pa.Table | None) -> pa.Table:
    shown = open_frame(after)
    columns = {name: arrow_column(shown, name) for name in this.published}
    if before is not None:
        original, _ = without_entries(open_frame(before), this.unpublished, this.na)
        for name in this.unpublished:
            column = (
                naming_column(original, name)
                if name == this.unit
                else _numbers(arrow_column(original, name), this.decimals[1], name)
            )
            columns[_ORIGINAL + name] = column.to_arrow()
    return pa.table({**columns, ROW: after[ROW]})


def _numbers(column: Any, decimal: str, name: str) -> pl.Series:
    found = as_judged(column, decimal)
    if not found.dtype.is_numeric() and found.null_count() < len(found):
        raise DataError(f"{name!r} must be numbers in the original. Give the right dataset.")
    return found.cast(pl.Float64)


def _judge_bucket(name: str, work: WorkFolder, number: int) -> tuple[Finding, ...] | None:
    """Task: let the judges look at the rows of a bucket; None if there are none."""
    this: Verifying = work.facts(name)
    assert this.sources is not None
    table = this.sources.read(work, [number])
    if table is None:
        return None
    rows = polars_frame(table)
    # Names may look like patterns to polars, but not to get_column.
    unpublished = None
    if this.original is not None:
        known = (rows.get_column(_ORIGINAL + own).alias(own) for own in this.unpublished)
        unpublished = pl.DataFrame(list(known))
    evidence = Evidence(
        pl.DataFrame([rows.get_column(own) for own in this.published]),
        this.combination,
        unpublished,
        this.decimals[0],
        this.na,
        this.overall,
    )
    return tuple(judge.judge(evidence) for judge in this.requirements)
