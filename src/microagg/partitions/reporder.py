"""RepOrdMic: order the records by their groups, cut the sequence, and repeat."""

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from microagg.core.arrays import Floats, Labels
from microagg.core.parallel import Best, as_completed, never, one_thread_each
from microagg.core.validation import SeedLike, check_count, check_jobs, check_rng
from microagg.kernels.basics.group_sums import summarise
from microagg.kernels.basics.rounding import without_offset
from microagg.orderings.walks import farthest_from_mean, walk
from microagg.partitions.base import Partitioner
from microagg.partitions.path_cut import cut_sequence
from microagg.partitions.search.exchanging import Limits
from microagg.partitions.search.starts import (
    Initial,
    initial_labels,
    kmeans_starts,
    uses_randomness,
)

# The rounds end with one that lowers the error by no more than this share.
_WORTHWHILE = 1e-9


class RepOrdMic(Partitioner):
    """Groups of k to 2k-1 records from repeated ordering; no round is worse than the one before.

    A round visits the groups one after another (see `microagg.orderings.by_groups`) and cuts that
    sequence of records optimally; the previous groups are one of the possible cuts, so if they have
    k to 2k-1 records the new ones are at least as good. The rounds end when nothing is gained. The
    initial groups may have any size. Without `initial` there are many starts, the clusters of
    k-means with 1, 2, 3, ... centres, and the best result is kept.

    Time O(n^2 d / k) at worst for a round of a start, and about O(n^2 d) for the first round from
    few large clusters; memory O(n d) for each thread. Source: [1]_.

    Parameters
    ----------
    k : least number of records in a group
    initial : None for the k-means starts; labels, one for each record; or the name of a registered
        method that groups the records first
    n_starts : without `initial`, the number of starts: k-means with 1 to `n_starts` clusters, or
        as many as there are different records
    time_budget : seconds after which to end with the best groups so far, those of one round at
        least; None for no limit
    random_state : seed of k-means, or of an initial method that uses randomness
    n_jobs : threads that work on the starts in parallel; -1 for all cores

    Attributes
    ----------
    n_rounds_ : rounds of all starts together, including the last of each, which gains nothing

    References
    ----------
    .. [1] R. Mortazavi, "Repeated record ordering for constrained size clustering", International
       Journal of Engineering 33(7), 2020.

    Examples
    --------
    >>> records = [[0.0], [9.0], [1.0], [8.0]]
    >>> RepOrdMic(k=2, n_starts=2, random_state=0).fit_predict(records).tolist()
    [0, 1, 0, 1]
    """

    def __init__(
        self,
        k: int = 3,
        *,
        initial: Initial | None = None,
        n_starts: int = 200,
        time_budget: float | None = None,
        random_state: SeedLike = None,
        n_jobs: int | None = -1,
    ) -> None:
        self.k = k
        self.initial = initial
        self.n_starts = n_starts
        self.time_budget = time_budget
        self.random_state = random_state
        self.n_jobs = n_jobs

    def uses_randomness(self) -> bool:
        """Whether the groups depend on a seed, with the parameters as they are."""
        return self.initial is None or uses_randomness(self.initial)

    def _group(self, X: NDArray[Any], k: int) -> Labels:
        rng = check_rng(self.random_state)
        n_starts = check_count("n_starts", self.n_starts)
        n_jobs = check_jobs(self.n_jobs)
        limits = Limits.checked(None, self.time_budget)
        X = without_offset(X)
        entry = farthest_from_mean(X)
        if self.initial is None:
            starts = kmeans_starts(X, n_starts, rng)
        else:
            given = initial_labels(self.initial, X, k, rng, at_least=1, n_jobs=n_jobs)
            starts = [lambda: given]
        best: Best[Labels] = Best()
        self.n_rounds_ = 0
        with one_thread_each():
            outcomes = as_completed(
                lambda start: repeat_ordering(X, start(), k, entry, limits.out_of_time),
                starts,
                n_jobs=n_jobs,
                task="starts",
                enough=lambda: self.n_rounds_ > 0 and limits.out_of_time(),
                needs_threads=True,  # the setting above is for this process only
            )
            for place, (labels, errors) in outcomes:
                best.offer(errors[-1], place, labels)
                self.n_rounds_ += len(errors)
        self.timed_out_ = limits.out_of_time()
        return best.result


def repeat_ordering(
    X: Floats, labels: Labels, k: int, entry: int, enough: Callable[[], bool] = never
) -> tuple[Labels, list[float]]:
    """Order by groups, starting at row `entry`, and cut, until nothing is gained or it is enough.

    Returns the groups and the squared error after every round.
    """
    errors: list[float] = []
    while True:
        labels = cut_sequence(X, walk(X, labels, entry), k)
        errors.append(summarise(X, labels).sse)
        gains = len(errors) == 1 or errors[-2] - errors[-1] > _WORTHWHILE * errors[-2]
        if not gains or enough():
            return labels, errors
