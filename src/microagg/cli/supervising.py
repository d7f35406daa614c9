"""The command runs in a process of its own, so that a crash ends in one line as well.

Where memory runs out inside a library written in C or Rust, the process aborts, and systems kill
the one that takes most of it: nothing in that process can say so. So the first process, which is
small, starts another that does the work, waits for it, and says what happened if that one could
not. It passes on signals and the exit code. Only on Linux; elsewhere, and where no process can be
started, the command runs in the first one.

The worker has a process group of its own: what is sent to the first process, or from the terminal
to its group, reaches the worker exactly once. It dies with the first process. What libraries write
to standard error past Python is kept, and follows at the end: after a crash it is dropped, as
reports of failed allocations take many lines.
"""

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_STANDARD_ERROR = 2


class End(NamedTuple):
    """How the worker ended: a code of None means that it crashed, or was killed."""

    code: int | None
    was_killed: bool = False
    noise: bytes = b""


@dataclass
class _Worker:
    """What a worker has from the first process."""

    said: int = -1
    noise: int = -1
    blocked: frozenset[int] | None = None


_worker = _Worker()


def run_apart(arguments: Sequence[str]) -> End | None:
    """Go on in a worker, which gets None; the first process gets how that one ended.

    None as well where there is no worker. Signals wait until a worker asks for them.
    """
    if sys.platform != "linux" or not _is_possible(arguments):
        return None
    passed_on = _signals_passed_on()
    heard, said = os.pipe()
    noise, first = os.memfd_create("microagg"), os.getpid()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (*passed_on, signal.SIGCHLD))
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        worker = os.fork()
    except OSError:  # too many processes, or too little memory
        worker = -1
    if worker > 0:
        os.close(said)
        return _end(_waited_for(worker, passed_on), heard, noise)
    _worker.blocked = frozenset(before)
    os.close(heard)
    if worker == 0:
        _worker.said, _worker.noise = said, noise
        _begin_work(first, noise)
    return None


def heed_signals() -> None:
    """Take the signals that came since `run_apart`, and those to come."""
    if sys.platform == "linux" and _worker.blocked is not None:
        before, _worker.blocked = _worker.blocked, None
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def libraries_said() -> bytes:
    """Return what libraries have written to standard error, past Python, in this worker."""
    return _read_all(_worker.noise) if _worker.noise >= 0 else b""


def say_end(code: int) -> None:
    """Tell the first process the exit code: the work is done, and what ends now did not crash."""
    if _worker.said >= 0:
        with suppress(OSError):
            os.write(_worker.said, bytes([code]))


def _is_possible(arguments: Sequence[str]) -> bool:
    try:
        for stream in range(3):
            os.fstat(stream)
    except OSError:  # one is closed, and its number would go to something else
        return False
    # Only one process group at a time may read from a terminal.
    return not ("-" in arguments and os.isatty(0))


def _signals_passed_on() -> tuple[signal.Signals, ...]:
    names = ("INT", "TERM", "HUP", "QUIT", "USR1", "USR2", "TSTP", "CONT")
    return tuple(signal.Signals[f"SIG{name}"] for name in names)


def _begin_work(first: int, noise: int) -> None:
    """Make this process a worker."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # other groups may also write to a terminal
    with suppress(ImportError, OSError, AttributeError, MemoryError):
        import ctypes

        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != first:
        os._exit(1)
    if sys.stderr is not None:
        sys.stderr = open(  # noqa: SIM115
            os.dup(_STANDARD_ERROR),
            "w",
            buffering=1,
            encoding=sys.stderr.encoding,
            errors=sys.stderr.errors,
        )
        os.dup2(noise, _STANDARD_ERROR)


def _waited_for(worker: int, passed_on: Sequence[signal.Signals]) -> int:
    """Return how a worker ended; pass signals on until then, and stop whenever it stops."""
    while True:
        number = signal.sigwait((*passed_on, signal.SIGCHLD))
        if number != signal.SIGCHLD:
            os.kill(worker, number)
            continue
        ended, status = os.waitpid(worker, os.WNOHANG | os.WUNTRACED)
        if ended and os.WIFSTOPPED(status):
            os.kill(os.getpid(), signal.SIGSTOP)
        elif ended:
            return status


def _end(status: int, heard: int, noise: int) -> End:
    os.set_blocking(heard, False)
    with suppress(BlockingIOError):
        if code := os.read(heard, 1):
            return End(code[0], noise=_read_all(noise))
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else signal.SIGABRT
    if number not in _crashes():  # somebody wanted it to end in this way
        signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        os.kill(os.getpid(), number)
    return End(None, was_killed=number == signal.SIGKILL)


def _crashes() -> set[int]:
    """Return the signals with which libraries and the system end a process."""
    names = ("KILL", "ABRT", "SEGV", "BUS", "ILL", "FPE", "SYS", "TRAP")
    return {signal.Signals[f"SIG{name}"] for name in names}


def _read_all(file: int) -> bytes:
    return os.pread(file, os.fstat(file).st_size, 0)
