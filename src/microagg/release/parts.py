"""The same method on many parts of a table, side by side: strata, blocks of columns."""

import time
from collections.abc import Sequence
from threading import Event, Lock
from typing import TYPE_CHECKING

import numpy as np

from microagg.core.arrays import Floats
from microagg.core.estimator import Estimator
from microagg.core.parallel import Progress, as_completed, threads_available
from microagg.core.progress import current_listener, listening
from microagg.core.validation import check_jobs
from microagg.release.loss_so_far import LossSoFar, PartOfMatrix

if TYPE_CHECKING:
    from microagg.requirements.coded import GroupRule

_TASK = "grouping"
_SEARCH = "searching"


def fit_under(estimator: Estimator, X: Floats, rules: "Sequence[GroupRule]") -> Estimator:
    """Fit an estimator so that groups meet the rules, if there are any."""
    return estimator.fit(X, requirements=rules) if rules else estimator.fit(X)


def fit_parts(
    estimator: Estimator, parts: Sequence[PartOfMatrix], rules: "Sequence[GroupRule]" = ()
) -> list[Estimator]:
    """Return a copy of the estimator for each part, fitted to it, in the order of the parts.

    The `rules` are for all records; those of a part must meet them as well.

    Each part gets the groups that it would get alone, whatever the number of threads: the
    estimator's `n_jobs`, or else all cores. A time budget is shared among the parts by their
    records. When the search of any part is interrupted, all parts end with the best groups so
    far; those not that far get their first groups without a search. An interrupt before that
    ends everything, and so does a second one.

    >>> from microagg.partitions import MDAV
    >>> X = np.array([[0.0], [9.0], [1.0], [8.0], [5.0]])
    >>> parts = [(X, np.array([0, 2])), (X, np.array([1, 3, 4]))]
    >>> [fitted.labels_.tolist() for fitted in fit_parts(MDAV(k=2), parts)]
    [[0, 0], [0, 0, 0]]
    """
    return _Fitting(estimator, parts, rules).run()


class _Fitting:
    """What the parts share: the clock, the number of records done, and whether to stop."""

    def __init__(
        self, estimator: Estimator, parts: Sequence[PartOfMatrix], rules: "Sequence[GroupRule]"
    ) -> None:
        self.estimator = estimator
        self.rules = rules
        self.parts = parts
        self.n_jobs = check_jobs(estimator.get_params().get("n_jobs", -1))
        self.n_records = sum(len(rows) for _, rows in parts)
        at_once = min(threads_available(self.n_jobs), len(parts))
        self.clock = _Clock(estimator, self.n_records, at_once)
        self.loss = LossSoFar(parts)
        self.interrupted = Event()
        self.fitted: dict[int, Estimator] = {}
        self.done = dict.fromkeys(range(len(parts)), 0.0)  # records of each part

    def run(self) -> list[Estimator]:
        """Fit all parts."""
        self._fit_missing()
        if self.interrupted.is_set():
            if not any(part.interrupted_ for part in self.fitted.values()):
                raise KeyboardInterrupt
            self.interrupted.clear()
            self.clock.stop()
            self._fit_missing(may_be_interrupted=False)
        return [self.fitted[place] for place in range(len(self.parts))]

    def _fit_missing(self, *, may_be_interrupted: bool = True) -> None:
        """Fit the parts that are not, the largest first, so that none is left to the end."""
        missing = [place for place in range(len(self.parts)) if place not in self.fitted]
        missing.sort(key=lambda place: -len(self.parts[place][1]))
        outcomes = as_completed(
            self._fit if may_be_interrupted else self._fit_first,
            missing,
            n_jobs=self.n_jobs,
            task=_TASK,
            enough=self.interrupted.is_set,
            progress=self._progress,
            needs_threads=True,  # for the clock, and for an interrupt to reach the searches
            on_interrupt=self.interrupted.set if may_be_interrupted else None,
        )
        for at, fitted in outcomes:
            if fitted is not None:
                self.fitted[missing[at]] = fitted

    def _fit(self, place: int) -> Estimator | None:
        """Fit one part; None if it was interrupted before it had groups."""
        if self.interrupted.is_set():  # it was waiting for a thread
            return None
        try:
            fitted = self._fit_one(place)
        except KeyboardInterrupt:
            self.interrupted.set()
            return None
        if fitted.interrupted_:
            self.interrupted.set()
        return fitted

    def _fit_first(self, place: int) -> Estimator:
        """Fit one part without a search, because the others were interrupted."""
        fitted = self._fit_one(place)
        if fitted.timed_out_:  # it was given no time, but not by a budget
            fitted.interrupted_, fitted.timed_out_ = True, False
        return fitted

    def _fit_one(self, place: int) -> Estimator:
        matrix, rows = self.parts[place]
        fitted, outer = self.estimator.copy(), current_listener()
        self.clock.share(fitted, place, len(rows))

        def listen(task: str, done: int, total: int) -> None:
            if self.interrupted.is_set():
                raise KeyboardInterrupt
            if task == _SEARCH:
                self.done[place] = len(rows) * done / max(1, total)
            if outer is not None:  # it may want to stop the work
                outer(task, done, total)

        with listening(listen), self.loss.of_part(place):
            own = [rule.within(rows) for rule in self.rules]
            fit_under(fitted, np.ascontiguousarray(matrix[rows]), own)
        self.clock.end(place)
        self.done[place] = len(rows)
        return fitted

    def _progress(self) -> Progress:
        """Records grouped, and of all; of parts under way, as much as of their search is done."""
        return int(sum(self.done.values())), self.n_records


class _Clock:
    """Shares a time budget among parts, some of them at once, by their records."""

    def __init__(self, estimator: Estimator, n_records: int, at_once: int) -> None:
        self.budget = estimator.get_params().get("time_budget")
        self.takes_one = "time_budget" in estimator.get_params()
        self.finish = time.monotonic() + (self.budget or 0.0)
        self.at_once = at_once
        self.n_to_begin = n_records
        self.ends: dict[int, float] = {}  # of the parts under way
        self._lock = Lock()

    def share(self, estimator: Estimator, place: int, n_records: int) -> None:
        """Give the estimator of a part its share of the time that the others leave it."""
        if self.budget is None:
            return
        with self._lock:
            now = time.monotonic()
            left = max(0.0, self.finish - now)
            taken = sum(max(0.0, end - now) for end in self.ends.values())
            free = max(0.0, self.at_once * left - taken)
            seconds = min(left, free * n_records / max(n_records, self.n_to_begin))
            self.n_to_begin -= n_records
            self.ends[place] = now + seconds
        estimator.set_params(time_budget=seconds)

    def end(self, place: int) -> None:
        """Note that a part no longer needs its time."""
        with self._lock:
            self.ends.pop(place, None)

    def stop(self) -> None:
        """Leave no time."""
        if self.takes_one:
            self.budget, self.finish = 0.0, time.monotonic()
