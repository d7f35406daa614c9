"""One search for better groups: steps until none gains, then trials that shake a few groups."""

import math
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from microagg.kernels.blocks import make_blocks
from microagg.kernels.journal import WAITING, make_search
from microagg.kernels.steps import settle
from microagg.kernels.tours import list_neighbours
from microagg.kernels.trials import run_trials
from microagg.partitions.base import Labels
from microagg.progress import report
from microagg.threads import side_by_side

Floats = NDArray[np.float64]
Offer = Callable[[float, Labels], None]

# Work between two looks at the clock: a fraction of a second. Fixed amounts, so that the clock
# decides nothing else.
_TRIALS_PER_CALL = 1_000  # at k = 3
_ROWS_PER_CALL = 2_000
# Parts of a table whose neighbours are listed side by side, and rows in one, at least.
_PARTS, _LEAST_ROWS = 8, 5_000
_NEIGHBOURS = "finding neighbours"
# Parts of the trials after which the groups are written down, to be recombined.
_SNAPSHOTS = 12
# Standard deviations by which a record is moved to break ties of neighbours.
_TIE_BREAK = 1e-12


def near_lists(X: Floats, count: int, n_jobs: int = 1) -> Labels:
    """The nearest other records of every record, nearest first.

    Where many are equally near, each record lists others of them: if all listed the lowest rows,
    most of a heap of equal records would be on no list.
    """
    n = len(X)
    near = np.empty((n, min(count, n - 1)), dtype=np.intp)
    X = X + _TIE_BREAK * X.std(axis=0) * np.random.default_rng(0).normal(size=X.shape)
    width = max(_LEAST_ROWS, -(-n // _PARTS))

    def fill(first: int) -> None:
        blocks = make_blocks(X, np.arange(n))  # its own: they hold what a search writes down
        part = near[first : first + width]
        for begin in range(0, len(part), _ROWS_PER_CALL):
            list_neighbours(X, blocks, first + begin, part[begin : begin + _ROWS_PER_CALL])
            report(_NEIGHBOURS, begin, len(part))

    side_by_side(fill, range(0, n, width), n_jobs=n_jobs, task=_NEIGHBOURS)
    return near


def near_within(near: Labels, rows: Labels) -> Labels:
    """Each row's listed neighbours that are among the rows, as their places there.

    A row stands in for those that it lacks: that is no neighbour to any search.

    >>> near_within(np.array([[1, 2], [0, 2], [1, 0]]), np.array([1, 2])).tolist()
    [[1, 0], [0, 1]]
    """
    if len(rows) == len(near):
        return near
    own = np.arange(len(rows))[:, None]
    place = np.full(len(near), -1, dtype=np.intp)
    place[rows] = own[:, 0]
    places = place[near[rows]]
    order = np.argsort(places < 0, axis=1, kind="stable")
    places = np.take_along_axis(places, order, axis=1)
    return np.where(places < 0, own, places)


class Wandering:
    """Groups of k to 2k-1 records that wander; whenever they get better, they are offered."""

    def __init__(
        self,
        X: Floats,
        near: Labels,
        labels: Labels,
        k: int,
        *,
        seed: int,
        heat: tuple[float, float],
        offer: Offer,
    ) -> None:
        self.k = k
        self.search = make_search(X, near, labels, k, seed)
        self.error = np.inf
        self.labels = labels
        self.met: list[Labels] = []
        self.n_made = 0  # trials
        self.heat = heat
        self.offer = offer
        self.began, self.deadline = 0.0, math.inf

    def run(self, trials: int, seconds: float = math.inf) -> list[Labels]:
        """Make so many trials, or until the time is over; returns the best and other late groups.

        A worse outcome is kept more and more rarely from the first trial to the last, as far as can
        be foreseen which one that is.
        """
        self.deadline = time.monotonic() + seconds
        self._settle()
        self.began = time.monotonic()
        part = max(1, -(-trials // _SNAPSHOTS))
        for begin in range(0, trials, part):
            self._make_trials(begin, min(begin + part, trials), trials)
            self.met.append(self.search.assignment.labels.copy())
        return [self.labels, *self.met[_SNAPSHOTS // 2 :]]

    def _settle(self) -> None:
        while self.search.counters[WAITING] > 0 and time.monotonic() < self.deadline:
            settle(self.search, self.k, _ROWS_PER_CALL)
            report("searching", 0, 1)
        self._remember()

    def _make_trials(self, first: int, last: int, total: int) -> None:
        at_once = max(1, int(_TRIALS_PER_CALL * (3 / self.k) ** 2))
        for begin in range(first, last, at_once):
            if time.monotonic() >= self.deadline:
                break
            stop = min(begin + at_once, last)
            run_trials(self.search, self.k, begin, stop, self._last(stop, total), *self.heat)
            self.n_made = stop
            self._remember()
            report("searching", stop, total)

    def _last(self, stop: int, planned: int) -> int:
        """The trial at which the search will end; of a search without a deadline, as planned."""
        if math.isinf(self.deadline) or self.n_made == 0:
            return planned
        per_second = self.n_made / max(time.monotonic() - self.began, 1e-9)
        return int(min(planned, max(stop, per_second * (self.deadline - self.began))))

    def _remember(self) -> None:
        """Keep the groups if they are the best so far."""
        error = float(self.search.assignment.errors.sum())
        if error < self.error:
            self.error, self.labels = error, self.search.assignment.labels.copy()
            self.offer(error, self.labels)
