"""Kernels that another process compiles while this one compiles and runs others.

Within a process numba compiles one function at a time, however many threads there are; but it finds
on disk what another process has compiled. So the first run delegates the kernels it needs last.
"""

import importlib
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.spawn import get_executable
from pathlib import Path
from typing import Any, cast

from microagg.kernels.compile import Kernel

# On some systems a wait without a timeout ignores Ctrl-C.
_SECONDS_PER_WAIT = 0.2
# A helper that takes longer is assumed to hang, and everything is compiled here.
_MOST_SECONDS = 120.0
# The helper finds the same modules as this process, and no others.
_SCRIPT = """
import sys
sys.path[:] = sys.argv[3:]
from microagg.kernels.background import run
run(*sys.argv[1:3])
"""


@contextmanager
def compiled_in_background(
    last: Callable[..., Any], warm_up: Callable[[], None], n_jobs: int
) -> Iterator[None]:
    """Have another process call `warm_up` during the block, and wait for it at the end.

    `warm_up` compiles kernels, `last` after all others, and after the block this process finds them
    on disk. Nothing is started if they are there already, if the disk cannot be written to or if
    there is only one thread; and if the helper fails, they are compiled here.
    """
    helper = _start(warm_up) if _is_worth_it(last, n_jobs) else None
    if helper is None:
        yield
        return
    with helper:  # closes its input and waits for it
        try:
            yield
            _wait(helper)
        finally:
            helper.kill()


def _is_worth_it(last: Callable[..., Any], n_jobs: int) -> bool:
    among_workers = multiprocessing.parent_process() is not None
    return n_jobs > 1 and not among_workers and cast(Kernel, last).is_uncompiled()


def _start(warm_up: Callable[[], None]) -> "subprocess.Popen[bytes] | None":
    """Start the helper, if this process is a Python interpreter that can be started again."""
    interpreter = os.fsdecode(get_executable() or "")
    if not Path(interpreter).name.lower().startswith("python") or hasattr(sys, "frozen"):
        return None  # embedded in another program, which would be started a second time
    paths = [path for path in sys.path if isinstance(path, str)]
    with suppress(OSError):
        return subprocess.Popen(
            [interpreter, "-c", _SCRIPT, warm_up.__module__, warm_up.__name__, *paths],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # on Windows
        )
    return None


def _wait(helper: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + _MOST_SECONDS
    while helper.poll() is None and time.monotonic() < end:
        with suppress(subprocess.TimeoutExpired):
            helper.wait(_SECONDS_PER_WAIT)


def run(module: str, name: str) -> None:
    """Call a function by name, in the helper."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    getattr(importlib.import_module(module), name)()


def _end_with_parent() -> None:
    """Exit when the input is closed, which happens when the parent process ends."""
    os.read(0, 1)
    os._exit(1)
