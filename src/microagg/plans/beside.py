"""The manifest that lies beside a released file."""

from pathlib import Path

from microagg.core.errors import ManifestWarning, MicroaggError, warn
from microagg.files.formats import STANDARD, suffix_of
from microagg.files.reading import Reader, sha256_of
from microagg.plans.manifest import Manifest

SUFFIX = ".manifest.json"


def manifest_path(path: str) -> Path:
    """Return the path of the manifest of a released file.

    >>> manifest_path("folder/people.csv.gz").as_posix()
    'folder/people.manifest.json'
    """
    return Path(f"{path[: -len(suffix_of(path))]}{SUFFIX}")


def manifest_beside(path: str, opened: Reader | None = None) -> Manifest | None:
    """Return the manifest beside a released file, if it belongs to it.

    It does if the SHA-256 of its output is that of the file, as it was `opened`.
    """
    if path == STANDARD or not (place := manifest_path(path)).is_file():
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
