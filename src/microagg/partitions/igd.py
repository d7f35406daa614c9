"""IGD: iterative group decomposition."""

from typing import Any

from numpy.typing import NDArray

from microagg.core.arrays import Labels
from microagg.core.validation import SeedLike, check_rng
from microagg.kernels.basics.rounding import without_offset
from microagg.partitions.base import Partitioner
from microagg.partitions.search.refining import refine
from microagg.partitions.search.starts import Initial, initial_labels, uses_randomness


class IGD(Partitioner):
    """Groups of k to 2k-1 records, never worse than the initial ones.

    Sweeps go through the groups, largest error first. A group is dissolved if the squared error
    falls when its members leave, nearest to its mean first, each for the group that it costs least
    to join. Otherwise it shrinks: while it has more than k records and the error falls, the member
    with the largest gain moves to the group that it costs least to join. A group that reaches 2k
    records is split. The sweeps end when one finds nothing to do. Ties go to the lower row.

    Time O(n^2 d / k) at worst for each of a few sweeps, less where groups are tight, and memory
    O(n d), in addition to those of the initial method. Source: [1]_.

    Parameters
    ----------
    k : least number of records in a group
    initial : the initial groups: the name of a registered method, or labels with at least k records
        in each group; groups of 2k or more are split by MDAV first. "tsp-mhm" is often a little
        better than the default and takes longer
    random_state : seed of an initial method that uses randomness

    References
    ----------
    .. [1] L. Khomnotai, J.-L. Lin, Z.-Q. Peng and A. S. Santra, "Iterative group decomposition for
       refining microaggregation solutions", Symmetry 10(7), 2018.

    Examples
    --------
    >>> records = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]
    >>> IGD(k=2, initial=[0, 0, 1, 1, 2, 2]).fit_predict(records).tolist()
    [0, 0, 0, 1, 1, 1]
    """

    def __init__(
        self, k: int = 3, *, initial: Initial = "mdav-mhm", random_state: SeedLike = None
    ) -> None:
        self.k = k
        self.initial = initial
        self.random_state = random_state

    def uses_randomness(self) -> bool:
        """Whether the groups depend on a seed, with the parameters as they are."""
        return uses_randomness(self.initial)

    def _group(self, X: NDArray[Any], k: int) -> Labels:
        rng = check_rng(self.random_state)
        labels = initial_labels(self.initial, X, k, rng, at_least=k)
        return refine(without_offset(X), labels, k, shrinks=True)
