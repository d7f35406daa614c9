"""The record that stands for a group, against a search of all pairs."""

import numpy as np
import pytest

from microagg.aggregates.medoid import medoids


def slow_medoids(X, labels, weights, usable):
    """For every group the first of the nearest of its usable records, or else of all usable."""
    chosen = []
    for group in range(labels.max() + 1):
        center = np.average(X[labels == group], axis=0, weights=weights[labels == group])
        own = np.flatnonzero(usable & (labels == group))
        rows = own if len(own) else np.flatnonzero(usable)
        distances = np.square(X[rows] - center).sum(axis=1)
        chosen.append(rows[np.flatnonzero(distances <= distances.min() + 1e-12)[0]])
    return chosen


@pytest.mark.parametrize("share", [0.02, 0.3, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_medoids_are_the_nearest_usable_records(share, weighted):
    rng = np.random.default_rng(4)
    for n in (3, 40, 400):
        X = rng.integers(0, 3, (n, 3)) / 2.0
        labels = np.unique(rng.integers(0, max(1, n // 4), n), return_inverse=True)[1]
        usable = rng.random(n) < share
        usable[rng.integers(n)] = True
        weights = rng.integers(1, 4, n) / 4.0
        found = medoids(X, labels, weights if weighted else None, usable)
        wanted = slow_medoids(X, labels, weights if weighted else np.ones(n), usable)
        # Ties that round differently are ties all the same: what the records show must be as near.
        assert _distances(X, labels, weights if weighted else np.ones(n), found) == pytest.approx(
            _distances(X, labels, weights if weighted else np.ones(n), wanted), abs=1e-12
        )
        assert usable[found].all()
        own = [usable[labels == group].any() for group in range(labels.max() + 1)]
        assert all(labels[row] == g for g, row in enumerate(found) if own[g])


def _distances(X, labels, weights, rows):
    centers = [
        np.average(X[labels == g], axis=0, weights=weights[labels == g]) for g in range(len(rows))
    ]
    return [float(np.square(X[row] - center).sum()) for row, center in zip(rows, centers)]


def test_ties_go_to_the_lower_row():
    X = np.array([[1.0], [0.0], [1.0], [0.0], [0.5], [0.5]])
    labels = np.array([0, 0, 0, 0, 1, 1])
    usable = np.array([True, True, True, True, False, False])
    assert medoids(X, labels, None, usable).tolist() == [0, 0]
    assert medoids(X, labels, None).tolist() == [0, 4]
