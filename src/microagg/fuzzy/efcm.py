"""Entropy fuzzy c-means: memberships are exponentials of distances."""

from typing import Any

from numpy.typing import ArrayLike

from microagg.core.validation import check_number
from microagg.fuzzy.base import Constraints, FuzzyMicroaggregator
from microagg.fuzzy.fuzziness import Exponential, Fuzziness


class EFCM(FuzzyMicroaggregator):
    """Centres of entropy fuzzy c-means, one of which every record draws.

    As `FCM`, but a record at the distance r_i from centre i belongs to it in proportion to
    exp(-lambda r_i^2), and a centre is the mean of the records by their memberships. How far a
    record may draw is thus the same in all regions, dense or sparse, and a record on a centre need
    not belong to it alone. Where records are dense, centres may coincide; such centres are one,
    with the memberships of all of them.

    This is not k-anonymity: a class may come out smaller than k. How many are, `sizes_`,
    `expected_sizes_` and `n_below_k_` tell; `strict_k=True` leaves none. Time O(n c d) an
    iteration; memory O(n d + c d) and a block of records by centres that does not grow. Source:
    [1]_.

    Parameters
    ----------
    k : records that a class expects; there are floor(n / k) centres
    n_clusters : number of centres, instead
    lambda1 : fuzziness of the clusters: the nearer to 0, the fuzzier; in units of 1 / X^2. None
        takes the one with which a record's centre is in doubt by one bit, as between two that are
        equally likely, on average and with the centres where the first start has them; it does
        not depend on the units of X
    lambda2 : fuzziness of the draw. None takes the one that leaves one bit of doubt with the
        centres as they were found. Near 0 all centres are equally likely and nearly all is lost
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
    lambda1_, lambda2_ : the values that were used
    others : see `FuzzyMicroaggregator`

    References
    ----------
    .. [1] V. Torra, "Fuzzy clustering-based microaggregation to achieve probabilistic k-anonymity
       for data with constraints", Journal of Intelligent & Fuzzy Systems 39(5), 2020.

    Examples
    --------
    >>> X = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [9.0, 9.0], [8.0, 9.0], [9.0, 8.0]]
    >>> model = EFCM(k=3, lambda1=1.0, lambda2=1.0, random_state=0).fit(X)
    >>> model.labels_.tolist(), model.centers_.round(2).tolist()
    ([0, 0, 0, 1, 1, 1], [[0.33, 0.33], [8.67, 8.67]])
    """

    _sharpness = (1e-8, 1e15)

    def __init__(
        self,
        k: int = 3,
        *,
        n_clusters: int | None = None,
        lambda1: float | None = None,
        lambda2: float | None = None,
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
        self.lambda1 = lambda1
        self.lambda2 = lambda2

    def _check_fuzziness(self) -> None:
        for name in ("lambda1", "lambda2"):
            if (value := getattr(self, name)) is not None:
                check_number(name, value, low=0.0, high=1e300, otherwise="None")

    def _given_clustering(self) -> Fuzziness | None:
        return None if self.lambda1 is None else Exponential(float(self.lambda1) * self._square)

    def _given_drawing(self) -> Fuzziness | None:
        return None if self.lambda2 is None else Exponential(float(self.lambda2) * self._square)

    def _rule(self, sharpness: float) -> Fuzziness:
        return Exponential(sharpness)

    def _remember(self, clustering: Exponential, drawing: Exponential) -> None:
        self.lambda1_, self.lambda2_ = clustering.rate / self._square, drawing.rate / self._square

    @property
    def _square(self) -> float:
        """What a rate in units of 1 / X^2 is multiplied by to be one of the frame."""
        return self._frame.scale**2
