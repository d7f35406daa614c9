"""Where a method that improves groups begins: labels, those of another method, or k-means."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.partitions.base import Labels
from microagg.registry import METHODS
from microagg.validation import check_choice, check_labels


def initial_labels(
    initial: str | ArrayLike, X: NDArray[Any], k: int, rng: np.random.Generator, *, at_least: int
) -> Labels:
    """Return the groups to begin with, numbered from 0, `at_least` records in each.

    Parameters
    ----------
    initial : labels of the records of X, or the name of a registered method that groups them
    rng : where a method with chance in it gets its seed from
    """
    if not isinstance(initial, str):
        return check_labels(initial, n_records=len(X), parameter="initial", at_least=at_least)
    method = METHODS[check_choice("initial", initial, METHODS)]
    chance = {"random_state": rng} if "random_state" in method.options else {}
    labels: Labels = method.cls(k=k, **chance).fit(X).labels_
    return labels


def kmeans_starts(
    X: NDArray[np.float64], n_starts: int, rng: np.random.Generator
) -> list[Callable[[], Labels]]:
    """Return functions that cluster X by k-means, with 1 centre, with 2, and so on.

    The starts differ in quality, and that is what they are for: seeds are drawn at random, which
    spreads them further than k-means++ would. Equal records count as one with a weight, and the
    work stays on one thread, so that no sum depends on how threads share it.
    """
    from sklearn.cluster import KMeans
    from threadpoolctl import ThreadpoolController

    points, place, weights = np.unique(X, axis=0, return_inverse=True, return_counts=True)
    points -= points.mean(axis=0)
    points /= np.abs(points).max() or 1.0
    threads = ThreadpoolController()
    seeds = rng.integers(2**31, size=min(n_starts, len(points)))

    def cluster(n_clusters: int) -> Labels:
        model = KMeans(n_clusters, init="random", n_init=1, random_state=seeds[n_clusters - 1])
        with threads.limit(limits=1):
            labels = model.fit(points, sample_weight=weights).labels_
        return np.unique(labels, return_inverse=True)[1][place.reshape(-1)].astype(np.intp)

    return [partial(cluster, count) for count in range(1, len(seeds) + 1)]
