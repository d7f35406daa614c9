"""The optimal partition of one column."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Labels
from microagg.kernels.basics.sorting import stable_sort
from microagg.partitions.base import Partitioner
from microagg.partitions.path_cut import cut_sequence


class Univariate(Partitioner):
    """The optimal groups of at least k values, for one column; they have k to 2k-1 values.

    Some optimal partition consists of runs of the sorted column, so the optimal cut of the sorted
    column is optimal among all partitions. With `integer=True` the released means are rounded half
    away from zero, and the cut is the best one for such means, which is not always the best one
    for unrounded means.

    Time O(n k) after sorting, memory O(n). Source: [1]_, integers [2]_. The page on accuracy in
    the documentation explains why this holds for tens of millions of values.

    Parameters
    ----------
    k : least number of records in a group
    integer : release whole numbers and measure the error about them; X must contain whole numbers

    References
    ----------
    .. [1] S. L. Hansen and S. Mukherjee, "A polynomial algorithm for optimal univariate
       microaggregation", IEEE TKDE 15(4), 2003.
    .. [2] R. Mortazavi, "Improved univariate microaggregation for integer values", ISeCure 12(1),
       2020.

    Examples
    --------
    >>> column = [1, 2, 2, 3, 4, 4, 6, 6, 8, 10]
    >>> Univariate(k=3).fit(column).labels_.tolist()
    [0, 0, 0, 1, 1, 1, 2, 2, 2, 2]
    >>> Univariate(k=3, integer=True).fit(column).labels_.tolist()
    [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]
    """

    single_column = True

    def __init__(self, k: int = 3, *, integer: bool = False) -> None:
        self.k = k
        self.integer = integer

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        return tags

    def _group(self, X: NDArray[Any], k: int) -> Labels:
        values, order = stable_sort(X[:, 0])
        labels = np.empty_like(order)
        labels[order] = cut_sequence(values.reshape(-1, 1), np.arange(len(order)), k)
        return labels
