"""An output at a URL: files are sent under other names once all are checked, and named at last."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from microagg.core.errors import ParameterError
from microagg.files.writing import json_writer
from microagg.plans.manifest import Manifest
from microagg.scale.outputs.output import PUBLISHED, Published, without_remnants
from microagg.scale.outputs.report_files import Pages, write_pages
from microagg.scale.storage.urls import Place, Url
from microagg.scale.storage.work import UnfinishedError, WorkFolder
from microagg.scale.tasks.passes import Passes

SEND = "send"
_MANIFEST = "manifest.json"


class Sending(NamedTuple):
    """The finished files, and where they go."""

    staging: Path
    target: Url
    names: tuple[str, ...]


@dataclass(frozen=True)
class UrlOutput:
    """Where the result goes: a folder at a URL, which is never replaced, or a file.

    Such file systems cannot name a folder's files all at once. They are sent to a hidden folder
    beside the target, and moved when all are there; the manifest comes last, and what has none is
    not finished.
    """

    target: Url
    is_folder: bool
    work: Path
    force: bool = False

    @property
    def staging(self) -> Path:
        """The folder that holds the files until all are finished: in the work folder."""
        return self.work / "output"

    def check(self, source: Place) -> None:
        """Refuse a target that is taken or not writable, or that is the source or goes with it."""
        target = self.target
        if isinstance(source, Url) and (source.is_around(target) or target.is_around(source)):
            raise ParameterError(
                f"the output {str(target)!r} must not be the input, in it or around it. Choose "
                "another place."
            )
        if self.is_folder and any(target.files()):
            raise ParameterError(
                f"the output folder {str(target)!r} already exists and is not empty; a folder is "
                "never replaced. Choose another, or remove it first."
            )
        for place in (target.manifest,) if self.is_folder else (target, target.manifest):
            if place.exists() and not self.force:
                raise ParameterError(
                    f"{str(place)!r} already exists. Choose another name, or remove it first."
                )
        self._check_writable()

    def _check_writable(self) -> None:
        """Write a file of no bytes and remove it: to find out in the end would be late."""
        files, path = self.target.hidden.below("try").opened()
        try:
            files.makedirs(files._parent(path), exist_ok=True)
            files.pipe_file(path, b"")
            files.rm_file(path)
            self.target.hidden.remove()
        except Exception as error:  # every file system has its own
            raise ParameterError(
                f"the output {str(self.target)!r} cannot be written ({type(error).__name__}). "
                "Check the address, and that you may write there."
            ) from None

    @contextmanager
    def staged(self, *, is_new: bool) -> Iterator[None]:  # noqa: ARG002 - no other run has it
        """Make the private folder for this block, if it is not there from before."""
        self.staging.mkdir(mode=0o700, exist_ok=True)
        yield

    def publish(self, passes: Passes, manifest: Manifest, pages: Pages) -> None:
        """Send the finished files, give them their names; reports and the manifest come last."""
        passes.work.keep(PUBLISHED, Published(manifest, pages))
        names = tuple(without_remnants(self.staging))
        passes.work.keep(SEND, Sending(self.staging, self.target, names))
        passes.run(SEND, send_file, len(names))
        for name in names:
            self._name_file(name)
        self.target.hidden.remove()
        write_pages(pages, force=self.force)
        path = passes.work.path / _MANIFEST
        passes.work.write(path, json_writer(manifest.as_dict()))
        self.target.manifest.send(path)

    def _name_file(self, name: str) -> None:
        """Move a file to its place, unless it is there since the run was ended here before."""
        hidden, place = self.target.hidden.below(name), self._place(name)
        size = (self.staging / name).stat().st_size
        if not hidden.exists() and _is_there(place, size):
            return
        if not _is_there(hidden, size):
            hidden.send(self.staging / name)
        hidden.move(place)
        if not _is_there(place, size):
            raise UnfinishedError(f"{str(place)!r} was not transferred completely.")

    def _place(self, name: str) -> Url:
        return self.target.below(name) if self.is_folder else self.target

    def finished(self, passes: Passes) -> Manifest | None:
        """Finish a run that was ended while its files got their names; None if it was not."""
        work = passes.work
        if not work.is_kept(PUBLISHED):
            if any(work.path.glob("*.facts")) or not self.target.manifest.exists():
                return None
            path = work.path / _MANIFEST  # the work folder was being removed
            self.target.manifest.fetch(path)
            return Manifest.load(path)
        done: Published = work.facts(PUBLISHED)
        self.publish(passes, *done)
        return done.manifest


def _is_there(place: Url, size: int) -> bool:
    return place.exists() and place.size_and_stamp()[0] == size


def send_file(work: WorkFolder, number: int) -> None:
    """Task: send a finished file to the hidden folder beside the target."""
    sending: Sending = work.facts(SEND)
    name = sending.names[number]
    place, path = sending.target.hidden.below(name), sending.staging / name
    place.send(path)
    if not _is_there(place, path.stat().st_size):
        raise UnfinishedError(f"{str(place)!r} was not transferred completely.")
