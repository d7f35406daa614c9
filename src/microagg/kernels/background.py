"""Kernels that another process compiles, while this one is busy with others.

In one process numba compiles one function after the other, whatever the threads; but processes find
on disk what another has compiled. So the first run of all hands over what it needs last.
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

# Waiting without an end is deaf to the keyboard on some systems.
_PATIENCE_SECONDS = 0.2
# A helper that takes longer hangs: then everything is compiled here, as if there were none.
_MOST_SECONDS = 120.0
# The helper sees the modules that this process sees, and nothing else.
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
    """Have another process call `warm_up` during the block; both have ended when it is left.

    `warm_up` compiles kernels, `last` after all others, and this process finds them on disk behind
    the block. Nothing is started where they are there already, where the disk cannot be written to
    or where there is one thread only; and if the helper fails, they are compiled here.
    """
    helper = _start(warm_up) if _is_worth_it(last, n_jobs) else None
    if helper is None:
        yield
        return
    with helper:  # closes its input, and waits
        try:
            yield
            _wait(helper)
        finally:
            helper.kill()


def _is_worth_it(last: Callable[..., Any], n_jobs: int) -> bool:
    among_workers = multiprocessing.parent_process() is not None
    return n_jobs > 1 and not among_workers and cast(Kernel, last).waits_for_compiling()


def _start(warm_up: Callable[[], None]) -> "subprocess.Popen[bytes] | None":
    """Start the helper, if this is an interpreter that can be called."""
    interpreter = os.fsdecode(get_executable() or "")
    if not Path(interpreter).name.lower().startswith("python") or hasattr(sys, "frozen"):
        return None  # part of another program, which would be started a second time
    paths = [path for path in sys.path if isinstance(path, str)]
    with suppress(OSError):
        return subprocess.Popen(
            [interpreter, "-c", _SCRIPT, warm_up.__module__, warm_up.__name__, *paths],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # of Windows
        )
    return None


def _wait(helper: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + _MOST_SECONDS
    while helper.poll() is None and time.monotonic() < end:
        with suppress(subprocess.TimeoutExpired):
            helper.wait(_PATIENCE_SECONDS)


def run(module: str, name: str) -> None:
    """Call a function by name: what the helper does."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    getattr(importlib.import_module(module), name)()


def _end_with_parent() -> None:
    """Wait until the input is closed, which happens when the process at its other end is gone."""
    os.read(0, 1)
    os._exit(1)
