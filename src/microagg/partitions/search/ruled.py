"""One search for better groups that meet rules: simulated annealing, then steps that gain."""

import math
import time
from collections.abc import Callable

import numpy as np

from microagg.core.arrays import Floats, Labels
from microagg.core.progress import report
from microagg.kernels.annealing.arrangement import WORK, make_arrangement, refresh_all
from microagg.kernels.annealing.settling import settle
from microagg.kernels.annealing.steps import anneal
from microagg.kernels.rules.rules import Rules

Offer = Callable[[float, Labels], None]

# Units of work in a trial, so that one takes as long as a trial of the search without requirements.
_WORK_PER_TRIAL = 1_000
# Trials between two looks at the clock, and number of times that the groups are written down.
_TRIALS_PER_CALL = 2_000
_SNAPSHOTS = 12


class RuledAnnealing:
    """Groups of any size that meet rules, under simulated annealing; better ones are offered."""

    def __init__(
        self,
        X: Floats,
        near: Labels,
        labels: Labels,
        rules: Rules,
        *,
        seed: int = 0,
        temperatures: tuple[float, float] = (1.0, 3e-3),
        offer: Offer | None = None,
    ) -> None:
        numbered = np.unique(labels, return_inverse=True)[1]
        most = max(int(numbered.max()) + 1, len(X) // rules.k)
        self.arrangement = make_arrangement(X, near, numbered, most, seed)
        self.rules = rules
        self.temperatures = temperatures
        self.offer = offer
        self.error = math.inf
        self.labels = numbered
        self.n_made = 0  # trials
        self.deadline = math.inf

    def run(self, trials: int, seconds: float = math.inf) -> list[Labels]:
        """Make this many trials, or until the time is up; returns the best and other late groups.

        With a deadline, the groups cool down as fast as the time allows.
        """
        began = time.monotonic()
        self.deadline = began + seconds
        self._remember()
        met = []
        part = max(1, -(-trials // _SNAPSHOTS))
        total = trials * _WORK_PER_TRIAL
        for begin in range(0, trials, part):
            for done in range(begin, min(begin + part, trials), _TRIALS_PER_CALL):
                if time.monotonic() >= self.deadline:
                    break
                stop = min(done + _TRIALS_PER_CALL, begin + part, trials)
                if done and not math.isinf(seconds):
                    per_trial = (time.monotonic() - began) / done
                    total = int(min(trials, max(stop, seconds / per_trial))) * _WORK_PER_TRIAL
                until = stop * _WORK_PER_TRIAL
                anneal(self.arrangement, self.rules, until, total, *self.temperatures)
                self.n_made = stop
                self._remember()
                report("searching", stop, trials)
            met.append(self.arrangement.labels.copy())
        self.settle()
        return [self.labels, *met[_SNAPSHOTS // 2 :]]

    def is_complete(self, trials: int) -> bool:
        """Whether this many trials were made."""
        return self.n_made >= trials

    def settle(self) -> None:
        """Make steps that gain until there is none left, or the time is up."""
        n = len(self.labels)
        waiting, rows, at = np.ones(n, dtype=np.bool_), np.arange(n), 0
        while waiting.any() and time.monotonic() < self.deadline:
            until = self.arrangement.counters[WORK] + _TRIALS_PER_CALL * _WORK_PER_TRIAL
            at += settle(self.arrangement, self.rules, rows[at:], waiting, until)
            at = 0 if at >= n else at
            report("searching", self.n_made, max(1, self.n_made))
        self._remember()

    def _remember(self) -> None:
        """Keep the groups if they are the best so far."""
        error = refresh_all(self.arrangement)
        if error < self.error:
            self.error, self.labels = error, self.arrangement.labels.copy()
            if self.offer is not None:
                self.offer(error, self.labels)
