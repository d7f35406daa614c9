"""The manifest beside a released file."""

import json
import os
from collections.abc import Callable
from pathlib import Path

from microagg.core.errors import ManifestWarning, MicroaggError, warn
from microagg.files.dialect import Dialect
from microagg.files.formats import STANDARD, open_table, suffix_of
from microagg.files.reading import Reader, sha256_of
from microagg.files.regular import text_of_small_file
from microagg.plans.manifest import MOST_BYTES, Manifest

SUFFIX = ".manifest.json"


def manifest_path(path: str) -> Path:
    """Return where the manifest of a released file is written: each format has its own.

    >>> manifest_path("folder/people.csv.gz").as_posix()
    'folder/people.csv.gz.manifest.json'
    """
    return Path(f"{path}{SUFFIX}")


def earlier_manifest_path(path: str) -> Path:
    """Return where earlier versions wrote the manifest: under the name without its suffix.

    >>> earlier_manifest_path("folder/people.csv.gz").as_posix()
    'folder/people.manifest.json'
    """
    return Path(f"{path[: -len(suffix_of(path))]}{SUFFIX}")


def existing_manifest(path: str) -> Path | None:
    """Return what has the name of a file's manifest, whether it is one or not; None if nothing."""
    if path == STANDARD:
        return None
    places = (manifest_path(path), earlier_manifest_path(path))
    return next((place for place in places if os.path.lexists(place)), None)


def manifest_beside(path: str, opened: Reader | None = None) -> Manifest | None:
    """Return the manifest beside a released file, if it belongs to it.

    It does if the SHA-256 of its output is that of the file, as it was `opened`.
    """
    if (place := existing_manifest(path)) is None:
        return None
    return manifest_at(place, path, lambda: _digest(path, opened))


def _digest(path: str, opened: Reader | None) -> str | None:
    return sha256_of(Path(path)) if opened is None else opened.sha256


def manifest_at(
    place: Path, path: str, digest: Callable[[], str | None], what: str = "file"
) -> Manifest | None:
    """Return a manifest if the SHA-256 of its output is that of what was released at `path`."""
    try:
        found = Manifest.load(place)
    except MicroaggError as error:
        warn(f"there is a manifest beside {path!r}, but it is not used: {error}", ManifestWarning)
        return None
    if found.output is None or found.output.sha256 != digest():
        warn(
            f"the manifest {str(place)!r} is not used: it belongs to another {what}, or "
            f"{path!r} has changed since it was released.",
            ManifestWarning,
        )
        return None
    return found


def open_released(path: str, dialect: Dialect | None = None) -> Reader:
    """Open a file that may be a release, as it was before formulas in it were escaped.

    Whether they were, the manifest beside it says, if it belongs to it.
    """
    opened = open_table(path, dialect=dialect)
    place = existing_manifest(path)
    if place is None or not _says_escaped(place, opened):
        return opened
    from microagg.files.formulas import Unescaped

    return Unescaped(opened)


def _says_escaped(place: Path, opened: Reader) -> bool:
    try:
        output = json.loads(text_of_small_file(place, MOST_BYTES))["output"]
        return output["formulas_escaped"] is True and output["sha256"] == opened.sha256
    except (OSError, ValueError, RecursionError, LookupError, TypeError):
        return False  # whoever reads the manifest says what is wrong with it
