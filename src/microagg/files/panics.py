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
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_STANDARD_ERROR = 2
# The report of one thread: where, what (some lines), and a hint or a numbered list of calls.
_PANIC = re.compile(
    rb"\n?^thread '[^'\n]*' (?:\([0-9]+\) )?panicked at .*?"
    rb"(?:^note: (?:run with|Some details)[^\n]*\n|(?=^thread ')|\Z)",
    re.MULTILINE | re.DOTALL,
)

_SECONDS_TO_WAIT, _SECONDS_BETWEEN = 2.0, 0.05


class _Detour:
    """Where standard error leads meanwhile; there is only one, so readers in threads share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_readers = 0
        self._before: int | None = None
        self._caught = -1

    def begin(self) -> None:
        with self._lock:
            self._n_readers += 1
            if self._n_readers == 1:
                with suppress(OSError):  # it is closed: nobody sees it anyway
                    self._divert()

    def end(self) -> None:
        with self._lock:
            self._n_readers -= 1
            if self._n_readers == 0 and self._before is not None:
                _flush()
                os.dup2(self._before, _STANDARD_ERROR)
                os.close(self._before)
                self._before = None
                self._pass_on()

    def wait_for_others(self) -> None:
        """Wait until threads that panicked at the same time have also written their reports."""
        size, end = -1, time.monotonic() + _SECONDS_TO_WAIT
        while self._before is not None and time.monotonic() < end:
            before, size = size, os.fstat(self._caught).st_size
            if size == before:
                return
            time.sleep(_SECONDS_BETWEEN)

    def _divert(self) -> None:
        _flush()
        with tempfile.TemporaryFile() as file:
            before = os.dup(_STANDARD_ERROR)
            self._caught = os.dup(file.fileno())
        os.dup2(self._caught, _STANDARD_ERROR)
        self._before = before

    def _pass_on(self) -> None:
        """Write to standard error what was caught, without the reports of panics."""
        with open(self._caught, "rb") as file, suppress(OSError):
            file.seek(0)
            rest = memoryview(without_panics(file.read()))
            while rest:
                rest = rest[os.write(_STANDARD_ERROR, rest) :]


_detour = _Detour()


def without_panics(written: bytes) -> bytes:
    """Return what was written to standard error without the reports of panics."""
    return _PANIC.sub(b"", written)


def _flush() -> None:
    with suppress(OSError, ValueError):
        if sys.stderr is not None:
            sys.stderr.flush()


@contextmanager
def without_panic_lines() -> Iterator[None]:
    """Keep reports of panics from standard error while the block runs."""
    _detour.begin()
    try:
        yield
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            _detour.wait_for_others()
        raise
    finally:
        _detour.end()
