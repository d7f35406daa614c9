"""The finished files: written beside the target in private, and named all at once."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from microagg.core.errors import MicroaggError, ParameterError
from microagg.files.atomic import check_target, rename_to_free_name
from microagg.files.writing import json_writer
from microagg.plans.beside import manifest_path
from microagg.plans.manifest import Manifest
from microagg.scale.outputs.report_files import Pages, write_last, write_pages
from microagg.scale.storage.urls import Place
from microagg.scale.storage.work import UnfinishedError, WorkFolder, locked
from microagg.scale.tasks.passes import Passes

PUBLISHED = "published"


class Published(NamedTuple):
    """What is written once the files have their names."""

    manifest: Manifest
    pages: Pages


@dataclass(frozen=True)
class Output:
    """Where the result goes: a folder, which is never replaced, or a file."""

    target: Path
    is_folder: bool
    force: bool = False

    @property
    def staging(self) -> Path:
        """The private folder beside the target that holds the files until all are finished."""
        return self.target.parent.absolute() / f".{self.target.name}.microagg-output"

    def check(self, source: Place) -> None:
        """Refuse a target that is taken, or that is the source, in it or around it."""
        if isinstance(source, Path):
            self._check_apart(source)
        if self.is_folder:
            self._check_folder()
        else:
            original = source if isinstance(source, Path) else None
            check_target(self.target, force=self.force, source=original)
        check_target(manifest_path(str(self.target)), force=self.force)

    def _check_apart(self, source: Path) -> None:
        own, other = (Path(os.path.realpath(path)) for path in (source, self.target))
        if own == other or own in other.parents or other in own.parents:
            raise ParameterError(
                f"the output {str(self.target)!r} must not be the input, in it or around it. "
                "Choose another place."
            )

    def _check_folder(self) -> None:
        target = self.target
        if target.is_symlink():
            raise ParameterError(
                f"the output {str(target)!r} is a link, and the finished folder gets its name at "
                "once. Name the folder that it leads to, or remove it."
            )
        if target.exists() and not (target.is_dir() and not any(target.iterdir())):
            raise ParameterError(
                f"the output folder {str(target)!r} already exists and is not empty; a folder is "
                "never replaced. Choose another, or remove it first."
            )
        if not target.parent.is_dir():
            raise ParameterError(
                f"the folder of the output {str(target)!r} does not exist. Create it first."
            )

    @contextmanager
    def staged(self, *, is_new: bool) -> Iterator[None]:
        """Make the private folder for this block; a new run clears what another left in it."""
        self.staging.mkdir(mode=0o700, exist_ok=True)
        self.staging.chmod(0o700)
        in_use = UnfinishedError(
            f"another run is writing the output {str(self.target)!r}. Wait for it to end."
        )
        with locked(self.staging, in_use):
            if is_new:
                for path in sorted(self.staging.iterdir()):
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            yield

    def publish(self, passes: Passes, manifest: Manifest, pages: Pages) -> None:
        """Give the finished files their names, all at once; reports and the manifest come last."""
        passes.work.keep(PUBLISHED, Published(manifest, pages))
        self._name_files()
        self._write(manifest, pages)

    def finished(self, passes: Passes) -> Manifest | None:
        """Finish a run that was ended after its files had their names; None if it was not."""
        work = passes.work
        if not work.is_kept(PUBLISHED):
            place = manifest_path(str(self.target))
            was_removing = not any(work.path.glob("*.facts")) and place.exists()
            # A manifest that may be replaced may also be that of an earlier release.
            return Manifest.load(place) if was_removing and not self.force else None
        done: Published = work.facts(PUBLISHED)
        if self.staging.exists():
            self._name_files()
        self._write(*done)
        return done.manifest

    def _write(self, manifest: Manifest, pages: Pages) -> None:
        write_pages(pages, force=self.force)
        place = manifest_path(str(self.target))
        if not _is_written(place, manifest):
            write_last({place: json_writer(manifest.as_dict())}, force=self.force)

    def _name_files(self) -> None:
        """Give the files their names; a run may have been ended at any step of this before."""
        finished = without_remnants(self.staging)
        if self.is_folder:
            if self.target.is_dir():
                self.target.rmdir()
            mask = os.umask(0)
            os.umask(mask)
            self.staging.chmod(0o777 & ~mask)
            os.rename(self.staging, self.target)
            return
        for name in finished:  # none if the file has its name already
            self._name_file(self.staging / name)
        shutil.rmtree(self.staging)

    def _name_file(self, written: Path) -> None:
        if self.force:
            os.replace(written, self.target)
        elif not (self.target.exists() and os.path.samefile(written, self.target)):
            try:
                rename_to_free_name(written, self.target)
            except ParameterError as error:  # another run took it in the meantime
                raise UnfinishedError(str(error)) from None


def _is_written(place: Path, manifest: Manifest) -> bool:
    """Whether a run that was ended has written the manifest already."""
    try:
        return Manifest.load(place).output == manifest.output
    except MicroaggError:
        return False


def without_remnants(staging: Path) -> list[str]:
    """Return the finished files by name, without what a killed task left behind."""
    finished = []
    for root, _, names in os.walk(staging):
        for name in names:
            if name.startswith("."):
                (Path(root) / name).unlink()
            else:
                finished.append((Path(root) / name).relative_to(staging).as_posix())
    return sorted(finished)


def remove(work: WorkFolder) -> None:
    """Remove the work folder of a finished run; what says that it is finished goes last."""
    last = work.path / f"{PUBLISHED}.facts"
    for path in sorted(work.path.iterdir()):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path != last:
            path.unlink(missing_ok=True)
    last.unlink(missing_ok=True)
    work.path.rmdir()
