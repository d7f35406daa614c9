"""Slow references of DBA and GSMS: every candidate is made anew for every group."""

import numpy as np

from tests.references import error, squared_distances


def by_candidates(X, k, score):
    """Groups in the order they are made; `score(candidate, rest)` is largest for the next one."""
    labels, groups = np.full(len(X), -1), 0
    while len(rest := np.flatnonzero(labels < 0)) >= k:
        best = max((with_nearest(X, k, row, rest) for row in rest), key=lambda c: score(c, rest))
        labels[best] = groups
        groups += 1
    centers = np.array([X[labels == group].mean(axis=0) for group in range(groups)])
    for row in rest:
        labels[row] = squared_distances(centers, X[row]).argmin()
    return labels


def with_nearest(X, k, row, rest):
    others = rest[rest != row]
    near = np.argsort(squared_distances(X[others], X[row]), kind="stable")[: k - 1]
    return [int(row), *others[near].tolist()]


def merge_backwards(X, labels):
    """Each group, the last one first: its members go to the nearest means if that pays."""
    labels = labels.copy()
    for group in range(labels.max(), -1, -1):
        others = [other for other in np.unique(labels) if other != group]
        if not others:
            break
        centers = np.array([X[labels == other].mean(axis=0) for other in others])
        merged = labels.copy()
        for row in np.flatnonzero(labels == group):
            merged[row] = others[squared_distances(centers, X[row]).argmin()]
        if total(X, merged) < total(X, labels) * (1 - 1e-9):
            labels = merged
    return labels


def total(X, labels):
    return sum(error(X, np.flatnonzero(labels == group)) for group in np.unique(labels))


def cases(count):
    rng = np.random.default_rng(0)
    for case in range(count):
        n, d = int(rng.integers(1, 60)), int(rng.integers(1, 6))
        k = int(rng.integers(1, min(n, 7) + 1))
        yield (rng.normal(size=(n, d)) if case % 2 else rng.standard_cauchy((n, d))), k
