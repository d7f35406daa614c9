"""The manifest that lies beside a released file."""

from pathlib import Path

from microagg.core.errors import ManifestWarning, MicroaggError, warn
from microagg.files.formats import STANDARD, suffix_of
from microagg.files.reading import Reader, sha256_of
from microagg.plans.manifest import Manifest

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
    """Return the manifest beside a file, whether it belongs to it or not; None if there is none."""
    if path == STANDARD:
        return None
    places = (manifest_path(path), earlier_manifest_path(path))
    return next((place for place in places if place.is_file()), None)


def manifest_beside(path: str, opened: Reader | None = None) -> Manifest | None:
    """Return the manifest beside a released file, if it belongs to it.

    It does if the SHA-256 of its output is that of the file, as it was `opened`.
    """
    if (place := existing_manifest(path)) is None:
        return None
    try:
        found = Manifest.load(place)
    except MicroaggError as error:
        warn(f"a manifest lies beside {path!r} and is not used: {error}", ManifestWarning)
        return None
    digest = sha256_of(Path(path)) if opened is None else opened.sha256
    if found.output is None or found.output.sha256 != digest:
        warn(
            f"the manifest {str(place)!r} is not used: it belongs to another file, or "
            f"{path!r} has changed since it was released.",
            ManifestWarning,
        )
        return None
    return found
