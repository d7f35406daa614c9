"""Columns as predictors of a model: the same numbers for both sides of a pair."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.aggregates.values import Values
from microagg.core.arrays import Floats
from microagg.measures.utility.scaled import is_there, scaled
from microagg.tables.pairs import PairedColumn

# Categories are predictors of their own if they are among so many, and have such a share.
MOST_CATEGORIES = 10
LEAST_SHARE = 0.01

Sides = tuple[Floats, Floats]


def predictors(columns: Iterable[PairedColumn], *, squares: bool) -> Sides:
    """Return one row for each record before, and one after; each column with what it varies by.

    Numbers, dates and ordered categories come in units of the original's deviation, if asked for
    with their squares; the middle stands in for what is missing, and an indicator says so. A
    nominal column becomes an indicator for each of its most common categories but the first, and
    one for the others; missing is a category.
    """
    listed = list(columns)
    axes = [axis for column in listed for axis in _axes(column, squares)]
    sides = np.empty((2, len(listed[0].before.numbers), len(axes)))
    for j, (before, after) in enumerate(axes):
        sides[0, :, j], sides[1, :, j] = before, after
    return sides[0], sides[1]


def _axes(column: PairedColumn, squares: bool) -> Iterator[Sides]:
    if not column.is_scaled:
        yield from _indicators(column)
        return
    own = scaled(column)
    if not own.is_constant:
        yield own.before, own.after
        if squares:
            yield np.square(own.before), np.square(own.after)
    if not (own.is_there_before.all() and own.is_there_after.all()):
        yield (~own.is_there_before).astype(np.float64), (~own.is_there_after).astype(np.float64)


def _indicators(column: PairedColumn) -> Iterator[Sides]:
    sides = (column.before, column.after)
    present = np.concatenate([side.numbers[is_there(side)] for side in sides])
    common = common_categories(present, MOST_CATEGORIES)
    before, after = (pooled(side, common) for side in sides)
    for place in (*range(1, len(common) + 1), -1):
        yield (before == place).astype(np.float64), (after == place).astype(np.float64)


def common_categories(codes: NDArray[Any], most: int) -> NDArray[Any]:
    """Return the codes with at least 1 % of the records, at most so many, the commonest first."""
    values, counts = np.unique(codes, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:most]
    common: NDArray[Any] = values[order[counts[order] >= LEAST_SHARE * len(codes)]]
    return common


def pooled(values: Values, common: NDArray[Any]) -> NDArray[np.intp]:
    """Return the place of each value among the common ones; one more for others, -1 for missing."""
    order = np.argsort(common, kind="stable")
    at = np.searchsorted(common[order], values.numbers)
    at = np.minimum(at, max(len(common) - 1, 0))
    places = np.full(len(values.numbers), len(common), dtype=np.intp)
    if len(common):
        found = common[order][at] == values.numbers
        places[found] = order[at[found]]
    return np.where(is_there(values), places, -1)
