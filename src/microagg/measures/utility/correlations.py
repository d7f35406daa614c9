"""Changes of the correlations between columns, each over the records that have both values."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microagg.core.arrays import Floats, Mask
from microagg.measures.utility.weighted import ranks
from microagg.tables.pairs import PairedColumn

# Rows in a block: sums of products need copies of them.
_BLOCK = 1 << 16
# A variance below this share of the squares is rounding error.
_NO_VARIANCE = 1e-12


@dataclass(frozen=True)
class CorrelationChange:
    """Absolute changes of the correlations over all pairs of columns; the pair that changed most.

    `n_lost` pairs have a correlation before but not after, because a column became constant or
    missing; they count in neither figure. None where no pair has a correlation on both sides.
    """

    largest: float | None
    mean: float | None
    most_changed: tuple[str, str] | None
    before: float | None
    after: float | None
    n_pairs: int
    n_lost: int


NO_PAIRS = CorrelationChange(None, None, None, None, None, 0, 0)


def pearson_change(
    columns: Sequence[PairedColumn], weights: Floats | None = None
) -> CorrelationChange:
    """Compare the matrices of Pearson's correlations of scaled columns."""
    if len(columns) < 2:
        return NO_PAIRS
    before = correlation_matrix(
        [column.scaled_before for column in columns],
        [column.before.is_present for column in columns],
        weights,
    )
    after = correlation_matrix(
        [column.scaled_after for column in columns],
        [column.after.is_present for column in columns],
        weights,
    )
    return change_of([column.name for column in columns], before, after)


def spearman_change(
    columns: Sequence[PairedColumn], weights: Floats | None = None
) -> CorrelationChange:
    """Compare the matrices of Spearman's rank correlations of scaled columns.

    Ranks are among all values present in the column; equal values share the mean of theirs.
    """
    if len(columns) < 2:
        return NO_PAIRS
    before = correlation_matrix(
        [_ranks(column.scaled_before, column.before.is_present, weights) for column in columns],
        [column.before.is_present for column in columns],
        weights,
    )
    after = correlation_matrix(
        [_ranks(column.scaled_after, column.after.is_present, weights) for column in columns],
        [column.after.is_present for column in columns],
        weights,
    )
    return change_of([column.name for column in columns], before, after)


def change_of(names: Sequence[str], before: Floats, after: Floats) -> CorrelationChange:
    """Compare two matrices of correlations of these columns."""
    rows, others = np.triu_indices(len(names), 1)
    old, new = (side[rows, others] for side in (before, after))
    defined = ~np.isnan(old) & ~np.isnan(new)
    n_lost = int(np.count_nonzero(~np.isnan(old) & np.isnan(new)))
    if not defined.any():
        return CorrelationChange(None, None, None, None, None, 0, n_lost)
    change = np.where(defined, np.abs(new - old), -1.0)
    at = int(change.argmax())
    return CorrelationChange(
        largest=float(change[at]),
        mean=float(change[defined].mean()),
        most_changed=(names[rows[at]], names[others[at]]),
        before=float(old[at]),
        after=float(new[at]),
        n_pairs=int(np.count_nonzero(defined)),
        n_lost=n_lost,
    )


def correlation_matrix(
    columns: Sequence[Floats], present: Sequence[Mask], weights: Floats | None = None
) -> Floats:
    """Return the correlations, each over the records where both values are present.

    NaN where one of the columns does not vary there. O(n d^2), block by block.
    """
    return pairwise_sums(columns, present, weights).correlations()


@dataclass(frozen=True, eq=False)
class PairwiseSums:
    """Sums over the records that have both i and j: of 1, of i, of i * i and of i * j.

    Every record is counted with its weight, if there are weights.
    """

    counts: Floats
    values: Floats
    squares: Floats
    products: Floats

    @property
    def divisors(self) -> Floats:
        """The counts, to divide by: 1 for a pair that no record has."""
        return np.where(self.counts > 0.0, self.counts, 1.0)

    def plus(self, other: "PairwiseSums") -> "PairwiseSums":
        """Return the sums of both sets of records, about the same middles."""
        return PairwiseSums(
            self.counts + other.counts,
            self.values + other.values,
            self.squares + other.squares,
            self.products + other.products,
        )

    def correlations(self) -> Floats:
        """Return Pearson's correlations; NaN where a column does not vary."""
        spread = self.squares - np.square(self.values) / self.divisors
        spread[~(spread > _NO_VARIANCE * self.squares)] = np.nan
        products = self.products - self.values * self.values.T / self.divisors
        return np.clip(products / np.sqrt(spread * spread.T), -1.0, 1.0)


def pairwise_sums(
    columns: Sequence[Floats],
    present: Sequence[Mask],
    weights: Floats | None = None,
    *,
    middles: Floats | None = None,
) -> PairwiseSums:
    """Sum the columns about their own means, so that a common offset costs no digits.

    Sums of parts of a table add up if they are about the same `middles`.
    """
    d = len(columns)
    if middles is None:
        middles = np.array([_middle(x, own) for x, own in zip(columns, present, strict=True)])
    counts, values, squares, products = (np.zeros((d, d)) for _ in range(4))
    for start in range(0, len(columns[0]), _BLOCK):
        rows = slice(start, start + _BLOCK)
        there = np.column_stack([mask[rows] for mask in present]).astype(np.float64)
        block = (np.column_stack([column[rows] for column in columns]) - middles) * there
        counted, weighted = there, block
        if weights is not None:
            counted, weighted = there * weights[rows, None], block * weights[rows, None]
        counts += there.T @ counted
        values += block.T @ counted
        squares += np.square(block).T @ counted
        products += block.T @ weighted
    return PairwiseSums(counts, values, squares, products)


def _middle(column: Floats, present: Mask) -> float:
    """Return the mean; of equal values exactly that value, so that their sums are exactly 0."""
    own = column[present]
    if not len(own):
        return 0.0
    return float(own[0] if own.min() == own.max() else own.mean())


def _ranks(column: Floats, present: Mask, weights: Floats | None) -> Floats:
    found: Floats = np.zeros(len(column))
    found[present] = ranks(column[present], None if weights is None else weights[present])
    return found
