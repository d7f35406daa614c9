"""Shares of the records by category, with rare ones combined."""

from dataclasses import dataclass

import numpy as np

from microagg.core.arrays import Floats
from microagg.report.rare import named_categories
from microagg.report.whole import CategoryCounts
from microagg.tables.category_codes import category_codes
from microagg.tables.columns import ColumnType
from microagg.tables.pairs import PairedColumn
from microagg.tables.sides import ColumnSide

MISSING = "missing"
ALL_OTHERS = "all others"  # what categories that are not named are called, wherever they appear


@dataclass(frozen=True, eq=False)
class Bars:
    """Shares of the records by category; the last may be "all others"."""

    names: tuple[str, ...]
    before: Floats | None
    after: Floats


def bars_of(
    column: PairedColumn,
    least: int,
    weights: Floats | None = None,
    *,
    public: bool,
    known: CategoryCounts | None = None,
) -> tuple[Bars | None, str]:
    """Return the shares of the categories that may be named, and a note; None if there are none.

    Missing is one more category: shares of the values that are present would tell how many are not.
    `known` are those of all records, if the column is a sample.
    """
    found = categories_in(column, weights) if known is None else known
    counts, held = found.counts, found.weights
    if public:
        counts, held = counts[1:], held[1:]
    kept, other = named_categories(counts, least)
    if not counts[0, :-1].any():
        return None, "Every value is missing."
    if not kept:
        return (
            None,
            f"Not shown: shares of its categories would reveal counts below {least:,} records.",
        )
    if column.type is ColumnType.NOMINAL:
        last = counts.shape[1] - 1
        kept = sorted(kept, key=lambda code: (code == last, -held[0, code], code))
    shares = np.column_stack([held[:, kept], held[:, other].sum(axis=1)])
    shares = (shares if other else shares[:, :-1]) / held.sum(axis=1)[:, None]
    names = (*(found.names[code] for code in kept), *([ALL_OTHERS] if other else []))
    note = f"“{ALL_OTHERS}” stands for {len(other):,} categories." if len(other) > 1 else ""
    return Bars(names, None if public else shares[0], shares[-1]), note


def categories_in(column: PairedColumn, weights: Floats | None = None) -> CategoryCounts:
    """Count the records with each category, before and after."""
    sides = (column.before, column.after)
    return CategoryCounts(
        (*map(str, column.categories), MISSING),
        np.stack([_by_category(column, side).astype(np.intp) for side in sides]),
        np.stack([_by_category(column, side, weights) for side in sides]),
    )


def _by_category(column: PairedColumn, side: ColumnSide, weights: Floats | None = None) -> Floats:
    """Return how many records have each category, or their weight; missing comes last."""
    n = len(column.categories) + 1
    return np.bincount(category_codes(side) % n, weights, minlength=n).astype(np.float64)
