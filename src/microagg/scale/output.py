"""The finished files: written beside the target in private, and named all at once."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from microagg.core.errors import ParameterError
from microagg.files.atomic import atomic_write_all, check_target
from microagg.files.writing import json_writer
from microagg.plans.beside import manifest_path
from microagg.plans.manifest import Manifest
from microagg.scale.work import WorkFolder

_PUBLISHED = "published"


@dataclass(frozen=True)
class Output:
    """Where the result goes: a folder, which is never replaced, or a file."""

    target: Path
    is_folder: bool
    force: bool = False

    @property
    def staging(self) -> Path:
        """The private folder beside the target that holds the files until all are finished."""
        return self.target.parent / f".{self.target.name}.microagg-output"

    def check(self, source: Path) -> None:
        """Refuse a target that is taken, or that is the source, in it or around it."""
        own, other = (Path(os.path.realpath(path)) for path in (source, self.target))
        if own == other or own in other.parents or other in own.parents:
            raise ParameterError(
                f"the output {str(self.target)!r} must not be the input, in it or around it. "
                "Choose another place."
            )
        if self.is_folder:
            self._check_folder()
        else:
            check_target(self.target, force=self.force, source=source)
        check_target(manifest_path(str(self.target)), force=self.force)

    def _check_folder(self) -> None:
        target = self.target
        if target.exists() and not (target.is_dir() and not any(target.iterdir())):
            raise ParameterError(
                f"the output folder {str(target)!r} exists already and is not empty; a folder is "
                "never replaced. Choose another, or remove it first."
            )
        if not target.parent.is_dir():
            raise ParameterError(
                f"the folder of the output {str(target)!r} does not exist. Create it first."
            )

    def make_staging(self) -> None:
        """Make the private folder, if it is not there from before."""
        self.staging.mkdir(mode=0o700, exist_ok=True)
        self.staging.chmod(0o700)

    def publish(self, work: WorkFolder, manifest: Manifest) -> None:
        """Give the finished files their names, all at once, and then write the manifest."""
        work.keep(_PUBLISHED, manifest)
        for root, _, names in os.walk(self.staging):
            for name in names:
                if name.startswith("."):  # what a killed task left behind
                    (Path(root) / name).unlink()
        self._name_files()
        self._write(manifest)

    def finished(self, work: WorkFolder) -> Manifest | None:
        """Finish a run that was ended after its files had their names; None if it was not."""
        if not work.is_kept(_PUBLISHED):
            place = manifest_path(str(self.target))
            was_removing = not any(work.path.glob("*.facts")) and place.exists()
            return Manifest.load(place) if was_removing else None
        manifest: Manifest = work.facts(_PUBLISHED)
        if self.staging.exists():
            self._name_files()
        self._write(manifest)
        return manifest

    def _write(self, manifest: Manifest) -> None:
        place = manifest_path(str(self.target))
        atomic_write_all({place: json_writer(manifest.as_dict())}, force=True)

    def _name_files(self) -> None:
        if self.is_folder:
            if self.target.is_dir():
                self.target.rmdir()
            mask = os.umask(0)
            os.umask(mask)
            os.rename(self.staging, self.target)
            self.target.chmod(0o777 & ~mask)
            return
        written = [*self.staging.iterdir()]
        if written:  # otherwise it has its name already
            if self.force:
                os.replace(written[0], self.target)
            else:
                os.link(written[0], self.target)
        shutil.rmtree(self.staging)


def remove(work: WorkFolder) -> None:
    """Remove the work folder of a finished run; what says that it is finished goes last."""
    last = work.path / f"{_PUBLISHED}.facts"
    for path in sorted(work.path.iterdir()):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path != last:
            path.unlink(missing_ok=True)
    last.unlink(missing_ok=True)
    work.path.rmdir()
