"""Loops of the neighbour bound: who is near, who would be chosen, and at what price."""

import numpy as np
from numpy.typing import NDArray

from microagg.kernels.blocks import Blocks, nearest
from microagg.kernels.compile import inner_kernel, kernel

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


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
        for j in range(points.shape[1]):  # a slice takes numba two seconds longer to compile
            point[j] = points[i, j]
        nearest(blocks, point, distances, found)
        slot = 0
        for at in range(width + 1):
            if found[at] != i and slot < width:
                out_rows[i, slot] = found[at]
                out_distances[i, slot] = distances[at]
                slot += 1


@inner_kernel
def keep_smallest(
    value: float, place: int, count: int, out_values: Floats, out_places: Rows
) -> int:
    """Insert into a short ascending list that holds at most its length; returns the new count."""
    if count == out_values.shape[0]:
        if not value < out_values[count - 1]:
            return count
        count -= 1
    at = count
    while at > 0 and out_values[at - 1] > value:
        out_values[at] = out_values[at - 1]
        out_places[at] = out_places[at - 1]
        at -= 1
    out_values[at] = value
    out_places[at] = place
    return count + 1


@kernel
def choose(
    begins: Rows, ends: Rows, costs: Floats, prices: Floats, n_chosen: int, out_times: Floats
) -> float:
    """Let every record choose its cheapest neighbours; returns the sum of what all pay.

    The neighbours of record i are `ends[begins[i] : begins[i + 1]]`. A choice costs its cost less
    the price of the chosen, and who chooses pays the own price: out_times counts the choices.
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
