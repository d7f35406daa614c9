"""Fuzzy c-means: memberships are powers of distances."""

from typing import Any

from numpy.typing import ArrayLike

from microagg.core.validation import check_number
from microagg.fuzzy.base import Constraints, FuzzyMicroaggregator
from microagg.fuzzy.fuzziness import Fuzziness, Power


class FCM(FuzzyMicroaggregator):
    """Centres of fuzzy c-means, one of which every record draws: k records to a class, expected.

    Memberships and centres are computed in turns until the centres rest: a record at the distance
    r_i from centre i belongs to it in proportion to r_i^(-2 / (m1 - 1)), and a centre is the mean
    of the records by the m1-th powers of their memberships, moved to the nearest point where the
    constraints hold. Then memberships are computed anew with m2, and each record draws its centre
    by them, so nobody can tell which of several centres stands for a record.

    This is not k-anonymity: a class may come out smaller than k, or its centre lie on a record. How
    many are, `sizes_`, `expected_sizes_` and `n_below_k_` tell; `strict_k=True` leaves none.

    A record on a centre, or on several, belongs to it alone, or to them in equal parts; with m = 1
    it belongs to the nearest, and to equally near ones in equal parts. Time O(n c d) an iteration;
    memory O(n d + c d) and a block of records by centres that does not grow. Source: [1]_.

    Parameters
    ----------
    k : records that a class expects; there are floor(n / k) centres
    n_clusters : number of centres, instead
    m1 : fuzziness of the clusters, 1 (none) or more. None takes the one with which a record's
        centre is in doubt by one bit, as between two that are equally likely, on average and
        with the centres where the first start has them
    m2 : fuzziness of the draw, 1 (the nearest centre) or more. None takes the one that leaves one
        bit of doubt with the centres as they were found. With a large m2 all centres are equally
        likely, every class expects k records, and nearly all is lost
    constraints : None, or a pair (A, b) in the units of X: every centre v has A v = b. Rows that
        follow from others are tolerated, contradictory ones refused
    initial_centers : centres to start from, in the units of X, instead of `n_starts` random starts
    n_starts : random starts; the one with the lowest objective counts
    max_iterations : iterations of a start, at most
    tolerance : centres rest when the root mean square of their moves is below this share of that
        of the records' distances to the mean of all
    strict_k : whether classes of fewer than k records are merged with others, the smallest first,
        until every class has k or more
    random_state : seed or generator of the starts and, in a stream of its own, of the draw
    n_jobs : threads to use, -1 for all cores; the result does not depend on it

    Attributes
    ----------
    m1_, m2_ : the values that were used
    others : see `FuzzyMicroaggregator`

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
        random_state: Any = None,
        n_jobs: int | None = -1,
    ) -> None:
        super().__init__(
            k=k,
            n_clusters=n_clusters,
            constraints=constraints,
            initial_centers=initial_centers,
            n_starts=n_starts,
            max_iterations=max_iterations,
            tolerance=tolerance,
            strict_k=strict_k,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.m1 = m1
        self.m2 = m2

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
