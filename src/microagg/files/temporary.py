"""Temporary files of a run, and those that a killed run left behind.

They are named `.microagg-*.tmp` and locked for as long as their run lives, so that the next run
that writes to the folder can tell what was left behind, and removes it.
"""

import os
import re
import secrets
import stat
import time
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows: nothing is locked, and nothing removed
    fcntl = None

_NAME = re.compile(r"\.microagg-[0-9a-f]{16}\.tmp")
# A younger file may belong to a run that has not locked it yet.
_SECONDS_YOUNG = 60.0
# Another program may hold a lock forever; renaming takes milliseconds.
_SECONDS_TO_WAIT, _SECONDS_BETWEEN = 5.0, 0.01


def temporary_name(folder: Path) -> Path:
    """Return a name that is not in use."""
    return folder / f".microagg-{secrets.token_hex(8)}.tmp"


@contextmanager
def temporary_file(folder: Path, mode: int) -> Iterator[Path]:
    """Make an empty file, locked while the block runs and removed at its end."""
    path = temporary_name(folder)
    with ExitStack() as held:
        # A signal may end the run at any step, so the file is removed whatever was reached: its
        # name is nobody else's. Twice, in case the signal comes just then.
        held.callback(path.unlink, missing_ok=True)
        held.callback(path.unlink, missing_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        held.callback(os.close, descriptor)
        lock(descriptor)
        yield path


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files whose run was killed."""
    if fcntl is None:
        return
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name):
                with suppress(OSError):
                    _remove_if_left(Path(entry.path))


def _remove_if_left(path: Path) -> None:
    status = path.lstat()
    is_own = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
    # The time of the last change of any kind: a hard link to an old file is young.
    if not is_own or time.time() - status.st_ctime < _SECONDS_YOUNG:
        return
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    try:
        if lock(descriptor):
            path.unlink()
    finally:
        os.close(descriptor)


@contextmanager
def one_run_at_a_time(folders: Collection[Path]) -> Iterator[None]:
    """Keep other runs from renaming files in these folders, so that sets of files do not mix."""
    with ExitStack() as held:
        for folder in sorted(folders) if fcntl is not None else ():
            with suppress(OSError):
                descriptor = os.open(folder, os.O_RDONLY)
                held.callback(os.close, descriptor)
                wait_for_lock(descriptor)
        yield


def wait_for_lock(descriptor: int) -> None:
    """Lock an open file or folder as soon as it is free, or do without after a few seconds."""
    end = time.monotonic() + _SECONDS_TO_WAIT
    while not lock(descriptor) and time.monotonic() < end:
        time.sleep(_SECONDS_BETWEEN)


def lock(descriptor: int) -> bool:
    """Lock an open file or folder, if nobody else has."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
