"""The public functions for bounds, and the cases that need no search."""

import math

import numpy as np
from numpy.typing import ArrayLike

from microagg.bounds.choices import TIGHTNESS
from microagg.bounds.fast import UNDERFLOW, n_listed, neighbour_shares
from microagg.core.arrays import Floats, Labels
from microagg.core.errors import BOUND_INTERRUPTED, InterruptedSearchWarning, warn
from microagg.core.validation import check_choice, check_jobs, check_k, check_matrix, check_number
from microagg.partitions.search.neighbours import DistinctNeighbours
from microagg.partitions.univariate import Univariate

# Default time budget of a tight bound.
TIGHT_SECONDS = 600.0
# Rounding of a term of an SSE, with room to spare; each record of a group adds one more.
_ROUNDINGS = 16.0 * np.finfo(np.float64).eps
# Groups that no others beat by more than this share count as optimal.
_NEGLIGIBLE = 1e-7


class InterruptedBound(KeyboardInterrupt):
    """A tight bound was interrupted; `bound` is the best so far."""

    def __init__(self, bound: float) -> None:
        super().__init__()
        self.bound = bound


def lower_bound(
    X: ArrayLike, k: int, *, tightness: str = "fast", time_budget: float = TIGHT_SECONDS
) -> float:
    """Return a lower bound on the SSE of every partition into groups of k or more.

    It is in the squared units of X, which is taken as it is, as in `information_loss`. Rounding is
    on the safe side: the bound is lowered by more than all rounding errors together.

    Parameters
    ----------
    X : records by columns
    k : least number of records in a group
    tightness : "fast" sums the least that each record costs among its nearest neighbours, with
        prices that make outliers count: eight to nine tenths of the best known loss on the
        literature's tables, for any number of records, in about three times the time of finding
        the neighbours. "tight" continues from there by a semidefinite relaxation, and by column
        generation: a linear program over groups (HiGHS). It is meant for up to some ten thousand
        records; on the literature's tables of about a thousand records it comes within about two
        per cent of the best known loss at any k, and within half a per cent at k up to 5.
    time_budget : seconds after which "tight" ends with the best bound so far

    One column gets its optimum, whatever the tightness. Memory of "fast" O(n (d + k)); "tight"
    splits the records into regions of m records, as large as time and memory permit, and takes
    O(n m) memory and O(n m^2) time for each of some hundred steps. A round of column generation
    takes O(n^2 (d + k)) time plus that of its search, which grows steeply with k.

    Examples
    --------
    >>> round(lower_bound([[0.0], [1.0], [10.0], [11.0]], k=2), 3)
    1.0
    """
    matrix = check_matrix(X)
    k = check_k(k, n_records=len(matrix))
    check_choice("tightness", tightness, TIGHTNESS)
    seconds = check_number("time_budget", time_budget, low=0.0)
    try:
        return bound_on(matrix, k, tightness, seconds)
    except InterruptedBound as interrupted:
        warn(BOUND_INTERRUPTED, InterruptedSearchWarning)
        return interrupted.bound


def bound_on(
    X: Floats,
    k: int,
    tightness: str,
    seconds: float,
    labels: Labels | None = None,
    near: DistinctNeighbours | None = None,
) -> float:
    """As `lower_bound`, for checked arguments; known groups and neighbours save time.

    Ctrl-C ends a tight bound with an `InterruptedBound`, so that who needs several can stop, too.
    """
    if k == 1:
        return 0.0
    if X.shape[1] == 1:
        return _sse_at_least(X, Univariate(k).fit(X).labels_)
    if len(X) < 2 * k:  # too few to be split
        return _sse_at_least(X, np.zeros(len(X), dtype=np.intp))
    neighbours = None if near is None else near.exact(X, n_listed(k), check_jobs(-1))
    if tightness == "fast":
        return neighbour_shares(X, k, neighbours).bound
    from microagg.bounds.tight import bound_within

    return bound_within(X, k, seconds, labels, neighbours)


def proves_optimal(sse: float, bound: float) -> bool:
    """Say whether a lower bound proves a partition with this SSE optimal.

    That is, whether no other can be better by more than one part in ten million, which allows for
    the margin by which bounds are lowered.

    >>> proves_optimal(12.5, bound=12.4999999), proves_optimal(12.5, bound=12.4)
    (True, False)
    """
    return bound >= sse * (1.0 - _NEGLIGIBLE)


def gap(sse: float, bound: float) -> float | None:
    """Return by how many per cent at most an SSE is above the optimum; None if it is not known.

    >>> gap(15.0, bound=12.0), gap(0.0, bound=0.0), gap(1.0, bound=0.0)
    (25.0, 0.0, None)
    """
    if proves_optimal(sse, bound):
        return 0.0
    return 100.0 * (sse / bound - 1.0) if bound > 0.0 else None


def _sse_at_least(X: Floats, labels: Labels) -> float:
    """Return the SSE of a partition, lowered by more than rounding can have raised it.

    Values are relative to the first record of the group. The difference of a record and the mean
    has the rounding errors of both, which may be much larger than itself.
    """
    sizes = np.bincount(labels)
    first = np.unique(labels, return_index=True)[1]
    terms, error = [], 0.0
    for values in X.T:
        apart = values - values[first][labels]
        means = (np.bincount(labels, weights=apart) / sizes)[labels]
        left = apart - means
        terms.append(left * left)
        error += float((np.abs(left) * (np.abs(apart) + np.abs(means))).sum())
    sse = math.fsum(np.concatenate(terms))
    roundings = float(_ROUNDINGS) * (sizes.max() + 8.0)
    rounded = roundings * error + float(_ROUNDINGS) * len(X) * sse
    return float(max(0.0, sse - rounded - UNDERFLOW))
