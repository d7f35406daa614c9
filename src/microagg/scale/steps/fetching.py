"""Files at a URL are copied to the work folder once, which is what the other passes read."""

import os
from pathlib import Path

from microagg.core.errors import DataError, ParameterError
from microagg.scale.sources.listing import Found, FoundFile, check_kinds, is_listed
from microagg.scale.storage.urls import Url
from microagg.scale.storage.work import WorkFolder
from microagg.scale.tasks.begun import BEGUN, RunStart
from microagg.scale.tasks.passes import Passes

FETCH = "fetch"
_INPUT = "input"


def find_at(source: Url) -> Found:
    """Find the files of a folder at a URL, or the one file; all must be of one format."""
    files = [(source.name, source)]
    if source.is_dir():
        names = sorted(name for name in source.files() if is_listed(name))
        files = [(name, source.below(name)) for name in names]
        if not files:
            raise ParameterError(f"the folder {str(source)!r} holds no files.")
    kind = check_kinds(source, [place for _, place in files])
    return Found(source, kind, tuple(_find(name, place) for name, place in files))


def _find(name: str, place: Url) -> FoundFile:
    size, stamp = place.size_and_stamp()
    if not size:
        raise DataError(f"{str(place)!r} is empty: it does not even name columns. Remove it.")
    return FoundFile(name, place, size, stamp)


def fetch_all(passes: Passes, found: Found) -> Found:
    """Copy all files to the work folder, and return them as they are there."""
    passes.run(FETCH, fetch_file, len(found.files))
    return Found(
        found.root,
        found.kind,
        tuple(_fetched(passes.work, file.name) for file in found.files),
    )


def _copy_of(work: WorkFolder, name: str) -> Path:
    return work.path / _INPUT / name


def _fetched(work: WorkFolder, name: str) -> FoundFile:
    path = _copy_of(work, name)
    status = os.stat(path)
    return FoundFile(name, path, status.st_size, status.st_mtime_ns)


def fetch_file(work: WorkFolder, number: int) -> None:
    """Task: copy a file, if it is as it was when the run began, before and afterwards."""
    begun: RunStart = work.facts(BEGUN)
    file = begun.found.files[number]
    place = file.path
    assert isinstance(place, Url)
    target = _copy_of(work, file.name)
    target.parent.mkdir(parents=True, exist_ok=True)
    file.check_unchanged()
    work.write(target, place.fetch)
    file.check_unchanged()
    if target.stat().st_size != file.size:
        raise DataError(f"{str(place)!r} is not as large as its file system says. Start again.")
