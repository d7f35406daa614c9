"""How results are laid out: aligned, wrapped to the terminal, plain enough for a pipe."""

import json
import os
import sys
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any

import typer

from microagg.core.errors import SHOWN_WARNINGS
from microagg.core.words import printable

_NARROWEST, _WIDEST, _NO_TERMINAL = 40, 110, 100


def width() -> int:
    """Return how many characters a line may have."""
    return max(_NARROWEST, min(_terminal_columns(), _WIDEST))


def _terminal_columns() -> int:
    """Ask every stream: with `| head` or `| less`, another one may still be a terminal."""
    with suppress(ValueError):
        if (columns := int(os.environ.get("COLUMNS", ""))) > 0:
            return columns
    for stream in (sys.__stdout__, sys.__stderr__, sys.__stdin__):
        with suppress(AttributeError, ValueError, OSError):  # closed, replaced or not a terminal
            if columns := os.get_terminal_size(stream.fileno()).columns:  # type: ignore[union-attr]
                return columns
    return _NO_TERMINAL


def facts(rows: Sequence[tuple[str, str]], *, indent: int = 2) -> str:
    """Lay out names and values in two columns; long values are wrapped within theirs.

    >>> print(facts([("groups", "88"), ("time", "0.4 s")]))
      groups  88
      time    0.4 s
    """
    margin = indent + max(len(name) for name, _ in rows) + 2
    lines = []
    for name, value in rows:
        room = max(width() - margin, 20)
        wrapped = [
            line
            for part in value.split("\n")
            for line in textwrap.wrap(part, room, break_long_words=False, break_on_hyphens=False)
        ]
        for i, line in enumerate(wrapped or [""]):
            head = f"{'':{indent}}{name}" if i == 0 else ""
            lines.append(f"{head:{margin}}{line}".rstrip())
    return "\n".join(lines)


def show(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print text for people; what comes from a file cannot control the terminal."""
    typer.echo(printable(text), err=err, nl=nl)


def print_json(values: Mapping[str, Any]) -> None:
    """Print one JSON object on standard output."""
    typer.echo(json.dumps(values, allow_nan=False))


def bar(*, quiet: bool) -> AbstractContextManager[None]:
    """Return a context manager that shows progress on the terminal, unless quiet."""
    if quiet:
        return nullcontext()
    from microagg.core.progress import terminal_bar

    return terminal_bar()


@contextmanager
def warnings_as_lines(*, quiet: bool) -> Iterator[None]:
    """Print each warning of a release on one line, once the block has succeeded."""
    heard: list[str] = []
    with warnings.catch_warnings():
        for category in SHOWN_WARNINGS:
            warnings.simplefilter("always", category)
        show_others = warnings.showwarning

        def hear(message: Any, category: type[Warning], *rest: Any, **named: Any) -> None:
            if issubclass(category, SHOWN_WARNINGS):
                heard.append(str(message))
            else:
                show_others(message, category, *rest, **named)

        warnings.showwarning = hear
        yield
    if not quiet:
        for message in heard:
            show(f"microagg: warning: {message}", err=True)
