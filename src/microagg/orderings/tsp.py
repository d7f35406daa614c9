"""Short tours through all records: heuristics for the travelling salesman problem."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from microagg.core.arrays import Floats, Rows
from microagg.core.progress import report
from microagg.core.validation import check_matrix
from microagg.kernels.basics.rounding import without_offset
from microagg.kernels.paths.tours import shorten_tour
from microagg.orderings.neighbours import nearest_neighbours
from microagg.orderings.walks import farthest_from_mean, walk

# Neighbours that moves may connect a record to.
TOUR_NEIGHBOURS = 10
# Records tried between two reports: a fraction of a second.
_ROWS_PER_CALL = 2000


def tsp(X: ArrayLike) -> Rows:
    """Follow a short closed tour from the record farthest from the mean.

    The walk to the nearest unvisited record, shortened by 2-opt and Or-opt moves between near
    neighbours until none is left. Time O(n^2 d) at worst, memory O(n d).

    >>> tsp([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0], [3.0, 0.0]]).tolist()
    [4, 3, 0, 2, 1]
    """
    return next(iter(short_tours(check_matrix(X), 1)))


def short_tours(X: Floats, n_starts: int, neighbours: Rows | None = None) -> Iterator[Rows]:
    """Yield tours built from different starts, all listed from the record farthest from the mean.

    The first starts there, each other one at the record farthest from all starts before it.
    `neighbours`, if known, are the `TOUR_NEIGHBOURS` nearest of every record.
    """
    X = without_offset(X)
    if neighbours is None:
        neighbours = nearest_neighbours(X, TOUR_NEIGHBOURS).rows
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
        # Only records next to a change are tried again; a final sweep over all finds the rest.
        settled = tour.copy()
        queue = tour.copy()
        state = np.ones(2 + n, dtype=np.intp)
        state[0], state[1] = 0, n
        while not shorten_tour(X, tour, place, neighbours, queue, state, _ROWS_PER_CALL):
            report("shortening the tour", n - int(state[1]), n)
    return tour
