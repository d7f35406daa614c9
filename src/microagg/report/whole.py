"""What a report knows of all records where its figures come from a sample of them.

Figures of all records obey the same rules as those of a table. A mean or a deviation before is
None if it would reveal values of a few records, or how many have a rare one: the figure of the
sample, to which the rules were applied, takes its place.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from microagg.core.arrays import Counts, Floats
from microagg.measures.measure import Risk
from microagg.measures.wording import Sample
from microagg.report.guarded import DOMINANT_SHARE
from microagg.report.rare import MOST_MERGED, merged_with
from microagg.tables.pairs import Pair

Spread = tuple[float | None, float | None]


@dataclass(frozen=True, eq=False)
class CategoryCounts:
    """Records with each category, before and after, and their weights; missing comes last."""

    names: tuple[str, ...]
    counts: Counts  # side x category
    weights: Floats  # side x category


@dataclass(frozen=True, eq=False)
class WholeColumn:
    """A column in all records.

    `is_uncountable` says that it has too many rare values to merge them; `is_dominated` that a few
    records make up most of its spread. `before` and `after` are its mean and deviation, that before
    without rare values; None if it may not be shown.
    """

    n_missing: tuple[int, int]
    is_uncountable: bool
    is_dominated: bool
    before: Spread | None
    after: Spread | None
    categories: CategoryCounts | None = None


@dataclass(frozen=True, eq=False)
class WholeTable:
    """All records: how many, how many of them are sampled, and the least behind every figure.

    `risk` attacks the sample, whose values before may be others, among all released records.
    """

    sample: Sample
    least: int
    columns: dict[str, WholeColumn]
    risk: Callable[[Pair], Risk]

    @property
    def is_countable(self) -> bool:
        """Whether a few counts describe all columns."""
        return not any(column.is_uncountable for column in self.columns.values())


def dominated(ends: Floats, median: float, squares: float, least: int) -> bool:
    """Whether fewer than `least` records make up most of the squares about the median.

    `ends` are the lowest and highest values, `squares` the sum over all records.
    """
    about = np.sort(np.square(ends - median))
    return bool(about[-max(1, least - 1) :].sum() > DOMINANT_SHARE * squares)


def counted_spread(
    values: Floats, counts: Counts, n_missing: int, least: int
) -> tuple[float, float] | None:
    """Return mean and deviation of numbers that are counted, rare ones merged with others.

    None if they may not be shown: fewer than `least` records differ, or a few dominate the column.

    >>> mean, _ = counted_spread(np.array([1.0, 2.0, 9.0]), np.array([30, 20, 2]), 0, 5)
    >>> mean == (30 * 1.0 + 22 * 2.0) / 52
    True
    """
    sizes = np.append(counts, n_missing)
    if 0 < np.count_nonzero((sizes > 0) & (sizes < least)) <= MOST_MERGED:
        target = merged_with(values, sizes, least)
        sizes = np.bincount(target, weights=sizes, minlength=len(sizes)).astype(np.int64)
    present = sizes[:-1]
    used = np.flatnonzero(present)
    n = int(present.sum())
    if len(used) < 2 or n - int(present.max()) < least:
        return None
    own, each = values[used], present[used]
    median = own[np.searchsorted(each.cumsum(), n / 2)]
    squares = np.square(own - median)
    order = np.argsort(squares)[::-1]
    before = np.concatenate(([0], each[order].cumsum()[:-1]))
    few = np.clip(max(1, least - 1) - before, 0, each[order])
    if squares[order] @ few > DOMINANT_SHARE * (squares @ each):
        return None
    mean = float(own @ each) / n
    return mean, float(np.sqrt(np.square(own - mean) @ each / (n - 1)))
