"""microagg app: the way from a file to a release in a browser."""

from collections.abc import Callable
from typing import Annotated, TypeVar

import typer

from microagg.cli.version import Version
from microagg.core.errors import ParameterError
from microagg.files.formats import suffix_list

Number = TypeVar("Number", int, float)


def app(
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help=f"The file to begin with: {suffix_list()}."),
    ] = None,
    port: Annotated[
        str | None, typer.Option(metavar="P", help="Port on this machine. Default: a free one.")
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address instead of opening a browser.")
    ] = False,
    idle_minutes: Annotated[
        str,
        typer.Option(
            metavar="M",
            help="Stop after this many minutes without use. Default: 60.",
            show_default=False,
        ),
    ] = "60",
    _version: Version = False,
) -> None:
    """Open the app in a browser: choose roles, protect, look at the result, and save it.

    It is served to this machine alone, and nothing is sent anywhere. What is done there can be done
    with the other commands as well: every step shows the command. Ctrl-C stops it.
    """
    from microagg.app.serve import serve

    chosen = None if port is None else _number("--port", port, int)
    idle = _number("--idle-minutes", idle_minutes, float)
    serve(file, chosen, not no_browser, idle_minutes=idle)


def _number(flag: str, text: str, kind: Callable[[str], Number]) -> Number:
    try:
        return kind(text)
    except ValueError:
        raise ParameterError(f"{flag} must be a number; got {text!r}.") from None
