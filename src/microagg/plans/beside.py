"""The manifest that lies beside a released file."""

from pathlib import Path

from microagg.core.errors import MicroaggError
from microagg.files.formats import STANDARD, suffix_of
from microagg.files.reading import sha256_of
from microagg.plans.manifest import Manifest

SUFFIX = ".manifest.json"


def manifest_path(path: str) -> Path:
    """Return the path of the manifest of a released file.

    >>> manifest_path("folder/people.csv.gz").as_posix()
    'folder/people.manifest.json'
    """
    return Path(f"{path[: -len(suffix_of(path))]}{SUFFIX}")


def manifest_beside(path: str) -> Manifest | None:
    """Return the manifest beside a released file, if it belongs to it.

    It does if the SHA-256 of its output is that of the file.
    """
    if path == STANDARD or not (place := manifest_path(path)).is_file():
        return None
    try:
        found = Manifest.load(place)
    except MicroaggError:
        return None
    if found.output is None or found.output.sha256 != sha256_of(Path(path)):
        return None
    return found
