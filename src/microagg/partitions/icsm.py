"""ICSM: local search by migrations, exchanges and cyclic shifts, with tour cuts in between."""

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Floats, Labels, Mask
from microagg.core.parallel import Best, as_completed
from microagg.core.validation import SeedLike, check_count, check_jobs, check_rng
from microagg.kernels.basics.group_sums import summarise
from microagg.kernels.basics.rounding import without_offset
from microagg.kernels.search.assignment import WORTHWHILE, regroup
from microagg.kernels.search.cyclic_shifts import MOST_MEMBERS, shift_from_groups
from microagg.orderings.walks import farthest_from_mean, walk
from microagg.partitions.base import Partitioner
from microagg.partitions.path_cut import cut_sequence
from microagg.partitions.search.exchanging import NO_LIMITS, Exchanging, Limits
from microagg.partitions.search.improving import n_neighbours
from microagg.partitions.search.neighbours import near_lists
from microagg.partitions.search.starts import Initial, initial_labels, uses_randomness

if TYPE_CHECKING:
    from microagg.requirements.coded import GroupRule

# Records moved by a restart, at most: section 5.3 of the paper.
_MOVED_BY_A_RESTART = 20
# The tour is cut again after this many steps per record: a cut costs more than a pool.
_STEPS_FOR_A_CUT = 0.03
# Of the time left, at most this share is spent on where to open the tour: a large k takes long.
_SHARE_OF_A_CUT = 0.3
# Groups among which cyclic shifts are sought, and records in them: the cost is quadratic.
_NEAR_GROUPS, _NEAR_RECORDS = 24, 300


class ICSM(Partitioner):
    """Groups of k to 2k-1 records that no migration or exchange of records can improve.

    Starts from the groups of another method and repeats three steps, none of which raises the
    squared error, until none lowers it:

    - the pool: each group proposes its best migration or exchange with any other; the best 100 or,
      with many groups, as many as a tenth of them, are made, as long as they affect different
      groups;
    - the groups are put on a closed tour (see `microagg.orderings.by_groups`), which is cut again;
    - when neither gains, records are shifted in cycles through several groups, starting from each
      group in turn.

    Time O(n^2 d) at worst for a round of steps if all groups overlap, far less in practice, and
    O(n k (d + k)) for cutting a tour, so a large k takes long; memory O(n (d + k)) for each thread.
    Source: [1]_.

    Parameters
    ----------
    k : least number of records in a group
    initial : labels, one for each record, with at least k records in each group; or the name of a
        registered method that groups the records first
    n_restarts : how often to start again from the initial groups with up to 20 records moved at
        random; the best result is kept
    max_iterations : pools and rounds of cycles after which each search ends; None for no limit
    time_budget : seconds after which to end with the best groups so far; the initial groups are
        finished first; None for no limit
    random_state : seed of the restarts, and of an initial method that uses randomness
    n_jobs : threads that work on the restarts in parallel; -1 for all cores

    Attributes
    ----------
    n_iterations_ : pools and rounds of cycles that changed something, in the search whose groups
        were kept

    References
    ----------
    .. [1] R. Mortazavi and S. Jalili, "A novel local search method for microaggregation", The ISC
       International Journal of Information Security 7(1), 2015.

    Examples
    --------
    >>> ICSM(k=2).fit_predict([[0.0], [9.0], [1.0], [8.0], [5.0]]).tolist()
    [0, 1, 0, 1, 1]
    """

    def __init__(
        self,
        k: int = 3,
        *,
        initial: Initial = "mdav",
        n_restarts: int = 0,
        max_iterations: int | None = None,
        time_budget: float | None = None,
        random_state: SeedLike = None,
        n_jobs: int | None = -1,
    ) -> None:
        self.k = k
        self.initial = initial
        self.n_restarts = n_restarts
        self.max_iterations = max_iterations
        self.time_budget = time_budget
        self.random_state = random_state
        self.n_jobs = n_jobs

    def uses_randomness(self) -> bool:
        """Whether the groups depend on a seed, with the parameters as they are."""
        restarts = self.n_restarts if isinstance(self.n_restarts, int) else 0
        return restarts > 0 or uses_randomness(self.initial)

    def _group(self, X: NDArray[Any], k: int) -> Labels:
        rng = check_rng(self.random_state)
        n_restarts = check_count("n_restarts", self.n_restarts, at_least=0, at_most=1_000_000)
        n_jobs = check_jobs(self.n_jobs)
        limits = Limits.checked(self.max_iterations, self.time_budget)
        X = without_offset(X)
        start = initial_labels(self.initial, X, k, rng, at_least=k, n_jobs=n_jobs)
        labels, errors = local_search(X, start, k, limits)
        best: Best[tuple[Labels, int]] = Best()
        best.offer(errors[-1], -1, (labels, len(errors) - 1))
        restarts = as_completed(
            partial(_restart, X, start, k, limits),
            rng.integers(2**32, size=n_restarts).tolist(),
            n_jobs=n_jobs,
            task="restarts",
            enough=limits.out_of_time,
            needs_threads=limits.deadline < math.inf,  # the clocks of other machines differ
        )
        for place, (labels, errors) in restarts:
            best.offer(errors[-1], place, (labels, len(errors) - 1))
        labels, self.n_iterations_ = best.result
        self.timed_out_ = limits.out_of_time()
        return labels

    def _group_under(self, X: NDArray[Any], k: int, rules: "tuple[GroupRule, ...]") -> Labels:
        """Return the groups of the search, repaired, then improved by moves and exchanges."""
        from microagg.partitions.search.ruled import RuledAnnealing
        from microagg.requirements.coded import pack

        labels = super()._group_under(X, k, rules)
        X = without_offset(X)
        near = near_lists(X, n_neighbours(k), check_jobs(self.n_jobs))
        search = RuledAnnealing(X, near, labels, pack(rules, k, len(X)))
        search.settle()
        return search.labels


def _restart(
    X: Floats, start: Labels, k: int, limits: Limits, seed: int
) -> tuple[Labels, list[float]]:
    """Search again from the initial groups with some records moved."""
    return local_search(X, perturb(start, np.random.default_rng(seed)), k, limits)


def perturb(labels: Labels, rng: np.random.Generator) -> Labels:
    """Move up to 20 records to random groups."""
    moved = rng.integers(len(labels), size=_MOVED_BY_A_RESTART)
    changed = labels.copy()
    changed[moved] = rng.integers(labels.max() + 1, size=_MOVED_BY_A_RESTART)
    return np.unique(changed, return_inverse=True)[1].astype(np.intp)


def local_search(
    X: Floats, labels: Labels, k: int, limits: Limits = NO_LIMITS
) -> tuple[Labels, list[float]]:
    """Improve groups until no step does, or a limit is reached.

    Returns the groups, and the squared error after the first cut and after every iteration.
    """
    search = Search(X, labels, k, limits)
    errors = [search.error]
    while not limits.reached(len(errors) - 1):
        improved = search.make_pool()
        if not improved:
            improved = search.cut_tour() or search.shift_in_cycles()
        elif search.n_steps >= _STEPS_FOR_A_CUT * len(X):
            search.cut_tour()
        if not improved:
            break
        errors.append(search.error)
    return search.assignment.labels, errors


class Search(Exchanging):
    """Groups that are also put on a tour, and whose records are shifted in cycles."""

    def __init__(self, X: Floats, labels: Labels, k: int, limits: Limits = NO_LIMITS) -> None:
        self.entry = farthest_from_mean(X)
        self.limits = limits
        super().__init__(X, self._on_a_tour(X, labels, k), k, limits)
        self.cut_at = self.assignment.clock[0]  # step of the last cut
        self.tried = np.full_like(self.searched, -1)  # step at which cycles last gained nothing

    @property
    def n_steps(self) -> int:
        """Steps since the tour was cut."""
        return int(self.assignment.clock[0] - self.cut_at)

    def _on_a_tour(self, X: Floats, labels: Labels, k: int) -> Labels:
        groups = np.unique(labels, return_inverse=True)[1].astype(np.intp)
        tour = walk(X, groups, self.entry)
        in_time = self.limits.within(_SHARE_OF_A_CUT)
        return cut_sequence(X, tour, k, tour=True, enough=in_time.out_of_time)

    def cut_tour(self) -> bool:
        """Put the groups on a tour and cut it again, if that gains."""
        if self.limits.out_of_time():
            return False
        cut, before = self._on_a_tour(self.X, self.assignment.labels, self.k), self.error
        if summarise(self.X, cut).sse < before * (1.0 - WORTHWHILE):
            regroup(self.X, self.assignment, cut, int(cut.max()) + 1)
        self.cut_at = self.assignment.clock[0]
        return self.error < before

    def shift_in_cycles(self) -> bool:
        """Shift records in cycles from every group, the lowest score first."""
        in_use, blocks = self._centers()
        members = min(self.k, MOST_MEMBERS)
        n_near = min(_NEAR_GROUPS, _NEAR_RECORDS // members, len(in_use) - 1)
        groups = in_use[np.argsort(self._scores(in_use), kind="stable")]
        made = 0
        for some in self._in_calls(groups):
            made += shift_from_groups(
                self.X, self.k, self.assignment, in_use, blocks, n_near, some, self.tried
            )
        return made > 0

    def _settled(self) -> Mask:
        return self.tried >= self.assignment.changed

    def _scores(self, in_use: Labels) -> Floats:
        """Equation 7 of the paper: the total cost of replacing a group's members.

        The sum over all pairs of records reduces to sums over groups.
        """
        s: Floats = self.assignment.sizes[in_use].astype(np.float64)
        e: Floats = self.assignment.errors[in_use]
        c: Floats = self.assignment.centers[in_use]
        c = c - c.mean(axis=0)
        square = (c * c).sum(axis=1)
        apart = len(s) * square - 2 * c @ c.sum(axis=0) + square.sum()
        apart_by_size = s.sum() * square - 2 * c @ (s @ c) + s @ square
        crossed = s * (e / s).sum() + e * len(s) + s * apart
        crossed_by_size = e / s * s.sum() + e.sum() + apart_by_size
        scores: Floats = 2 * (e * s.sum() - s * e.sum()) - crossed + crossed_by_size
        return scores
