"""microagg protect: from a file to a protected file."""

import time
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from microagg.cli.layout import counted, facts, names, print_json, warnings_as_lines
from microagg.cli.options import Force, Json, Quiet, Version, assignments, count_or_text
from microagg.cli.summary import outcome, title
from microagg.errors import ParameterError

Columns = list[str]

STANDARD_DESCRIPTOR = 0


def protect(
    context: typer.Context,
    source: Annotated[
        str, typer.Argument(metavar="INPUT", help="A .csv, .csv.gz or .parquet file, or - (CSV).")
    ],
    k: Annotated[
        str, typer.Option("-k", metavar="K", help="Least number of records behind a combination.")
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="Where the result goes, or -. Default: beside the input, as NAME-protected.",
        ),
    ] = None,
    method: Annotated[
        str, typer.Option(metavar="M", help="How records are grouped; see 'microagg methods'.")
    ] = "mdav",
    quasi_identifier: Annotated[
        Columns | None,
        typer.Option(
            metavar="C",
            help="Column to protect. Columns of numbers that no option names are protected, too.",
        ),
    ] = None,
    identifier: Annotated[
        Columns | None, typer.Option(metavar="C", help="Column to drop, such as a name.")
    ] = None,
    sensitive: Annotated[
        Columns | None, typer.Option(metavar="C", help="Column to publish unchanged.")
    ] = None,
    option: Annotated[
        Columns | None, typer.Option(metavar="NAME=VALUE", help="An option of the method.")
    ] = None,
    scale: Annotated[
        str,
        typer.Option(metavar="S", help="How columns are compared: standardise, or none."),
    ] = "standardise",
    json: Json = False,
    quiet: Quiet = False,
    force: Force = False,
    _version: Version = False,
) -> None:
    """Write a copy in which every combination of protected columns stands for K records or more.

    Records are grouped by their quasi-identifiers and get their group's means. A column of text
    needs a role; a column of numbers without one is protected. Options for a column, and --option,
    can be repeated.
    """
    request = {
        "method": method,
        "k": count_or_text(k),
        "method_options": assignments(option or ()),
        "scale": scale,
    }
    roles = {
        "quasi_identifiers": quasi_identifier,
        "identifiers": identifier,
        "sensitive": sensitive,
    }
    _check_request(request)
    target = _check_paths(source, output, json=json, force=force)
    with warnings_as_lines(quiet=quiet):
        release = _protected(source, target, request, roles, quiet=quiet)
        _write(release.table, target, force=force)
    if json:
        print_json({**release.manifest, "output": target})
    elif not quiet:
        typer.echo(_summary(release, target, began=context.obj), err=target == "-")


def _check_request(request: dict[str, Any]) -> None:
    """Refuse what can be refused without loading or reading much."""
    from microagg.registry import find
    from microagg.validation import check_count

    find(request["method"])
    check_count("k", request["k"])


def _check_paths(source: str, output: str | None, *, json: bool, force: bool) -> str:
    """Return the output that may be written; nothing has been read yet."""
    from microagg.tables.atomic import check_target
    from microagg.tables.files import STANDARD, check_readable, format_of, protected_name

    format_of(source)
    target = protected_name(source) if output is None else output
    format_of(target)
    if json and target == STANDARD:
        raise ParameterError(
            "--json and the table cannot both go to standard output. Name a file with -o."
        )
    if source != STANDARD:
        check_readable(Path(source))
    if target != STANDARD:
        origin = STANDARD_DESCRIPTOR if source == STANDARD else Path(source)
        check_target(Path(target), force=force, source=origin)
    return target


def _protected(
    source: str, target: str, request: dict[str, Any], roles: dict[str, Any], *, quiet: bool
) -> Any:
    from microagg.progress import terminal_bar

    # Around all that takes time, loading included: whoever waits sees it from the first moment.
    with nullcontext() if quiet else terminal_bar():
        from microagg.tables.files import TableFile, check_fits
        from microagg.tables.roles import check_named

        file = TableFile(source)
        named = check_named(file.columns, **roles)

        from microagg import release

        release.check_request(**request)
        table = file.table(as_text=(*named.identifiers, *named.sensitive))
        check_fits(table[[c for c in table.columns if c not in named.identifiers]], target)
        del file
        return release.protect(table, **request, **roles)


def _write(table: Any, target: str, *, force: bool) -> None:
    from microagg.tables.files import write_table

    write_table(table, target, force=force)


def _summary(release: Any, target: str, *, began: float) -> str:
    done = release.manifest
    rows = outcome(release)
    if assumed := done["assumed_quasi_identifiers"]:
        everyone = len(assumed) == len(done["quasi_identifiers"])
        listed = "all of these" if everyone else names(assumed)
        rows.append(("assumed", f"{listed} (numbers that no option gives a role)"))
    rows += [
        ("dropped", names(done["identifiers"])),
        ("unchanged", names(done["sensitive"])),
        ("time", f"{time.perf_counter() - began:.2f} s"),
        ("written to", "standard output" if target == "-" else target),
    ]
    return f"{title(done, counted(done['n_records'], 'record'))}\n\n{facts(rows)}"
