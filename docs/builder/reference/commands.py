"""The command line: every command with its arguments and options, as `--help` has them."""

import html
from collections.abc import Iterator
from typing import Any

import typer

from microagg.cli.commands import COMMANDS, command
from microagg.core.errors import DataError, GuaranteeError, ParameterError

_CODES = (
    (0, "it worked; for `verify`: yes"),
    (1, "memory ran out"),
    (ParameterError.exit_code, "a bad request: an option, a column, a path"),
    (DataError.exit_code, "bad data: something in the file"),
    (GuaranteeError.exit_code, "a guarantee could not be met; for `verify`: no"),
    (130, "interrupted (Ctrl-C)"),
    (143, "terminated (SIGTERM)"),
)

_ENDLESS = ("app",)


def pages() -> dict[str, str]:
    """Return the page of the command line."""
    return {"command-line.md": "\n\n".join(_page()) + "\n"}


def _page() -> Iterator[str]:
    yield "# The command line"
    yield (
        "`microagg COMMAND --help` shows the same. `-` stands for standard input or output; a file "
        "that exists is replaced with `--force` only, and the input never. An error is one line "
        "on standard error and an exit code:"
    )
    rows = "\n".join(f"| {code} | {meaning} |" for code, meaning in _CODES)
    yield f"| exit code | meaning |\n|---|---|\n{rows}"
    group = command()
    context = typer.Context(group, info_name="microagg")
    for name, entry in COMMANDS.items():
        found = group.get_command(context, name)
        yield f"## microagg {name} {{#{name}}}"
        yield (found.help or entry.summary).strip()
        if name in _ENDLESS:
            yield "<!-- not run: it goes on until it is stopped -->"
        yield f"```sh\nmicroagg {name} {entry.example}".rstrip() + "\n```"
        yield from _options(found)


def _options(found: Any) -> Iterator[str]:
    """Return a table of options for every section of the help."""
    context = typer.Context(found, info_name=found.name)
    sections: dict[str, list[str]] = {}
    for parameter in found.get_params(context):
        if (record := parameter.get_help_record(context)) is None:
            continue
        is_argument = parameter.param_type_name == "argument"
        section = getattr(parameter, "rich_help_panel", None) or "Options"
        names, meaning = record
        if is_argument:
            names = names.partition(" <")[0]  # some versions of typer add the type
        row = f"| {_code(names)} | {_cell(meaning)} |"
        sections.setdefault("Arguments" if is_argument else section, []).append(row)
    for section, rows in sections.items():
        body = "\n".join(rows)
        yield f"| {section} | meaning |\n|---|---|\n{body}"


def _code(text: str) -> str:
    # Within backticks, builders disagree about a bar in a table.
    return f"<code>{html.escape(text, quote=False).replace('|', '&#124;')}</code>"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
