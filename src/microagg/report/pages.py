"""Release -> reports: measured, worded and rendered."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from microagg.core.errors import ParameterError
from microagg.core.words import counted
from microagg.measures.measure import measure_risk, measure_utility
from microagg.measures.wording import FigureRow
from microagg.plans.manifest import Manifest
from microagg.report.guarded import reveals_single_values
from microagg.report.page import Subject, render
from microagg.report.summaries import least_of
from microagg.tables.pairs import Pair


def pages(
    records: Pair,
    manifest: Manifest,
    wanted: Mapping[Path, bool],
    *,
    title: str | None,
    target: str | None,
    seed: int,
) -> dict[Path, str]:
    """Return the text of each wanted report; the values say which are public."""
    for path in wanted:
        if path.suffix.lower() != ".html":
            raise ParameterError(
                f"a report is an HTML page whose name ends with .html; got {str(path)!r}."
            )
    risk = measure_risk(records, seed=seed, is_drawn=manifest.plan.draws_values)
    rows = tuple(risk.rows()), tuple(_utility_rows(records, manifest.k, target, seed))
    shared = tuple(row for row in risk.shared_values() if row.column != manifest.weights)
    return {
        path: render(Subject(records, manifest, *rows, shared, name=title, public=is_public))
        for path, is_public in wanted.items()
    }


def _utility_rows(records: Pair, k: int, target: str | None, seed: int) -> Iterator[FigureRow]:
    """Return the utility measures, without columns that are dominated by a few records."""
    least = least_of(k, records.units)
    hidden = [
        column.name
        for column in records.columns.values()
        if reveals_single_values(column, least, records.weights)
    ]
    kept = {name: column for name, column in records.columns.items() if name not in hidden}
    if kept:
        predicted = None if target in hidden else target
        utility = measure_utility(replace(records, columns=kept), target=predicted, seed=seed)
        if hidden:  # the page states the loss of all columns, next to which this would be another
            unknown = replace(utility.loss, information_loss=None)
            utility = replace(utility, loss=unknown, units=None)
        yield from utility.rows()
    if hidden:
        yield FigureRow(
            "left out",
            counted(len(hidden), "column"),
            f"A few records dominate {', '.join(map(repr, hidden))}: these measures would reveal "
            "their values, and are of the other columns.",
        )
