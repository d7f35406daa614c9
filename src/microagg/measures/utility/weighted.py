"""Statistics in which a record counts as often as its weight says.

With equal weights, and without any, all of them are the plain ones.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Floats
from microagg.tables.moments import Moments, Scaling
from microagg.tables.sides import ColumnSide


def present_weights(side: ColumnSide, weights: Floats | None) -> Floats | None:
    """Return the weights of the records that have a value."""
    return None if weights is None else weights[side.is_present]


def scaling_of(side: ColumnSide, weights: Floats | None) -> Scaling:
    """Return mean and standard deviation of what is present; (0, 0) if nothing is.

    With weights w, of sum W, the variance is sum w (x - mean)^2 / W * n / (n - 1).
    """
    if weights is None or not len(side.present):
        return side.scaling
    return Moments.of(side.present, present_weights(side, weights)).scaling


def shares_below(ordered_weights: Floats) -> Floats:
    """Return where sorted records lie between 0, the first of them, and 1, the last.

    A record lies in the middle of its own weight; with equal weights, these are 0, 1 / (n - 1), ...

    >>> shares_below(np.array([1.0, 1.0, 1.0])), shares_below(np.array([1.0, 3.0, 2.0]))
    (array([0. , 0.5, 1. ]), array([0.        , 0.44444444, 1.        ]))
    """
    middles = ordered_weights.cumsum() - ordered_weights / 2.0
    if len(middles) < 2:
        return np.zeros(len(middles))
    places: Floats = (middles - middles[0]) / (middles[-1] - middles[0])
    return places


def quantiles(values: Floats, weights: Floats | None, shares: Sequence[float]) -> Floats:
    """Return quantiles, interpolated between neighbours.

    >>> quantiles(np.array([0.0, 8.0, 2.0]), np.array([1.0, 2.0, 3.0]), [0.5]).round(6)
    array([2.6])
    """
    if weights is None:
        return np.asarray(np.quantile(values, shares))
    order = np.lexsort((weights, values))
    return np.interp(shares, shares_below(weights[order]), values[order])


def shares_up_to(side: ColumnSide, weights: Floats | None, steps: NDArray[Any]) -> Floats:
    """Return the share of the values that are present up to each of the steps."""
    if weights is None:
        return np.asarray(np.searchsorted(side.ordered, steps, side="right") / len(side.ordered))
    own = weights[side.is_present]
    order = np.argsort(side.present, kind="stable")
    totals = np.concatenate(([0.0], own[order].cumsum()))
    return np.asarray(totals[side.present[order].searchsorted(steps, side="right")] / totals[-1])


def ranks(values: Floats, weights: Floats | None) -> Floats:
    """Return the weight below each value plus half of that of its equals; up to a constant, ranks.

    >>> ranks(np.array([5.0, 3.0, 5.0]), None), ranks(np.array([5.0, 3.0]), np.array([4.0, 2.0]))
    (array([2.5, 1. , 2.5]), array([4., 1.]))
    """
    if weights is None:
        from scipy.stats import rankdata

        return np.asarray(rankdata(values), dtype=np.float64)
    _, places = np.unique(values, return_inverse=True)
    totals = np.bincount(places.reshape(-1), weights=weights)
    return np.asarray((totals.cumsum() - totals / 2.0)[places.reshape(-1)])
