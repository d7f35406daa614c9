"""Columns as predictors of a model, encoded alike before and after."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Floats, Rows
from microagg.tables.pairs import PairedColumn
from microagg.tables.sides import ColumnSide

# Categories beyond this number, or rarer than this share, are pooled.
MOST_CATEGORIES = 10
LEAST_SHARE = 0.01

Sides = tuple[Floats, Floats]


def predictors(columns: Iterable[PairedColumn], *, squares: bool) -> Floats:
    """Return two matrices in one array: the predictors of every record before, and after.

    Numbers, dates and ordered categories are standardised by the original, with their squares if
    asked for; missing values are set to the mean, and an indicator marks them. A nominal column
    becomes an indicator for each of its most common categories but the first, one for all others
    together, and one for missing values.
    """
    listed = list(columns)
    axes = [axis for column in listed for axis in _axes(column, squares)]
    sides = np.empty((2, len(listed[0].before.numbers), len(axes)))
    for j, (before, after) in enumerate(axes):
        sides[0, :, j], sides[1, :, j] = before, after
    return sides


def _axes(column: PairedColumn, squares: bool) -> Iterator[Sides]:
    if not column.is_scaled:
        yield from _indicators(column)
        return
    if not column.is_constant:
        yield column.scaled_before, column.scaled_after
        if squares:
            yield np.square(column.scaled_before), np.square(column.scaled_after)
    present = column.before.is_present, column.after.is_present
    if not (present[0].all() and present[1].all()):
        yield (~present[0]).astype(np.float64), (~present[1]).astype(np.float64)


def _indicators(column: PairedColumn) -> Iterator[Sides]:
    sides = (column.before, column.after)
    present = np.concatenate([side.present for side in sides])
    common = common_categories(present, MOST_CATEGORIES)
    before, after = (pooled(side, common) for side in sides)
    for place in (*range(1, len(common) + 1), -1):
        yield (before == place).astype(np.float64), (after == place).astype(np.float64)


def common_categories(codes: NDArray[Any], most: int) -> NDArray[Any]:
    """Return the codes of at least 1 % of the records, the most common first, at most `most`."""
    values, counts = np.unique(codes, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:most]
    common: NDArray[Any] = values[order[counts[order] >= LEAST_SHARE * len(codes)]]
    return common


def pooled(values: ColumnSide, common: NDArray[Any]) -> Rows:
    """Return the position of each value in `common`, its length for all others, -1 for missing."""
    order = np.argsort(common, kind="stable")
    at = np.searchsorted(common[order], values.numbers)
    at = np.minimum(at, max(len(common) - 1, 0))
    places = np.full(len(values.numbers), len(common), dtype=np.intp)
    if len(common):
        found = common[order][at] == values.numbers
        places[found] = order[at[found]]
    return np.where(values.is_present, places, -1)
