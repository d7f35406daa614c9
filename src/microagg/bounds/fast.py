"""The neighbour bound: the least that every record costs, whatever its group.

In a group S of s >= k records SSE(S) = sum over members r and q of |x_r - x_q|^2 / 2s. Give every
record a price m. Each member of a group pays its own price and gets back the mean price of the
others, so the prices cancel:

    SSE(S) = sum over r in S of  ( m_r + mean over q in S - r of (c_s |x_r - x_q|^2 - m_q) )

with c_s = (s - 1) / 2s. As c_s grows with s, and the mean of more of the smallest terms is no
smaller, r pays at least

    w_r = m_r + mean of the k - 1 smallest of (c_k |x_r - x_q|^2 - m_q) over all records q,

and sum(w) bounds the SSE of every partition from below, for any prices. With all prices zero these
are sums over nearest neighbours. Prices matter because an outlier is nobody's nearest neighbour: a
high price makes others choose it, as the members of its group must.
"""

from math import fsum
from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.core.progress import report
from microagg.core.validation import check_jobs
from microagg.kernels.bounds.neighbour_bound import choose, move_prices
from microagg.orderings.neighbours import Neighbours, nearest_neighbours, nearest_records

_TASK = "bound"
# Neighbours of each record that prices are computed from: per unit of k, and at least.
_LISTED, _LISTED_AT_LEAST = 2, 8
_ROUNDS = 100
_FIRST_STEP = 0.5
# Rounding of a distance, of the column for the price and of a sum, with room to spare.
_ROUNDINGS = 64.0 * np.finfo(np.float64).eps
# Squares below some 1e-308 have fewer digits or none. All that this can add to a bound, even for
# billions of pairs, is less than this, which is taken off; squares of common numbers do not notice.
UNDERFLOW = 1e-300


class Shares(NamedTuple):
    """The least that each record costs, and how much rounding may have added to the sum."""

    values: Floats
    margin: float

    @property
    def bound(self) -> float:
        """A lower bound on the SSE of every partition."""
        return max(0.0, fsum(self.values) - self.margin - UNDERFLOW)


def n_listed(k: int) -> int:
    """How many neighbours of each record the prices are computed from."""
    return max(_LISTED * k, _LISTED_AT_LEAST)


def neighbour_shares(X: Floats, k: int, neighbours: Neighbours | None = None) -> Shares:
    """Return each record's share of the bound, for k >= 2 and at least k records.

    The shares of the members of any group of k or more sum to at most its SSE. `neighbours`, if
    known, must list at least `n_listed(k)` for each record, or all others.
    """
    if neighbours is None:
        neighbours = list_for_bound(X, k)
    nearest = neighbours.nearest(n_listed(k))
    distances, rows = nearest.distances, nearest.rows
    weight = (k - 1) / (2.0 * k)
    plain = Shares(
        weight * distances[:, : k - 1].mean(axis=1),
        _margin(X, k, weight * float(distances[:, k - 2].sum())),
    )
    priced = _priced_shares(X, k, weight, _prices(distances, rows, k, weight))
    return priced if priced.bound > plain.bound else plain


def prices_among(neighbours: Neighbours, k: int) -> Floats:
    """Return prices m for which pairs may pay c_ij + m_i - m_j, with c_ij = |x_i - x_j|^2 / 2.

    These are the prices above in other units: there each member pays its own once, not s - 1 times.
    """
    nearest = neighbours.nearest(n_listed(k))
    share = (k - 1) / k
    return _prices(nearest.distances, nearest.rows, k, share / 2.0) / share


def list_for_bound(X: Floats, k: int) -> Neighbours:
    """List the neighbours that the bound needs."""
    return nearest_neighbours(X, n_listed(k), n_jobs=check_jobs(-1), task=_TASK)


def _margin(X: Floats, k: int, size: float) -> float:
    return float(_ROUNDINGS * (X.shape[1] + k) * size)


def _prices(distances: Floats, rows: Rows, k: int, weight: float) -> Floats:
    """Return prices at which each record is chosen about as often as it chooses, among neighbours.

    Subgradient ascent, with steps in units of a record's own distances, as these may differ by
    orders of magnitude. The bound is valid for any prices.
    """
    begins, ends, costs = _both_ways(weight * distances, rows)
    prices, times = np.zeros(len(rows)), np.empty(len(rows))
    best, best_prices = -np.inf, prices
    scales = weight * distances[:, k - 2]
    for turn in range(_ROUNDS):
        total = choose(begins, ends, costs, prices, k - 1, times)
        if total > best:
            best, best_prices = total, prices.copy()
        move_prices(prices, times, k - 1, scales, _FIRST_STEP / (1.0 + turn / 8))
        report(_TASK, turn + 1, _ROUNDS)
    return best_prices


def _both_ways(costs: Floats, rows: Rows) -> tuple[Rows, Rows, Floats]:
    """Neighbours of each record and records it is a neighbour of: where they begin, rows, costs."""
    n, width = rows.shape
    starts, ends = np.repeat(np.arange(n), width), rows.ravel()
    pairs = np.minimum(starts, ends) * n + np.maximum(starts, ends)
    pairs, first = np.unique(pairs, return_index=True)
    low, high = np.divmod(pairs, n)
    starts, ends = np.concatenate([low, high]), np.concatenate([high, low])
    order = np.argsort(starts, kind="stable")
    begins = np.zeros(n + 1, dtype=np.intp)
    np.cumsum(np.bincount(starts, minlength=n), out=begins[1:])
    paired = costs.ravel()[first]
    return begins, ends[order].astype(np.intp), np.concatenate([paired, paired])[order]


def _priced_shares(X: Floats, k: int, weight: float, prices: Floats) -> Shares:
    """Return the shares at the given prices, over all records: one more neighbour search.

    An additional column turns c |x_r - x_q|^2 - m_q into a squared distance, up to a constant.
    """
    highest = float(prices.max())
    lifted = np.column_stack([X, np.sqrt((highest - prices) / weight)])
    nearest = nearest_records(X, lifted, k - 1, n_jobs=check_jobs(-1), task=_TASK)
    distances = nearest.distances
    values = prices + (weight * distances.mean(axis=1) - highest)
    size = weight * float(distances[:, -1].sum()) + 2.0 * len(X) * float(np.abs(prices).max())
    return Shares(values, _margin(X, k, size))
