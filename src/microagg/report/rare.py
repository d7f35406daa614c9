"""The rule on rare values: no figure of the original tells how many records hold one.

A value is rare if it is that of 1 to `least` - 1 records. A figure of the values before, or of how
they changed, is a function of counts: whoever knows the others could work out how many records have
a rare value, however the figure is rounded. So all figures are made from what
`safe_columns` returns:

- Up to four rare values (missing is one more value) are merged with others on both sides: numbers
  with the nearest that is not rare, categories with the largest of those that hide their number in
  the tables of categories (`named_categories`). How many records have them does not show then, and
  neither does whether there are any.
- If nothing is left to tell apart, because fewer than `least` records differ from all others, the
  column is left out. So are numbers whose figures a few records dominate (`is_dominated`), and
  columns without any differences, so that those with fewer than `least` look the same.
- If more values are rare, as in most columns of numbers, nobody knows enough of the other counts:
  they are kept, and rounding to steps of `least` records (`microagg.report.steps`) is enough.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from microagg.aggregates.values import Values
from microagg.core.arrays import Counts, Mask, Rows, States
from microagg.report.grids import few
from microagg.report.guarded import reveals_single_values
from microagg.tables.pairs import Pair, PairedColumn
from microagg.tables.sides import ColumnSide

MOST_MERGED = 4
CATEGORIES = 12  # with more of them, a figure is hard to read


@dataclass(frozen=True, eq=False)
class SafeColumns:
    """What a report may show of columns.

    `merged` has all of them, with rare values merged with others; `pair` only those of which
    figures may be shown. `constant` are columns without any differences in the original,
    `uncountable` those with too many rare values to merge them, such as most numbers.
    """

    pair: Pair
    merged: Mapping[str, PairedColumn]
    constant: frozenset[str]
    uncountable: frozenset[str]

    @property
    def left_out(self) -> tuple[str, ...]:
        """The columns of which no figure may be shown."""
        return tuple(name for name in self.merged if name not in self.pair.columns)

    @property
    def varying(self) -> dict[str, PairedColumn]:
        """The columns that differ in enough records, though a few may dominate them."""
        return {name: column for name, column in self.merged.items() if _varies(column)}


def safe_columns(pair: Pair, least: int) -> SafeColumns:
    """Return the columns as a report may show them; time O(n d log n)."""
    merged = {name: without_rare(column, least) for name, column in pair.columns.items()}
    kept = {
        name: column
        for name, column in merged.items()
        if _varies(column) and not reveals_single_values(column, least, pair.weights)
    }
    every = pair.columns.items()
    constant = frozenset(name for name, column in every if not _varies(column))
    uncountable = frozenset(n for n, column in every if _n_rare(column, least) > MOST_MERGED)
    return SafeColumns(replace(pair, columns=kept), merged, constant, uncountable)


def _varies(column: PairedColumn) -> bool:
    before = column.before
    present = before.present
    if before.n_missing:
        return len(present) > 0
    return len(present) > 0 and bool((present != present[0]).any())


def _sizes(column: PairedColumn) -> tuple[NDArray[np.generic], Counts]:
    """Return the values before, and how many records have each of them; missing comes last."""
    values, counts = np.unique(column.before.present, return_counts=True)
    return values, np.append(counts, column.before.n_missing)


def _n_rare(column: PairedColumn, least: int) -> int:
    """Return how many values are rare."""
    _, sizes = _sizes(column)
    return int(np.count_nonzero((sizes > 0) & (sizes < least)))


def without_rare(column: PairedColumn, least: int, most: float = MOST_MERGED) -> PairedColumn:
    """Return the column with its rare values merged with others, unless there are many."""
    if not 0 < _n_rare(column, least) <= most:
        return column
    values, sizes = _sizes(column)
    if column.type.is_categorical:
        values = np.union1d(values, column.after.present).astype(values.dtype)
        both = np.stack([_counts(side, values) for side in (column.before, column.after)])
        target = _largest_of_pool(both, least)
    else:
        target = merged_with(values, sizes, least)
    before, after = (_recoded(side, values, target) for side in (column.before, column.after))
    return replace(column, before=before, after=after)


def _largest_of_pool(counts: Counts, least: int) -> Rows:
    """Return which category each is merged with: those that are not named, with the largest."""
    kept, other = named_categories(counts, least, most=None)
    if kept and counts[0, other].max() < least:  # whether rare ones are enough would tell of them
        other = [*other, min(kept, key=lambda place: (counts[0, place], -place))]
    target = np.arange(counts.shape[1])
    target[other] = max(other, key=lambda place: (counts[0, place], -place))
    return target


def merged_with(values: NDArray[np.generic], sizes: Counts, least: int) -> Rows:
    """Return which number each is merged with: rare ones with the nearest that is not.

    Missing, the last, is merged with the most frequent number, or all with it if it is.
    """
    target, common = np.arange(len(sizes)), np.flatnonzero(sizes[:-1] >= least)
    for place in np.flatnonzero(sizes[:-1] < least):
        apart = np.abs(values[common].astype(np.float64) - float(values[place]))
        target[place] = common[apart.argmin()] if len(common) else len(values)
    if 0 < sizes[-1] < least:
        target[-1] = sizes[:-1].argmax()
    return target


def _counts(side: ColumnSide, values: NDArray[np.generic]) -> Counts:
    """Count the records with each of these sorted values; missing comes last."""
    places, found = _places(side, values)
    counts = np.bincount(places[found], minlength=len(values))
    return np.append(counts, side.n_missing)


def _places(side: ColumnSide, values: NDArray[np.generic]) -> tuple[Rows, Mask]:
    """Return which of these sorted values each record has, and whether it has any of them."""
    if not len(values):
        return np.zeros(len(side.numbers), dtype=np.intp), np.zeros(len(side.numbers), dtype=bool)
    places = np.minimum(np.searchsorted(values, side.numbers), len(values) - 1)
    return places, np.asarray(side.is_present & (values[places] == side.numbers))


def _recoded(side: ColumnSide, values: NDArray[np.generic], target: Rows) -> ColumnSide:
    """Return the values with each replaced by that at its target; missing comes last."""
    places, found = _places(side, values)
    places = np.where(found, target[places], len(values))
    places[~side.is_present] = target[-1]
    is_known = found | ~side.is_present  # others are released only, and stay
    missing = is_known & (places == len(values))
    numbers = side.numbers.copy()
    moved = is_known & ~missing
    numbers[moved] = values[places[moved]]
    return ColumnSide.of_values(Values.of(numbers, missing))


def two_values(numbers: NDArray[np.generic], is_present: Mask) -> States | None:
    """Return whether records have the smaller (0) or larger (1) of two values, -1 where missing.

    None if there are other values, or only one.
    """
    present = numbers[is_present]
    if not len(present):
        return None
    low, high = present.min(), present.max()
    if low == high or not ((present == low) | (present == high)).all():
        return None
    return np.where(is_present, numbers == high, -1).astype(np.int8)


def reveals_few(one: States | None, two: States | None, least: int) -> bool:
    """Whether how two columns go together tells the number of fewer than `least` records.

    Two columns with two values each make a table of four cells, all of which follow from the totals
    and one more figure, such as a correlation.
    """
    if one is None or two is None:
        return False
    both = (one >= 0) & (two >= 0)
    return few(np.bincount(2 * one[both] + two[both], minlength=4), least)


def named_categories(
    counts: Counts, least: int, most: int | None = CATEGORIES
) -> tuple[list[int], list[int]]:
    """Return the categories that may be named, and the others; unused ones are in neither.

    `counts` has a row for each side; the first decides which categories are large. If there are
    more than `most`, the smallest are among the others as well.
    """
    used = np.flatnonzero(counts.sum(axis=0))
    rare = set(np.flatnonzero(((counts > 0) & (counts < least)).any(axis=0)).tolist())
    other = [int(code) for code in used if code in rare]
    by_size = sorted(
        (int(code) for code in used if code not in rare),
        key=lambda code: (counts[0, code], -code),
    )
    joined = 0
    while joined < len(by_size) and (
        few(counts[:, other].sum(axis=1), least)
        or can_be_worked_out(counts[0, other], least)
        or (most is not None and len(by_size) - joined + bool(other) > most)
    ):
        other.append(by_size[joined])
        joined += 1
    return sorted(by_size[joined:]), other


def can_be_worked_out(counts: Counts, least: int) -> bool:
    """Whether the total of counts, and which of them are below `least`, tell more of those.

    >>> can_be_worked_out(np.array([3]), least=5), can_be_worked_out(np.array([1, 5]), least=5)
    (True, True)
    >>> can_be_worked_out(np.array([3, 12]), least=5)
    False
    """
    small = counts[(counts > 0) & (counts < least)]
    n_large = int(np.count_nonzero(counts >= least))
    if not len(small):
        return False
    others = len(small) - 1
    highest = int(counts.sum()) - others - n_large * least
    lowest = 1 if n_large else int(counts.sum()) - others * (least - 1)
    return highest < least - 1 or lowest > 1
