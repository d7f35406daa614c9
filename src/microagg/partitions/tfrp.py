"""TFRP: two fixed reference points."""

from typing import Any

from numpy.typing import NDArray

from microagg.core.arrays import Labels
from microagg.core.validation import check_flag
from microagg.kernels.basics.rounding import without_offset
from microagg.partitions.base import Partitioner
from microagg.partitions.growing import groups_around_farthest
from microagg.partitions.search.refining import refine


class TFRP(Partitioner):
    """Groups of k to 2k-1 records, farthest from two fixed corners of the data first.

    The two reference points are the minima and the maxima of the columns. In turns, the record
    farthest from one or the other is grouped with its k-1 nearest among those that remain, as long
    as k do. The last records, fewer than k, each join the group with the nearest mean.

    The second phase dissolves a group if that lowers the squared error: its members leave, nearest
    to its mean first, each for the group that it costs least to join. It goes through the groups,
    largest error first, until no group is worth dissolving. A group that reaches 2k records in
    either phase is split. Ties go to the lower row.

    Time O(n^2 d / k) at worst for the first phase and for each of a few sweeps of the second,
    memory O(n d). Source: [1]_.

    Parameters
    ----------
    k : least number of records in a group
    refine : whether to run the second phase

    References
    ----------
    .. [1] C.-C. Chang, Y.-C. Li and W.-H. Huang, "TFRP: an efficient microaggregation algorithm for
       statistical disclosure control", Journal of Systems and Software 80(11), 2007.

    Examples
    --------
    >>> records = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]
    >>> TFRP(k=2, refine=False).fit_predict(records).tolist()
    [0, 0, 1, 1, 2, 2]
    >>> TFRP(k=2).fit_predict(records).tolist()
    [0, 0, 0, 1, 1, 1]
    """

    def __init__(self, k: int = 3, *, refine: bool = True) -> None:
        self.k = k
        self.refine = refine

    def _group(self, X: NDArray[Any], k: int) -> Labels:
        second_phase = check_flag("refine", self.refine)
        X = without_offset(X)
        labels = groups_around_farthest(X, k, [X.min(axis=0), X.max(axis=0)])
        return refine(X, labels, k, shrinks=False) if second_phase else labels
