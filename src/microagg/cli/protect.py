"""microagg protect: from a file to a protected file."""

import time
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Annotated, Any

import typer

from microagg.cli.layout import counted, facts, names, print_json, warnings_as_lines
from microagg.cli.main import INTERRUPTED
from microagg.cli.options import (
    Constraints,
    Effort,
    Force,
    Identifiers,
    Input,
    Json,
    QuasiIdentifiers,
    Quiet,
    Scale,
    Seed,
    Sensitive,
    Version,
    assignments,
    count_or_text,
    number_or_text,
    seed_or_none,
)
from microagg.cli.paths import check_output, check_source
from microagg.cli.summary import assumed, constraint_rows, outcome, title


def protect(
    context: typer.Context,
    source: Input,
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
    ] = "auto",
    quasi_identifier: QuasiIdentifiers = None,
    identifier: Identifiers = None,
    sensitive: Sensitive = None,
    option: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="An option of the method.")
    ] = None,
    constraint: Constraints = None,
    strict_k: Annotated[
        bool, typer.Option("--strict-k", help="Merge what was drawn until K is kept (fcm, efcm).")
    ] = False,
    scale: Scale = "standardise",
    seed: Seed = None,
    effort: Effort = "balanced",
    time_budget: Annotated[
        str | None,
        typer.Option(
            metavar="S", help="Seconds for the search (auto, icsm), and for --bound tight."
        ),
    ] = None,
    bound: Annotated[
        str,
        typer.Option(
            metavar="B",
            help="Prove how near to the best possible: fast, tight (minutes), none, or auto: "
            "fast, unless there are very many records.",
        ),
    ] = "auto",
    json: Json = False,
    quiet: Quiet = False,
    force: Force = False,
    _version: Version = False,
) -> None:
    """Write a copy in which every combination of protected columns stands for K records or more.

    Records are grouped by their quasi-identifiers and get their group's means. A column of text
    needs a role; a column of numbers without one is protected. Options for a column, --option and
    --constraint can be repeated. Ctrl-C ends the search of auto with the best groups so far, which
    are written; pressed again after that, it ends everything.
    """
    request = {
        "method": method,
        "k": count_or_text(k),
        "method_options": assignments(option or ()),
        "scale": scale,
        "random_state": seed_or_none(seed),
        "strict_k": strict_k,
        "effort": effort,
        "time_budget": None if time_budget is None else number_or_text(time_budget),
        "bound": bound,
    }
    roles = {
        "quasi_identifiers": quasi_identifier,
        "identifiers": identifier,
        "sensitive": sensitive,
    }
    _check_request(request)
    target = _check_paths(source, output, json=json, force=force)
    with warnings_as_lines(quiet=quiet):
        release = _protected(source, target, request, roles, constraint or (), quiet=quiet)
        _write(release.table, target, force=force)
    if json:
        print_json({**release.manifest, "output": target})
    elif not quiet:
        typer.echo(_summary(release, target, began=context.obj), err=target == "-")
    if release.manifest["interrupted"]:
        raise typer.Exit(INTERRUPTED)


def _check_request(request: dict[str, Any]) -> None:
    """Refuse what can be refused without loading or reading much."""
    from microagg.registry import find
    from microagg.validation import check_count

    find(request["method"])
    check_count("k", request["k"])


def _check_paths(source: str, output: str | None, *, json: bool, force: bool) -> str:
    """Return the output that may be written; nothing has been read yet."""
    from microagg.tables.files import protected_name

    check_source(source)
    target = protected_name(source) if output is None else output
    check_output(target, source, json=json, force=force)
    return target


def _protected(
    source: str,
    target: str,
    request: dict[str, Any],
    roles: dict[str, Any],
    constraints: Sequence[str],
    *,
    quiet: bool,
) -> Any:
    from microagg.progress import terminal_bar

    # Around all that takes time, loading included: whoever waits sees it from the first moment.
    with nullcontext() if quiet else terminal_bar():
        from microagg.tables.files import TableFile, check_fits
        from microagg.tables.roles import check_named

        file = TableFile(source)
        named = check_named(file.columns, **roles)

        from microagg.release import protect as release_of
        from microagg.request import check_constraints, check_request

        check_request(**request)
        check_constraints(constraints)
        table = file.table(as_text=(*named.identifiers, *named.sensitive))
        check_fits(table[[c for c in table.columns if c not in named.identifiers]], target)
        del file
        return release_of(table, **request, **roles, constraints=constraints)


def _write(table: Any, target: str, *, force: bool) -> None:
    from microagg.tables.files import write_table

    write_table(table, target, force=force)


def _summary(release: Any, target: str, *, began: float) -> str:
    done = release.manifest
    rows = outcome(release)
    rows += assumed(done["assumed_quasi_identifiers"], done["quasi_identifiers"])
    rows += constraint_rows(done["constraints"])
    rows += [
        ("dropped", names(done["identifiers"])),
        ("unchanged", names(done["sensitive"])),
        *([] if done["random_state"] is None else [("seed", str(done["random_state"]))]),
        ("time", f"{time.perf_counter() - began:.2f} s"),
        ("written to", "standard output" if target == "-" else target),
    ]
    return f"{title(done, counted(done['n_records'], 'record'))}\n\n{facts(rows)}"
