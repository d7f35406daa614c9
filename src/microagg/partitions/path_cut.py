"""The optimal cut of a sequence of records, tile by tile; see `kernels.paths.cuts`."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Labels, Order, Sizes, Wholes
from microagg.core.errors import DataError
from microagg.core.parallel import never
from microagg.core.progress import report
from microagg.kernels.paths.cuts import (
    extend_cuts,
    gather,
    integer_window_errors,
    label_windows,
    window_errors,
)

# A tile's window errors should stay in the second-level cache.
_CELLS_PER_TILE = 32_768
_LEAST_PER_TILE = 256
# The cost of ends that cannot be reached: above any sum of windows, with room for one more.
_UNREACHABLE = {"f": np.float64(1e300), "i": np.int64(1 << 61)}


def cut_sequence(
    X: NDArray[Any],
    order: Order,
    k: int,
    *,
    tour: bool = False,
    enough: Callable[[], bool] = never,
) -> Labels:
    """Return the group of every record for the cheapest cut of the sequence X[order].

    Errors are about the groups' means if X is float64, and about means rounded to whole numbers if
    it is int64. With `tour` the sequence is closed, and a group may cross its ends; once `enough`
    returns True, it is cut as if it were open, which takes a 2k-th of the time.
    """
    n = len(order)
    if k == 1:
        return np.arange(n)
    if n < 2 * k:
        return np.zeros(n, dtype=np.intp)
    if tour:
        order = np.roll(order, -_best_start(X, order, k, enough))
    sizes = np.zeros(n + 1, dtype=np.int32)
    costs = _first_costs(k, X.dtype)
    for first_end, windows in _tiles(X, order, k, n, closed=False):
        n_ends = windows.shape[1]
        costs, _ = _extended(costs, windows, k, first_end, 0, sizes[first_end:])
        report("cutting", first_end + n_ends - 1, n)
    labels = np.empty(n, dtype=np.intp)
    label_windows(order, sizes, labels)
    return labels


def _best_start(X: NDArray[Any], order: Order, k: int, enough: Callable[[], bool]) -> int:
    """Where to open a closed sequence: the best tour is cut at one of the first 2k-1 positions.

    The window errors are computed once and shared by the 2k-1 dynamic programs, which take long if
    k is large: at its beginning, if they are not finished in time.
    """
    n = len(order)
    n_starts = 2 * k - 1
    costs = [_first_costs(k, X.dtype, start) for start in range(n_starts)]
    spent = [0.0] * n_starts
    totals = np.full(n_starts, np.inf)
    for first_end, windows in _tiles(X, order, k, n + n_starts - 1, closed=True):
        n_ends = windows.shape[1]
        ignored = np.empty(n_ends, dtype=np.int32)
        for start in range(n_starts):
            if enough():
                return 0
            wanted = start + n - first_end
            if 0 <= wanted < n_ends:
                last = np.ascontiguousarray(windows[:, : wanted + 1])
                ending, base = _extended(costs[start], last, k, first_end, start, ignored)
                totals[start] = spent[start] + base + float(ending[:, -1].sum())
            costs[start], base = _extended(costs[start], windows, k, first_end, start, ignored)
            spent[start] += base
        report("cutting", first_end + n_ends - 1, n + n_starts - 1)
    return int(totals.argmin())


def _first_costs(k: int, dtype: np.dtype[Any], start: int = 0) -> NDArray[Any]:
    """Costs before the first end, as sums of two numbers: only the start can be reached."""
    costs = np.zeros((2, 2 * k - 1), dtype=dtype)
    costs[0] = _UNREACHABLE[dtype.kind]
    if start == 0:
        costs[0, -1] = 0
    return costs


def _extended(
    costs: NDArray[Any],
    windows: NDArray[Any],
    k: int,
    first_end: int,
    start: int,
    out_sizes: Sizes,
) -> tuple[NDArray[Any], float]:
    """Return the last 2k-1 costs after a tile, and what was subtracted from them."""
    room = np.empty((2, windows.shape[1]), dtype=costs.dtype)
    grown = np.concatenate((costs, room), axis=1)
    unreachable = _UNREACHABLE[costs.dtype.kind]
    base = extend_cuts(grown, windows, k, first_end, start, unreachable, out_sizes)
    return grown[:, windows.shape[1] :], base


def _tiles(
    X: NDArray[Any], order: Order, k: int, n_ends: int, *, closed: bool
) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield the first end of each tile, and the errors of its windows: size (from k) x end."""
    per_tile = max(_LEAST_PER_TILE, _CELLS_PER_TILE // k)
    history = 2 * k - 1
    for first_end in range(1, n_ends + 1, per_tile):
        count = min(per_tile, n_ends + 1 - first_end)
        values = np.empty((X.shape[1], history + count - 1), dtype=X.dtype)
        gather(X, order, first_end - history, closed, values)
        windows = np.zeros((k, count), dtype=X.dtype)
        if X.dtype == np.int64:
            _refuse_overflow(values, k)
            integer_window_errors(values, k, windows)
        else:
            window_errors(values, k, windows)
        yield first_end, windows


def _refuse_overflow(values: Wholes, k: int) -> None:
    """Refuse values if the sums of a window, or its rounded mean, could leave the exact range."""
    # A window of at most 2k-1 values lies in two neighbouring pieces of 2k.
    pieces = np.arange(0, values.shape[1], 2 * k)
    high = np.maximum.reduceat(values, pieces, axis=1).astype(np.float64)
    low = np.minimum.reduceat(values, pieces, axis=1).astype(np.float64)
    if len(pieces) > 1:
        high = np.maximum(high[:, 1:], high[:, :-1])
        low = np.minimum(low[:, 1:], low[:, :-1])
    spread = high - low
    squares = float((spread**2).sum(axis=0).max())
    if 8.0 * k * squares >= 2.0**56 or 2.0 * k * spread.max() >= 2.0**50:
        raise DataError(
            f"integer=True with k={k} needs neighbouring values within a narrower range: the "
            "squared errors of a group could exceed 64-bit integers. Divide the values by a "
            "common factor, or use integer=False."
        )
