"""A release on disk: the table, beside it the manifest, and on request who is in which group."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from microagg.core.errors import PrivacyWarning, warn
from microagg.files.annotations import Annotations
from microagg.files.atomic import Writer, atomic_write_all, check_distinct
from microagg.files.dialect import Dialect
from microagg.files.formats import suffix_of, table_writer
from microagg.files.reading import sha256_of
from microagg.files.writing import json_writer

SUFFIX = ".manifest.json"
LIBRARIES = ("numpy", "numba", "scipy", "scikit-learn", "polars", "narwhals", "pandas", "pyarrow")


def manifest_path(path: str) -> Path:
    """Return where the manifest of a released file lies.

    >>> manifest_path("folder/people.csv.gz").as_posix()
    'folder/people.manifest.json'
    """
    return Path(f"{path[: -len(suffix_of(path))]}{SUFFIX}")


def library_versions() -> dict[str, str]:
    """Return the versions of the libraries that took part, as far as they are installed."""
    return {name: found for name in LIBRARIES if (found := _version(name)) is not None}


@cache  # each look takes milliseconds
def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def save_release(
    table: pl.DataFrame,
    manifest: Mapping[str, Any],
    path: str,
    *,
    force: bool,
    dialect: Dialect | None = None,
    annotations: Annotations | None = None,
    beside: Mapping[Path, Writer] | None = None,
) -> None:
    """Write a table and its manifest, and what else belongs to them, all whole or none.

    Warns if an earlier release of the same table lies in the folder.
    """
    target, told = Path(path), manifest_path(path)
    warn_of_earlier(manifest, told)
    write = table_writer(table, path, dialect=dialect, annotations=annotations)
    written = dict(manifest)

    def write_table(place: Path) -> None:
        write(place)
        written["output"] = {"file": target.name, "sha256": sha256_of(place)}

    check_distinct([*(beside or {}), told, target])
    files = {**(beside or {}), told: json_writer(written), target: write_table}
    atomic_write_all(files, force=force)


def audit_table(identifiers: Sequence[pl.Series], labels: NDArray[np.intp]) -> pl.DataFrame:
    """Return who is in which group, in every block; names that are taken get an underscore."""
    groups = labels.reshape(len(labels), -1).T + 1
    names = ["group"] if len(groups) == 1 else [f"group_{at + 1}" for at in range(len(groups))]
    columns = [pl.Series("record", np.arange(1, len(labels) + 1)), *identifiers]
    columns += [pl.Series(name, own) for name, own in zip(names, groups, strict=True)]
    found: dict[str, pl.Series] = {}
    for column in columns:
        name = column.name
        while name in found:
            name += "_"
        found[name] = column
    return pl.DataFrame(found)


def warn_of_earlier(manifest: Mapping[str, Any], own: Path) -> None:
    """Warn if a manifest in the same folder tells of another release of the same table."""
    digest = manifest["input"]["sha256"]
    for path in sorted(own.parent.glob(f"*{SUFFIX}")):
        earlier = _read(path)
        same = digest is not None and _digest(earlier) == digest
        if not same or earlier.get("plan") == manifest["plan"]:
            continue
        where = "is replaced" if path == own else "lies beside"
        warn(
            f"an earlier release of the same table {where} ({path.name!r}, k = "
            f"{earlier.get('k')}, {earlier.get('method')}): whoever gets both can combine them and "
            "tell records apart that each of them hides. Publish one of them only.",
            PrivacyWarning,
        )
        return


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _digest(manifest: Mapping[str, Any]) -> object:
    told = manifest.get("input")
    return told.get("sha256") if isinstance(told, dict) else None
