"""Rounds of searches that improve a partition: side by side on one table, or region by region."""

import math
from dataclasses import dataclass, replace

import numpy as np

from microagg.core.arrays import Floats, Labels
from microagg.core.parallel import Best, side_by_side
from microagg.kernels.basics.group_sums import summarise
from microagg.partitions.search import regions
from microagg.partitions.search.exchanging import Limits
from microagg.partitions.search.neighbours import near_lists, near_within
from microagg.partitions.search.recombining import recombine
from microagg.partitions.search.wandering import Wandering

# Neighbours of a record whose groups are looked at, at least; 3k of them for large k.
_NEIGHBOURS = 25
# What recombining may take when the time is over: else a search that was cut short would lose what
# its islands found.
_LEAST_SECONDS = 1.0
# Rounds of a large table: the borders of one are inside the regions of the next.
_ROUNDS = 8
# How much less heat a search begins with where the groups are good already.
_COOLER = 0.1


def n_neighbours(k: int) -> int:
    """How many neighbours of each record a search for groups of k looks at."""
    return max(_NEIGHBOURS, 3 * k)


@dataclass(frozen=True)
class Effort:
    """How much work to do; a trial shakes a few groups, which takes a fraction of a millisecond."""

    trials_per_record: int  # of all searches together, at k = 3, in a small table
    most_trials: int  # of a small table
    least_trials: int  # of a tiny one
    trials_per_further_record: float  # of a large one, on top of that
    islands: int  # searches of a small table side by side, whose groups are recombined
    rounds: int  # of a small table, each of which ends with recombining
    share: float = 1.0  # of these trials
    # Share of their error that groups may lose, on average, where a loss is kept: first and last.
    heat: tuple[float, float] = (3e-3, 6e-5)

    def trials(self, n_records: int, k: int) -> float:
        """Trials for a table; the cost of one grows with k squared, or nearly."""
        most = self.most_trials + self.trials_per_further_record * n_records
        trials = max(self.least_trials, min(self.trials_per_record * n_records, most))
        return trials * (3 / k) ** 2 * self.share

    def turn(self, number: int, rounds: int) -> "Effort":
        """Return what one of several rounds does, each of which begins as cool as the last ended.

        >>> effort = Effort(10, 0, 0, 0, 0, 2, heat=(4e-3, 1e-3))
        >>> [round(heat, 6) for heat in effort.turn(0, 2).heat + effort.turn(1, 2).heat]
        [0.004, 0.002, 0.002, 0.001]
        """
        hot, cold = self.heat
        first, last = (hot * (cold / hot) ** ((number + end) / rounds) for end in (0, 1))
        return replace(self.part(1.0 / rounds), heat=(first, last))

    def part(self, share: float) -> "Effort":
        """Return the same with a share of the trials."""
        return replace(self, share=self.share * share)

    def for_good_groups(self, share: float) -> "Effort":
        """Return a share of it, for groups that are good already.

        One search, since a longer one gains more than two whose groups are recombined; and cool
        from the start, so that it keeps what is good.
        """
        hot, cold = self.heat
        return replace(self.part(share), islands=1, heat=(hot * _COOLER, cold))


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
    """A partition into groups of k to 2k-1 records, under improvement.

    `near` lists the nearest others of every record, nearest first: `n_neighbours(k)` of them, where
    there are so many. If it is not given, the search begins with finding them.
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
    ) -> None:
        self.X = X
        self.near = near
        self.labels = labels
        self.k = k
        self.limits = limits
        self.rng = rng
        self.n_jobs = n_jobs
        self.regions: list[Region] = []
        self.under_way: list[Wandering] = []
        self.n_trials = self.n_made = 0  # trials to be made, and those of the rounds before
        self.ended: list[int] = []  # trials that were to be made by the searches that ended

    def run(self, effort: Effort) -> None:
        """Search as much as the effort says, or until the time is over."""
        if self.near is None:
            self.near = near_lists(self.X, n_neighbours(self.k), self.n_jobs)
        self.n_trials = int(effort.trials(len(self.X), self.k))
        if len(self.X) > regions.size_limit(len(self.X), self.k):
            # Without recombination there is nothing to gain from heating again.
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
        trials = effort.trials(len(self.X), self.k) / islands
        seeds = self.rng.integers(2**63, size=len(searches))

        def search(place: int) -> list[Labels]:
            region, island = searches[place]
            wandering = Wandering(
                region.X,
                region.near,
                region.labels,
                self.k,
                seed=int(seeds[place]),
                heat=effort.heat,
                offer=lambda error, labels: region.best.offer(error, island, labels),
            )
            self.under_way.append(wandering)
            n_trials = int(trials * len(region.X) / len(self.X))
            seconds = self._seconds_for(n_trials, len(searches))
            late = wandering.run(n_trials, seconds)
            self.ended.append(n_trials)
            return late if islands > 1 else []

        found = side_by_side(
            search,
            range(len(searches)),
            n_jobs=self.n_jobs,
            task="searching",
            progress=self._progress,
        )
        self.adopt_what_was_found()
        self.n_made += sum(wandering.n_made for wandering in self.under_way)
        self.under_way.clear()
        if islands > 1:
            pool = [self.labels, *(labels for late in found for labels in late)]
            seconds = max(_LEAST_SECONDS, self.limits.seconds_left())
            self.regions[0].labels = recombine(self.X, pool, seconds)
            self.regions[0].begin_round()
            self.labels = self.regions[0].labels

    def is_complete(self) -> bool:
        """Whether all trials were made, but for those lost to rounding."""
        return self.n_made >= self.n_trials - len(self.regions) * _ROUNDS

    def _seconds_for(self, n_trials: int, n_searches: int) -> float:
        """The part of the time left that a search with so many trials may take."""
        left = self.limits.seconds_left()
        if math.isinf(left):
            return left
        to_come = max(1, self.n_trials - sum(list(self.ended)))
        return max(0.0, left) * min(1.0, n_trials * min(self.n_jobs, n_searches) / to_come)

    def _progress(self) -> tuple[int, int]:
        """Trials made so far, in this round and those before, and in all."""
        made = self.n_made + sum(wandering.n_made for wandering in list(self.under_way))
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

    def adopt_what_was_found(self) -> None:
        """Take over the best groups of every region."""
        first = 0
        labels = np.empty_like(self.labels)
        for region in self.regions:
            region.labels = region.best.result
            labels[region.rows] = region.labels + first
            first += int(region.labels.max()) + 1
        if self.regions:
            self.labels = labels
