"""V-MDAV: MDAV with groups that grow where the data are dense."""

from typing import Any

from numpy.typing import NDArray

from microagg.core.arrays import Labels
from microagg.core.validation import check_number
from microagg.kernels.basics.group_sums import summarise
from microagg.kernels.basics.rounding import without_offset
from microagg.partitions.base import Partitioner
from microagg.partitions.growing import groups_around_farthest

# From scattered to clustered data; figures are on the method's page.
GAINS = (0.0, 0.2, 0.5, 0.7, 1.1)


class VMDAV(Partitioner):
    """Groups of k to 2k-1 records, farthest from the mean first, larger where records are close.

    The mean of all records stays fixed. While k records are left, the one farthest from it is
    grouped with its k-1 nearest. Then the nearest record outside joins, and the next one, as long
    as the group has fewer than 2k-1 records and the new one is nearer to a member than `gain` times
    its distance to the nearest other record left. The last records, fewer than k, each join the
    group with the nearest mean; a group that thereby reaches 2k is split by MDAV. Ties go to the
    lower row.

    Time O(n^2 d) at worst for a gain, O(n^2 d / k) for gain 0; "auto" tries five. Memory O(n d).
    Source: [1]_.

    Parameters
    ----------
    k : least number of records in a group
    gain : how readily groups grow, 0 for never; the literature uses 0.2 for scattered and 1.1 for
        clustered data. "auto" tries 0, 0.2, 0.5, 0.7 and 1.1 and keeps the one with the least
        squared error, the smaller one in a tie

    Attributes
    ----------
    gain_ : the gain that was used

    References
    ----------
    .. [1] A. Solanas and A. Martinez-Balleste, "V-MDAV: variable group size multivariate
       microaggregation", Proc. COMPSTAT, 2006.

    Examples
    --------
    >>> model = VMDAV(k=2).fit([[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]])
    >>> model.labels_.tolist(), model.gain_
    ([0, 0, 0, 1, 1, 1], 0.2)
    """

    def __init__(self, k: int = 3, *, gain: float | str = "auto") -> None:
        self.k = k
        self.gain = gain

    def _group(self, X: NDArray[Any], k: int) -> Labels:
        X = without_offset(X)
        center = X.mean(axis=0)
        tried = {gain: groups_around_farthest(X, k, [center], gain) for gain in self._gains()}
        self.gain_ = min(tried, key=lambda gain: summarise(X, tried[gain]).sse)
        return tried[self.gain_]

    def _gains(self) -> tuple[float, ...]:
        if isinstance(self.gain, str) and self.gain == "auto":
            return GAINS
        return (check_number("gain", self.gain, low=0.0, otherwise="'auto'"),)
