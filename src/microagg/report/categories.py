"""Categories before and after: how many records each has, and how they go with other columns.

Categories are listed smallest first. Before, a number below `least` is not shown, and neither is
any from which it could be worked out with the total: the smallest of the others are hidden until
any number below `least` is possible (`named_categories`). Categories that few records had are not
named. Released numbers are published anyway.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from microagg.core.arrays import Counts
from microagg.core.words import counted, percent
from microagg.measures.utility.associations import (
    Association,
    Associations,
    associations,
    summarised,
)
from microagg.plans.manifest import Manifest
from microagg.plans.manifest_facts import MarginFacts
from microagg.report.bars import ALL_OTHERS, categories_in
from microagg.report.rare import SafeColumns, named_categories, reveals_few, two_values
from microagg.report.steps import Steps
from microagg.report.whole import CategoryCounts, WholeTable
from microagg.report.wording import small_count
from microagg.tables.pairs import Pair, PairedColumn

ROWS = 30  # larger categories are added up
PAIRS = 12


@dataclass(frozen=True)
class CategoryRow:
    """A category, and how many records had it and have it."""

    name: str
    before: str
    after: str


@dataclass(frozen=True)
class CategoryTable:
    """The categories of a column, smallest first."""

    name: str
    rows: tuple[CategoryRow, ...]


@dataclass(frozen=True)
class CategorySection:
    """What the report shows of categories.

    `notable` associations changed most or, in a public report, are strongest in the release.
    """

    sentences: tuple[str, ...]
    tables: tuple[CategoryTable, ...]
    associations: Associations | None
    notable: tuple[Association, ...]


def categories_of(
    pair: Pair,
    safe: SafeColumns,
    done: Manifest,
    least: int,
    *,
    public: bool,
    whole: WholeTable | None = None,
) -> CategorySection | None:
    """Return what may be shown of categories; None if no protected column has any."""
    columns = [
        column
        for column in pair.columns.values()
        if column.type.is_categorical and column.name not in done.strata
    ]
    if not columns:
        return None
    tables = (
        category_table(column, least, public=public, known=_known(whole, column.name))
        for column in columns
    )
    found = associations(pair) if public else safe_associations(safe, least)
    known = [*found.cramers_v, *found.eta]
    return CategorySection(
        tuple(_sentences(done, least, public=public)),
        tuple(table for table in tables if table.rows),
        None if public or found.largest_change is None else found,
        tuple(_strongest(known) if public else _most_changed(known)),
    )


def _known(whole: WholeTable | None, name: str) -> CategoryCounts | None:
    return None if whole is None else whole.columns[name].categories


def category_table(
    column: PairedColumn, least: int, *, public: bool, known: CategoryCounts | None = None
) -> CategoryTable:
    """Return the categories of a column with the numbers of records that may be shown.

    `known` are those of all records, if the column is a sample.
    """
    found = categories_in(column) if known is None else known
    names, (before, after) = [*found.names], found.counts
    if public:
        kept, other = named_categories(after[None], least, most=None)
        rows = list(_all_others(other, after))
    else:
        kept, other = named_categories(np.stack([before, after]), least, most=None)
        rows = [*_hidden(other, names, before, after, least)]
    size = after if public else before
    kept.sort(key=lambda code: (size[code], code))
    shown = max(0, ROWS - len(rows))
    rows += [CategoryRow(names[c], f"{before[c]:,}", f"{after[c]:,}") for c in kept[:shown]]
    if larger := kept[shown:]:
        what = f"{len(larger):,} larger {'category' if len(larger) == 1 else 'categories'}"
        rows.append(CategoryRow(what, f"{before[larger].sum():,}", f"{after[larger].sum():,}"))
    return CategoryTable(column.name, tuple(rows))


def _hidden(
    other: list[int], names: list[str], before: Counts, after: Counts, least: int
) -> Iterator[CategoryRow]:
    """Give a row for all rare categories, and one for each whose number would tell theirs."""
    rare = [code for code in other if before[code] < least]
    if rare:
        what = "1 rare category" if len(rare) == 1 else f"{len(rare):,} rare categories"
        each = " each" if len(rare) > 1 else ""
        released = _released(int(after[rare].sum()), least)
        yield CategoryRow(what, f"fewer than {least:,}{each}", released)
    for code in sorted(set(other) - set(rare)):
        yield CategoryRow(names[code], f"{least:,} or more", _released(int(after[code]), least))


def _released(count: int, least: int) -> str:
    return f"fewer than {least:,}" if 0 < count < least else f"{count:,}"


def _all_others(other: list[int], after: Counts) -> Iterator[CategoryRow]:
    if other:
        yield CategoryRow(ALL_OTHERS, "", f"{after[other].sum():,}")


def safe_associations(safe: SafeColumns, least: int) -> Associations:
    """Return the associations that may be shown: none that reveals a few records."""
    if not safe.pair.columns:
        return summarised((), (), is_weighted=False)
    codes = {
        name: two_values(column.before.numbers, column.before.is_present)
        for name, column in safe.pair.columns.items()
    }
    found = associations(safe.pair)

    def shown(some: tuple[Association, ...]) -> tuple[Association, ...]:
        pairs = (((codes[own.columns[0]], codes[own.columns[1]]), own) for own in some)
        return tuple(own for both, own in pairs if not reveals_few(*both, least))

    return summarised(shown(found.cramers_v), shown(found.eta), is_weighted=found.is_weighted)


def _most_changed(found: list[Association]) -> Iterator[Association]:
    changed = [(abs(own.change), own) for own in found if own.change is not None]
    yield from (own for _, own in sorted(changed, key=lambda entry: -entry[0])[:PAIRS])


def _strongest(found: list[Association]) -> Iterator[Association]:
    known = [(own.after, own) for own in found if own.after is not None]
    yield from (own for _, own in sorted(known, key=lambda entry: -entry[0])[:PAIRS])


def _sentences(done: Manifest, least: int, *, public: bool) -> Iterator[str]:
    """Say how categories were chosen, what is new, and how near their totals are."""
    chosen, new = done.categories, done.new_combinations
    if chosen is None:  # manifests of earlier versions do not tell
        return
    if new is not None and chosen.valid_combinations:
        within = " within its block of columns" if len(done.blocks) > 1 else ""
        yield f"Each group releases the categories of one of its records{within}."
    if public:
        if chosen.margins is not None:
            yield "They were chosen so that the totals of all categories stay nearly as they were."
        return
    if chosen.incomplete_groups:
        yield (
            f"In {_groups(chosen.incomplete_groups)} no record has a value in every column: there, "
            "each column releases its own median or most frequent value."
        )
    if new is not None:
        yield (
            "Every combination of categories in the release existed before."
            if not new.combinations
            else f"{counted(new.combinations, 'combination')} of categories did not exist before "
            f"({small_count(new.records, least)})."
        )
    if chosen.margins is not None:
        yield _margins(chosen.margins, least, has_weights=done.weights is not None)


def _groups(count: int) -> str:
    return "1 group" if count == 1 else f"{count:,} groups"


def _margins(kept: MarginFacts, least: int, *, has_weights: bool) -> str:
    """Say how near the totals are, in steps of `least`, as a few records less would be counted."""
    of = "in weight" if has_weights else "records"
    steps, per_cent = Steps(float(least)), Steps(1.0)
    bound = steps.down(kept.lower_bound)
    best = (
        f"No choice with so little extra loss differs by less than {bound:,.6g}."
        if bound > 0.0
        else f"Whether another choice comes nearer is not known: the bound is below {least:,}."
    )
    return (
        "They were chosen so that the totals of all categories stay nearly as they were. Added up "
        f"over all categories, totals differ by at most {steps.up(kept.deviation):,.6g} {of}; with "
        "the categories that lose least it would be at most "
        f"{steps.up(kept.least_loss_deviation):,.6g}. {best} The loss of the categories is at most "
        f"{percent(per_cent.up(kept.extra_loss))} higher for it."
    )
