"""The private folder of a running app, and the list of files that were opened lately.

The folder holds dropped files and the work of jobs, so original values: only its owner may read it,
and it is removed when the app ends. An app that was killed leaves its folder behind without a lock,
and the next one to start removes it.
"""

import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from platformdirs import user_cache_path, user_state_path

from microagg.core.errors import ParameterError
from microagg.files.atomic import Private, atomic_write_all
from microagg.files.regular import text_of_small_file
from microagg.files.temporary import lock, wait_for_lock
from microagg.files.writing import text_writer

_PRIVATE_FOLDER = 0o700
_PREFIX = "app-"
_LOCK = "lock"
_MOST_RECENT = 12
_MOST_BYTES = 1 << 20  # of the list of recent files


class Workspace:
    """The private folder of one app; it is removed by `close`, or at the end of a `with` block.

    `dropped` is where dropped files go. `is_busy` says whether work is under way, and `closing` is
    closed first when the app ends: whoever starts work here registers with both.
    """

    def __init__(self, parent: Path | None = None, state: Path | None = None) -> None:
        self._state = state or user_state_path("microagg")
        self.is_busy: Callable[[], bool] = lambda: False
        self.closing = ExitStack()
        self._held = ExitStack()
        folders = parent or user_cache_path("microagg")
        try:
            folders.mkdir(_PRIVATE_FOLDER, parents=True, exist_ok=True)
            with _alone_in(folders):
                remove_leftovers(folders)
                self.folder = folders / f"{_PREFIX}{secrets.token_hex(8)}"
                self.folder.mkdir(_PRIVATE_FOLDER)
                self._held.callback(shutil.rmtree, self.folder, ignore_errors=True)
                self._held.enter_context(_locked(self.folder / _LOCK))
        except OSError as error:
            self._held.close()
            raise ParameterError(
                f"the private folder of the app in {str(folders)!r} cannot be made: "
                f"{error.strerror}. Free some space, or set XDG_CACHE_HOME to another folder."
            ) from None
        self.dropped = self.folder / "dropped"
        self.dropped.mkdir(_PRIVATE_FOLDER)

    def keep(self, uploaded: Path, name: str) -> Path:
        """Move a file that was dropped to where it stays, under the name that it had.

        Otherwise it would go with the page that it was dropped on, also when that is reloaded.
        Whatever a page says, nothing is moved that has not been dropped.
        """
        if not uploaded.resolve().is_relative_to(self.dropped.resolve()):
            raise ParameterError("this file was not dropped on the page. Open it by its path.")
        place = self.dropped / secrets.token_hex(8)
        place.mkdir(_PRIVATE_FOLDER)
        last = name.replace("\\", "/").rpartition("/")[2]
        kept = place / (re.sub(r"[^\w.,()+ -]", "_", last).strip(" .") or "table.csv")
        shutil.move(uploaded, kept)
        return kept

    def job_folder(self) -> Path:
        """Make a folder for a job; its name is the job's."""
        place = self.folder / f"job-{secrets.token_hex(8)}"
        place.mkdir(_PRIVATE_FOLDER)
        return place

    def recent(self) -> list[Path]:
        """Return the files that were opened lately and are still there, the last one first."""
        try:
            known = json.loads(text_of_small_file(self._recent_path, _MOST_BYTES))
        except (OSError, ValueError, RecursionError):
            return []
        if not isinstance(known, list):
            return []
        paths = [Path(path) for path in known if isinstance(path, str)]
        return [path for path in paths if _is_file(path)][:_MOST_RECENT]

    def remember(self, path: Path) -> None:
        """Put a file first in the list of recent files; dropped ones are not remembered."""
        path = path.absolute()
        if path.is_relative_to(self.folder):
            return
        others = [known for known in self.recent() if known != path]
        listed = [str(known) for known in (path, *others)][:_MOST_RECENT]
        with suppress(OSError, ParameterError):  # a convenience, never a reason to fail
            self._state.mkdir(_PRIVATE_FOLDER, parents=True, exist_ok=True)
            writer = Private(text_writer(json.dumps(listed)))
            atomic_write_all({self._recent_path: writer}, force=True)

    def forget_recent(self) -> None:
        """Empty the list of recent files."""
        self._recent_path.unlink(missing_ok=True)

    def close(self) -> None:
        """End what is under way and remove the folder."""
        try:
            self.closing.close()
        finally:
            self._held.close()

    @property
    def _recent_path(self) -> Path:
        return self._state / "recent.json"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def remove_leftovers(parent: Path) -> None:
    """Remove the folders of apps that no longer run: nobody holds their lock."""
    for folder in parent.glob(f"{_PREFIX}*"):
        if folder.is_symlink() or not folder.is_dir():
            continue
        descriptor = None
        try:
            descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
            if lock(descriptor):
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:  # not ours, or just being removed
            continue
        finally:
            if descriptor is not None:
                os.close(descriptor)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock for as long as the block, or the process, lives."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        lock(descriptor)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Keep other apps that start from taking a folder without its lock for a leftover."""
    descriptor = os.open(folder / f"{_PREFIX}starting.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        wait_for_lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # the name is too long, or may not be looked at
        return False
