"""Measures in plain words: a row for each, with its figure and what it means."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from microagg.core.tabulate import html_table, text_table
from microagg.core.words import counted

_HEADER = ("measure", "figure", "what it means")


class FigureRow(NamedTuple):
    """One measure: its name, its figure, and what that means.

    Only a `public` row may be published with the data: it follows from the released table, or is a
    share of all records that reveals nothing about single values. Others are for internal use only.
    """

    measure: str
    figure: str
    meaning: str
    public: bool = False


def as_text(title: str, rows: Sequence[FigureRow]) -> str:
    """Return the rows as a table of plain text."""
    return text_table(_HEADER, [row[:3] for row in rows], title=f"{title}\n")


def as_html(title: str, rows: Sequence[FigureRow]) -> str:
    """Return the rows as an HTML table."""
    return html_table(_HEADER, [row[:3] for row in rows], title=title)


def in_per_cent(share: float) -> str:
    """Word a share with at most three digits.

    >>> in_per_cent(0.02784), in_per_cent(1.0), in_per_cent(0.0), in_per_cent(0.0000123)
    ('2.78 %', '100 %', '0 %', '0.00123 %')
    """
    return f"{100 * share:.3g} %"


def estimate(share: float, error: float, n_sampled: int, n_records: int) -> str:
    """Word a share, with its standard error if it comes from a sample.

    >>> estimate(0.2, 0.0, 500, 500), estimate(0.2, 0.01, 500, 900)
    ('20 %', '20 % ± 1 % (from a sample of 500 of 900 records)')
    """
    if n_sampled >= n_records:
        return in_per_cent(share)
    said = f"from {Sample(n_sampled, n_records)}"
    return f"{in_per_cent(share)} ± {in_per_cent(error)} ({said})"


class Sample(NamedTuple):
    """Records that figures come from, and those that they were drawn from.

    `fields` are the figures that come from the sample: others are of all records.
    """

    n_sampled: int
    n_records: int
    fields: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"a sample of {self.n_sampled:,} of {counted(self.n_records, 'record')}"


def stated(rows: Iterable[FigureRow], sample: Sample | None, field: str) -> list[FigureRow]:
    """Return rows that say that they come from a sample, if they do."""
    if sample is None or field not in sample.fields:
        return list(rows)
    return [row._replace(meaning=f"{row.meaning} From {sample}.") for row in rows]
