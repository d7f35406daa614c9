"""Rounds of searches that improve a partition, in parallel: of the whole table, or by region."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from microagg.core.arrays import Floats, Labels
from microagg.core.parallel import Best, side_by_side, threads_available
from microagg.core.progress import report_best
from microagg.kernels.basics.group_sums import summarise
from microagg.partitions.search import regions
from microagg.partitions.search.annealing import Annealing, cost_of_axes
from microagg.partitions.search.exchanging import Limits
from microagg.partitions.search.neighbours import near_lists, near_within
from microagg.partitions.search.recombining import recombine

if TYPE_CHECKING:
    from microagg.partitions.search.ruled import RuledAnnealing
    from microagg.requirements.coded import GroupRule

# Neighbours of a record whose groups are tried, or 3k of them if that is more.
_NEIGHBOURS = 25
# Seconds that recombining may take even if the time is up; otherwise a search that was cut short
# would lose what its islands found.
_LEAST_SECONDS = 1.0
# Rounds for a large table: the borders in one round lie inside regions in the next.
_ROUNDS = 8
# Factor of the first temperature for groups that are already good.
_COOLER = 0.1


def n_neighbours(k: int) -> int:
    """How many neighbours of each record a search for groups of k uses."""
    return max(_NEIGHBOURS, 3 * k)


@dataclass(frozen=True)
class Effort:
    """How much work to do; a trial perturbs a few groups, in a fraction of a millisecond."""

    trials_per_record: int  # by all searches together, at k = 3, in a small table
    most_trials: int  # in a small table
    least_trials: int  # in a tiny one
    trials_per_further_record: float  # in a large one, on top of that
    islands: int  # parallel searches of a small table, whose groups are recombined
    rounds: int  # for a small table, each of which ends with recombining
    share: float = 1.0  # of these trials
    # First and last temperature: the mean loss that is accepted, as a share of the groups' error.
    temperatures: tuple[float, float] = (3e-3, 6e-5)
    growth: float = 2.0  # the cost of a trial grows with k to this power

    def trials(self, shape: tuple[int, ...], k: int) -> float:
        """Number of trials for a matrix of records and axes.

        >>> effort = Effort(10, 1_000, 100, 0, islands=1, rounds=1)
        >>> [effort.trials((50, n_axes), 3) for n_axes in (2, 128, 512)]
        [500.0, 500.0, 62.5]
        """
        n_records, n_axes = shape
        most = self.most_trials + self.trials_per_further_record * n_records
        trials = max(self.least_trials, min(self.trials_per_record * n_records, most))
        return float(trials * (3 / k) ** self.growth * self.share / cost_of_axes(n_axes))

    def turn(self, number: int, rounds: int) -> "Effort":
        """Return the effort of one of several rounds; each begins as cool as the last one ended.

        >>> effort = Effort(10, 0, 0, 0, 0, 2, temperatures=(4e-3, 1e-3))
        >>> both = effort.turn(0, 2).temperatures + effort.turn(1, 2).temperatures
        >>> [round(temperature, 6) for temperature in both]
        [0.004, 0.002, 0.002, 0.001]
        """
        hot, cold = self.temperatures
        first, last = (hot * (cold / hot) ** ((number + end) / rounds) for end in (0, 1))
        return replace(self.part(1.0 / rounds), temperatures=(first, last))

    def part(self, share: float) -> "Effort":
        """Return the same effort with a share of the trials."""
        return replace(self, share=self.share * share)

    def for_good_groups(self, share: float) -> "Effort":
        """Return a share of the effort, for groups that are already good.

        A single search, as a longer one gains more than two whose groups are recombined; and cool
        from the start, so that good groups survive.
        """
        hot, cold = self.temperatures
        return replace(self.part(share), islands=1, temperatures=(hot * _COOLER, cold))


class Region:
    """Records that are searched on their own, and the best groups found for them."""

    def __init__(self, X: Floats, near: Labels, rows: Labels, labels: Labels) -> None:
        self.rows = rows
        self.X = X[rows]
        self.near = near_within(near, rows)
        self.labels = summarise(self.X, np.unique(labels[rows], return_inverse=True)[1]).labels
        self.begin_round()

    def begin_round(self) -> None:
        """Forget what was found before."""
        best: Best[Labels] = Best()
        best.offer(summarise(self.X, self.labels).sse, -1, self.labels)
        self.best = best


class Improving:
    """A partition that is being improved: groups of k to 2k-1 records, or of any size under rules.

    Under `rules`, the searches of a small table may begin with `other_starts` as well. `near` lists
    the nearest neighbours of every record, nearest first: `n_neighbours(k)` of them, if there are
    that many. If it is not given, they are found first.
    """

    def __init__(
        self,
        X: Floats,
        labels: Labels,
        k: int,
        limits: Limits,
        rng: np.random.Generator,
        n_jobs: int,
        near: Labels | None = None,
        rules: "Sequence[GroupRule]" = (),
        other_starts: Sequence[Labels] = (),
    ) -> None:
        self.X = X
        self.near = near
        self.labels = labels
        self.k = k
        self.limits = limits
        self.rng = rng
        self.n_jobs = n_jobs
        self.rules = rules
        self.other_starts = other_starts
        self.regions: list[Region] = []
        self.running: list[Annealing | RuledAnnealing] = []
        self.n_trials = self.n_made = 0  # trials planned, and those of previous rounds
        self.ended: list[int] = []  # trials planned for the searches that have ended

    def run(self, effort: Effort) -> None:
        """Search with the given effort, or until the time is up."""
        if self.near is None:
            self.near = near_lists(self.X, n_neighbours(self.k), self.n_jobs)
        self.n_trials = int(effort.trials(self.X.shape, self.k))
        if len(self.X) > regions.size_limit(len(self.X), self.k):
            # Without recombination there is nothing to gain from reheating.
            rounds = [effort.turn(turn, _ROUNDS) for turn in range(_ROUNDS)]
        else:
            rounds = [effort.part(1.0 / effort.rounds)] * effort.rounds
        for part in rounds:
            if not self.limits.out_of_time():
                self._one_round(part)

    def _one_round(self, effort: Effort) -> None:
        self._cut_into_regions()
        islands = effort.islands if len(self.regions) == 1 else 1
        searches = [(region, island) for region in self.regions for island in range(islands)]
        trials = effort.trials(self.X.shape, self.k) / islands
        seeds = self.rng.integers(2**63, size=len(searches))
        at_once = min(threads_available(self.n_jobs), len(searches))

        def search(place: int) -> list[Labels]:
            region, island = searches[place]
            annealing = self._annealing(region, island, int(seeds[place]), effort.temperatures)
            self.running.append(annealing)
            n_trials = int(trials * len(region.X) / len(self.X))
            seconds = self._seconds_for(n_trials, at_once)
            late = annealing.run(n_trials, seconds)
            self.ended.append(n_trials)
            return late if islands > 1 else []

        found = side_by_side(
            search,
            range(len(searches)),
            n_jobs=self.n_jobs,
            task="searching",
            progress=self._progress,
            needs_threads=True,  # so that an interrupt can keep the best groups of every search
        )
        self.adopt_best()
        self.n_made += sum(annealing.n_made for annealing in self.running)
        self.running.clear()
        if islands > 1:
            pool = [self.labels, *(labels for late in found for labels in late)]
            seconds = max(_LEAST_SECONDS, self.limits.seconds_left())
            self.regions[0].labels = recombine(self.X, pool, seconds, self.rules)
            self.regions[0].begin_round()
            self.labels = self.regions[0].labels

    def _annealing(
        self, region: Region, island: int, seed: int, temperatures: tuple[float, float]
    ) -> "Annealing | RuledAnnealing":
        """Lay out one search of a region, which offers it the best groups found."""

        def offer(error: float, labels: Labels) -> None:
            region.best.offer(error, island, labels)

        X, near, labels = region.X, region.near, region.labels
        if not self.rules:
            return Annealing(
                X, near, labels, self.k, seed=seed, temperatures=temperatures, offer=offer
            )
        if len(self.regions) == 1 and self.n_made == 0 and 0 < island <= len(self.other_starts):
            labels = self.other_starts[island - 1]
        from microagg.partitions.search.ruled import RuledAnnealing
        from microagg.requirements.coded import pack

        rules = pack([rule.within(region.rows) for rule in self.rules], self.k, len(X))
        return RuledAnnealing(
            X, near, labels, rules, seed=seed, temperatures=temperatures, offer=offer
        )

    def is_complete(self) -> bool:
        """Whether all trials were made, except for those lost to rounding."""
        return self.n_made >= self.n_trials - len(self.regions) * _ROUNDS

    def _seconds_for(self, n_trials: int, at_once: int) -> float:
        """The part of the remaining time that one of several parallel searches may take."""
        left = self.limits.seconds_left()
        if math.isinf(left):
            return left
        to_come = max(1, self.n_trials - sum(list(self.ended)))
        return max(0.0, left) * min(1.0, n_trials * at_once / to_come)

    def _progress(self) -> tuple[int, int]:
        """Trials made so far, in this and all previous rounds, and their total.

        The best groups so far are reported as well.
        """
        report_best(sum(region.best.error for region in self.regions))
        made = self.n_made + sum(annealing.n_made for annealing in list(self.running))
        return min(made, self.n_trials), self.n_trials

    def _cut_into_regions(self) -> None:
        assert self.near is not None
        most = regions.size_limit(len(self.X), self.k)
        if len(self.X) > most:
            groups = summarise(self.X, self.labels)
            parts = regions.split_into_regions(groups.centers, groups.sizes, self.rng, most)
            number = np.empty(len(groups.sizes), dtype=np.intp)
            for part, members in enumerate(parts):
                number[members] = part
            where = number[groups.labels]
            order = where.argsort(kind="stable")
            ends = np.bincount(where).cumsum()[:-1]
            self.regions = [
                Region(self.X, self.near, rows, self.labels) for rows in np.split(order, ends)
            ]
        elif not self.regions:
            self.regions = [Region(self.X, self.near, np.arange(len(self.X)), self.labels)]
        else:
            self.regions[0].begin_round()

    def adopt_best(self) -> None:
        """Take the best groups found in every region."""
        first = 0
        labels = np.empty_like(self.labels)
        for region in self.regions:
            region.labels = region.best.result
            labels[region.rows] = region.labels + first
            first += int(region.labels.max()) + 1
        if self.regions:
            self.labels = labels
