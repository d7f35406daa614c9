"""Release -> reports: measured, worded and rendered."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from math import inf
from pathlib import Path
from typing import NamedTuple

from microagg.core.words import counted
from microagg.files.writing import check_html_name
from microagg.measures.measure import UTILITY_FIELDS, Utility, measure_risk, measure_utility
from microagg.measures.risk.wording import SharedValue
from microagg.measures.utility.associations import summarised
from microagg.measures.utility.correlations import NO_PAIRS
from microagg.measures.wording import FigureRow
from microagg.plans.manifest import Manifest
from microagg.report.contents import Subject
from microagg.report.loss import rounded_loss
from microagg.report.page import render
from microagg.report.rare import (
    SafeColumns,
    reveals_few,
    safe_columns,
    two_values,
    without_rare,
)
from microagg.report.steps import coarse_risk, coarse_utility
from microagg.report.summaries import least_of
from microagg.report.whole import WholeTable
from microagg.tables.pairs import Pair


def pages(
    records: Pair,
    manifest: Manifest,
    wanted: Mapping[Path, bool],
    *,
    title: str | None,
    target: str | None,
    seed: int,
    whole: WholeTable | None = None,
) -> dict[Path, str]:
    """Return the text of each wanted report; the values say which are public.

    If the records are a sample, `whole` is what is known of all of them.
    """
    for path in wanted:
        check_html_name(path)
    rows = measured_rows(records, manifest, target=target, seed=seed, whole=whole)
    return {
        path: render(Subject(records, manifest, *rows, name=title, public=is_public, whole=whole))
        for path, is_public in wanted.items()
    }


class MeasuredRows(NamedTuple):
    """Risk and utility in rows, as a report may show them, and the cautions on shared values."""

    risk: tuple[FigureRow, ...]
    utility: tuple[FigureRow, ...]
    shared_values: tuple[SharedValue, ...]


def measured_rows(
    records: Pair,
    manifest: Manifest,
    *,
    target: str | None = None,
    seed: int = 0,
    whole: WholeTable | None = None,
) -> MeasuredRows:
    """Measure the records before and after; no figure reveals the values of a few of them."""
    least = least_of(manifest.k, records.units) if whole is None else whole.least
    safe = safe_columns(records, least)
    if whole is None:
        attacked = _at_risk(records, safe)
        exact = measure_risk(attacked, seed=seed, is_drawn=manifest.plan.draws_values)
    else:
        exact = whole.risk(_without_rare(records, least) if whole.is_countable else records)
    risk = coarse_risk(exact, least, least_of(manifest.k))
    shared = tuple(row for row in risk.shared_values() if row.column != manifest.weights)
    utility = tuple(_utility_rows(safe, least, target, seed, whole))
    return MeasuredRows(tuple(risk.rows()), utility, shared)


def _at_risk(records: Pair, safe: SafeColumns) -> Pair:
    """Return the records to attack: the true ones, unless a few counts describe all columns.

    Then the share of records that are linked is a function of these counts, and would tell how many
    records have rare values: they are merged with others.
    """
    if safe.uncountable:
        return records
    columns = {
        name: replace(column, before=safe.merged[name].before)
        for name, column in records.columns.items()
    }
    return replace(records, columns=columns)


def _without_rare(records: Pair, least: int) -> Pair:
    """Return a sample to attack where a few counts describe all columns: no value is rare in it."""
    columns = {
        name: replace(column, before=without_rare(column, least, most=inf).before)
        for name, column in records.columns.items()
    }
    return replace(records, columns=columns)


def _utility_rows(
    safe: SafeColumns, least: int, target: str | None, seed: int, whole: WholeTable | None = None
) -> Iterator[FigureRow]:
    """Return the utility measures, without columns of which no figure may be shown."""
    hidden = safe.left_out
    if safe.pair.columns:
        others = [name for name in safe.pair.columns if name != target]
        predicted = None if target in hidden or not others else target
        sample = None if whole is None else whole.sample._replace(fields=UTILITY_FIELDS)
        utility = measure_utility(safe.pair, target=predicted, seed=seed, sample=sample)
        if whole is not None:  # the page states the loss of all records
            loss = replace(utility.loss, information_loss=None)
            utility = replace(utility, loss=loss, units=None)
        yield from _safe_utility(utility, safe, least).rows()
    if hidden:
        yield FigureRow(
            "left out",
            counted(len(hidden), "column"),
            f"These measures are without {', '.join(map(repr, hidden))}: fewer than {least:,} "
            "records differ from the others there, if any do, or dominate the column, and the "
            "measures would reveal their number or their values.",
        )


def _safe_utility(utility: Utility, safe: SafeColumns, least: int) -> Utility:
    """Return the measures as they may be shown: in steps, and none that reveals a few records.

    Correlations and associations have sections of their own on the page.
    """
    columns = safe.pair.columns
    loss, units = rounded_loss(utility.loss, columns, least), utility.units
    if safe.left_out:  # the page states the loss of more columns, next to which this is another
        loss, units = replace(loss, information_loss=None), None
    elif units is not None:
        units = rounded_loss(units, columns, least)
    utility = replace(
        utility,
        loss=loss,
        units=units,
        moments=replace(utility.moments, pearson=NO_PAIRS),
        associations=summarised((), (), is_weighted=False),
    )
    codes = [two_values(own.before.numbers, own.before.is_present) for own in columns.values()]
    if any(reveals_few(one, two, least) for one, two in combinations(codes, 2)):
        # Figures of all columns together.
        utility = replace(
            utility,
            eigenvalues=replace(utility.eigenvalues, change=None),
            propensity=replace(utility.propensity, pmse=None),
        )
    return coarse_utility(utility, least, safe.pair.n_records)
