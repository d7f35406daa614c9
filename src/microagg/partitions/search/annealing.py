"""One search for better groups: steps until none gains, then simulated annealing."""

import math
import time
from collections.abc import Callable

import numpy as np

from microagg.core.arrays import Floats, Labels
from microagg.core.progress import report
from microagg.kernels.search.descent import descend
from microagg.kernels.search.state import WAITING, make_search
from microagg.kernels.search.trials import run_trials

Offer = Callable[[float, Labels], None]

# Work between two checks of the clock: a fraction of a second. The amounts are fixed, so that the
# clock decides nothing else.
_TRIALS_PER_CALL = 1_000  # at k = 3
_ROWS_PER_CALL = 2_000
# Axes up to which a trial takes about as long. With more of them, distances have more terms, and
# fewer distances can be ruled out beforehand: 375 axes take seven times as long as 89.
_AXES, _GROWTH_WITH_AXES = 128, 1.5
# Parts of the trials, after each of which a copy of the groups is kept for recombining.
_SNAPSHOTS = 12


def cost_of_axes(n_axes: int) -> float:
    """How many times as long as with few axes a trial takes, about."""
    return float(max(1.0, n_axes / _AXES) ** _GROWTH_WITH_AXES)


class Annealing:
    """Simulated annealing of groups of k to 2k-1 records; each new best is passed to `offer`.

    Only the records `waiting` are tried before the first trial, all of them if it is None. Without
    `merges`, no trial merges groups, which suits a search of few trials.
    """

    def __init__(
        self,
        X: Floats,
        near: Labels,
        labels: Labels,
        k: int,
        *,
        seed: int,
        temperatures: tuple[float, float],
        offer: Offer,
        merges: bool = True,
        waiting: Labels | None = None,
    ) -> None:
        self.k = k
        self.search = make_search(X, near, labels, k, seed, waiting)
        self.merges = merges
        self.cost = cost_of_axes(X.shape[1])
        self.error = np.inf
        self.labels = labels
        self.snapshots: list[Labels] = []
        self.n_made = 0  # trials
        self.temperatures = temperatures
        self.offer = offer
        self.began, self.deadline = 0.0, math.inf

    def run(self, trials: int, seconds: float = math.inf) -> list[Labels]:
        """Make the trials, or as many as fit in the time; return the best and other late groups.

        A worse outcome is accepted less and less often towards the last trial; with a time limit,
        which one that will be is estimated.
        """
        self.deadline = time.monotonic() + seconds
        self._settle()
        self.began = time.monotonic()
        part = max(1, -(-trials // _SNAPSHOTS))
        for begin in range(0, trials, part):
            self._make_trials(begin, min(begin + part, trials), trials)
            self.snapshots.append(self.search.assignment.labels.copy())
        return [self.labels, *self.snapshots[_SNAPSHOTS // 2 :]]

    def is_complete(self, trials: int) -> bool:
        """Whether this many trials were made and no record waits to be tried."""
        return self.n_made >= trials and self.search.counters[WAITING] == 0

    def _settle(self) -> None:
        while self.search.counters[WAITING] > 0 and time.monotonic() < self.deadline:
            descend(self.search, self.k, max(1, int(_ROWS_PER_CALL / self.cost)))
            report("searching", 0, 1)
        self._remember()

    def _make_trials(self, first: int, last: int, total: int) -> None:
        at_once = max(1, int(_TRIALS_PER_CALL * (3 / self.k) ** 2 / self.cost))
        for begin in range(first, last, at_once):
            if time.monotonic() >= self.deadline:
                break
            stop = min(begin + at_once, last)
            end = self._last(stop, total)
            run_trials(self.search, self.k, begin, stop, end, *self.temperatures, self.merges)
            self.n_made = stop
            self._remember()
            report("searching", stop, total)

    def _last(self, stop: int, planned: int) -> int:
        """The trial at which the search will end: as planned, or estimated from the deadline."""
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
