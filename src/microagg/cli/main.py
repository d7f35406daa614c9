"""The entry point: every failure ends as one line on standard error and the exit code it deserves.

Nothing is imported before it is needed, so that `microagg --help` is quick and an interrupt is
caught from the first moment.
"""

import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from microagg.errors import MicroaggError

INTERRUPTED = 130
BROKEN_PIPE = 141


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the command line with these arguments, or the process's own, and exit."""
    try:
        code = _run(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
    except MicroaggError as error:
        _say(str(error))
        code = error.exit_code
    except KeyboardInterrupt:
        _say("interrupted; nothing half-written was left behind.")
        code = INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has left; Python must not complain when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = BROKEN_PIPE
    sys.exit(code)


def _run(argv: list[str]) -> int:
    import typer

    from microagg.cli.app import command

    # The class of every error in the arguments; typer gives it no public name of its own.
    usage_error: type[Exception] = typer.BadParameter.__bases__[0]
    try:
        # Not app(): it would print a usage text of many lines, or a blank one when interrupted.
        with command().make_context("microagg", argv or ["--help"]) as context:
            context.command.invoke(context)
    except typer.Exit as leaving:
        return leaving.exit_code
    except usage_error as error:
        _say(_usage_line(error))
        return 2
    return 0


def _usage_line(error: Any) -> str:
    """Word an error in the arguments: what is wrong, the nearest option, where help is."""
    from microagg.validation import did_you_mean

    message = error.format_message()
    if option := getattr(error, "option_name", None):
        nearest = did_you_mean(option, getattr(error, "possibilities", None) or ())
        message = f"{error.message.rstrip('.')}.{nearest}"
    message = f"{' '.join(message.split()).rstrip('.?')}{'?' if message.endswith('?') else '.'}"
    path = error.ctx.command_path if error.ctx else "microagg"
    return f"{message[:1].lower()}{message[1:]} Try '{path} --help'."


def _say(message: str) -> None:
    sys.stderr.write(f"microagg: {' '.join(message.splitlines())}\n")
    sys.stderr.flush()
