"""Entropy fuzzy c-means: memberships are exponentials of distances."""

from numpy.typing import ArrayLike

from microagg.core.validation import SeedLike, check_number
from microagg.fuzzy.base import Constraints, FuzzyMicroaggregator
from microagg.fuzzy.fuzziness import Exponential, Fuzziness


class EFCM(FuzzyMicroaggregator):
    """Centres of entropy fuzzy c-means; every record draws one of them.

    Like `FCM`, but a record at distance r_i from centre i belongs to it in proportion to
    exp(-lambda r_i^2), and a centre is the mean of the records weighted by their memberships. So
    likely draws are equally far away in dense and sparse regions, and a record on a centre need not
    belong to it alone. Where records are dense, centres may coincide; these are merged, and their
    memberships added.

    This is not k-anonymity: a class may be smaller than k. `sizes_`, `expected_sizes_` and
    `n_below_k_` show how many are; with `strict_k=True` none is. Time O(n c d) per iteration;
    memory O(n d + c d) and a block of records by centres of fixed size. Source: [1]_.

    Parameters
    ----------
    k : expected size of a class; there are floor(n / k) centres
    n_clusters : number of centres, instead of floor(n / k)
    lambda1 : fuzziness of the clusters: the nearer to 0, the fuzzier; in units of 1 / X^2. By
        default a record is uncertain about its centre by one bit on average, as between two equally
        likely ones, given the centres of the first start; this does not depend on the units of X
    lambda2 : fuzziness of the draw. By default one bit of uncertainty, given the final centres.
        Near 0, all centres are equally likely and nearly everything is lost
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
    lambda1_, lambda2_ : the values that were used
    For the other attributes, see `FuzzyMicroaggregator`.

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
    lambda1: float | None
    lambda2: float | None

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
        random_state: SeedLike = None,
        n_jobs: int | None = -1,
    ) -> None:
        self._store(locals())

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
        # A rate in units of the frame may be beyond floats where the one given is not.
        own = (self.lambda1, clustering), (self.lambda2, drawing)
        self.lambda1_, self.lambda2_ = (
            used.rate / self._square if given is None else float(given) for given, used in own
        )

    @property
    def _square(self) -> float:
        """Factor from a rate in units of 1 / X^2 to one in units of the frame."""
        return self._frame.scale**2
