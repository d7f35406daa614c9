"""Large tables: regions of whole groups, searched in parallel, and rounds of the whole table.

In ten columns nearly every record of a region has a neighbour beyond its border. So neighbours are
listed once for the whole table; before and after the trials, which take most of the time and are
made by region, the whole table makes the steps that no region could make; and a record is tried
again in a round if one of its neighbours was out of reach in the one before.
"""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from microagg.core.arrays import Floats, Labels, Mask
from microagg.core.parallel import side_by_side, threads_available
from microagg.core.progress import report_best
from microagg.kernels.basics.group_sums import summarise
from microagg.kernels.neighbours.listing import lists_within
from microagg.partitions.search import regions
from microagg.partitions.search.exchanging import Limits
from microagg.partitions.search.neighbours import close_lists
from microagg.partitions.search.region import (
    RegionEffort,
    boxes_order,
    groups_of_parts,
    join_parts,
    n_close,
    region_search,
    thin_out,
)

if TYPE_CHECKING:
    from microagg.partitions.search.annealing import Annealing
    from microagg.partitions.search.ruled import RuledAnnealing

# Larger tables are searched this way, for k up to the limit: lists grow with k.
_LARGER_THAN, _LARGEST_K = 50_000, 50
# Rounds without trials: by region and of the whole table at first, of the whole table at the end.
_OTHER_ROUNDS = 3


def is_large(n_records: int, k: int) -> bool:
    """Whether a table is too large for neighbours and first groups that compare all records."""
    return n_records > _LARGER_THAN and 1 < k <= _LARGEST_K


class LargeSearch:
    """Groups of k to 2k-1 records of a large table, and how they are improved.

    Apart from a time limit, the outcome depends on the table, k, the effort and the generator
    alone. Neighbours and first groups are found when it is made.
    """

    def __init__(
        self, X: Floats, k: int, limits: Limits, rng: np.random.Generator, n_jobs: int
    ) -> None:
        self.order = boxes_order(X)  # everything else is about the records in this order
        self.X = X[self.order]
        self.k = k
        self.limits = limits
        self.rng = rng
        self.n_jobs = n_jobs
        self.near = close_lists(self.X, n_close(k), n_jobs)
        groups = summarise(self.X, groups_of_parts(self.X, k, n_jobs))
        self.ordered_labels, self.error = groups.labels, groups.sse
        self.waiting: Mask = np.ones(len(X), dtype=np.bool_)  # records to be tried
        self.parts: list[Labels] = []  # rows of the regions of this round
        self.best: list[Labels] = []  # the best groups found in each
        self.first_error = math.inf  # of the groups with which this round began
        self.gains: list[float] = []  # what was gained in each region since then
        self.running: dict[int, Annealing | RuledAnnealing] = {}
        self.ended: list[Outcome] = []  # of the searches that have ended
        self.n_trials = 0  # planned
        self.is_cut_short = False  # whether a round was left out
        self.n_searched = 0.0  # records that are to be searched, in all rounds together

    @property
    def labels(self) -> Labels:
        """The best groups so far, for the records in the order in which they were given."""
        labels = np.empty_like(self.ordered_labels)
        labels[self.order] = self.ordered_labels
        return labels

    def run(self, effort: RegionEffort) -> None:
        """Search with the given effort, or until the time is up."""
        n, steps_alone = len(self.X), effort.without_trials()
        self.n_trials = effort.rounds * effort.trials(n, self.k)
        self.n_searched = n * (effort.rounds + _OTHER_ROUNDS)
        thinned = thin_out(
            self.X, self.ordered_labels, self.near, self.k, effort.dissolved, self.rng
        )
        self._one_round(steps_alone, thinned, self._regions(thinned))
        self._one_round(steps_alone, self.ordered_labels, [np.arange(n)])
        for turn in range(effort.rounds):
            parts = self._regions(self.ordered_labels)
            self._one_round(effort.turn(turn), self.ordered_labels, parts)
        self._one_round(steps_alone, self.ordered_labels, [np.arange(n)])

    def _regions(self, labels: Labels) -> list[Labels]:
        """Return the rows of each region: whole groups, near each other."""
        groups = summarise(self.X, labels)
        most = regions.size_limit(len(self.X), self.k)
        parts = regions.split_into_regions(groups.centers, groups.sizes, self.rng, most)
        number = np.empty(len(groups.sizes), dtype=np.intp)
        for part, members in enumerate(parts):
            number[members] = part
        region_of = number[groups.labels]
        ends = np.bincount(region_of).cumsum()[:-1]
        return np.split(region_of.argsort(kind="stable"), ends)

    def _one_round(self, effort: RegionEffort, labels: Labels, parts: list[Labels]) -> None:
        """Search every region, beginning with the given groups."""
        if self.limits.out_of_time():
            self.is_cut_short = True
            return
        self.parts = parts
        self.best = [np.unique(labels[rows], return_inverse=True)[1] for rows in parts]
        self.first_error, self.gains = summarise(self.X, labels).sse, [0.0] * len(parts)
        cut = _Cut(self.near, parts)
        waiting, self.waiting = self.waiting, np.zeros(len(self.X), dtype=np.bool_)
        seeds = self.rng.integers(2**63, size=len(parts)).tolist()
        at_once = min(threads_available(self.n_jobs), len(parts))

        def search(number: int) -> None:
            rows, near = parts[number], cut.near_within(number)
            X = self.X if len(parts) == 1 else self.X[rows]
            if len(parts) > 1:
                self.waiting[rows] = near[:, -1] == np.arange(len(rows))

            begun = summarise(X, self.best[number])

            def keep(error: float, found: Labels) -> None:
                self.best[number], self.gains[number] = found, begun.sse - error

            annealing = self.running[number] = region_search(
                *(X, near, begun.labels, self.k, effort, seeds[number]),
                waiting=np.flatnonzero(waiting[rows]),
                offer=keep,
            )
            trials = effort.trials(len(rows), self.k)
            annealing.run(trials, self._seconds_for(len(rows), at_once))
            self.ended.append(Outcome(len(rows), annealing.n_made, annealing.is_complete(trials)))
            del self.running[number]

        side_by_side(
            search,
            range(len(parts)),
            n_jobs=self.n_jobs,
            task="searching",
            progress=self._progress,
            needs_threads=True,  # so that an interrupt can keep the best groups of every region
        )
        self.adopt_best()

    def adopt_best(self) -> None:
        """Take the best groups found in every region, if they are better as a whole.

        Interrupted in the first round, they may not be: dissolving groups costs something at first.
        """
        self.running.clear()
        if self.parts:
            found = summarise(self.X, join_parts(self.parts, self.best))
            if found.sse < self.error:
                self.ordered_labels, self.error = found.labels, found.sse

    def is_complete(self) -> bool:
        """Whether no search ran out of time."""
        return not self.is_cut_short and all(outcome.is_complete for outcome in self.ended)

    def _seconds_for(self, n_records: int, at_once: int) -> float:
        """The part of the remaining time that one of several parallel searches may take."""
        left = self.limits.seconds_left()
        if math.isinf(left):
            return left
        to_come = self.n_searched - sum(outcome.n_records for outcome in list(self.ended))
        return max(0.0, left) * min(1.0, n_records * at_once / max(to_come, 1.0))

    def _progress(self) -> tuple[int, int]:
        """Trials made so far, in this and all previous rounds, and their total.

        The best groups so far are reported as well.
        """
        report_best(min(self.error, self.first_error - sum(self.gains)))
        made = sum(outcome.n_made for outcome in list(self.ended))
        made += sum(annealing.n_made for annealing in list(self.running.values()))
        return min(made, self.n_trials), self.n_trials


class Outcome(NamedTuple):
    """How the search of a region ended."""

    n_records: int
    n_made: int  # trials
    is_complete: bool


class _Cut:
    """Regions, and the neighbours that are left within each."""

    def __init__(self, near: Labels, parts: list[Labels]) -> None:
        self.near = near
        self.parts = parts
        self.region_of = np.zeros(len(near), dtype=np.intp)
        self.place = np.empty(len(near), dtype=np.intp)
        for number, rows in enumerate(parts):
            self.region_of[rows] = number
            self.place[rows] = np.arange(len(rows))

    def near_within(self, number: int) -> Labels:
        """Return the lists of a region; one that lost a neighbour ends with the record itself."""
        if len(self.parts) == 1:
            return self.near
        rows = self.parts[number]
        found = np.empty((len(rows), self.near.shape[1]), dtype=np.intp)
        lists_within(self.near, rows, self.region_of, number, self.place, found)
        return found
