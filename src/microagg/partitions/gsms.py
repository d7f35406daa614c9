"""GSMS: group selection by sequential minimisation of the squared error."""

from typing import Any

from numpy.typing import NDArray

from microagg.core.arrays import Labels
from microagg.core.validation import check_choice, check_flag
from microagg.partitions.base import Partitioner
from microagg.partitions.candidates import Selection
from microagg.partitions.search.refining import refine
from microagg.partitions.splitting import split_large


class GSMS(Partitioner):
    """Groups of k to 2k-1 records; each leaves the least squared error among those not grouped.

    The candidates are all records left, each with its k-1 nearest among those left. While k are
    left, the candidate becomes a group without which the squared error of the others about their
    mean is least; of k+1 last records, the one of least error. Fewer than k last records each join
    the group with the nearest mean.

    The second phase is that of TFRP: it dissolves a group where that lowers the squared error. A
    group that reaches 2k records in either phase is split. Ties go to the lower row.

    Time near O(n^2 d) at worst, memory O(n (d + k)). Source: [1]_.

    Parameters
    ----------
    k : records in a group, at least
    criterion : "rest" for the variant above; with "total" the least is sought of that error and
        the error of the candidate together
    refine : whether to run the second phase; with it, the method is called GSMS-T2

    References
    ----------
    .. [1] C. Panagiotakis and G. Tziritas, "Successive group selection for microaggregation", IEEE
       TKDE 25(5), 2013.

    Examples
    --------
    >>> records = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]
    >>> GSMS(k=2, refine=False).fit_predict(records).tolist()
    [0, 0, 1, 1, 2, 2]
    >>> GSMS(k=2).fit_predict(records).tolist()
    [0, 0, 0, 1, 1, 1]
    """

    def __init__(self, k: int = 3, *, criterion: str = "rest", refine: bool = True) -> None:
        self.k = k
        self.criterion = criterion
        self.refine = refine

    def _group(self, X: NDArray[Any], k: int) -> Labels:
        criterion = check_choice("criterion", self.criterion, ("rest", "total"))
        second_phase = check_flag("refine", self.refine)
        selection = Selection(X, k)
        selection.take_leaving_least(counts_own=criterion == "total")
        selection.close_with_nearest()
        if second_phase:
            return refine(selection.X, selection.labels, k, shrinks=False)
        return split_large(selection.X, selection.labels, k)
