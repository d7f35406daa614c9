"""Correlations of the columns before and after, over all records that have both values."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from microagg.core.arrays import Floats, Mask
from microagg.measures.utility.correlations import correlation_matrix
from microagg.report.guarded import is_dominated
from microagg.report.rare import reveals_few, two_values, without_rare
from microagg.tables.pairs import PairedColumn


@dataclass(frozen=True, eq=False)
class Correlations:
    """Matrices of correlations; NaN where there is none. A side without figures is None.

    `mean_change` and `largest_change` are of the absolute changes of all pairs.
    """

    names: tuple[str, ...]
    before: Floats | None
    after: Floats
    mean_change: float | None
    largest_change: float | None


@dataclass(frozen=True)
class PairOfColumns:
    """Two columns and their correlation before and after."""

    first: str
    second: str
    before: float | None
    after: float


def correlations_of(
    columns: Sequence[PairedColumn], least: int, *, public: bool, weights: Floats | None = None
) -> Correlations | None:
    """Return the correlations of the columns that have an order; None with fewer than two."""
    scaled = [column for column in columns if column.is_scaled]
    if len(scaled) < 2:
        return None
    merged = [without_rare(column, least) for column in scaled]
    before = safe_correlations(merged, "before", least, weights)
    after = safe_correlations(scaled, "after", least, weights)
    upper = np.triu_indices(len(scaled), 1)
    if not np.isfinite(after[upper]).any() and (public or not np.isfinite(before[upper]).any()):
        return None
    changes = np.abs(after - before)[upper]
    changes = changes[np.isfinite(changes)]
    # With few columns, original values could be worked out from public changes.
    is_shown = len(changes) > 0 and not public
    return Correlations(
        tuple(column.name for column in scaled),
        None if public else before,
        after,
        float(changes.mean()) if is_shown else None,
        float(changes.max()) if is_shown else None,
    )


def safe_correlations(
    columns: Sequence[PairedColumn], side: str, least: int, weights: Floats | None = None
) -> Floats:
    """Return Pearson's correlations of records with both values, NaN for fewer than `least`.

    They are weighted if records have weights.

    Before, there are none for columns dominated by a few records: they would reveal values of other
    columns; and none of two columns with two values each, if fewer than `least` records share both:
    their number would follow. Time O(n d^2), memory O(n d + d^2).
    """
    if side == "before":
        numbers = [column.scaled_before for column in columns]
        present = [column.before.is_present for column in columns]
    else:
        numbers = [column.scaled_after for column in columns]
        present = [column.after.is_present for column in columns]
    matrix = correlation_matrix(numbers, present, weights)
    both = np.column_stack(present).astype(np.float64)
    matrix[both.T @ both < least] = np.nan
    if side == "before":
        matrix[_dominated_pairs(numbers, present, least, weights)] = np.nan
    return matrix


def _dominated_pairs(
    numbers: Sequence[Floats],
    present: Sequence[Mask],
    least: int,
    weights: Floats | None,
) -> Mask:
    """Return which pairs have a column that a few of the records with both values dominate."""
    d = len(numbers)
    alone = [_dominated(x, own, least, weights) for x, own in zip(numbers, present, strict=True)]
    found = np.logical_or.outer(alone, alone)
    codes = [two_values(x, own) for x, own in zip(numbers, present, strict=True)]
    for i, j in combinations(range(d), 2):
        found[i, j] |= reveals_few(codes[i], codes[j], least)
        found[j, i] = found[i, j]
    complete = [bool(own.all()) for own in present]
    for i, j in combinations(range(d), 2):
        if found[i, j] or (complete[i] and complete[j]):
            continue
        both = present[i] & present[j]
        found[i, j] = found[j, i] = any(
            _dominated(numbers[at], both, least, weights) for at in (i, j)
        )
    return found


def _dominated(numbers: Floats, rows: Mask, least: int, weights: Floats | None) -> bool:
    order = np.argsort(numbers[rows], kind="stable")
    own = None if weights is None else weights[rows][order]
    return is_dominated(numbers[rows][order], least, own)


def most_notable(found: Correlations, count: int) -> list[PairOfColumns]:
    """Return the pairs that changed most or, without figures from before, the strongest."""
    rows, columns = np.triu_indices(len(found.names), 1)
    after = found.after[rows, columns]
    before = None if found.before is None else found.before[rows, columns]
    size = np.abs(after if before is None else after - before)
    order = [at for at in np.argsort(-size, kind="stable") if np.isfinite(size[at])]
    return [
        PairOfColumns(
            found.names[rows[at]],
            found.names[columns[at]],
            None if before is None else float(before[at]),
            float(after[at]),
        )
        for at in order[:count]
    ]
