"""The entry point: every failure becomes one line on standard error and an exit code.

Nothing is imported before it is needed, so that `microagg --help` is quick and Ctrl-C is handled
from the start.
"""

import os
import re
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from microagg.cli.limited import need_room_to_start, reserve_little
from microagg.cli.supervising import End, heed_signals, libraries_said, run_apart, say_end
from microagg.core.errors import MicroaggError
from microagg.core.memory import is_lack_of_memory, limit, was_near_limit
from microagg.core.words import printable

OUT_OF_MEMORY = 1
DEFECT = 1
UNWRITABLE = 2
INTERRUPTED = 130
BROKEN_PIPE = 141
TERMINATED = 143

# How typer says it; a file name with spaces arrives as several arguments.
_TOO_MANY = re.compile(r"^Got unexpected extra arguments?(?:\(s\))? \((.*)\)\.?$")
_WRITERS = ("protect", "demo")
# Options that save memory, of commands that have them.
_SAVING = {
    "protect": "--effort fast or another --method",
    "compare": "--effort fast or fewer --methods",
    "sweep": "--effort fast or a smaller K",
}
_SECONDS_UNTIL_REPEATED = 0.05
_OPENBLAS_LACKS_MEMORY = b"OpenBLAS blas_thread_init: pthread_create failed"


class _TerminatedError(BaseException):
    """SIGTERM: unlike Ctrl-C, it never asks for the best groups so far."""


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the command line with these arguments, or the process's own, and exit."""
    began = time.perf_counter()
    arguments = list(sys.argv[1:] if argv is None else argv)
    if argv is None and (end := run_apart(arguments)) is not None:
        sys.exit(_code_of(end, arguments))
    _open_streams()
    if argv is None:
        reserve_little()
    # If polars does not fit in, an error says so.
    warnings.filterwarnings("ignore", "Polars binary is missing")
    try:
        code = _code(arguments, began)
    except BaseException:  # a bug: Python prints a traceback
        say_end(DEFECT)
        raise
    if argv is None:  # all is said and done; libraries that clean up are not to be interrupted
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    say_end(code)
    sys.exit(code)


def _code(arguments: list[str], began: float) -> int:
    """Run the command line, say what went wrong, and return the exit code."""
    try:
        with _raising_when_terminated(), _raising_once_more(), _raising_what_ended_it():
            heed_signals()
            need_room_to_start(arguments)
            code = _run(arguments, began)
            sys.stdout.flush()
            return code
    except MicroaggError as error:
        _say(str(error))
        return error.exit_code
    except (KeyboardInterrupt, _TerminatedError) as ended:
        if _OPENBLAS_LACKS_MEMORY in libraries_said():  # it interrupts the process then
            _say(_memory_line(MemoryError(), arguments))
            return OUT_OF_MEMORY
        is_terminated = isinstance(ended, _TerminatedError)
        wrote = "; nothing half-written was left behind" if _writes(arguments) else ""
        notes = "".join(f" {note}" for note in getattr(ended, "__notes__", ()))
        _say(f"{'terminated' if is_terminated else 'interrupted'}{wrote}.{notes}")
        return TERMINATED if is_terminated else INTERRUPTED
    except BrokenPipeError:
        _give_up_output()
        return BROKEN_PIPE
    except Exception as error:
        if is_lack_of_memory(error) or was_near_limit():
            code, line = OUT_OF_MEMORY, _memory_line(error, arguments)
        elif isinstance(error, OSError):
            code, line = UNWRITABLE, _system_line(error)
        else:
            raise
        _give_up_output()
        _say(line)
        return code


def _code_of(end: End, arguments: Sequence[str]) -> int:
    """Return the exit code of a worker; say what happened to it, if it could not."""
    if end.code is None:
        _say(_crash_line(end, arguments))
        return OUT_OF_MEMORY
    if end.noise and end.code != OUT_OF_MEMORY:
        from microagg.files.panics import without_panics

        with suppress(OSError):
            sys.stderr.buffer.write(without_panics(end.noise))
            sys.stderr.buffer.flush()
    return end.code


@contextmanager
def _raising_when_terminated() -> Iterator[None]:
    """Have SIGTERM end the block like an exception, so that temporary files are removed."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what signals do
        return

    def end(*_: object) -> NoReturn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough: cleaning up takes a moment
        raise _TerminatedError

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _raising_once_more() -> Iterator[None]:
    """Repeat Ctrl-C and SIGTERM that came where a library calls Python: it would forget them."""
    terminating, before = signal.getsignal(signal.SIGTERM), sys.unraisablehook

    def repeat(unraisable: "sys.UnraisableHookArgs") -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            number = signal.SIGINT
        elif issubclass(unraisable.exc_type, _TerminatedError):
            number = signal.SIGTERM
            signal.signal(number, terminating)
        else:
            before(unraisable)
            return
        # Not at once: what is raised here would be printed and forgotten as well.
        threading.Timer(_SECONDS_UNTIL_REPEATED, _signal_main_thread, [number]).start()

    sys.unraisablehook = repeat
    try:
        yield
    finally:
        sys.unraisablehook = before


def _signal_main_thread(number: int) -> None:
    """Send a signal that also ends a system call for which the main thread waits."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:  # on Windows
        signal.raise_signal(number)


@contextmanager
def _raising_what_ended_it() -> Iterator[None]:
    """Raise Ctrl-C and SIGTERM as they came, if a library has made errors of its own of them."""
    try:
        yield
    except MicroaggError:
        raise
    except Exception as error:
        behind: BaseException | None = error
        while behind is not None:
            if isinstance(behind, (KeyboardInterrupt, _TerminatedError)):
                raise behind from None
            behind = behind.__cause__ or behind.__context__
        raise


def _open_streams() -> None:
    """Replace closed streams, and make every character printable."""
    if sys.stdout is None:  # `>&-`: every write must fail, as on a full disk
        sys.stdout = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")


def _give_up_output() -> None:
    """Discard unwritten output, so that Python does not complain when it flushes at exit."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _system_line(error: OSError) -> str:
    reason = error.strerror or "it is closed"
    if error.filename is None:
        return f"standard output cannot be written: {reason}."
    return f"{str(error.filename)!r} cannot be used: {reason}."


def _memory_line(error: Exception, arguments: Sequence[str]) -> str:
    """Return what could not be allocated, and what to do; numpy's message names the size."""
    size = re.search(r"Unable to allocate ([0-9]+(?:\.[0-9]+)?)\.? (\w+)", str(error))
    amount = f": {size[1]} {size[2]} more could not be allocated" if size else ""
    wrote = "; nothing was written" if _writes(arguments) else ""
    return f"there is not enough memory{amount}{wrote}. {_saving_memory(arguments)}"


def _crash_line(end: End, arguments: Sequence[str]) -> str:
    """Return what happened to a worker that crashed or was killed, and what to do."""
    happened = "the process was killed" if end.was_killed else "a library crashed"
    wrote = "; no output is half-written" if _writes(arguments) else ""
    reason = "as happens when memory runs out"
    return f"{happened}, {reason}{wrote}. {_saving_memory(arguments)}"


def _writes(arguments: Sequence[str]) -> bool:
    return bool(arguments) and arguments[0] in _WRITERS


def _saving_memory(arguments: Sequence[str]) -> str:
    """Return what to do if memory does not suffice."""
    command = arguments[0] if arguments else ""
    more = "a machine with more memory" if limit() is None else "a higher limit (ulimit -v)"
    if command in _SAVING:
        return f"Choose {_SAVING[command]}, --drop columns, use fewer records, or use {more}."
    return f"Use fewer columns or records, or {more}."


def _run(argv: list[str], began: float) -> int:
    import typer

    from microagg.cli.commands import COMMANDS, command

    # The class of all errors in arguments; typer has no public name for it.
    usage_error: type[Exception] = typer.BadParameter.__bases__[0]
    try:
        # Not app(): it would print a long usage text, or a blank line on Ctrl-C.
        with command().make_context("microagg", argv or ["--help"], obj=began) as context:
            context.command.invoke(context)
    except typer.Exit as leaving:
        return leaving.exit_code
    except usage_error as error:
        _say(_usage_line(error, argv[0] if argv[:1] and argv[0] in COMMANDS else ""))
        return 2
    return 0


def _usage_line(error: Any, name: str) -> str:
    """Return a message on wrong arguments: the problem, a similar option, where to find help."""
    message = _TOO_MANY.sub(
        r"unexpected argument: \1. A name with spaces goes in quotes.", error.format_message()
    )
    if option := getattr(error, "option_name", None):
        nearest = _nearest_option(option, getattr(error, "possibilities", None) or ())
        message = f"{error.message.rstrip('.')}.{nearest}"
    message = f"{' '.join(message.split()).rstrip('.?')}{'?' if message.endswith('?') else '.'}"
    # Some errors do not say in which command they occurred.
    path = error.ctx.command_path if error.ctx else f"microagg {name}".strip()
    return f"{message[:1].lower()}{message[1:]} Try '{path} --help'."


def _nearest_option(option: str, known: Iterable[str]) -> str:
    """Return a hint with an option that is a typo away; any other would be misleading."""
    from difflib import get_close_matches

    bare = {name.lstrip("-"): name for name in known}
    close = get_close_matches(option.lstrip("-").lower(), bare, n=1, cutoff=0.8)
    return f" Did you mean {bare[close[0]]!r}?" if close else ""


def _say(message: str) -> None:
    with suppress(OSError):  # nobody is listening any more
        sys.stderr.write(f"microagg: {printable(' '.join(message.splitlines()))}\n")
        sys.stderr.flush()
