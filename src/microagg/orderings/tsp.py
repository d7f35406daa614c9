"""A short tour."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from microagg.core.arrays import Floats, Rows
from microagg.core.progress import report
from microagg.core.validation import check_matrix
from microagg.kernels.basics.rounding import without_offset
from microagg.kernels.neighbours.blocks import list_neighbours, make_blocks
from microagg.kernels.paths.tours import shorten_tour
from microagg.orderings.walks import farthest_from_mean, walk

_NEIGHBOURS = 10
# Records looked at between two reports: a fraction of a second.
_ROWS_PER_CALL = 2000


def tsp(X: ArrayLike) -> Rows:
    """Follow a short closed tour from the record farthest from the mean.

    The walk to the nearest unvisited record, shortened by 2-opt and Or-opt moves between near
    neighbours until none is left. Time O(n^2 d) at worst, memory O(n d).

    >>> tsp([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0], [3.0, 0.0]]).tolist()
    [4, 3, 0, 2, 1]
    """
    return next(iter(short_tours(check_matrix(X), 1)))


def short_tours(X: Floats, n_starts: int) -> Iterator[Rows]:
    """Tours grown from different records, all written down from the one farthest from the mean.

    The first grows from that record, each other from the record farthest from all starts before.
    """
    X = without_offset(X)
    neighbours = near_neighbours(X)
    opening = start = farthest_from_mean(X)
    apart = np.full(len(X), np.inf)
    for _ in range(min(n_starts, len(X))):
        tour = shorten(X, walk(X, np.arange(len(X)), start), neighbours)
        yield np.roll(tour, -int(np.flatnonzero(tour == opening)[0]))
        apart = np.minimum(apart, ((X - X[start]) ** 2).sum(axis=1))
        start = int(apart.argmax())


def shorten(X: Floats, tour: Rows, neighbours: Rows) -> Rows:
    """Shorten a tour until no move between neighbours helps."""
    n = len(tour)
    tour = tour.copy()
    place = np.empty(n, dtype=np.intp)
    place[tour] = np.arange(n)
    settled: Rows | None = None
    while settled is None or not np.array_equal(tour, settled):
        # Changes are followed up at the records they touch; a last sweep over all finds the rest.
        settled = tour.copy()
        queue = tour.copy()
        state = np.ones(2 + n, dtype=np.intp)
        state[0], state[1] = 0, n
        while not shorten_tour(X, tour, place, neighbours, queue, state, _ROWS_PER_CALL):
            report("shortening the tour", n - int(state[1]), n)
    return tour


def near_neighbours(X: Floats) -> Rows:
    """The nearest other records of every record, nearest first."""
    n = len(X)
    neighbours = np.empty((n, min(_NEIGHBOURS, n - 1)), dtype=np.intp)
    blocks = make_blocks(X, np.arange(n))
    for first in range(0, n, _ROWS_PER_CALL):
        list_neighbours(X, blocks, first, neighbours[first : first + _ROWS_PER_CALL])
        report("finding neighbours", min(first + _ROWS_PER_CALL, n), n)
    return neighbours
