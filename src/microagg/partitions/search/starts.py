"""Initial groups for methods that improve them: given labels, another method, or k-means."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.core.arrays import Floats, Labels
from microagg.core.errors import ParameterError
from microagg.core.progress import report
from microagg.core.registry import METHODS
from microagg.core.validation import check_choice, check_labels

Initial = str | ArrayLike

# Coordinates that k-means reads before it returns to report progress.
_WORK_PER_CALL = 200_000_000
_MOST_ITERATIONS = 300


def initial_labels(
    initial: Initial,
    X: NDArray[Any],
    k: int,
    rng: np.random.Generator,
    *,
    at_least: int,
    **options: Any,
) -> Labels:
    """Return the initial groups, numbered from 0, each with at least `at_least` records.

    Parameters
    ----------
    initial : labels of the records of X, or the name of a registered method that groups them
    rng : generator for a method that uses randomness
    options : passed on to the method if it has such options
    """
    fitting = [
        name
        for name, method in METHODS.items()
        if not (method.draws or method.needs) and (X.shape[1] == 1 or not method.single_column)
    ]
    if isinstance(initial, str):
        method = METHODS[check_choice("initial", initial, fitting)]
        passed = {name: value for name, value in options.items() if name in method.options}
        if "random_state" in method.options:
            passed["random_state"] = rng
        labels: Labels = method.load()(k=k, **passed).fit(X).labels_
        return labels
    if not isinstance(initial, Iterable) or isinstance(initial, (Mapping, bytes)):
        raise ParameterError(
            f"initial must be labels, one for each of the {len(X)} records, or the name of a "
            f"method such as 'mdav'; got {type(initial).__name__}."
        )
    labels = check_labels(initial, n_records=len(X), parameter="initial", at_least=at_least)
    if np.asarray(initial).min() < 0:
        raise ParameterError(
            "initial must give every record a group, numbered from 0; got numbers below 0, which "
            "some clusterers use for records without a cluster."
        )
    return labels


def uses_randomness(initial: object) -> bool:
    """Whether `initial` names a method that uses randomness."""
    return isinstance(initial, str) and initial in METHODS and not METHODS[initial].deterministic


def kmeans_starts(X: Floats, n_starts: int, rng: np.random.Generator) -> list[Callable[[], Labels]]:
    """Return functions that cluster X by k-means, with 1 centre, with 2, and so on.

    The starts are meant to differ: centres are initialised at random, which makes the results more
    varied than k-means++ would. Equal records count as one with a weight. Call the functions within
    `microagg.core.parallel.one_thread_each`.
    """
    from sklearn.cluster import KMeans
    from threadpoolctl import ThreadpoolController

    threads = ThreadpoolController()
    points, place, weights = np.unique(X, axis=0, return_inverse=True, return_counts=True)
    points -= points.mean(axis=0)
    points /= np.abs(points).max() or 1.0
    seeds = rng.integers(2**31, size=min(n_starts, len(points)))

    def cluster(n_clusters: int) -> Labels:
        start: Any = "random"
        seed = seeds[n_clusters - 1]
        affordable = max(2, _WORK_PER_CALL // (points.size * n_clusters))
        iterations = min(affordable, _MOST_ITERATIONS)
        for _ in range(0, _MOST_ITERATIONS, iterations):  # in parts, so that it can be interrupted
            model = KMeans(n_clusters, init=start, n_init=1, max_iter=iterations, random_state=seed)
            with threads.limit(limits=1, user_api="openmp"):  # applies to this thread only
                model.fit(points, sample_weight=weights)
            report("clustering", 0, 1)
            if model.n_iter_ < iterations:
                break
            start = model.cluster_centers_
        return np.unique(model.labels_, return_inverse=True)[1][place.reshape(-1)].astype(np.intp)

    return [partial(cluster, count) for count in range(1, len(seeds) + 1)]
