"""DBA: density-based groups."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Floats, Labels
from microagg.core.progress import paced, report
from microagg.core.validation import check_count, check_flag
from microagg.kernels.decomposition.merging import make_growing, merge_groups
from microagg.partitions.base import Partitioner
from microagg.partitions.candidates import Selection
from microagg.partitions.splitting import split_large


class DBA(Partitioner):
    """Groups of k to 2k-1 records, formed where records are densest first.

    The density of a record is 1 over the squared error of itself and its k-1 nearest. While k
    records are left, the one of highest density, counting only those left, forms a group with its
    k-1 nearest. Fewer than k last records each join the group with the nearest mean.

    The second phase goes through the groups, the last one formed first, and dissolves a group if
    the squared error falls when each member goes to the group with the nearest mean. At the end
    MDAV splits groups of 2k or more records. Ties go to the lower row.

    Time near O(n^2 d) at worst, memory O(n (d + k)). Source: [1]_.

    Parameters
    ----------
    k : records in a group, at least
    preprocess : groups that are formed around the records of lowest density, before all others;
        with some, the method is called DBA-2P
    refine : whether to run the second phase

    References
    ----------
    .. [1] J.-L. Lin, T.-H. Wen, J.-C. Hsieh and P.-C. Chang, "Density-based microaggregation for
       statistical disclosure control", Expert Systems with Applications 37(4), 2010.

    Examples
    --------
    >>> records = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]
    >>> DBA(k=2, refine=False).fit_predict(records).tolist()
    [0, 0, 1, 2, 2, 1]
    >>> DBA(k=2).fit_predict(records).tolist()
    [0, 0, 0, 1, 1, 1]
    """

    def __init__(self, k: int = 3, *, preprocess: int = 0, refine: bool = True) -> None:
        self.k = k
        self.preprocess = preprocess
        self.refine = refine

    def _group(self, X: NDArray[Any], k: int) -> Labels:
        sparse = check_count("preprocess", self.preprocess, at_least=0)
        second_phase = check_flag("refine", self.refine)
        selection = Selection(X, k)
        if sparse:
            selection.take_sparsest(sparse)
        selection.take_densest()
        selection.close_with_nearest()
        labels = selection.labels
        if second_phase:
            labels = merge_backwards(selection.X, labels, k)
        return split_large(selection.X, labels, k)


def merge_backwards(X: Floats, labels: Labels, k: int) -> Labels:
    """Dissolve groups, the last one first, each once, where that lowers the squared error.

    Groups are numbered 0, 1, ..., and hold k records or more; they may outgrow 2k-1.
    """
    growing = make_growing(X, labels)
    n_groups = len(growing.sizes)
    done = 0
    for groups in paced(np.arange(n_groups)[::-1]):
        merge_groups(growing, np.ascontiguousarray(groups), k)
        done += len(groups)
        report("refining", done, n_groups)
    return growing.labels
