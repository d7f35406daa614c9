"""Loops of the neighbour bound: who is near, who would be chosen, and at what price."""

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.kernels.basics.smallest import keep_smallest
from microagg.kernels.compile import kernel
from microagg.kernels.neighbours.blocks import Blocks, nearest


@kernel
def list_nearest(
    points: Floats, rows: Rows, blocks: Blocks, out_distances: Floats, out_rows: Rows
) -> None:
    """The records nearest to the points of the given rows, nearest first, the row itself left out.

    `blocks` may hold more columns than `points` has; a point is at zero in those.
    """
    width = out_rows.shape[1]
    point = np.zeros(blocks.values.shape[1])
    distances = np.empty(width + 1)
    found = np.empty(width + 1, dtype=np.intp)
    for i in rows:
        point[: points.shape[1]] = points[i]
        nearest(blocks, point, distances, found)
        slot = 0
        for at in range(width + 1):
            if found[at] != i and slot < width:
                out_rows[i, slot] = found[at]
                out_distances[i, slot] = distances[at]
                slot += 1


@kernel
def choose(
    begins: Rows, ends: Rows, costs: Floats, prices: Floats, n_chosen: int, out_times: Floats
) -> float:
    """Let every record choose its cheapest neighbours; returns the sum of what all pay.

    The neighbours of record i are `ends[begins[i] : begins[i + 1]]`. Choosing a neighbour costs
    its cost less its price, and the record pays its own price too; `out_times` counts how often
    each record was chosen.
    """
    values = np.empty(n_chosen)
    places = np.empty(n_chosen, dtype=np.intp)
    total = 0.0
    out_times[:] = 0.0
    for i in range(begins.shape[0] - 1):
        count = 0
        for at in range(begins[i], begins[i + 1]):
            count = keep_smallest(costs[at] - prices[ends[at]], ends[at], count, values, places)
        paid = 0.0
        for slot in range(count):
            paid += values[slot]
            out_times[places[slot]] += 1.0
        total += prices[i] + paid / n_chosen
    return total


@kernel
def move_prices(prices: Floats, times: Floats, n_chosen: int, scales: Floats, step: float) -> None:
    """Raise the price of those chosen too seldom and lower that of those chosen too often."""
    for i in range(prices.shape[0]):
        excess = 1.0 - times[i] / n_chosen
        prices[i] += step * scales[i] * max(excess, -1.0)
