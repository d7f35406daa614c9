"""One search for better groups: steps until none gains, then trials that shake a few groups."""

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

# Work between two looks at the clock: a fraction of a second. Fixed amounts, so that the clock
# decides nothing else.
_TRIALS_PER_CALL = 1_000  # at k = 3
_ROWS_PER_CALL = 2_000
# Parts of the trials after which the groups are written down, to be recombined.
_SNAPSHOTS = 12


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
            descend(self.search, self.k, _ROWS_PER_CALL)
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
