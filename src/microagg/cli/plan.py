"""microagg plan: a first plan for a file, for a person to check."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from microagg.cli.options import (
    Decimal,
    Delimiter,
    Encoding,
    Force,
    Input,
    Quiet,
    Version,
    count_or_text,
)
from microagg.cli.paths import STANDARD_DESCRIPTOR, check_source


def plan(
    source: Input,
    k: Annotated[
        str, typer.Option("-k", metavar="K", help="Least number of records behind a combination.")
    ] = "5",
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="OUT", help="Where the plan goes, or -."),
    ] = "-",
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    quiet: Quiet = False,
    force: Force = False,
    _version: Version = False,
) -> None:
    """Draft a plan: what each column may be, and why; check it, then run protect with --plan.

    The draft is careful: it takes no column for sensitive, as that would publish it unchanged.
    """
    from microagg.core.progress import terminal_bar
    from microagg.core.validation import check_count
    from microagg.files.atomic import atomic_write_all, check_target
    from microagg.files.formats import STANDARD

    least = check_count("k", count_or_text(k))
    check_source(source)
    if output != STANDARD:
        origin = STANDARD_DESCRIPTOR if source == STANDARD else Path(source)
        check_target(Path(output), force=force, source=origin)
    with nullcontext() if quiet or output == STANDARD else terminal_bar():
        text = _draft(source, least, delimiter, decimal, encoding)
    if output == STANDARD:
        typer.echo(text, nl=False)
        return
    atomic_write_all(
        {Path(output): lambda place: place.write_text(text, encoding="utf-8")}, force=force
    )
    if not quiet:
        typer.echo(f"Check every line of {output}, then: microagg protect {source} --plan {output}")


def _draft(
    source: str, k: int, delimiter: str | None, decimal: str | None, encoding: str | None
) -> str:
    from microagg.files.dialect import Dialect
    from microagg.files.formats import STANDARD, open_table
    from microagg.plans.drafting import guess_columns, plan_text
    from microagg.tables.frames import open_frame

    file = open_table(source, dialect=Dialect(delimiter, decimal, encoding))
    frame = open_frame(file.table())
    guesses = guess_columns(frame, file.annotations)
    name = "standard input" if source == STANDARD else source
    return plan_text(guesses, source=name, k=k, n_records=len(frame))
