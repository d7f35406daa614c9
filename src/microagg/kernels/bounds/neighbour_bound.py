"""Loops of the neighbour bound: which neighbours are chosen, and at what price."""

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.kernels.basics.smallest import keep_smallest
from microagg.kernels.compile import allocating_kernel, kernel


@allocating_kernel
def choose(
    begins: Rows, ends: Rows, costs: Floats, prices: Floats, n_chosen: int, out_times: Floats
) -> float:
    """Let every record choose its cheapest neighbours; returns the sum of what all pay.

    The neighbours of record i are `ends[begins[i] : begins[i + 1]]`. For each one chosen a record
    pays its cost minus its price, and it also pays its own price; `out_times` counts how often each
    record was chosen.
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
    """Raise the prices of records chosen too rarely and lower those of records chosen too often."""
    for i in range(prices.shape[0]):
        excess = 1.0 - times[i] / n_chosen
        prices[i] += step * scales[i] * max(excess, -1.0)
