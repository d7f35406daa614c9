"""How the correlations between columns changed; pairs of columns by the records that have both."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Floats, Mask
from microagg.measures.utility.scaled import ScaledColumn

# Rows at once: sums of products need copies of them.
_BLOCK = 1 << 16
# A share of the squares that is rounding and no variance.
_NO_VARIANCE = 1e-12


@dataclass(frozen=True)
class CorrelationChange:
    """Changes of the correlations over all pairs of columns, and the pair that changed most.

    `n_lost` pairs had a correlation before and have none after, as a column became constant or
    missing: they are in neither figure. None where no pair has a correlation before and after.
    """

    largest: float | None
    mean: float | None
    most_changed: tuple[str, str] | None
    before: float | None
    after: float | None
    n_pairs: int
    n_lost: int


def pearson_change(columns: Sequence[ScaledColumn]) -> CorrelationChange:
    """Compare the matrices of Pearson's correlations."""
    return _change(columns, [c.before for c in columns], [c.after for c in columns])


def spearman_change(columns: Sequence[ScaledColumn]) -> CorrelationChange:
    """Compare the matrices of Spearman's rank correlations.

    Ranks are those among all values that the column has; equal values share the mean of theirs.
    """
    before = [_ranks(column.before, column.is_there_before) for column in columns]
    return _change(columns, before, [_ranks(c.after, c.is_there_after) for c in columns])


def _change(
    columns: Sequence[ScaledColumn], before: list[Floats], after: list[Floats]
) -> CorrelationChange:
    if len(columns) < 2:
        return CorrelationChange(None, None, None, None, None, 0, 0)
    sides = [
        correlation_matrix(before, [column.is_there_before for column in columns]),
        correlation_matrix(after, [column.is_there_after for column in columns]),
    ]
    rows, others = np.triu_indices(len(columns), 1)
    old, new = (side[rows, others] for side in sides)
    defined = ~np.isnan(old) & ~np.isnan(new)
    n_lost = int(np.count_nonzero(~np.isnan(old) & np.isnan(new)))
    if not defined.any():
        return CorrelationChange(None, None, None, None, None, 0, n_lost)
    change = np.where(defined, np.abs(new - old), -1.0)
    at = int(change.argmax())
    return CorrelationChange(
        largest=float(change[at]),
        mean=float(change[defined].mean()),
        most_changed=(columns[rows[at]].name, columns[others[at]].name),
        before=float(old[at]),
        after=float(new[at]),
        n_pairs=int(np.count_nonzero(defined)),
        n_lost=n_lost,
    )


def correlation_matrix(columns: Sequence[Floats], present: Sequence[Mask]) -> Floats:
    """Return the correlations, each over the records where both columns are present.

    NaN where one of the two does not vary there. Sums of products, O(n d^2), block by block.
    """
    sums = pairwise_sums(columns, present)
    spread = sums.squares - np.square(sums.values) / sums.counts
    spread[~(spread > _NO_VARIANCE * sums.squares)] = np.nan
    products = sums.products - sums.values * sums.values.T / sums.counts
    return np.clip(products / np.sqrt(spread * spread.T), -1.0, 1.0)


@dataclass(frozen=True, eq=False)
class PairwiseSums:
    """Sums over the records that have both i and j: of 1, of i, of i * i and of i * j.

    The count of a pair that no record has is 1, so that one can divide by it.
    """

    counts: Floats
    values: Floats
    squares: Floats
    products: Floats


def pairwise_sums(columns: Sequence[Floats], present: Sequence[Mask]) -> PairwiseSums:
    """Add up the columns about their own means, so that a common offset costs no digits."""
    d = len(columns)
    middles = np.array([_middle(x, own) for x, own in zip(columns, present, strict=True)])
    counts, values, squares, products = (np.zeros((d, d)) for _ in range(4))
    for start in range(0, len(columns[0]), _BLOCK):
        rows = slice(start, start + _BLOCK)
        there = np.column_stack([mask[rows] for mask in present]).astype(np.float64)
        block = (np.column_stack([column[rows] for column in columns]) - middles) * there
        counts += there.T @ there
        values += block.T @ there
        squares += np.square(block).T @ there
        products += block.T @ block
    return PairwiseSums(np.maximum(counts, 1.0), values, squares, products)


def _middle(column: Floats, present: Mask) -> float:
    """Return the mean; of equal values exactly that value, so that nothing is left of them."""
    own = column[present]
    if not len(own):
        return 0.0
    return float(own[0] if own.min() == own.max() else own.mean())


def _ranks(column: Floats, present: Mask) -> Floats:
    from scipy.stats import rankdata

    ranks: NDArray[np.float64] = np.zeros(len(column))
    ranks[present] = rankdata(column[present])
    return ranks
