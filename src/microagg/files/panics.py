"""What polars prints when it panics is kept from the terminal; the exception says it all.

A panic of Rust is reported twice: as an exception, and before that as lines on standard error that
Python cannot switch off and that may quote values. So the descriptor of standard error leads to a
temporary file while polars reads, and whatever else was written there is passed on afterwards.
"""

import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_STANDARD_ERROR = 2
# The report of one thread: where, what (some lines), and a hint or a numbered list of calls.
_PANIC = re.compile(
    rb"\n?^thread '[^'\n]*' (?:\([0-9]+\) )?panicked at .*?"
    rb"(?:^note: (?:run with|Some details)[^\n]*\n|(?=^thread ')|\Z)",
    re.MULTILINE | re.DOTALL,
)

# There is only one standard error: readers in several threads share its detour.
_lock = threading.Lock()
_readers = 0
_detour: tuple[int, int] | None = None


@contextmanager
def without_panic_lines() -> Iterator[None]:
    """Keep reports of panics from standard error while the block runs."""
    _begin()
    try:
        yield
    finally:
        _end()


def _begin() -> None:
    global _readers, _detour
    with _lock:
        _readers += 1
        if _readers == 1:
            with suppress(OSError, ValueError):  # closed: then nobody sees it anyway
                if sys.stderr is not None:
                    sys.stderr.flush()
                _detour = _divert()


def _end() -> None:
    global _readers, _detour
    with _lock:
        _readers -= 1
        if _readers == 0 and _detour is not None:
            before, caught = _detour
            _detour = None
            with suppress(OSError, ValueError):
                if sys.stderr is not None:
                    sys.stderr.flush()
            os.dup2(before, _STANDARD_ERROR)
            os.close(before)
            _pass_on(caught)


def _divert() -> tuple[int, int]:
    """Lead standard error to a file; return where it led before, and the file."""
    before = os.dup(_STANDARD_ERROR)
    try:
        with tempfile.TemporaryFile() as file:
            caught = os.dup(file.fileno())
        os.dup2(caught, _STANDARD_ERROR)
    except OSError:
        os.close(before)
        raise
    return before, caught


def _pass_on(caught: int) -> None:
    """Write to standard error what was caught, without the reports of panics."""
    with open(caught, "rb") as file, suppress(OSError):
        file.seek(0)
        rest = memoryview(_PANIC.sub(b"", file.read()))
        while rest:
            rest = rest[os.write(_STANDARD_ERROR, rest) :]
