"""The work folder: private, one run at a time, and what is finished in it is found again.

Every task leaves its result in a file of its own, which appears whole or not at all. So a run that
was ended in any way goes on where it was.
"""

import os
import pickle
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from microagg.core.errors import MicroaggError, ParameterError

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows: nothing is locked
    fcntl = None

_PRIVATE_FOLDER = 0o700
_LOCK = "lock"


@dataclass(frozen=True)
class WorkFolder:
    """A folder with the results of passes, each in a folder, and of their tasks, by number."""

    path: Path

    def place(self, name: str, number: int, suffix: str) -> Path:
        """Return where a task of a pass puts a file."""
        return self.path / name / f"{number:07d}.{suffix}"

    def write(self, path: Path, write: Callable[[Path], object]) -> None:
        """Write a file whole or not at all: another process may be writing the same."""
        path.parent.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
        beside = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
        try:
            write(beside)
            os.replace(beside, path)
        finally:
            with suppress(OSError):
                beside.unlink(missing_ok=True)

    def save(self, path: Path, value: object) -> None:
        """Write a value."""
        self.write(path, lambda beside: beside.write_bytes(pickle.dumps(value)))

    def has(self, name: str, number: int) -> bool:
        """Whether a task of a pass is finished."""
        return self.place(name, number, "result").exists()

    def result(self, name: str, number: int) -> Any:
        """Return the result of a finished task."""
        return pickle.loads(self.place(name, number, "result").read_bytes())

    def keep(self, name: str, value: object) -> None:
        """Write what all tasks of later passes need to know."""
        self.save(self.path / f"{name}.facts", value)

    def is_kept(self, name: str) -> bool:
        """Whether this was written."""
        return (self.path / f"{name}.facts").exists()

    def facts(self, name: str) -> Any:
        """Return what was kept under a name; it is read once by each process."""
        path = self.path / f"{name}.facts"
        status = path.stat()
        return _facts(path, (status.st_ino, status.st_mtime_ns))

    def forget(self, name: str) -> None:
        """Remove the files of a pass that nobody needs any more, but not its results."""
        for suffix in ("arrow", "npy"):
            for path in sorted((self.path / name).glob(f"*.{suffix}")):
                path.unlink(missing_ok=True)


@lru_cache(maxsize=16)
def _facts(path: Path, _written: tuple[int, int]) -> Any:
    return pickle.loads(path.read_bytes())


class UnfinishedError(MicroaggError):
    """The run could not continue, for a reason that is not in the data or the plan."""


@contextmanager
def working_in(path: Path, *, resume: bool) -> Iterator[WorkFolder]:
    """Make the work folder, or take up that of an earlier run.

    It stays where the run was ended from outside, and the error says where it is. Where the data or
    the plan are to blame, it goes: a run that is resumed would end the same way.
    """
    _make(path, resume=resume)
    in_use = ParameterError(
        f"another run is using {str(path)!r}. Wait for it to end, or name another work folder "
        "(--work-dir, or work_dir= in Python)."
    )
    with locked(path / _LOCK, in_use):
        try:
            yield WorkFolder(path)
        except UnfinishedError as error:
            raise UnfinishedError(f"{error} {left_at(path)}") from error
        except MicroaggError:
            raise
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise UnfinishedError(
                f"the run could not continue: {reason}. {left_at(path)}"
            ) from error
        except Exception as error:  # a worker, a library; its message may quote values
            what = type(error).__name__
            raise UnfinishedError(f"the run could not continue: {what}. {left_at(path)}") from error
        except BaseException as error:  # Ctrl-C
            error.add_note(left_at(path))
            raise


def left_at(path: Path) -> str:
    """Say that the work folder was kept, and how to continue."""
    return (
        f"The work folder {str(path)!r} was kept; it holds original values. Continue with "
        "--resume (resume=True in Python), or delete it."
    )


def _make(path: Path, *, resume: bool) -> None:
    if resume:
        if not path.is_dir():
            raise ParameterError(
                f"there is nothing to resume: the work folder {str(path)!r} does not exist. Leave "
                "--resume (resume=True) out to start again."
            )
        # What is in it is unpickled, which can run any program.
        if hasattr(os, "geteuid") and os.lstat(path).st_uid != os.geteuid():
            raise ParameterError(
                f"the work folder {str(path)!r} belongs to somebody else, and is not trusted. "
                "Delete it, or name another place (--work-dir, or work_dir= in Python)."
            )
        return
    try:
        path.mkdir(mode=_PRIVATE_FOLDER)
    except FileExistsError:
        raise ParameterError(
            f"the work folder {str(path)!r} belongs to an earlier run. Continue it (--resume, "
            "or resume=True in Python), or delete it first."
        ) from None
    except OSError as error:
        raise ParameterError(
            f"the work folder {str(path)!r} cannot be made: {error.strerror}. Name another place "
            "(--work-dir, or work_dir= in Python)."
        ) from None
    path.chmod(_PRIVATE_FOLDER)


@contextmanager
def locked(path: Path, refusal: MicroaggError) -> Iterator[None]:
    """Lock a file, or a folder, for this block: no other run can have it then."""
    if fcntl is None:
        yield
        return
    how = os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT
    descriptor = os.open(path, how, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise refusal from None
        except OSError:  # a file system without locks
            pass
        yield
    finally:
        os.close(descriptor)
