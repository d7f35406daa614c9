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
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from microagg.core.errors import MicroaggError
from microagg.core.words import printable

OUT_OF_MEMORY = 1
UNWRITABLE = 2
INTERRUPTED = 130
BROKEN_PIPE = 141
TERMINATED = 143

_WRITERS = ("protect", "demo")
# Options that save memory, of commands that have them.
_SAVING = {
    "protect": "--effort fast or another --method",
    "compare": "--effort fast or fewer --methods",
    "sweep": "--effort fast or a smaller K",
}
# What other errors say then: of the system, of threads, and of libraries that cannot be loaded.
_LACK_OF_MEMORY = ("cannot allocate memory", "can't start new thread", "failed to map segment")


class _TerminatedError(BaseException):
    """SIGTERM: unlike Ctrl-C it never means to go on with the best groups so far."""


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the command line with these arguments, or the process's own, and exit."""
    began = time.perf_counter()
    arguments = list(sys.argv[1:] if argv is None else argv)
    _open_streams()
    try:
        with _raising_when_terminated(), _raising_what_ended_it():
            code = _run(arguments, began)
            sys.stdout.flush()
    except MicroaggError as error:
        _say(str(error))
        code = error.exit_code
    except (KeyboardInterrupt, _TerminatedError) as ended:
        is_terminated = isinstance(ended, _TerminatedError)
        writes = bool(arguments) and arguments[0] in _WRITERS
        wrote = "; nothing half-written was left behind" if writes else ""
        notes = "".join(f" {note}" for note in getattr(ended, "__notes__", ()))
        _say(f"{'terminated' if is_terminated else 'interrupted'}{wrote}.{notes}")
        code = TERMINATED if is_terminated else INTERRUPTED
    except BrokenPipeError:
        _give_up_output()
        code = BROKEN_PIPE
    except (MemoryError, OSError, RuntimeError, ImportError) as error:
        if _is_lack_of_memory(error):
            code, line = OUT_OF_MEMORY, _memory_line(error, arguments)
        elif isinstance(error, OSError):
            code, line = UNWRITABLE, _system_line(error)
        else:
            raise
        _give_up_output()
        _say(line)
    if argv is None:  # all is said and done; libraries that clean up are not to be interrupted
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(code)


@contextmanager
def _raising_when_terminated() -> Iterator[None]:
    """Have SIGTERM end the block like an exception, so that temporary files are removed."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what signals do
        return

    def end(*_: object) -> NoReturn:
        raise _TerminatedError

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


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


def _is_lack_of_memory(error: BaseException | None) -> bool:
    """Whether an error, or what led to it, says that memory ran out."""
    while error is not None:
        said = str(error).lower()
        if isinstance(error, MemoryError) or any(words in said for words in _LACK_OF_MEMORY):
            return True
        error = error.__cause__ or error.__context__
    return False


def _memory_line(error: Exception, arguments: Sequence[str]) -> str:
    """Return what could not be held, and what to do; the message of numpy names the size."""
    command = arguments[0] if arguments else ""
    size = re.search(r"Unable to allocate ([0-9]+(?:\.[0-9]+)?)\.? (\w+)", str(error))
    amount = f": {size[1]} {size[2]} more could not be held" if size else ""
    wrote = "; nothing was written" if command in _WRITERS else ""
    remedy = "Use fewer columns or records, or a machine with more memory."
    if command in _SAVING:
        remedy = (
            f"Choose {_SAVING[command]}, --drop columns, use fewer records, or use a machine with "
            "more memory."
        )
    return f"there is not enough memory{amount}{wrote}. {remedy}"


def _run(argv: list[str], began: float) -> int:
    import typer

    from microagg.cli.app import command

    # The class of all errors in arguments; typer has no public name for it.
    usage_error: type[Exception] = typer.BadParameter.__bases__[0]
    try:
        # Not app(): it would print a long usage text, or a blank line on Ctrl-C.
        with command().make_context("microagg", argv or ["--help"], obj=began) as context:
            context.command.invoke(context)
    except typer.Exit as leaving:
        return leaving.exit_code
    except usage_error as error:
        _say(_usage_line(error))
        return 2
    return 0


def _usage_line(error: Any) -> str:
    """Return a message on wrong arguments: the problem, a similar option, where to find help."""
    message = error.format_message()
    if option := getattr(error, "option_name", None):
        nearest = _nearest_option(option, getattr(error, "possibilities", None) or ())
        message = f"{error.message.rstrip('.')}.{nearest}"
    message = f"{' '.join(message.split()).rstrip('.?')}{'?' if message.endswith('?') else '.'}"
    path = error.ctx.command_path if error.ctx else "microagg"
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
