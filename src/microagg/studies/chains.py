"""The search of a sweep over one matrix: every k begins with the groups of a larger one."""

import time
from collections.abc import Callable, Sequence
from itertools import pairwise, zip_longest

import numpy as np

from microagg.bounds import lower_bound, proves_optimal
from microagg.bounds.choices import NONE, TIGHT
from microagg.bounds.fast import n_listed, neighbour_shares
from microagg.bounds.lower import TIGHT_SECONDS, InterruptedBound
from microagg.bounds.tight import bound_within
from microagg.core.arrays import Floats, Labels
from microagg.core.errors import BOUND_INTERRUPTED, InterruptedSearchWarning, warn
from microagg.core.parallel import side_by_side
from microagg.core.progress import listening, report
from microagg.kernels.basics.group_sums import GroupSums, summarise
from microagg.kernels.basics.rounding import without_offset
from microagg.measures.utility.information_loss import squared_errors
from microagg.orderings.neighbours import Neighbours, nearest_neighbours
from microagg.orderings.tsp import TOUR_NEIGHBOURS
from microagg.partitions.auto import (
    LARGEST_TOUR,
    compile_ahead,
    first_groups,
    needs_no_search,
    without_search,
)
from microagg.partitions.search.exchanging import NO_LIMITS
from microagg.partitions.search.improving import Effort, Improving, n_neighbours
from microagg.partitions.search.neighbours import has_equal_records, list_near
from microagg.partitions.splitting import split_large

# Trials at a k that begins with the groups of a larger one, as a share of those of `Auto`: at
# least, and for every unit by which the ratio of the two ks is above one.
_LEAST_SHARE, _SHARE_FOR_RATIO = 0.5, 1.0
# Ks in a chain, in which each begins with the groups of the one before; chains run side by side.
_LONGEST_CHAIN = 10
TASK, BOUNDING = "sweeping", "bounding"
_WARM_UP_RECORDS, _WARM_UP_K = 40, 3


class MatrixSweep:
    """What all ks share, and what was found for each: groups, bounds (if any) and seconds.

    `seeds` has one for each k. With `weights`, which count in the error but not in the search, the
    error never falls as k grows either. `ruled` returns groups that meet requirements, for a k, a
    seed and a number of threads.
    """

    def __init__(
        self,
        X: Floats,
        ks: Sequence[int],
        effort: Effort,
        seeds: Sequence[int],
        n_jobs: int,
        weights: Floats | None = None,
        ruled: Callable[[int, int, int], Labels] | None = None,
    ) -> None:
        self.X = X
        self.ks = ks
        self.effort = effort
        self.seeds = dict(zip(ks, seeds, strict=True))
        self.n_jobs = n_jobs
        self.weights = weights
        self.ruled = ruled
        self.found: dict[int, GroupSums] = {}
        self.bounds: dict[int, float] = {}
        self.seconds = dict.fromkeys(ks, 0.0)
        self.nearest: Neighbours | None = None

    def _list_nearest(self, k: int) -> None:
        """List as many neighbours as the largest k needs, for the bounds and for the searches."""
        if has_equal_records(self.X):
            near = list_near(self.centred, n_neighbours(k), self.n_jobs)
            width = max(n_listed(k), TOUR_NEIGHBOURS)
            self.near, self.nearest = near.for_search(), near.exact(self.X, width, self.n_jobs)
        else:
            width = max(n_neighbours(k), n_listed(k))
            self.nearest = nearest_neighbours(self.X, width, n_jobs=self.n_jobs)
            self.near = self.nearest.rows
        small = len(self.X) <= LARGEST_TOUR
        self.joined = self.nearest.nearest(TOUR_NEIGHBOURS).rows if small else None

    def find_groups(self) -> None:
        """Group by every k: in chains of neighbouring ks, the largest of a chain first."""
        self.centred = without_offset(self.X)
        if searched := [k for k in self.ks if not needs_no_search(self.X, k)]:
            self._list_nearest(max(searched))
        n_chains = -(-len(self.ks) // _LONGEST_CHAIN)
        chains = [part.tolist() for part in np.array_split(self.ks[::-1], n_chains)]
        before = {k: larger for chain in chains for larger, k in pairwise(chain)}
        threads = max(1, self.n_jobs // n_chains)

        def group(k: int) -> tuple[GroupSums, float]:
            began = time.perf_counter()
            labels = self._labels(k, before.get(k), np.random.default_rng(self.seeds[k]), threads)
            return summarise(self.X, labels), time.perf_counter() - began

        for ks in zip_longest(*chains):  # the next k of every chain that has not ended
            going_on = [k for k in ks if k is not None]
            # On threads: all ks share the neighbours, which are larger than the table.
            found = side_by_side(group, going_on, n_jobs=self.n_jobs, task=TASK, needs_threads=True)
            for k, (groups, seconds) in zip(going_on, found, strict=True):
                self.found[k] = groups
                self.seconds[k] += seconds
            report(TASK, len(self.found), len(self.ks))
        self._let_none_lose_more_than_a_larger()

    def _labels(self, k: int, larger: int | None, rng: np.random.Generator, n_jobs: int) -> Labels:
        """Improve the better of the first groups of this k and the groups of a larger one."""
        if self.ruled is not None:
            return self.ruled(k, self.seeds[k], n_jobs)
        if self.nearest is None or needs_no_search(self.X, k):
            return without_search(self.X, k)
        start, effort = first_groups(self.centred, k, rng, n_jobs, self.joined), self.effort
        if larger is not None:
            split = split_large(self.centred, self.found[larger].labels, k)
            start = min(start, split, key=lambda labels: summarise(self.centred, labels).sse)
            effort = effort.for_good_groups(share_of_trials(k, larger))
        near = np.ascontiguousarray(self.near[:, : n_neighbours(k)])
        improving = Improving(self.centred, start, k, NO_LIMITS, rng, n_jobs, near)
        improving.run(effort)
        return improving.labels

    def _let_none_lose_more_than_a_larger(self) -> None:
        """Take over the groups of a larger k where those of a smaller one have a higher error.

        That can be where one chain ends and the next begins, and with weights.
        """
        for larger, k in pairwise(self.ks[::-1]):
            if self._error(self.found[larger]) >= self._error(self.found[k]):
                continue
            if self.ruled is not None:  # parts of a group need not meet what the whole does
                self.found[k] = self.found[larger]
            else:
                split = summarise(self.X, split_large(self.X, self.found[larger].labels, k))
                # By a rounding, halves can have a higher error than the whole.
                self.found[k] = min(split, self.found[larger], key=self._error)
        for groups in self.found.values():
            groups.labels.flags.writeable = False

    def _error(self, groups: GroupSums) -> float:
        if self.weights is None:
            return groups.sse
        return squared_errors(self.X, groups.labels, weights=self.weights).sse

    def find_bounds(self) -> None:
        """Bound the error at every k, after the groups, by the fast bound."""

        def bound(k: int) -> None:
            began = time.perf_counter()
            self.bounds[k] = self._bound(k)
            self.seconds[k] += time.perf_counter() - began

        side_by_side(bound, self.ks, n_jobs=self.n_jobs, task=BOUNDING, needs_threads=True)
        self._let_bounds_hold_for_larger_ks()

    def _let_bounds_hold_for_larger_ks(self) -> None:
        highest = np.maximum.accumulate([self.bounds[k] for k in self.ks]).tolist()
        self.bounds = dict(zip(self.ks, highest, strict=True))

    def tighten(self, seconds: float) -> None:
        """Raise the bounds to tight ones, within so many seconds for each k."""
        for k in self.ks:
            if needs_no_search(self.X, k) or proves_optimal(self.found[k].sse, self.bounds[k]):
                continue
            began = time.perf_counter()
            try:
                bound = bound_within(self.X, k, seconds, self.found[k].labels, self.nearest)
            except InterruptedBound as interrupted:
                self._raise_bound(k, interrupted.bound)
                raise
            self._raise_bound(k, bound)
            self.seconds[k] += time.perf_counter() - began

    def _raise_bound(self, k: int, bound: float) -> None:
        self.bounds[k] = max(self.bounds[k], bound)
        self._let_bounds_hold_for_larger_ks()

    def _bound(self, k: int) -> float:
        if needs_no_search(self.X, k):
            return lower_bound(self.X, k)
        return neighbour_shares(self.X, k, self.nearest).bound


def sweep_all(sweeps: Sequence[MatrixSweep], *, bound: str, n_jobs: int) -> None:
    """Find the groups, and the bounds if asked for, of many matrices side by side.

    Tight bounds come one after another, as each of them uses all threads; an interrupt leaves the
    best so far.
    """
    # None is left to the end that takes long.
    largest_first = sorted(sweeps, key=lambda one: -len(one.X))
    n_ks = sum(len(one.ks) for one in sweeps)
    side_by_side(
        MatrixSweep.find_groups,
        largest_first,
        n_jobs=n_jobs,
        task=TASK,
        progress=lambda: (sum(len(one.found) for one in sweeps), n_ks),
        needs_threads=True,
    )
    if bound != NONE:
        side_by_side(
            MatrixSweep.find_bounds,
            largest_first,
            n_jobs=n_jobs,
            task=BOUNDING,
            progress=lambda: (sum(len(one.bounds) for one in sweeps), n_ks),
            needs_threads=True,
        )
    if bound == TIGHT:
        n_records = sum(len(one.X) for one in sweeps)
        try:
            for one in largest_first:
                one.tighten(TIGHT_SECONDS * len(one.X) / n_records)
        except KeyboardInterrupt:
            warn(BOUND_INTERRUPTED, InterruptedSearchWarning)


def share_of_trials(k: int, larger: int) -> float:
    """How much of a search is needed where it begins with the groups of a larger k.

    The nearer the two ks are, the less there is to change.

    >>> [round(share_of_trials(k, k + 1), 2) for k in (2, 5, 20)]
    [1.0, 0.7, 0.55]
    """
    return min(1.0, _LEAST_SHARE + _SHARE_FOR_RATIO * (larger / k - 1.0))


def compile_search(
    X: Floats, effort: Effort, *, with_bounds: bool, under_rules: bool = False
) -> None:
    """Sweep over a few records, so that no row's seconds hold the time to compile."""
    report("preparing", 0, 1)
    few = np.ascontiguousarray(X[:: max(1, len(X) // _WARM_UP_RECORDS)][:_WARM_UP_RECORDS])
    k = min(_WARM_UP_K, len(few))
    with listening(None):
        trial = MatrixSweep(few, [k], effort.part(0.0), [0], 1)
        trial.find_groups()
        if with_bounds:
            trial.find_bounds()
        if under_rules:
            compile_ahead(1, under_rules=True)
    report("preparing", 1, 1)
