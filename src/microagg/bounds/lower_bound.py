"""The door to the bounds: what is asked for, and the cases that need no search."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.bounds.fast import neighbour_shares
from microagg.kernels.groups import summarise
from microagg.validation import check_choice, check_k, check_matrix

# Roundings in the SSE of a single group, with room to spare.
_ROUNDINGS = 16.0 * np.finfo(np.float64).eps


def lower_bound(X: ArrayLike, k: int, *, tightness: str = "fast") -> float:
    """Return a number that the SSE of no partition into groups of k or more goes below.

    In the squared units of X, which is taken as it is, like by `information_loss`. All roundings
    are on the safe side: the bound is lowered by more than they can add up to.

    `tightness="fast"` sums up what each record costs at least among its nearest neighbours, with
    prices that make outliers count: about nine tenths of the optimum on the literature's tables,
    for any number of records, for about twice the time of finding the neighbours; memory
    O(n (d + k)).

    >>> lower_bound([[0.0], [1.0], [10.0], [11.0]], k=2)  # doctest: +ELLIPSIS
    0.9999...
    """
    matrix = check_matrix(X)
    k = check_k(k, n_records=len(matrix))
    check_choice("tightness", tightness, ("fast",))
    if k == 1:
        return 0.0
    if len(matrix) < 2 * k:
        return _one_group(matrix)
    return neighbour_shares(matrix, k).bound


def _one_group(X: NDArray[np.float64]) -> float:
    """SSE of all records together: fewer than 2k cannot be split."""
    sse = summarise(X, np.zeros(len(X), dtype=np.intp)).sse
    return sse * (1.0 - float(_ROUNDINGS) * sum(X.shape))
