"""All commands; each is loaded only when it is called."""

from collections import Counter
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from microagg.cli.layout import width
from microagg.cli.version import Version

_WIDEST_HELP = 80

HELP = (
    "Turn a table about people or companies into one that is safe to publish.\n\n"
    "Every released combination of quasi-identifiers stands for at least K records, with as "
    "little information lost as the method allows. Start with: microagg demo"
)


class Entry(NamedTuple):
    """A command in the list of commands."""

    summary: str
    example: str


COMMANDS = {
    "plan": Entry("Draft what each column of a file is.", "people.csv -o people.toml"),
    "protect": Entry(
        "Make a file safe to publish.", "people.csv -k 5 --identifier name --sensitive diagnosis"
    ),
    "verify": Entry(
        "Check that every combination in a file stands for K records.",
        "people-protected.csv -k 5 --sensitive diagnosis",
    ),
    "measure": Entry(
        "See how safe and how useful a protected file is.",
        "people.csv people-protected.csv --sensitive diagnosis",
    ),
    "compare": Entry(
        "See what each method would lose on a file.",
        "people.csv -k 3,5,10 --identifier name --sensitive diagnosis",
    ),
    "sweep": Entry(
        "See what a file loses as K grows.",
        "people.csv -k 2-20 --identifier name --sensitive diagnosis",
    ),
    "app": Entry("Do all of this in a browser.", "people.csv"),
    "methods": Entry("List the methods that protect can use.", ""),
    "demo": Entry("Protect a sample table and look at the result.", ""),
    "warm": Entry("Compile everything now, for container images.", ""),
}


class _Command(TyperCommand):
    """A command that lists its options in sections, and refuses an option that is given twice."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        given = Counter(self.make_parser(ctx).parse_args(args=list(args))[2])
        for parameter, times in given.items():
            if times > 1 and not (parameter.multiple or getattr(parameter, "is_flag", False)):
                name = max(parameter.opts, key=len)
                ctx.fail(f"{name} is given {times} times; give it once.")
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            if (record := parameter.get_help_record(ctx)) is not None:
                section = getattr(parameter, "rich_help_panel", None) or "Options"
                is_argument = parameter.param_type_name == "argument"
                sections.setdefault("Arguments" if is_argument else section, []).append(record)
        for section, records in sections.items():
            with formatter.section(section):
                formatter.write_dl(records)


class _Commands(TyperGroup):
    """The group of all commands; listing them loads none."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        example = f"microagg {cmd_name} {COMMANDS[cmd_name].example}".strip()
        one = typer.Typer(rich_markup_mode=None, add_completion=False)
        function = getattr(import_module(f"microagg.cli.{cmd_name}"), cmd_name)
        one.command(cmd_name, cls=_Command, epilog=f"Example: {example}")(function)
        return typer.main.get_command(one)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items()])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        self.commands = dict.fromkeys(COMMANDS)  # type: ignore[assignment]  # for hints
        return super().resolve_command(ctx, args)


def _root(_version: Version = False) -> None:
    """Hold the options that come before a command."""


def command() -> Any:
    """Return the whole command line, ready to be invoked."""
    app = typer.Typer(
        cls=_Commands,
        help=HELP,
        rich_markup_mode=None,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={
            "help_option_names": ["-h", "--help"],
            "terminal_width": min(width(), _WIDEST_HELP),
        },
    )
    app.callback(cls=_Commands)(_root)
    return typer.main.get_command(app)
