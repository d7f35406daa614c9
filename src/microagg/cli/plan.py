"""microagg plan: a first plan for a file, for a person to check."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microagg.cli.layout import bar, show
from microagg.cli.options import (
    DIALECT,
    FORCE,
    QUIET,
    Input,
    dialect_of,
    output_file,
    parameters,
    parsed,
    plan_options,
    takes,
)

if TYPE_CHECKING:
    from microagg.plans.plan import Plan


@takes(
    output_file("Where the plan goes, or -.", default="-"),
    parameters(plan_options("k", "na", "dates")),
    DIALECT,
    (QUIET, FORCE),
)
def plan(source: Input, *, output: str, given: dict[str, Any]) -> None:
    """Draft a plan: what each column may be, and why. Check it, then run protect with --plan.

    The draft is cautious: no column is marked as sensitive, as that would publish it unchanged.
    """
    from microagg.cli.outputs import check_text_output
    from microagg.files.formats import STANDARD
    from microagg.plans.plan import Plan
    from microagg.release.saving import check_source

    asked = Plan.of(**{"k": 5, **parsed(plan_options("k", "na", "dates"), given)})
    check_source(source)
    if output != STANDARD:
        check_text_output(output, source, force=given["force"])
    with bar(quiet=given["quiet"] or output == STANDARD):
        text = _draft(source, asked, dialect_of(given))
    if output == STANDARD:
        show(text, nl=False)
        return
    from microagg.files.atomic import atomic_write_all
    from microagg.files.writing import text_writer

    atomic_write_all({Path(output): text_writer(text)}, force=given["force"])
    if not given["quiet"]:
        options = f"{_words(dialect_of(given))} --plan {shlex.quote(output)}"
        command = f"microagg protect {shlex.quote(source)}{options}"
        show(f"Check every line of {output}, then: {command}")


def _draft(source: str, asked: "Plan", dialect: dict[str, Any]) -> str:
    from microagg.files.dialect import Dialect
    from microagg.files.formats import STANDARD, open_table
    from microagg.plans.drafting import draft, guess_columns, propose
    from microagg.tables.frames import open_frame
    from microagg.tables.markers import without_entries

    file = open_table(source, dialect=Dialect(**dialect, na=asked.na))
    frame = open_frame(file.table())
    frame, _ = without_entries(frame, frame.columns, asked.na)
    guesses = guess_columns(frame, file.annotations, dates=asked.dates)
    name = "standard input" if source == STANDARD else source
    proposals = propose(frame, guesses, asked.dates)
    return draft(
        guesses,
        asked,
        source=name,
        n_records=len(frame),
        options=_words(dialect),
        proposals=proposals,
    )


def _words(dialect: dict[str, Any]) -> str:
    """Return the options that the file needs to be read, each after a blank."""
    given = {name: value for name, value in dialect.items() if value is not None}
    flags = {name: f"--{name.replace('_', '-')}" for name in given}
    return "".join(f" {flags[name]} {shlex.quote(value)}" for name, value in given.items())
