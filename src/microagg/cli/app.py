"""The commands, gathered."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand

from microagg.cli.compare import compare
from microagg.cli.demo import demo
from microagg.cli.layout import width
from microagg.cli.measure import measure
from microagg.cli.methods import methods
from microagg.cli.options import Version
from microagg.cli.plan import plan
from microagg.cli.protect import protect
from microagg.cli.sweep import sweep
from microagg.cli.verify import verify

_WIDEST_HELP = 80

HELP = (
    "Turn a table about people or companies into one that is safe to publish.\n\n"
    "Every released combination of quasi-identifiers stands for at least K records, with as "
    "little information lost as the method allows. Start with: microagg demo"
)

COMMANDS: dict[Callable[..., None], tuple[str, str]] = {
    plan: (
        "Draft what each column of a file is.",
        "microagg plan people.csv -o people.toml",
    ),
    protect: (
        "Make a file safe to publish.",
        "microagg protect people.csv -k 5 --identifier name --sensitive diagnosis",
    ),
    verify: (
        "Check that a file keeps the promise of K.",
        "microagg verify people-protected.csv -k 5 --sensitive diagnosis",
    ),
    measure: (
        "See how safe a protected file is, and how good.",
        "microagg measure people.csv people-protected.csv --sensitive diagnosis",
    ),
    compare: (
        "See what each method would lose on a file.",
        "microagg compare people.csv -k 3,5,10 --identifier name --sensitive diagnosis",
    ),
    sweep: (
        "See what a file loses as K grows.",
        "microagg sweep people.csv -k 2-20 --identifier name --sensitive diagnosis",
    ),
    methods: ("List the methods that protect can use.", "microagg methods"),
    demo: ("Protect a real table that is at hand.", "microagg demo"),
}


class _OnceEach(TyperCommand):
    """A command that refuses to be given an option twice, where only the last would count."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        given = Counter(self.make_parser(ctx).parse_args(args=list(args))[2])
        for parameter, times in given.items():
            if times > 1 and not (parameter.multiple or getattr(parameter, "is_flag", False)):
                name = max(parameter.opts, key=len)
                ctx.fail(f"{name} is given {times} times; give it once.")
        return super().parse_args(ctx, args)


def _root(_version: Version = False) -> None:
    """Hold the options that come before a command."""


def command() -> Any:
    """Return the whole command line, ready to be invoked."""
    app = typer.Typer(
        help=HELP,
        rich_markup_mode=None,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={
            "help_option_names": ["-h", "--help"],
            "terminal_width": min(width(), _WIDEST_HELP),
        },
    )
    app.callback()(_root)
    for function, (summary, example) in COMMANDS.items():
        app.command(cls=_OnceEach, short_help=summary, epilog=f"Example: {example}")(function)
    return typer.main.get_command(app)
