"""The default: the best groups that a bounded amount of work can find."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Floats, Labels
from microagg.core.parallel import side_by_side
from microagg.core.progress import listening
from microagg.core.validation import check_choice, check_jobs, check_rng
from microagg.kernels.basics.rounding import without_offset
from microagg.partitions.base import Partitioner
from microagg.partitions.mdav import MDAV
from microagg.partitions.ordered import TSPMHM
from microagg.partitions.search import regions
from microagg.partitions.search.exchanging import Limits
from microagg.partitions.search.improving import Effort, Improving
from microagg.partitions.univariate import Univariate

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
    "best": Effort(
        trials_per_record=1_200,
        most_trials=1_200_000,
        least_trials=120_000,
        trials_per_further_record=20,
        islands=4,
        rounds=2,
    ),
}


# Records up to which a tour is tried as well, and beyond which even MDAV would take too long.
_LARGEST_TOUR, _LARGEST_MDAV = 5_000, 200_000


class Auto(Partitioner):
    """The best groups of k to 2k-1 records that an amount of work can find; the default method.

    Builds groups (those of MDAV, or of a short tour cut optimally, whichever are better) and lowers
    their squared error by migrations, exchanges and chains of two migrations until none is left.
    Out of that local optimum lead trials: a few neighbouring groups are made anew around random
    records, as many, one more or one fewer, or some of their records change places, and they are
    improved again; what comes out is kept if it is better or, at first, not much worse. Several
    such searches run side by side, and the best partition that can be put together from their
    groups is kept. A table of many records is searched region by region, and cut into other
    regions in the next round.

    The work is fixed by `effort`, n and k, so that the groups for a seed are the same on any
    number of threads. Time O(n^2 d) at worst for neighbours and first groups, and near O(n d) for
    the search; memory O(n (d + k)). One column is grouped optimally at once.

    Parameters
    ----------
    k : records in a group, at least
    effort : "fast", "balanced" or "best": how much work to do
    time_budget : seconds after which to end with the best groups so far, once neighbours and first
        groups are found; None for no limit
    random_state : seed of the search
    n_jobs : threads that search side by side; -1 for all cores

    Attributes
    ----------
    interrupted_ : whether the search was ended from the keyboard; the groups are the best so far
    timed_out_ : whether it was ended by the time budget

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
        random_state: Any = None,
        n_jobs: int | None = -1,
    ) -> None:
        self.k = k
        self.effort = effort
        self.time_budget = time_budget
        self.random_state = random_state
        self.n_jobs = n_jobs

    def has_chance(self) -> bool:
        """Whether the groups depend on a seed, with the parameters as they are."""
        return True

    def _group(self, X: NDArray[Any], k: int) -> Labels:
        effort = EFFORTS[check_choice("effort", self.effort, EFFORTS)]
        if self.time_budget is not None:
            _compile()
        limits = Limits.checked(None, self.time_budget)
        rng = check_rng(self.random_state)
        n_jobs = check_jobs(self.n_jobs)
        self.interrupted_ = self.timed_out_ = False
        if needs_no_search(X, k):
            return without_search(X, k)
        X = without_offset(X)
        improving = Improving(X, first_groups(X, k, rng, n_jobs), k, limits, rng, n_jobs)
        try:
            improving.run(effort)
        except KeyboardInterrupt:
            improving.adopt_what_was_found()
            self.interrupted_ = True
        ended_early = self.time_budget is not None and not improving.is_complete()
        self.timed_out_ = ended_early and not self.interrupted_
        return improving.labels


def _compile() -> None:
    """Group a few records, so that the first run of all does not spend its time on compiling."""
    few = np.random.default_rng(0).normal(size=(8, 2))
    with listening(None):
        Auto(2, effort="fast", random_state=0, n_jobs=1).fit(few)


def needs_no_search(X: Floats, k: int) -> bool:
    """Whether the best groups are known at once: of one, of all, or of one column."""
    return k == 1 or len(X) < 2 * k or X.shape[1] == 1


def without_search(X: Floats, k: int) -> Labels:
    """The best groups where there is nothing to search for."""
    if X.shape[1] == 1:
        labels: Labels = Univariate(k).fit(X).labels_
        return labels
    return np.arange(len(X)) if k == 1 else np.zeros(len(X), dtype=np.intp)


def first_groups(X: Floats, k: int, rng: np.random.Generator, n_jobs: int) -> Labels:
    """The groups of MDAV or of a cut tour, whichever have the lower error.

    In a large table those of MDAV; in a very large one made region by region, so that the time
    grows with n only.
    """
    if len(X) <= _LARGEST_TOUR:
        best: Labels = min((MDAV(k).fit(X), TSPMHM(k).fit(X)), key=lambda made: made.sse_).labels_
        return best
    everyone = np.ones(len(X), dtype=np.intp)
    parts = regions.split_into_regions(X, everyone, rng, max(_LARGEST_MDAV, 2 * k))
    made = side_by_side(
        lambda rows: MDAV(k).fit_predict(X[rows]), parts, n_jobs=n_jobs, task="first groups"
    )
    labels, first = np.empty(len(X), dtype=np.intp), 0
    for rows, own in zip(parts, made, strict=True):
        labels[rows] = own + first
        first += int(own.max()) + 1
    return labels
