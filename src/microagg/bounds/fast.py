"""The neighbour bound: what every record costs at least, whatever its group.

In a group S of s >= k records SSE(S) = sum over members r and q of |x_r - x_q|^2 / 2s. Give every
record a price m. Within a group each member pays its own price and gets back the mean price of the
others; the prices cancel:

    SSE(S) = sum over r in S of  ( m_r + mean over q in S - r of (c_s |x_r - x_q|^2 - m_q) )

with c_s = (s - 1) / 2s. As c_s grows with s, and the mean of more of the smallest terms is no
smaller, r pays at least

    w_r = m_r + mean of the k - 1 smallest of (c_k |x_r - x_q|^2 - m_q) over all records q,

and sum(w) bounds the SSE of every partition from below, for any prices. With all prices zero these
are sums over nearest neighbours. Prices matter because an outlier is nobody's neighbour: a high
price makes others choose it, as the members of its group must.
"""

from math import fsum
from typing import NamedTuple

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.core.parallel import side_by_side
from microagg.core.progress import paced, report
from microagg.core.validation import check_jobs
from microagg.kernels.bounds.neighbour_bound import choose, list_nearest, move_prices
from microagg.kernels.neighbours.blocks import make_blocks

_TASK = "bound"
# Neighbours among which prices are sought, for each record and unit of k; and at least.
_LISTED, _LISTED_AT_LEAST = 2, 8
# Parts of a table that are looked at side by side, and rows in one, at least.
_PARTS, _LEAST_ROWS = 8, 2_000
_ROUNDS = 100
_FIRST_STEP = 0.5
# Roundings of a distance, of the column that carries the price and of a sum, with room to spare.
_ROUNDINGS = 64.0 * np.finfo(np.float64).eps


class Shares(NamedTuple):
    """What each record costs at least, and by how much rounding may have raised the sum."""

    values: Floats
    margin: float

    @property
    def bound(self) -> float:
        """A number that no partition can go below."""
        return max(0.0, fsum(self.values) - self.margin)


def n_listed(k: int) -> int:
    """How many neighbours of each record the prices are sought among."""
    return max(_LISTED * k, _LISTED_AT_LEAST)


def neighbour_shares(X: Floats, k: int, nearest: tuple[Floats, Rows] | None = None) -> Shares:
    """Share of each record in the bound, for k >= 2 and at least k records.

    The shares of the members of any group of k or more sum to at most its SSE. `nearest`, if
    given, is what `nearest_others` lists, `n_listed(k)` or more of them where there are so many.
    """
    width = min(len(X) - 1, n_listed(k))
    distances, rows = nearest_others(X, width) if nearest is None else nearest
    distances, rows = distances[:, :width], rows[:, :width]
    weight = (k - 1) / (2.0 * k)
    plain = Shares(
        weight * distances[:, : k - 1].mean(axis=1),
        _margin(X, k, weight * float(distances[:, k - 2].sum())),
    )
    prices = _prices(distances, rows, k, weight)
    priced = _priced_shares(X, k, weight, prices)
    return priced if priced.bound > plain.bound else plain


def _margin(X: Floats, k: int, size: float) -> float:
    return float(_ROUNDINGS * (X.shape[1] + k) * size)


def nearest_others(X: Floats, width: int) -> tuple[Floats, Rows]:
    """Squared distances and rows of the nearest other records of each record, nearest first."""
    return _nearest(X, X, width)


def _nearest(points: Floats, records: Floats, width: int) -> tuple[Floats, Rows]:
    n = len(points)
    distances, rows = np.empty((n, width)), np.empty((n, width), dtype=np.intp)
    n_parts = min(_PARTS, -(-n // _LEAST_ROWS))
    done = np.zeros(n_parts, dtype=np.intp)

    def fill(part: int) -> None:
        blocks = make_blocks(records, np.arange(n))  # its own: they hold what a search writes down
        for some in paced(np.array_split(np.arange(n), n_parts)[part]):
            list_nearest(points, some, blocks, distances, rows)
            done[part] += len(some)
            report(_TASK, int(done.sum()), n)

    side_by_side(
        fill,
        range(n_parts),
        n_jobs=check_jobs(-1),
        task=_TASK,
        progress=lambda: (int(done.sum()), n),
    )
    return distances, rows


def _prices(distances: Floats, rows: Rows, k: int, weight: float) -> Floats:
    """Prices at which each record is chosen about as often as it chooses, among neighbours.

    Subgradient ascent: with steps in units of a record's own distances, since these may differ by
    orders of magnitude. Whatever comes out, the bound is valid.
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
    """Neighbours of each record, and those whose neighbour it is: where they begin, rows, costs."""
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
    """Shares at the given prices, over all records: one more search for neighbours.

    A further column turns c |x_r - x_q|^2 - m_q into a squared distance, up to a constant.
    """
    highest = float(prices.max())
    lifted = np.column_stack([X, np.sqrt((highest - prices) / weight)])
    distances, _ = _nearest(X, lifted, k - 1)
    values = prices + (weight * distances.mean(axis=1) - highest)
    size = weight * float(distances[:, -1].sum()) + 2.0 * len(X) * float(np.abs(prices).max())
    return Shares(values, _margin(X, k, size))
