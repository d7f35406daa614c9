"""Figures that reveal no single values: means, deviations and quantiles, weighted or not.

`microagg.report.summaries` lists the rules.
"""

import numpy as np

from microagg.core.arrays import Floats
from microagg.measures.utility.weighted import quantiles, shares_below
from microagg.tables.pairs import PairedColumn
from microagg.tables.sides import ColumnSide

QUANTILE_WINDOWS = 10
DOMINANT_SHARE = 0.5  # share of the sum of squares, or of the weights, due to a few records


def sorted_values(values: ColumnSide, weights: Floats | None) -> tuple[Floats, Floats | None]:
    """Return the values that are present, sorted, and their weights."""
    if weights is None:
        return values.ordered.astype(np.float64), None
    own = weights[values.is_present]
    order = np.lexsort((own, values.present))
    return values.present[order].astype(np.float64), own[order]


def moments(ordered: Floats, weights: Floats | None = None) -> tuple[float | None, float | None]:
    """Return mean and standard deviation (n - 1), or None if undefined; they never overflow."""
    if not len(ordered):
        return None, None
    largest = float(np.abs(ordered).max()) or 1.0
    within = ordered / largest
    mean = float(np.average(within, weights=weights))
    n = len(ordered)
    if n == 1:
        return mean * largest, None
    if ordered[0] == ordered[-1]:
        return float(ordered[0]), 0.0
    variance = float(np.average(np.square(within - mean), weights=weights)) * n / (n - 1)
    return mean * largest, float(np.sqrt(variance)) * largest


def reveals_single_values(column: PairedColumn, least: int, weights: Floats | None = None) -> bool:
    """Whether exact figures of the original column would reveal the values of a few records."""
    if not column.is_scaled:
        return False
    ordered, own = sorted_values(column.before, weights)
    return is_dominated(ordered, least, own)


def is_dominated(ordered: Floats, least: int, weights: Floats | None = None) -> bool:
    """Whether mean and standard deviation would reveal the values of a few records.

    >>> is_dominated(np.array([0.0] * 50 + [7.0, 8.0]), least=3)
    True
    >>> is_dominated(np.arange(50.0), least=3)
    False
    """
    if not len(ordered) or ordered[0] == ordered[-1]:
        return False
    _, counts = np.unique(ordered, return_counts=True)
    if len(ordered) - counts.max() < least:
        return True
    within = ordered / np.abs(ordered).max()
    squares = (within - quantiles(within, weights, [0.5])) ** 2
    few = max(1, least - 1)
    if weights is None:
        return _few_make_up_most(squares, few)
    return _few_make_up_most(squares * weights, few) or _few_make_up_most(weights, few)


def _few_make_up_most(parts: Floats, few: int) -> bool:
    largest = np.sort(parts)[-few:]
    return bool(largest.sum() > DOMINANT_SHARE * parts.sum())


def safe_quantile(
    ordered: Floats,
    share: float,
    least: int,
    weights: Floats | None = None,
    *,
    guarded: bool = True,
) -> float | None:
    """Return the mean of at least `least` neighbours around a quantile, if it may be shown.

    >>> safe_quantile(np.arange(100.0), 0.25, least=5)
    25.0
    >>> safe_quantile(np.arange(49.0), 0.5, least=5) is None
    True
    """
    n, window = len(ordered), least + 1 - least % 2
    # With fewer, the values of a few records could be worked out from all quantiles and the mean.
    if n < QUANTILE_WINDOWS * window:
        return None
    middle = round(share * (n - 1))
    if weights is not None:
        middle = int(np.abs(shares_below(weights) - share).argmin())
    start = middle - window // 2
    if start < 0 or start + window > n:
        return None
    around = ordered[start : start + window]
    if around[0] == around[-1]:
        return float(around[0])
    if guarded and (around[0] == around[-2] or around[1] == around[-1]):
        shared = around[1]
        first, last = (np.searchsorted(ordered, shared, side=side) for side in ("left", "right"))
        return float(shared) if last - first >= least else None
    return moments(around)[0]
