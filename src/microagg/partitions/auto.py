"""The default: the best groups that a bounded amount of work finds."""

from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Floats, Labels
from microagg.core.parallel import side_by_side
from microagg.core.progress import reporting_best_as, without_reports
from microagg.core.validation import SeedLike, check_choice, check_jobs, check_rng
from microagg.kernels.background import compiled_in_background
from microagg.kernels.basics.group_sums import summarise
from microagg.kernels.basics.rounding import without_offset
from microagg.kernels.search.trials import compile_search, run_trials
from microagg.orderings.tsp import TOUR_NEIGHBOURS
from microagg.partitions.base import Partitioner
from microagg.partitions.mdav import MDAV
from microagg.partitions.ordered import cut_short_tours
from microagg.partitions.search import regions
from microagg.partitions.search.exchanging import Limits
from microagg.partitions.search.improving import Effort, Improving, n_neighbours
from microagg.partitions.search.large import LargeSearch, is_large
from microagg.partitions.search.neighbours import DistinctNeighbours, close_lists, list_near
from microagg.partitions.search.region import RegionEffort
from microagg.partitions.univariate import Univariate

if TYPE_CHECKING:
    from microagg.requirements.coded import GroupRule

EFFORTS = {
    "fast": Effort(
        trials_per_record=5,
        most_trials=8_000,
        least_trials=2_500,
        trials_per_further_record=0.5,
        islands=2,
        rounds=1,
    ),
    "balanced": Effort(
        trials_per_record=150,
        most_trials=150_000,
        least_trials=15_000,
        trials_per_further_record=4,
        islands=2,
        rounds=1,
    ),
    # Several searches whose groups are recombined end lower than a long one; and the more trials a
    # search has, the hotter it may be.
    "best": Effort(
        trials_per_record=2_400,
        most_trials=2_600_000,
        least_trials=120_000,
        trials_per_further_record=20,
        islands=10,
        rounds=1,
        temperatures=(2e-2, 5e-4),
        growth=1.6,
    ),
}

# Under requirements a trial is a fixed amount of work, whatever k is.
_under_rules = partial(Effort, temperatures=(1.0, 3e-3), growth=0.0)
EFFORTS_UNDER_RULES = {
    "fast": _under_rules(20, 25_000, 2_500, 2, islands=2, rounds=1),
    "balanced": _under_rules(400, 450_000, 15_000, 12, islands=2, rounds=1),
    "best": _under_rules(2_000, 2_500_000, 120_000, 50, islands=4, rounds=2),
}

# For a table of more than 50,000 records (`is_large`).
EFFORTS_FOR_LARGE = {
    "fast": RegionEffort(trials_per_record=0.3, rounds=2, dissolved=0.07, merges=False),
    "balanced": RegionEffort(4, rounds=4, dissolved=0.1, merges=True),
    "best": RegionEffort(20, rounds=8, dissolved=0.1, merges=True),
}

# Records up to which a tour is tried as well, and beyond which MDAV would take too long.
LARGEST_TOUR, _LARGEST_MDAV = 5_000, 200_000
# Under requirements: records of which all partitions are tried, and up to which records are dealt
# out for t-closeness, which takes time proportional to the square of their number.
_MOST_FOR_ALL, _LARGEST_DEALT = 12, 20_000
# Trials under requirements after a search without, as a share of those of a search under them.
_SHARE_AFTERWARDS = 0.5


class Auto(Partitioner):
    """The best groups of k to 2k-1 records that a given effort finds; the default method.

    Builds groups (those of MDAV, or of a short tour cut optimally, whichever are better) and lowers
    their squared error by migrations, exchanges and chains of two migrations until none gains.
    Trials lead out of that local optimum: a few neighbouring groups are rebuilt around random
    records, with the same number of groups or one more or fewer, or some of their records change
    places, and they are improved again; the outcome is kept if it is better or, early on, not much
    worse. Several such searches run in parallel, and the best partition that can be assembled from
    their groups is kept. A larger table is searched region by region, with other regions in every
    round; above 50,000 records, neighbours are found in nearly linear time, some first groups are
    dissolved so that others can spare records, and the whole table takes turns with the regions.

    The work is fixed by `effort`, n, d and k, so a seed gives the same groups on any number of
    threads. Time near O(n d) for k up to 50 above 50,000 records, and otherwise O(n^2 d) at worst
    for neighbours and first groups; memory O(n (d + k)). One column is grouped optimally, without a
    search.

    Parameters
    ----------
    k : least number of records in a group
    effort : "fast", "balanced" or "best": how much work to do
    time_budget : seconds after which to end with the best groups so far; neighbours and first
        groups are found in any case; None for no limit
    random_state : seed of the search
    n_jobs : threads that search in parallel; -1 for all cores

    Attributes
    ----------
    interrupted_ : whether the search was ended by Ctrl-C; the groups are the best so far
    timed_out_ : whether it was ended by the time budget
    near_ : the neighbours that the search used, for a bound to start from; not pickled, and None
        above 50,000 records

    Examples
    --------
    >>> X = [[0.0, 0.0], [9.0, 1.0], [1.0, 0.0], [8.0, 1.0], [5.0, 1.0]]
    >>> Auto(k=2, random_state=0).fit_predict(X).tolist()
    [0, 1, 0, 1, 1]
    """

    def __init__(
        self,
        k: int = 3,
        *,
        effort: str = "balanced",
        time_budget: float | None = None,
        random_state: SeedLike = None,
        n_jobs: int | None = -1,
    ) -> None:
        self.k = k
        self.effort = effort
        self.time_budget = time_budget
        self.random_state = random_state
        self.n_jobs = n_jobs

    def uses_randomness(self) -> bool:
        """Whether the groups depend on a seed, with the parameters as they are."""
        return True

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the neighbours: they are larger than the table."""
        state: Any = super().__getstate__()
        return {**state, "near_": None}

    def _group(self, X: NDArray[Any], k: int) -> Labels:
        effort = EFFORTS[check_choice("effort", self.effort, EFFORTS)]
        n_jobs = check_jobs(self.n_jobs)
        if self.time_budget is not None:
            compile_ahead(n_jobs)
        limits = Limits.checked(None, self.time_budget)
        rng = check_rng(self.random_state)
        self.interrupted_ = self.timed_out_ = False
        self.near_: DistinctNeighbours | None = None
        if needs_no_search(X, k):
            return without_search(X, k)
        X = without_offset(X)
        if is_large(len(X), k):
            return self._group_large(X, k, limits, rng, n_jobs)
        with compiled_in_background(run_trials, compile_search, n_jobs):
            self.near_ = near = list_near(X, n_neighbours(k), n_jobs)
            joined = near.exact(X, TOUR_NEIGHBOURS).rows if len(X) <= LARGEST_TOUR else None
            groups = first_groups(X, k, rng, n_jobs, joined)
        improving = Improving(X, groups, k, limits, rng, n_jobs, near.for_search())
        return self._improved(improving, effort)

    def _group_large(
        self, X: Floats, k: int, limits: Limits, rng: np.random.Generator, n_jobs: int
    ) -> Labels:
        with compiled_in_background(run_trials, compile_search, n_jobs):
            search = LargeSearch(X, k, limits, rng, n_jobs)
        return self._improved(search, EFFORTS_FOR_LARGE[self.effort])

    def _group_under(self, X: NDArray[Any], k: int, rules: "tuple[GroupRule, ...]") -> Labels:
        from microagg.kernels.rules.exhaustive import best_partition
        from microagg.partitions.search.dealing import deal_out
        from microagg.partitions.search.repairing import repair
        from microagg.requirements.coded import pack

        check_choice("effort", self.effort, EFFORTS)
        n_jobs, rng = check_jobs(self.n_jobs), check_rng(self.random_state)
        if self.time_budget is not None:
            compile_ahead(n_jobs, under_rules=True)
        limits = Limits.checked(None, self.time_budget)
        self.interrupted_ = self.timed_out_ = False
        self.near_ = None
        X, packed = without_offset(X), pack(rules, k, len(X))
        if len(X) <= _MOST_FOR_ALL:
            labels = np.zeros(len(X), dtype=np.intp)
            best_partition(X, packed, labels)
            return labels
        if is_large(len(X), k):
            near = close_lists(X, n_neighbours(k), n_jobs)
        else:
            self.near_ = list_near(X, n_neighbours(k), n_jobs)
            near = self.near_.for_search()
        closeness = [rule for rule in rules if rule.is_closeness]
        # Groups found without regard to t-closeness are far from it.
        may_relax = not closeness and not needs_no_search(X, k)
        starts: list[Labels] = []
        if not (may_relax and is_large(len(X), k)):
            starts = [first_groups(X, k, rng, n_jobs, None) if k > 1 else np.arange(len(X))]
        if len(X) <= _LARGEST_DEALT:
            starts += [deal_out(X, rule, k) for rule in closeness]
        improving = partial(Improving, X, k=k, rng=rng, n_jobs=n_jobs, near=near)
        found = []
        if starts and (not may_relax or len(X) <= regions.size_limit(len(X), k)):
            repaired = [repair(X, labels, packed, near) for labels in starts]
            repaired.sort(key=lambda labels: summarise(X, labels).sse)
            search = improving(
                repaired[0],
                limits=limits.within(0.5) if may_relax else limits,
                rules=rules,
                other_starts=repaired[1:],
            )
            found.append(self._improved(search, EFFORTS_UNDER_RULES[self.effort]))
        if may_relax and not self.interrupted_:
            half = limits.within(0.5)
            known = summarise(X, found[-1]).sse if found else None
            with reporting_best_as(known):  # without the rules, the error is lower than it will be
                if starts:
                    search = improving(starts[0], limits=half)
                    relaxed = self._improved(search, EFFORTS[self.effort])
                else:
                    relaxed = self._group_large(X, k, half, rng, n_jobs)
            found.append(repair(X, relaxed, packed, near))
        if may_relax and not self.interrupted_:
            search = improving(found[-1], limits=limits, rules=rules)
            effort = EFFORTS_UNDER_RULES[self.effort].for_good_groups(_SHARE_AFTERWARDS)
            found.append(self._improved(search, effort))
        return min(found, key=lambda labels: summarise(X, labels).sse)

    def _improved(self, search: "Searching[Work]", effort: "Work") -> Labels:
        """Return the groups after the search, and note how it ended."""
        try:
            search.run(effort)
        except KeyboardInterrupt:
            search.adopt_best()
            self.interrupted_ = True
        ended_early = self.time_budget is not None and not search.is_complete()
        self.timed_out_ = (self.timed_out_ or ended_early) and not self.interrupted_
        return search.labels


Work = TypeVar("Work", contravariant=True)


class Searching(Protocol[Work]):
    """A search for better groups, of a small table or a large one."""

    @property
    def labels(self) -> Labels:
        """The best groups so far."""

    def run(self, effort: Work) -> None:
        """Search with the given effort, or until the time is up."""

    def adopt_best(self) -> None:
        """Take the best groups found so far, after an interrupt."""

    def is_complete(self) -> bool:
        """Whether the search did not run out of time."""


def compile_ahead(n_jobs: int, *, under_rules: bool = False) -> None:
    """Group a few records, so that a first run does not spend its time budget on compiling."""
    few = np.random.default_rng(0).normal(size=(_MOST_FOR_ALL + 4, 2))
    rules = None
    if under_rules:
        from microagg.requirements.coded import GroupRule

        rules = [GroupRule.distinct(np.arange(len(few)) % 2, 2)]
    with without_reports():
        Auto(2, effort="fast", random_state=0, n_jobs=n_jobs).fit(few, requirements=rules)


def needs_no_search(X: Floats, k: int) -> bool:
    """Whether the best groups are known: single records, all records, or those of one column."""
    return k == 1 or len(X) < 2 * k or X.shape[1] == 1


def without_search(X: Floats, k: int) -> Labels:
    """Return the best groups where no search is needed."""
    if X.shape[1] == 1:
        labels: Labels = Univariate(k).fit(X).labels_
        return labels
    return np.arange(len(X)) if k == 1 else np.zeros(len(X), dtype=np.intp)


def first_groups(
    X: Floats, k: int, rng: np.random.Generator, n_jobs: int, neighbours: Labels | None
) -> Labels:
    """Return the groups of MDAV or of a cut tour, whichever have the lower error.

    A tour is cut if `neighbours` are given: the `TOUR_NEIGHBOURS` nearest of every record, for at
    most `LARGEST_TOUR` records. The groups of a very large table are made region by region, so
    that the time is proportional to n.
    """
    if neighbours is not None:
        both = MDAV(k).fit_predict(X), cut_short_tours(X, k, neighbours)
        return min((summarise(X, labels) for labels in both), key=lambda groups: groups.sse).labels
    ones = np.ones(len(X), dtype=np.intp)
    parts = regions.split_into_regions(X, ones, rng, max(_LARGEST_MDAV, 2 * k))
    found = side_by_side(partial(_mdav, X, k), parts, n_jobs=n_jobs, task="first groups")
    labels, first = np.empty(len(X), dtype=np.intp), 0
    for rows, own in zip(parts, found, strict=True):
        labels[rows] = own + first
        first += int(own.max()) + 1
    return labels


def _mdav(X: Floats, k: int, rows: Labels) -> Labels:
    labels: Labels = MDAV(k).fit_predict(X[rows])
    return labels
