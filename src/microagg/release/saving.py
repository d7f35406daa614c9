"""A release on disk: the table, its manifest, and on request which record is in which group."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from microagg.core.arrays import Labels, Order
from microagg.core.errors import (
    ManifestWarning,
    MicroaggError,
    ParameterError,
    PrivacyWarning,
    warn,
)
from microagg.core.registry import METHODS
from microagg.files.annotations import Annotations
from microagg.files.atomic import Writer, atomic_write_all, check_distinct, check_target
from microagg.files.dialect import Dialect
from microagg.files.formats import (
    STANDARD,
    check_output_format,
    format_of,
    refuse_folder,
    table_writer,
)
from microagg.files.reading import check_readable, sha256_of
from microagg.files.regular import text_of_small_file
from microagg.files.writing import check_html_name, json_writer
from microagg.plans.audits import RECORD, RELEASED_ROW
from microagg.plans.beside import SUFFIX, earlier_manifest_path, manifest_path
from microagg.plans.manifest import MOST_BYTES, Manifest
from microagg.plans.plan import Plan

_STANDARD_INPUT = 0  # the descriptor


def file_name(path: object) -> str:
    """Return the name of a file, if it is one."""
    if isinstance(path, (str, PathLike)):
        name = fspath(path)
        if isinstance(name, str) and name not in ("", STANDARD) and "\0" not in name:
            return name
    if path is None or isinstance(path, (str, bytes, int, float, PathLike)):
        raise ParameterError(f"path must be the name of a file; got {path!r}.")
    # Not shown: it may be a table.
    raise ParameterError(
        f"path must be the name of a file; got {type(path).__name__}. A table in memory is "
        "protected by microagg.protect."
    )


def file_or_stream(path: object) -> str:
    """Return the name of a file, if it is one, or `-`."""
    return STANDARD if isinstance(path, str) and path == STANDARD else file_name(path)


@dataclass(frozen=True)
class Outputs:
    """Where a release goes: the table and the other files asked for.

    The table may go to standard output, `-`, and has no manifest then.
    """

    table: str
    audit: str | None = None
    report: str | None = None
    public_report: str | None = None

    @property
    def beside(self) -> dict[str, str]:
        """What else is written, by its name."""
        named = {
            "audit": self.audit,
            "report": self.report,
            "public_report": self.public_report,
        }
        return {name: path for name, path in named.items() if path is not None}

    def check(self, source: str, *, force: bool) -> None:
        """Refuse an input that cannot be read, and outputs that cannot or must not be written."""
        check_source(source)
        check_output(self.table, source, force=force)
        own: list[Path] = []
        if self.table != STANDARD:
            own = [Path(self.table), manifest_path(self.table)]
            check_target(own[1], force=force, source=input_of(source))
        check_distinct([*own, *map(Path, self.beside.values())])
        for name, path in self.beside.items():
            if path == STANDARD:
                raise ParameterError(
                    f"--{name.replace('_', '-')} must name a file; it does not go to standard "
                    "output."
                )
            if name == "audit":
                check_output(path, source, force=force)
            else:
                _check_page(path, source, force=force)


def check_source(source: str) -> None:
    """Refuse an input that cannot be a table."""
    refuse_folder(source)
    format_of(source)
    if source != STANDARD:
        check_readable(Path(source))


def check_output(target: str, source: str, *, force: bool) -> None:
    """Refuse an output that cannot or must not be written."""
    check_output_format(target)
    if target != STANDARD:
        check_target(Path(target), force=force, source=input_of(source))


def _check_page(path: str, source: str, *, force: bool) -> None:
    """Refuse a page that cannot or must not be written."""
    check_html_name(path)
    check_target(Path(path), force=force, source=input_of(source))


def input_of(source: str) -> Path | int:
    """Return what must not be overwritten: the input, by its path or as an open file."""
    return _STANDARD_INPUT if source == STANDARD else Path(source)


def save_release(
    table: pl.DataFrame,
    manifest: Manifest,
    path: str,
    *,
    force: bool,
    dialect: Dialect | None = None,
    annotations: Annotations | None = None,
    sheet: str | None = None,
    escape_formulas: bool = False,
    beside: Mapping[Path, Writer] | None = None,
) -> Manifest:
    """Write a table, its manifest and further files together, all or none.

    Returns the manifest as it is written, with the name and hash of the file. Warns if the folder
    contains an earlier release of the same table.
    """
    write = table_writer(
        table,
        path,
        dialect=dialect,
        annotations=annotations,
        sheet=sheet,
        escape_formulas=escape_formulas,
    )
    target, described = Path(path), manifest_path(path)
    warn_of_earlier(manifest, path)
    written: dict[str, Any] = {}
    saved = manifest

    def write_table(place: Path) -> None:
        nonlocal saved
        write(place)
        digest = sha256_of(place)
        saved = manifest.with_output(target.name, digest, formulas_escaped=escape_formulas)
        written.update(saved.as_dict())

    check_distinct([*(beside or {}), described, target])
    files = {**(beside or {}), described: json_writer(written), target: write_table}
    atomic_write_all(files, force=force)
    return saved


def audit_table(
    identifiers: Sequence[pl.Series], labels: Labels, order: Order | None = None
) -> pl.DataFrame:
    """Return which record is in which group, in every block; names in use get an underscore.

    `order` are the original rows of the released records, of which `labels` are the groups, if they
    were shuffled; the audit then says where each record went.
    """
    columns = [pl.Series(RECORD, np.arange(1, len(labels) + 1))]
    if order is not None:
        rows = np.argsort(order)
        labels = labels[rows]
        columns.append(pl.Series(RELEASED_ROW, rows + 1))
    columns += identifiers
    groups = labels.reshape(len(labels), -1).T + 1
    names = ["group"] if len(groups) == 1 else [f"group_{at + 1}" for at in range(len(groups))]
    columns += [pl.Series(name, own) for name, own in zip(names, groups, strict=True)]
    found: dict[str, pl.Series] = {}
    for column in columns:
        name = column.name
        while name in found:
            name += "_"
        found[name] = column
    return pl.DataFrame(found)


def warn_of_earlier(manifest: Manifest, path: str) -> None:
    """Warn if a manifest in the folder of a release is of another release of the same table."""
    digest = manifest.input.sha256
    if digest is None:
        return
    own = (manifest_path(path), earlier_manifest_path(path))
    for place in sorted(own[0].parent.glob(f"*{SUFFIX}")):
        earlier = _raw(place)
        if earlier is None:
            warn(
                f"{place.name!r} beside the output could not be read; it may belong to an earlier "
                "release of the same table.",
                ManifestWarning,
            )
            continue
        if _input_digest(earlier) != digest or _has_plan(place, manifest.plan):
            continue
        where = "is replaced" if place in own else "is in the same folder"
        warn(
            f"an earlier release of the same table {where} ({place.name!r}"
            f"{_of_earlier(earlier)}): anyone who has both can combine them and distinguish "
            "records that each of them hides. Publish only one of them.",
            PrivacyWarning,
        )
        return


def _raw(path: Path) -> dict[str, Any] | None:
    """Return a manifest as it is written: one that a later version wrote still counts.

    None if it cannot be read, whatever it is.
    """
    try:
        found = json.loads(text_of_small_file(path, MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else {}


def _of_earlier(manifest: Mapping[str, Any]) -> str:
    """Return k and the method as they are in a manifest, which may hold anything."""
    k, method = manifest.get("k"), manifest.get("method")
    is_known = type(k) is int and isinstance(method, str) and method in METHODS
    return f", k = {k}, {method}" if is_known else ""


def _input_digest(manifest: Mapping[str, Any]) -> object:
    facts = manifest.get("input")
    return facts.get("sha256") if isinstance(facts, dict) else None


def _has_plan(path: Path, plan: Plan) -> bool:
    try:
        return Manifest.load(path).plan == plan
    except MicroaggError:
        return False
