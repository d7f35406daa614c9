"""The door to the bounds: what is asked for, and the cases that need no search."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.bounds.fast import neighbour_shares
from microagg.kernels.groups import summarise
from microagg.validation import check_choice, check_k, check_matrix, check_number

# Roundings in the SSE of a single group, with room to spare.
_ROUNDINGS = 16.0 * np.finfo(np.float64).eps
# The tight bound stops when nothing can be better by more than this share.
_NEGLIGIBLE = 1e-7


def lower_bound(
    X: ArrayLike, k: int, *, tightness: str = "fast", time_budget: float = 600.0
) -> float:
    """Return a number that the SSE of no partition into groups of k or more goes below.

    In the squared units of X, which is taken as it is, like by `information_loss`. All roundings
    are on the safe side: the bound is lowered by more than they can add up to.

    Parameters
    ----------
    X : records by columns
    k : records in a group, at least
    tightness : "fast" sums up what each record costs at least among its nearest neighbours, with
        prices that make outliers count: eight to nine tenths of the best known loss on the
        literature's tables, for any number of records, for about three times the time of finding
        the neighbours. "tight" goes on from there by column generation: a linear program over
        groups (HiGHS). For some thousands of records and small k; on the literature's tables of
        about a thousand records and k to 5 it comes within a per cent of the best known loss.
    time_budget : seconds after which "tight" ends with the best bound so far

    Memory of "fast" O(n (d + k)); a round of "tight" takes O(n^2 (d + k)) time and what its search
    takes, which grows steeply with k.

    Examples
    --------
    >>> lower_bound([[0.0], [1.0], [10.0], [11.0]], k=2)  # doctest: +ELLIPSIS
    0.9999...
    """
    matrix = check_matrix(X)
    k = check_k(k, n_records=len(matrix))
    check_choice("tightness", tightness, ("fast", "tight"))
    seconds = check_number("time_budget", time_budget, low=0.0)
    if k == 1:
        return 0.0
    if len(matrix) < 2 * k:
        return _one_group(matrix)
    if tightness == "fast":
        return neighbour_shares(matrix, k).bound
    from microagg.bounds.tight import generated_bound

    return generated_bound(matrix, k, seconds)


def proves_optimal(sse: float, bound: float) -> bool:
    """Say whether a lower bound proves a partition with this SSE optimal.

    That is, whether no other can be better by more than one part in ten million, which leaves room
    for the roundings by which a bound is lowered.

    >>> proves_optimal(12.5, bound=12.4999999), proves_optimal(12.5, bound=12.4)
    (True, False)
    """
    return bound >= sse * (1.0 - _NEGLIGIBLE)


def _one_group(X: NDArray[np.float64]) -> float:
    """SSE of all records together: fewer than 2k cannot be split."""
    sse = summarise(X, np.zeros(len(X), dtype=np.intp)).sse
    return sse * (1.0 - float(_ROUNDINGS) * sum(X.shape))
