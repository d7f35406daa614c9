"""Fuzzy c-means: memberships are powers of distances."""

from numpy.typing import ArrayLike

from microagg.core.validation import SeedLike, check_number
from microagg.fuzzy.base import Constraints, FuzzyMicroaggregator
from microagg.fuzzy.fuzziness import Fuzziness, Power


class FCM(FuzzyMicroaggregator):
    """Centres of fuzzy c-means; every record draws one of them, k records per class on average.

    Memberships and centres are computed alternately until the centres converge: a record at
    distance r_i from centre i belongs to it in proportion to r_i^(-2 / (m1 - 1)), and a centre is
    the mean of the records, weighted by the m1-th powers of their memberships and moved to the
    nearest point that satisfies the constraints. Then new memberships are computed with m2, and
    each record draws its centre with these probabilities, so that nobody can be sure which of
    several centres represents a record.

    This is not k-anonymity: a class may be smaller than k, or its centre coincide with a record.
    `sizes_`, `expected_sizes_` and `n_below_k_` show how many classes are smaller than k; with
    `strict_k=True` none is.

    A record on one or several centres belongs to these alone, in equal parts; with m = 1 it belongs
    to the nearest, and to equally near ones in equal parts. Time O(n c d) per iteration; memory
    O(n d + c d) and a block of records by centres of fixed size. Source: [1]_.

    Parameters
    ----------
    k : expected size of a class; there are floor(n / k) centres
    n_clusters : number of centres, instead of floor(n / k)
    m1 : fuzziness of the clusters, 1 (none) or more. By default a record is uncertain about its
        centre by one bit on average, as between two equally likely ones, given the centres of the
        first start
    m2 : fuzziness of the draw, 1 (the nearest centre) or more. By default one bit of uncertainty,
        given the final centres. With a large m2 all centres are equally likely, every class expects
        k records, and nearly everything is lost
    constraints : None, or a pair (A, b) in the units of X: every centre v satisfies A v = b.
        Redundant rows are allowed, contradictory ones refused
    initial_centers : centres to start from, in the units of X, instead of `n_starts` random starts
    n_starts : number of random starts; the one with the lowest objective is kept
    max_iterations : most iterations of a start
    tolerance : centres have converged when the root mean square of their moves is below this share
        of that of the records' distances to the overall mean
    strict_k : whether classes of fewer than k records are merged with others, the smallest first,
        until every class has k or more
    random_state : seed or generator of the starts and, in a separate stream, of the draw
    n_jobs : threads to use, -1 for all cores; the result does not depend on it

    Attributes
    ----------
    m1_, m2_ : the values that were used
    For the other attributes, see `FuzzyMicroaggregator`.

    References
    ----------
    .. [1] V. Torra, "Fuzzy clustering-based microaggregation to achieve probabilistic k-anonymity
       for data with constraints", Journal of Intelligent & Fuzzy Systems 39(5), 2020.

    Examples
    --------
    >>> X = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [9.0, 9.0], [8.0, 9.0], [9.0, 8.0]]
    >>> model = FCM(k=3, m2=1.1, random_state=0).fit(X)
    >>> model.labels_.tolist(), model.sizes_.tolist()
    ([0, 0, 0, 1, 1, 1], [3, 3])
    >>> total = FCM(k=3, constraints=([[1.0, 1.0]], [5.0]), random_state=0).fit(X)
    >>> total.centers_.sum(axis=1).round(9).tolist()
    [5.0, 5.0]
    """

    _sharpness = (0.5, 1e4)
    m1: float | None
    m2: float | None

    def __init__(
        self,
        k: int = 3,
        *,
        n_clusters: int | None = None,
        m1: float | None = None,
        m2: float | None = None,
        constraints: Constraints | None = None,
        initial_centers: ArrayLike | None = None,
        n_starts: int = 3,
        max_iterations: int = 100,
        tolerance: float = 1e-3,
        strict_k: bool = False,
        random_state: SeedLike = None,
        n_jobs: int | None = -1,
    ) -> None:
        self._store(locals())

    def _check_fuzziness(self) -> None:
        for name in ("m1", "m2"):
            if (value := getattr(self, name)) is not None:
                check_number(name, value, low=1.0, high=1e300, otherwise="None")

    def _given_clustering(self) -> Fuzziness | None:
        return None if self.m1 is None else Power(float(self.m1))

    def _given_drawing(self) -> Fuzziness | None:
        return None if self.m2 is None else Power(float(self.m2))

    def _rule(self, sharpness: float) -> Fuzziness:
        return Power(1.0 + 1.0 / sharpness)

    def _remember(self, clustering: Power, drawing: Power) -> None:
        self.m1_, self.m2_ = clustering.m, drawing.m
