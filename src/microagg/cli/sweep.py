"""microagg sweep: what a file loses as k grows, and what it loses at least."""

import math
import textwrap
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any

import typer

from microagg.cli.layout import (
    decimals_for,
    facts,
    names,
    print_json,
    short_seconds,
    width,
)
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
    seed_or_none,
)
from microagg.cli.paths import check_output, check_source
from microagg.cli.reading import listed_ks, read_table
from microagg.cli.summary import Rows, assumed
from microagg.core.words import counted, spread

if TYPE_CHECKING:
    from microagg.studies.sweep import Sweep, SweepRow
    from microagg.tables.roles import Roles

# Bars are left out where the lines have no room for this many marks, and no longer than this.
SHORTEST_BAR, LONGEST_BAR = 6, 20
MOST_BY_DEFAULT = 20
HEAD = ("k", "loss %", "at least %", "gap %", "groups", "sizes", "seconds")
NOTE = "gap: by how many per cent the loss is above the least possible, at most"


@dataclass(frozen=True)
class _Done:
    """A sweep, and what it is about."""

    sweep: "Sweep"
    roles: "Roles"
    n_records: int
    seed: int


def sweep(
    context: typer.Context,
    source: Input,
    k: Annotated[
        str | None,
        typer.Option(
            "-k",
            metavar="K,...",
            help="Ranges of k and single ones: 2-20,30. Default: 2-20, or to all records if these "
            "are fewer.",
        ),
    ] = None,
    output: Output = None,
    quasi_identifier: QuasiIdentifiers = None,
    identifier: Identifiers = None,
    sensitive: Sensitive = None,
    column_type: Types = None,
    order: Orders = None,
    missing: Missing = "error",
    scale: Scale = "standardise",
    effort: Effort = "fast",
    bound: Annotated[
        str, typer.Option(metavar="B", help="What the loss is at least: fast, or none.")
    ] = "fast",
    seed: Seed = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    json: Json = False,
    quiet: Quiet = False,
    force: Force = False,
    _version: Version = False,
) -> None:
    """Show what a file loses at each K, what it loses at least, and how long that takes.

    Nothing is released. Roles of columns are given as to protect. Groups are found as by
    the method auto, with less work where a K begins with the groups of a larger one.
    """
    ks = None if k is None else listed_ks(k)
    request = {"effort": effort, "bound": bound}
    asked = {
        "columns": by_column(type=column_type, order=order),
        "missing": missing,
        "quasi_identifiers": quasi_identifier,
        "identifiers": identifier,
        "sensitive": sensitive,
    }
    dialect = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding}
    chosen = seed_or_none(seed)
    if ks is not None:
        _check_ks(ks)
    check_source(source)
    if output is not None:
        check_output(output, source, json=json, force=force)
    with nullcontext() if quiet else _bar():
        _check_choices(scale, request)
        done = _swept(source, ks, asked, dialect, scale, chosen, request)
    if output is not None:
        _write(done.sweep, output, force=force)
    if json:
        print_json({**_facts(done), **request, "scale": scale, "output": output})
    elif not quiet and output != "-":
        typer.echo(_summary(done, effort, output, began=context.obj))


def _bar() -> Any:
    from microagg.core.progress import terminal_bar

    return terminal_bar()


def _check_ks(ks: Sequence[int | str]) -> None:
    from microagg.core.validation import check_ks

    check_ks(ks)


def _check_choices(scale: str, request: dict[str, str]) -> None:
    """Refuse what can be refused before anything is read."""
    from microagg.core.validation import check_choice
    from microagg.partitions.auto import EFFORTS
    from microagg.studies.sweep import BOUNDS
    from microagg.tables.scaling import SCALES

    check_choice("scale", scale, SCALES)
    check_choice("effort", request["effort"], EFFORTS)
    check_choice("bound", request["bound"], BOUNDS)


def _swept(
    source: str,
    ks: Sequence[Any] | None,
    asked: dict[str, Any],
    dialect: dict[str, Any],
    scale: str,
    seed: int | None,
    request: dict[str, str],
) -> _Done:
    table, of_columns = read_table(source, asked, dialect)
    if ks is None:
        ks = range(2, max(3, min(MOST_BY_DEFAULT, len(table)) + 1))

    from microagg.core.validation import check_seed
    from microagg.release.records import open_records
    from microagg.studies import sweep as sweeping

    records = open_records(table, ks, scale=scale, **of_columns)
    drawn = check_seed(seed)
    found = sweeping.sweep(
        records.X, ks, effort=request["effort"], bound=request["bound"], random_state=drawn
    )
    return _Done(found, records.roles, len(records.X), drawn)


def _figures(row: "SweepRow") -> dict[str, Any]:
    """All of a row but the labels, which are one for each record."""
    return {part.name: getattr(row, part.name) for part in fields(row) if part.name != "labels"}


def _write(found: "Sweep", output: str, *, force: bool) -> None:
    import polars as pl

    from microagg.files.formats import write_table

    whole = ("k", "n_groups", "min_group", "max_group")
    figures = [_figures(row) for row in found]
    schema = {name: pl.Int64 if name in whole else pl.Float64 for name in figures[0]}
    write_table(pl.DataFrame(figures, schema=schema), output, force=force)


def _facts(done: _Done) -> dict[str, Any]:
    return {
        "sweep": [_figures(row) for row in done.sweep],
        "n_records": done.n_records,
        "quasi_identifiers": list(done.roles.quasi_identifiers),
        "assumed_quasi_identifiers": list(done.roles.assumed),
        "seed": done.seed,
        "seconds": done.sweep.seconds,
    }


def _summary(done: _Done, effort: str, output: str | None, *, began: float) -> str:
    columns = done.roles.quasi_identifiers
    rows: Rows = [
        ("grouped by", names(columns)),
        *assumed(done.roles.assumed, columns),
        ("effort", effort),
        ("seed", str(done.seed)),
        ("time", f"{time.perf_counter() - began:.2f} s"),
    ]
    if output is not None:
        rows.append(("written to", output))
    ks = f"{counted(len(done.sweep), 'value')} of k"
    title = f"Tried {ks} on {counted(done.n_records, 'record')}"
    return f"{title}\n\n{facts(rows)}\n\n{table(done.sweep)}"


def table(rows: Sequence["SweepRow"]) -> str:
    """Set the rows one below the other, with a bar of the loss where there is room for it."""
    bounded = any(row.lower_bound is not None for row in rows)
    decimals = decimals_for([row.information_loss for row in rows])
    lines = [HEAD, *(_cells(row, decimals) for row in rows)]
    if not bounded:
        lines = [(*line[:2], *line[4:]) for line in lines]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    room = min(width() - sum(widths) - 2 * len(widths), LONGEST_BAR)
    bars = ["", *_bars([row.information_loss for row in rows], room)]
    text = "\n".join(
        "  ".join([*(f"{cell:>{w}}" for cell, w in zip(line, widths, strict=True)), bar]).rstrip()
        for line, bar in zip(lines, bars, strict=True)
    )
    return f"{text}\n\n{textwrap.fill(NOTE, width())}" if bounded else text


def _cells(row: "SweepRow", decimals: int) -> tuple[str, ...]:
    return (
        f"{row.k:,}",
        f"{row.information_loss:.{decimals}f}",
        # To the safe side: at least is never more than that, at most never less.
        "" if row.lower_bound is None else _rounded(row.lower_bound, decimals, math.floor),
        "" if row.gap is None else _rounded(row.gap, 1, math.ceil),
        f"{row.n_groups:,}",
        spread(row.min_group, row.max_group),
        short_seconds(row.seconds),
    )


def _rounded(value: float, decimals: int, to_whole: Callable[[float], int]) -> str:
    """Word a number rounded by `math.floor` or `math.ceil`.

    >>> _rounded(1.28, 1, math.floor), _rounded(1.22, 1, math.ceil)
    ('1.2', '1.3')
    """
    return f"{to_whole(value * 10**decimals) / 10**decimals:.{decimals}f}"


def _bars(losses: Sequence[float], room: int) -> list[str]:
    """Return a bar for each loss, the longest as long as there is room."""
    most = max(losses)
    if room < SHORTEST_BAR or most == 0.0:
        return ["" for _ in losses]
    return ["#" * round(room * loss / most) for loss in losses]
