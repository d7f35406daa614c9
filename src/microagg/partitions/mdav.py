"""MDAV: maximum distance to average vector."""

from typing import Any

from numpy.typing import NDArray

from microagg.core.arrays import Labels
from microagg.core.validation import check_choice
from microagg.kernels.construction.fixed_size import rounds_from_mean
from microagg.partitions.base import Partitioner
from microagg.partitions.fixed_size import Peeling


class MDAV(Partitioner):
    """Groups of k to 2k-1 records, farthest from the mean first.

    While at least 3k records are left, find the record r farthest from their mean and the record s
    farthest from r, and group r with its k-1 nearest, then s with its k-1 nearest of the rest. If
    2k to 3k-1 records are left, the one farthest from their mean is grouped with its k-1 nearest,
    and the others are one group; if k to 2k-1 are left, they are one group. Ties go to the lower
    row.

    Time O(n^2 d / k) at worst, memory O(n d). Source: [1]_.

    Parameters
    ----------
    k : least number of records in a group
    leftover : "group" for the variant above, which all published figures are from; "nearest"
        continues while 2k records are left, as the papers describe it, and adds the last records,
        if fewer than k, each to the group with the nearest mean

    References
    ----------
    .. [1] J. Domingo-Ferrer and V. Torra, "Ordinal, continuous and heterogeneous k-anonymity
       through microaggregation", Data Mining and Knowledge Discovery 11(2), 2005.

    Examples
    --------
    >>> MDAV(k=2).fit_predict([[0.0], [9.0], [1.0], [8.0], [5.0]]).tolist()
    [0, 1, 0, 1, 1]
    """

    def __init__(self, k: int = 3, *, leftover: str = "group") -> None:
        self.k = k
        self.leftover = leftover

    def _group(self, X: NDArray[Any], k: int) -> Labels:
        leftover = check_choice("leftover", self.leftover, ("group", "nearest"))
        peeling = Peeling(X, k)
        if leftover == "group":
            peeling.peel(rounds_from_mean, True, while_left=3 * k)
            peeling.close_with_one_or_two_groups()
        else:
            peeling.peel(rounds_from_mean, True, while_left=2 * k)
            peeling.close_with_nearest()
        return peeling.labels
