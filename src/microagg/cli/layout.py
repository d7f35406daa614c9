"""How results are set: aligned, wrapped to the terminal, plain enough for a pipe."""

import json
import shutil
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import typer

_NARROWEST, _WIDEST, _PIPED = 60, 110, 100


def width() -> int:
    """Return how many columns a line may take."""
    columns = shutil.get_terminal_size(fallback=(_PIPED, 24)).columns
    return max(_NARROWEST, min(columns, _WIDEST))


def facts(rows: Sequence[tuple[str, str]], *, indent: int = 2) -> str:
    """Set names and values in two columns; long values go on under themselves.

    >>> print(facts([("groups", "88"), ("time", "0.4 s")]))
      groups  88
      time    0.4 s
    """
    margin = indent + max(len(name) for name, _ in rows) + 2
    lines = []
    for name, value in rows:
        wrapped = textwrap.wrap(
            value, max(width() - margin, 20), break_long_words=False, break_on_hyphens=False
        )
        for i, line in enumerate(wrapped or [""]):
            head = f"{'':{indent}}{name}" if i == 0 else ""
            lines.append(f"{head:{margin}}{line}".rstrip())
    return "\n".join(lines)


def names(columns: Sequence[str]) -> str:
    """List column names in one line."""
    return ", ".join(" ".join(column.split()) for column in columns) or "none"


def counted(number: int, noun: str) -> str:
    """Word a number of things.

    >>> counted(1, "record"), counted(12000, "record")
    ('1 record', '12,000 records')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def print_json(values: Mapping[str, Any]) -> None:
    """Print one JSON object on standard output."""
    typer.echo(json.dumps(values, allow_nan=False))
