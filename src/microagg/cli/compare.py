"""microagg compare: what each method would lose on a file, before anything is released."""

import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer

from microagg.cli.layout import decimals_for, facts, names, print_json, short_seconds
from microagg.cli.options import (
    Decimal,
    Delimiter,
    Effort,
    Encoding,
    Force,
    Identifiers,
    Input,
    Json,
    Missing,
    Orders,
    Output,
    QuasiIdentifiers,
    Quiet,
    Scale,
    Seed,
    Sensitive,
    Types,
    Version,
    by_column,
    count_or_text,
    seed_or_none,
)
from microagg.cli.paths import check_output, check_page_or_figure, check_source
from microagg.cli.reading import read_table
from microagg.cli.summary import Rows, assumed
from microagg.core.errors import ParameterError
from microagg.core.words import counted, spread

if TYPE_CHECKING:
    from microagg.studies.compare import Comparison, Row

Figures = dict[str, Any]

ALL = "all"


def compare(
    context: typer.Context,
    source: Input,
    k: Annotated[str, typer.Option("-k", metavar="K,...", help="One k or several, as in 3,5,10.")],
    methods: Annotated[
        str,
        typer.Option(metavar="M,...", help="Methods to compare, as in mdav,tsp-mhm."),
    ] = ALL,
    output: Output = None,
    figure: Annotated[
        str | None,
        typer.Option(metavar="F.svg", help="Draw risk against loss, a mark for each method and k."),
    ] = None,
    quasi_identifier: QuasiIdentifiers = None,
    identifier: Identifiers = None,
    sensitive: Sensitive = None,
    column_type: Types = None,
    order: Orders = None,
    missing: Missing = "error",
    scale: Scale = "standardise",
    seed: Seed = None,
    effort: Effort = "balanced",
    jobs: Annotated[
        str, typer.Option(metavar="N", help="How many runs side by side; -1: one on every core.")
    ] = "-1",
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    json: Json = False,
    quiet: Quiet = False,
    force: Force = False,
    _version: Version = False,
) -> None:
    """Show what each method would lose at each K, in how many groups, and how long it takes.

    Nothing is released. Roles of columns are given as to protect. A method that fails is named on
    standard error and the others go on; the exit code is 0 if any of them succeeds.
    """
    request = {
        "ks": [count_or_text(part) for part in k.replace(",", " ").split()],
        "methods": methods,
        "scale": scale,
        "random_state": seed_or_none(seed),
        "effort": effort,
        "n_jobs": _jobs(jobs),
    }
    asked = {
        "columns": by_column(type=column_type, order=order),
        "missing": missing,
        "quasi_identifiers": quasi_identifier,
        "identifiers": identifier,
        "sensitive": sensitive,
    }
    dialect = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding}
    _check_request(request)
    check_source(source)
    if output is not None:
        check_output(output, source, json=json, force=force)
    if figure is not None:
        _check_figure(figure, source, output, force=force)
    done = _compared(source, request, asked, dialect, quiet=quiet)
    if not done.exit_code:
        if output is not None:
            _write(done, output, force=force)
        if figure is not None:
            _draw(done, figure, force=force)
        if json:
            print_json({**_facts(done, scale), "effort": effort, "output": output})
        elif not quiet and output != "-":
            typer.echo(_summary(done, output, figure, began=context.obj))
    for line in failures(done.rows):
        typer.echo(f"microagg: {line}", err=True)
    raise typer.Exit(done.exit_code)


def _jobs(text: str) -> int:
    jobs = count_or_text(text)
    if isinstance(jobs, int) and (jobs == -1 or jobs >= 1):
        return jobs
    raise ParameterError(
        f"--jobs must be a whole number of at least 1, or -1 for all cores; got {jobs!r}."
    )


def _check_request(request: dict[str, Any]) -> None:
    """Refuse what can be refused without loading or reading much."""
    from microagg.core.registry import find_all, method_names
    from microagg.core.validation import check_ks

    check_ks(request["ks"])
    find_all(method_names(request["methods"]))


def _compared(
    source: str,
    request: dict[str, Any],
    asked: dict[str, Any],
    dialect: dict[str, Any],
    *,
    quiet: bool,
) -> "Comparison":
    from microagg.core.progress import terminal_bar

    with nullcontext() if quiet else terminal_bar():
        table, of_columns = read_table(source, asked, dialect)

        from microagg.studies.compare import run_comparison

        return run_comparison(table, **request, of_columns=of_columns)


def _write(done: "Comparison", output: str, *, force: bool) -> None:
    import polars as pl

    from microagg.files.formats import write_table
    from microagg.studies.compare import rows_as_table

    write_table(rows_as_table(done.rows, like=pl.DataFrame()), output, force=force)


def _check_figure(figure: str, source: str, output: str | None, *, force: bool) -> None:
    from pathlib import Path

    from microagg.files.atomic import check_distinct

    check_page_or_figure(figure, source, suffix=".svg", force=force)
    check_distinct([Path(figure), *([] if output in (None, "-") else [Path(str(output))])])


def _draw(done: "Comparison", figure: str, *, force: bool) -> None:
    from pathlib import Path

    import polars as pl

    from microagg.files.atomic import atomic_write_all
    from microagg.files.writing import text_writer
    from microagg.studies.compare import risk_utility_map, rows_as_table

    drawn = risk_utility_map(rows_as_table(done.rows, like=pl.DataFrame()))
    atomic_write_all({Path(figure): text_writer(drawn)}, force=force)


def failures(rows: Sequence["Row"]) -> Iterator[str]:
    """Word every failure once, with each k at which a method failed for the same reason."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row.error is not None:
            found.setdefault((row.method, row.error), []).append(f"{row.k:,}")
    for (method, error), ks in found.items():
        yield f"{method} failed at k = {', '.join(ks)}: {error}"


def _facts(done: "Comparison", scale: str) -> dict[str, Any]:
    return {
        "comparison": [asdict(row) for row in done.rows],
        "n_records": done.n_records,
        "quasi_identifiers": list(done.roles.quasi_identifiers),
        "assumed_quasi_identifiers": list(done.roles.assumed),
        "scale": scale,
        "seed": done.seed,
        "left_out": list(done.left_out),
    }


def _summary(done: "Comparison", output: str | None, figure: str | None, *, began: float) -> str:
    columns = done.roles.quasi_identifiers
    rows: Rows = [("grouped by", names(columns)), *assumed(done.roles.assumed, columns)]
    reasons = []
    if unfit := [name for name in done.left_out if name not in done.drawn]:
        reasons.append(f"{names(unfit)} (for one column only)")
    if done.drawn:
        reasons.append(f"{names(done.drawn)} (unless named: they draw, and keep no k)")
    if reasons:
        rows.append(("left out", "; ".join(reasons)))
    if done.seed is not None:
        rows.append(("seed", str(done.seed)))
    rows.append(("time", f"{time.perf_counter() - began:.2f} s"))
    if output is not None:
        rows.append(("written to", output))
    if figure is not None:
        rows.append(("figure", figure))
    n_methods = len({row.method for row in done.rows})
    title = f"Compared {counted(n_methods, 'method')} on {counted(done.n_records, 'record')}"
    return f"{title}\n\n{facts(rows)}\n\n{table([asdict(row) for row in done.rows])}"


def table(rows: Sequence[Figures]) -> str:
    """Set the rows in a block for each k, the least loss of each marked."""
    decimals = decimals_for([loss for row in rows if (loss := row["information_loss"])])
    blocks = [
        [
            ("   ", f"k = {k:,}", "loss %", "linked %", "groups", "sizes", "seconds"),
            *_block([row for row in rows if row["k"] == k], decimals),
        ]
        for k in dict.fromkeys(row["k"] for row in rows)
    ]
    widths = [max(map(len, column)) for column in zip(*chain(*blocks), strict=True)]
    text = "\n\n".join("\n".join(_line(cells, widths) for cells in block) for block in blocks)
    below = any(row["error"] is None and row["min_group"] < row["k"] for row in rows)
    note = "\n! some groups hold fewer than k records: they were drawn" if below else ""
    return (
        f"{text}\n\n* least information loss at this k\n"
        f"+ beaten by none on both loss and linked{note}"
    )


def _mark(row: Figures, least: float | None) -> str:
    best = "*" if row["information_loss"] == least else " "
    drawn = row["min_group"] < row["k"]
    return f"{'!' if drawn else best}{'+' if row['efficient'] else ' '} "


def _block(rows: Sequence[Figures], decimals: int) -> Iterator[tuple[str, ...]]:
    kept = [row for row in rows if row["error"] is None and row["min_group"] >= row["k"]]
    least = min((row["information_loss"] for row in kept), default=None)
    for row in rows:
        if row["error"] is not None:
            yield ("   ", row["method"], "failed", "", "", "", "")
        else:
            yield (
                _mark(row, least),
                row["method"],
                f"{row['information_loss']:.{decimals}f}",
                f"{row['linkage']:.2f}",
                f"{row['n_groups']:,}",
                spread(row["min_group"], row["max_group"]),
                short_seconds(row["seconds"]),
            )


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Set names to the left and figures to the right."""
    mark, name, *figures = cells
    columns = (f"{cell:>{width}}" for cell, width in zip(figures, widths[2:], strict=True))
    return f"{mark}{name:{widths[1]}}  {'  '.join(columns)}".rstrip()
