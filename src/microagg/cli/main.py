"""The entry point: every failure ends as one line on standard error and the exit code it deserves.

Nothing is imported before it is needed, so that `microagg --help` is quick and an interrupt is
caught from the first moment.
"""

import os
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from microagg.core.errors import MicroaggError

UNWRITABLE = 2
INTERRUPTED = 130
BROKEN_PIPE = 141

_WRITERS = ("protect", "demo")


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the command line with these arguments, or the process's own, and exit."""
    began = time.perf_counter()
    arguments = list(sys.argv[1:] if argv is None else argv)
    _open_streams()
    try:
        code = _run(arguments, began)
        sys.stdout.flush()
    except MicroaggError as error:
        _say(str(error))
        code = error.exit_code
    except KeyboardInterrupt:
        writes = bool(arguments) and arguments[0] in _WRITERS
        wrote = "; nothing half-written was left behind" if writes else ""
        _say(f"interrupted{wrote}.")
        code = INTERRUPTED
    except BrokenPipeError:
        _give_up_output()
        code = BROKEN_PIPE
    except OSError as error:
        _give_up_output()
        _say(_system_line(error))
        code = UNWRITABLE
    sys.exit(code)


def _open_streams() -> None:
    """Stand in for streams that are closed, and let no character be unprintable."""
    if sys.stdout is None:  # `>&-`: every attempt to write must fail, as it does on a full disk
        sys.stdout = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")


def _give_up_output() -> None:
    """Send what is still unwritten nowhere: Python must not complain when it flushes at exit."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _system_line(error: OSError) -> str:
    reason = error.strerror or "it is closed"
    if error.filename is None:
        return f"standard output cannot be written: {reason}."
    return f"{str(error.filename)!r} cannot be used: {reason}."


def _run(argv: list[str], began: float) -> int:
    import typer

    from microagg.cli.app import command

    # The class of every error in the arguments; typer gives it no public name of its own.
    usage_error: type[Exception] = typer.BadParameter.__bases__[0]
    try:
        # Not app(): it would print a usage text of many lines, or a blank one when interrupted.
        with command().make_context("microagg", argv or ["--help"], obj=began) as context:
            context.command.invoke(context)
    except typer.Exit as leaving:
        return leaving.exit_code
    except usage_error as error:
        _say(_usage_line(error))
        return 2
    return 0


def _usage_line(error: Any) -> str:
    """Word an error in the arguments: what is wrong, the nearest option, where help is."""
    message = error.format_message()
    if option := getattr(error, "option_name", None):
        nearest = _nearest_option(option, getattr(error, "possibilities", None) or ())
        message = f"{error.message.rstrip('.')}.{nearest}"
    message = f"{' '.join(message.split()).rstrip('.?')}{'?' if message.endswith('?') else '.'}"
    path = error.ctx.command_path if error.ctx else "microagg"
    return f"{message[:1].lower()}{message[1:]} Try '{path} --help'."


def _nearest_option(option: str, known: Iterable[str]) -> str:
    """Return a hint with an option that is a slip away; one of another meaning would mislead."""
    from difflib import get_close_matches

    bare = {name.lstrip("-"): name for name in known}
    close = get_close_matches(option.lstrip("-").lower(), bare, n=1, cutoff=0.8)
    return f" Did you mean {bare[close[0]]!r}?" if close else ""


def _say(message: str) -> None:
    with suppress(OSError):  # nobody is left to be told
        sys.stderr.write(f"microagg: {' '.join(message.splitlines())}\n")
        sys.stderr.flush()
