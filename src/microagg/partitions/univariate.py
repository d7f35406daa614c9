"""The optimal partition of one column."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Labels
from microagg.kernels.basics.sorting import stable_sort
from microagg.partitions.base import Partitioner
from microagg.partitions.path_cut import cut_sequence


class Univariate(Partitioner):
    """The best groups of at least k values there are, for one column; they hold k to 2k-1.

    Some optimal partition keeps neighbours in the sorted column together, so the optimal cut of
    the sorted column is optimal among all partitions. With `integer=True` the released means are
    rounded half away from zero, and the cut is the best under that rule, which is not always the
    cut that is best without it.

    Time O(n k) after sorting, memory O(n). Source: [1]_, integers [2]_. The page on accuracy in
    the documentation says why it holds for tens of millions of values.

    Parameters
    ----------
    k : records in a group, at least
    integer : release whole numbers and count the error about them; X must hold whole numbers

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
