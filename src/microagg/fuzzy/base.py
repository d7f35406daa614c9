"""The common part of fuzzy c-means and its entropy form: cluster, merge, draw, count."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.constraints.equalities import Equalities, too_far_away
from microagg.core.arrays import Floats, Labels
from microagg.core.clusterer import Clusterer
from microagg.core.errors import DataError, ParameterError
from microagg.core.parallel import one_thread_each
from microagg.core.validation import (
    SeedLike,
    check_count,
    check_flag,
    check_jobs,
    check_k,
    check_matrix,
    check_number,
    check_rng,
)
from microagg.fuzzy.centers import Converged, converge, merge_coinciding, merge_small, random_start
from microagg.fuzzy.doubt import default_fuzziness
from microagg.fuzzy.drawing import Drawn, Urn
from microagg.fuzzy.frame import Frame
from microagg.fuzzy.fuzziness import Fuzziness

Constraints = tuple[ArrayLike, ArrayLike]

# Centres closer than this share of a record's typical distance to the mean are merged.
_COINCIDING = 1e-6
# Centres farther than this, in the same unit, have no distances that floats can hold.
_FARTHEST = 1e100


class FuzzyMicroaggregator(Clusterer):
    """Centres of fuzzy clusters; each record draws one, with its memberships as probabilities.

    A subclass stores its parameters as given and defines memberships, for the clustering and for
    the draw.

    Attributes
    ----------
    centers_ : the centres, in the units of X; those in use first, in the order of their first
        records. Centres that coincide, or that `strict_k` merged, count as one
    copies_ : how many centres of the clustering each represents
    labels_ : the centre that every record drew, a row of `centers_`
    expected_sizes_ : expected number of records of each centre: the sum of its memberships
    sizes_ : number of records that drew it
    doubt_ : mean entropy of the memberships used for the draw, in bits: 1 is a choice between two
        equally likely centres
    n_groups_ : number of centres in use
    n_below_k_ : number of centres in use that fewer than k records drew
    sse_ : sum of squared distances between the records and the centres they drew
    objective_ : what the clustering minimises, for the best of the starts
    n_iterations_ : iterations of the best start
    draw_seed_ : seed with which `draw` returns `labels_` again
    """

    draws: ClassVar[bool] = True
    single_column: ClassVar[bool] = False
    interrupted_ = False
    timed_out_ = False
    _sharpness: tuple[float, float]  # range to search if no sharpness is given

    # Parameters, with the names of the constructor's arguments; `_store` sets them.
    k: int
    n_clusters: int | None
    constraints: Constraints | None
    initial_centers: ArrayLike | None
    n_starts: int
    max_iterations: int
    tolerance: float
    strict_k: bool
    random_state: SeedLike
    n_jobs: int | None

    def _store(self, given: Mapping[str, Any]) -> None:
        """Keep the arguments of the constructor as given."""
        for name in self._get_param_names():
            setattr(self, name, given[name])

    def fit(self, X: ArrayLike, y: object = None, *, requirements: object = None) -> Self:  # noqa: ARG002
        """Cluster the records of X and draw a centre for each."""
        if requirements is not None:
            raise ParameterError(
                f"{type(self).__name__} lets records draw their centres, so its groups cannot meet "
                "requirements. Leave them out, or use another method, such as Auto."
            )
        X = check_matrix(X, estimator=self)
        check_k(self.k, n_records=len(X))
        check_flag("strict_k", self.strict_k)
        self._check_fuzziness()
        equalities = self._equalities(X.shape[1])
        rng = check_rng(self.random_state)
        start_seed, self.draw_seed_ = (int(seed) for seed in rng.integers(2**32, size=2))
        self._frame = Frame.of(X)
        Z = self._frame.into(X)
        with one_thread_each():
            best = self._best(Z, equalities, np.random.default_rng(start_seed))
            self.objective_ = best.objective * self._frame.scale**2
            self.n_iterations_ = best.n_iterations
            centers = self._frame.back(best.centers)
            centers, copies = merge_coinciding(centers, _COINCIDING * self._frame.scale)
            if equalities is not None:
                centers = equalities.project(centers)
            # Sorted by their values, so that the draw does not depend on how they were numbered.
            order = np.lexsort(centers.T[::-1])
            centers, copies = centers[order], copies[order]
            inside = self._frame.into(centers)
            drawing = self._given_drawing() or self._default_fuzziness(Z, inside, copies)
            self._urn = Urn(inside, copies, drawing)
            drawn = self._draw(Z, self.draw_seed_)
        self._remember(self._clustering, drawing)
        self._make_classes(centers, drawn, equalities)
        self.sse_ = float(np.square(X - self.centers_[self.labels_]).sum())
        return self

    def draw(self, X: ArrayLike, random_state: object = None) -> Labels:
        """Draw again: return a class for every record of X, as rows of `centers_`.

        With `strict_k`, classes are those merged in `fit`; a new draw may leave one of them with
        fewer than k records.
        """
        self._check_fitted()
        X = check_matrix(X)
        self._check_columns(X)
        with one_thread_each():
            return self._class_of[self._draw(self._frame.into(X), random_state).labels]

    def _check_fitted(self) -> None:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)

    def memberships(self, X: ArrayLike) -> Floats:
        """Return the probabilities of the draw for the records of X, as records by centres.

        Meant for a few records; `fit` and `draw` never store the whole matrix.
        """
        self._check_fitted()
        X = check_matrix(X)
        self._check_columns(X)
        shares = self._urn.memberships(self._frame.into(X))
        of_classes = np.zeros((len(X), len(self.centers_)))
        np.add.at(of_classes.T, self._class_of, shares.T)
        return of_classes

    def uses_randomness(self) -> bool:
        """Whether the result depends on a seed: always, as centres are drawn."""
        return True

    def _best(
        self, Z: Floats, equalities: Equalities | None, rng: np.random.Generator
    ) -> Converged:
        """Return the start that converges to the lowest objective; the first of equals."""
        options: dict[str, Any] = {
            "max_iterations": check_count("max_iterations", self.max_iterations),
            "tolerance": check_number("tolerance", self.tolerance, low=0.0),
            "n_jobs": check_jobs(self.n_jobs),
        }
        n_starts, given = check_count("n_starts", self.n_starts), self._initial(Z)
        n_centers = self._n_centers(len(Z))
        inside = None if equalities is None else self._inside(equalities)
        found: list[Converged] = []
        for _ in range(n_starts if given is None else 1):
            start = random_start(Z, n_centers, rng) if given is None else given
            if not found:
                single = np.ones(len(start), dtype=np.intp)
                self._clustering = self._given_clustering() or self._default_fuzziness(
                    Z, start, single
                )
            begin = self._clustering.reach * start if given is None else given
            found.append(converge(Z, begin, self._clustering, inside, **options))
        return min(found, key=lambda result: result.objective)

    def _inside(self, equalities: Equalities) -> Equalities:
        """Return the equalities in units of the frame, if they hold within sight of the records."""
        with np.errstate(over="ignore", invalid="ignore"):
            inside = self._frame.equalities(equalities)
            nearest = inside.project(np.zeros((1, len(self._frame.origin))))
        if not (np.abs(nearest) <= _FARTHEST).all():
            raise too_far_away()
        return inside

    def _default_fuzziness(self, Z: Floats, centers: Floats, copies: Labels) -> Fuzziness:
        return default_fuzziness(self._rule, self._sharpness, Z, centers, copies)

    def _draw(self, Z: Floats, random_state: object) -> Drawn:
        return self._urn.draw(Z, check_rng(random_state), n_jobs=check_jobs(self.n_jobs))

    def _make_classes(self, centers: Floats, drawn: Drawn, equalities: Equalities | None) -> None:
        """Make a class of each centre, or of merged centres with `strict_k`.

        Classes in use are numbered by their first records; the others follow.
        """
        sizes = np.bincount(drawn.labels, minlength=len(centers))
        into = np.arange(len(centers))
        if self.strict_k:
            into, centers = merge_small(centers, sizes, self.k)
            if equalities is not None:
                centers = equalities.project(centers)
        labels = into[drawn.labels]
        used, first = np.unique(labels, return_index=True)
        order = np.concatenate([used[np.argsort(first)], np.setdiff1d(into, used)])
        place = np.empty(len(centers), dtype=np.intp)
        place[order] = np.arange(len(order))
        self._class_of: Labels = place[into]
        self.labels_: Labels = place[labels]
        self.centers_ = centers[order]
        self.copies_ = self._of_classes(self._urn.copies).astype(np.intp)
        self.expected_sizes_ = self._of_classes(drawn.expected_sizes)
        self.sizes_ = self._of_classes(sizes).astype(np.intp)
        self.doubt_ = drawn.doubt
        self.n_groups_ = len(used)
        self.n_below_k_ = int(np.count_nonzero(self.sizes_[: len(used)] < self.k))

    def _of_classes(self, amounts: NDArray[Any]) -> Floats:
        """Sum the amounts of the centres of each class."""
        sums = np.bincount(self._class_of, amounts, minlength=len(self.centers_))
        return sums.astype(np.float64)

    def _n_centers(self, n_records: int) -> int:
        if self.n_clusters is None:
            return n_records // self.k
        return check_count("n_clusters", self.n_clusters, at_most=n_records)

    def _initial(self, Z: Floats) -> Floats | None:
        if self.initial_centers is None:
            return None
        try:
            centers = check_matrix(self.initial_centers)
        except DataError:
            raise ParameterError(
                "initial_centers must be None or a matrix of finite numbers, centres by columns."
            ) from None
        expected = self._n_centers(len(Z)) if self.n_clusters is not None else len(centers)
        if centers.shape != (expected, Z.shape[1]):
            raise ParameterError(
                f"initial_centers must be a matrix of centres by {Z.shape[1]} columns, as many as "
                f"n_clusters if that is given; got the shape {centers.shape}."
            )
        return self._frame.into(centers)

    def _equalities(self, n_columns: int) -> Equalities | None:
        if self.constraints is None:
            return None
        try:
            A, b = self.constraints
        except (TypeError, ValueError):
            raise ParameterError(
                "constraints must be None or a pair (A, b) of a matrix and a vector; got "
                f"{type(self.constraints).__name__}."
            ) from None
        equalities = Equalities.of(A, b)
        if equalities.rows.shape[1] != n_columns:
            raise ParameterError(
                f"constraints must have one coefficient for each of the {n_columns} columns of X; "
                f"got {equalities.rows.shape[1]}."
            )
        return equalities

    def _check_columns(self, X: Floats) -> None:
        if X.shape[1] != self.n_features_in_:
            raise DataError(
                f"X must have {self.n_features_in_} columns, as in fit; got {X.shape[1]}."
            )

    @abstractmethod
    def _check_fuzziness(self) -> None:
        """Refuse parameters that are out of range, before any work."""

    @abstractmethod
    def _given_clustering(self) -> Fuzziness | None:
        """Return the fuzziness of the clustering, in units of the frame, if it is given."""

    @abstractmethod
    def _given_drawing(self) -> Fuzziness | None:
        """Return the fuzziness of the draw, in units of the frame, if it is given."""

    @abstractmethod
    def _rule(self, sharpness: float) -> Fuzziness:
        """Return the fuzziness for a sharpness; the larger, the less fuzzy."""

    @abstractmethod
    def _remember(self, clustering: Any, drawing: Any) -> None:
        """Store the parameters that were used."""
