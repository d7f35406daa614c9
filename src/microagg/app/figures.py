"""A release as it is explored: what its internal report shows, as plain values."""

import math
from collections.abc import Iterable

from microagg.app import answers
from microagg.core.arrays import Floats
from microagg.core.words import percent
from microagg.measures.wording import FigureRow
from microagg.release.release import Release, subject_of
from microagg.report.bars import Bars
from microagg.report.contents import contents_of
from microagg.report.correlations import Correlations
from microagg.report.steps import Steps
from microagg.report.summaries import ColumnSummary, Histogram
from microagg.report.wording import ended_early
from microagg.tables.columns import TYPE_WORDS


def figures_of(release: Release) -> answers.Protected:
    """Measure a release, and return what may be shown of it: aggregates, no record's values."""
    subject = subject_of(release)
    shown, done = contents_of(subject), release.manifest
    ended, steps = ended_early(done), Steps.of(subject.least, done.n_records)
    is_known = shown.lost.manifest.information_loss is not None
    return answers.Protected(
        manifest=done.as_dict(),
        title=shown.summary,
        verdict=shown.verdict.title,
        required=tuple((own.asked, own.found) for own in shown.required),
        loss=shown.loss,
        loss_share=shown.loss_share if is_known else None,
        bound_share=shown.bound_share,
        loss_sentences=shown.loss_sentences,
        least=subject.least,
        steps=(percent(shown.lost.step), percent(100.0 * steps.size), f"{steps.size:.3g}"),
        columns=tuple(_column(summary, done.strata) for summary in shown.summaries),
        correlations=None if shown.relations is None else _correlations(shown.relations),
        risk=_rows(subject.risk_rows),
        utility=_rows(subject.utility_rows),
        group_sizes=done.group_sizes,
        ended=ended,
        cautions=tuple(text for text in shown.cautions if text != ended),
        command=done.command,
    )


def _rows(rows: Iterable[FigureRow]) -> tuple[answers.Figure, ...]:
    return tuple(
        answers.Figure(measure=row.measure, figure=row.figure, meaning=row.meaning) for row in rows
    )


def _column(summary: ColumnSummary, strata: tuple[str, ...]) -> answers.ColumnFigures:
    figure = summary.figure
    return answers.ColumnFigures(
        name=summary.name,
        kind="stratum" if summary.name in strata else TYPE_WORDS[summary.type],
        note=summary.note,
        lines=tuple(
            answers.Line(name=line.name, before=line.before, after=line.after)
            for line in summary.lines
        ),
        histogram=_histogram(figure) if isinstance(figure, Histogram) else None,
        bars=_bars(figure) if isinstance(figure, Bars) else None,
    )


def _histogram(figure: Histogram) -> answers.Histogram:
    return answers.Histogram(
        places=_plain(figure.places),
        outer=figure.outer,
        before=None if figure.before is None else _plain(figure.before),
        after=_plain(figure.after),
        ticks=figure.ticks,
        is_logarithmic=figure.is_logarithmic,
    )


def _bars(figure: Bars) -> answers.Bars:
    return answers.Bars(
        names=figure.names,
        before=None if figure.before is None else _plain(figure.before),
        after=_plain(figure.after),
    )


def _correlations(found: Correlations) -> answers.Correlations:
    assert found.before is not None  # only a public report leaves it out
    return answers.Correlations(
        names=found.names,
        before=_matrix(found.before),
        after=_matrix(found.after),
        mean_change=found.mean_change,
        largest_change=found.largest_change,
    )


def _plain(numbers: Floats) -> tuple[float, ...]:
    return tuple(numbers.tolist())


def _matrix(numbers: Floats) -> tuple[tuple[float | None, ...], ...]:
    return tuple(
        tuple(value if math.isfinite(value) else None for value in row) for row in numbers.tolist()
    )
