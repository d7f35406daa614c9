"""One search for better groups: annealing, then trials that shake a few groups at a time."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microagg.kernels.annealing import anneal, enqueue_all
from microagg.kernels.blocks import make_blocks
from microagg.kernels.journal import WAITING, make_search
from microagg.kernels.steps import settle
from microagg.kernels.tours import list_neighbours
from microagg.kernels.trials import run_trials
from microagg.partitions.base import Labels
from microagg.progress import report

Floats = NDArray[np.float64]
Work = Callable[[int, int], None]
Offer = Callable[[float, Labels], None]

# Work between two looks at the clock: a fraction of a second. Fixed amounts, so that the clock
# decides nothing else.
_STEPS_PER_CALL = 500_000
_TRIALS_PER_CALL = 4_000
_ROWS_PER_CALL = 2_000
# Parts of the trials after which the groups are written down, to be recombined.
_SNAPSHOTS = 12


@dataclass(frozen=True)
class Plan:
    """How much to search, and how warm: see the kernels for what the temperatures mean."""

    steps: int
    trials: int
    step_heat: tuple[float, float]  # at the beginning and at the end
    trial_heat: tuple[float, float]


def near_lists(X: Floats, count: int) -> Labels:
    """The nearest other records of every record, nearest first."""
    n = len(X)
    near = np.empty((n, min(count, n - 1)), dtype=np.intp)
    blocks = make_blocks(X, np.arange(n))
    for first in range(0, n, _ROWS_PER_CALL):
        list_neighbours(X, blocks, first, near[first : first + _ROWS_PER_CALL])
        report("finding neighbours", min(first + _ROWS_PER_CALL, n), n)
    return near


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
        offer: Offer,
        out_of_time: Callable[[], bool],
    ) -> None:
        self.k = k
        self.search = make_search(X, near, labels, k, seed)
        self.error = np.inf
        self.labels = labels
        self.met: list[Labels] = []
        self.offer = offer
        self.out_of_time = out_of_time

    def run(self, plan: Plan) -> list[Labels]:
        """Search as planned, or until the time is over; returns the best and other late groups."""
        self._settle()
        search, k = self.search, self.k

        def some_steps(begin: int, stop: int) -> None:
            anneal(search, k, begin, stop, plan.steps, *plan.step_heat)

        def some_trials(begin: int, stop: int) -> None:
            run_trials(search, k, begin, stop, plan.trials, *plan.trial_heat)

        if plan.steps:
            self._in_calls(some_steps, 0, plan.steps, _STEPS_PER_CALL)
            enqueue_all(search)
            self._settle()
        trials_per_call = max(1, _TRIALS_PER_CALL * 3 // k)
        part = -(-plan.trials // _SNAPSHOTS)
        for begin in range(0, plan.trials, max(part, 1)):
            self._in_calls(some_trials, begin, min(begin + part, plan.trials), trials_per_call)
            self.met.append(search.assignment.labels.copy())
        return [self.labels, *self.met[_SNAPSHOTS // 2 :]]

    def _settle(self) -> None:
        while self.search.counters[WAITING] > 0 and not self.out_of_time():
            settle(self.search, self.k, _ROWS_PER_CALL)
            report("searching", 0, 1)
        self._remember()

    def _in_calls(self, work: Work, first: int, last: int, at_once: int) -> None:
        for begin in range(first, last, at_once):
            if self.out_of_time():
                break
            work(begin, min(begin + at_once, last))
            self._remember()
            report("searching", begin, last)

    def _remember(self) -> None:
        """Keep the groups if they are the best so far."""
        error = float(self.search.assignment.errors.sum())
        if error < self.error:
            self.error, self.labels = error, self.search.assignment.labels.copy()
            self.offer(error, self.labels)
