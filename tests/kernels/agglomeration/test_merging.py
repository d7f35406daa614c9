"""Merging under a cap, against the definition pair by pair and against SciPy."""

from itertools import product
from math import sqrt

import numpy as np
import pytest
from scipy.cluster import hierarchy

from microagg.kernels.agglomeration import clusters as states
from microagg.kernels.agglomeration import linkage as linkages
from microagg.kernels.agglomeration import merging
from microagg.kernels.agglomeration.clusters import make_clusters
from microagg.kernels.agglomeration.linkage import LINKAGES

KINDS = ("random", "ties", "repeated", "one column", "heavy tails", "offset")


def pairs_and_outliers(n_pairs, n_outliers, d, rng):
    """Tight pairs in a core, which all have the same outlier nearest, and the next one after it."""
    core = rng.normal(size=(n_pairs, d)) * 1e-6
    pairs = np.r_[core, core + rng.normal(size=core.shape) * 1e-9]
    outliers = rng.normal(size=(n_outliers, d))
    outliers *= (10 + rng.random((n_outliers, 1))) / np.linalg.norm(outliers, axis=1)[:, None]
    return np.r_[outliers, pairs]


def data(kind, n, rng):
    return {
        "random": lambda: rng.normal(size=(n, 3)),
        "ties": lambda: rng.integers(0, 4, (n, 2)).astype(float),
        "repeated": lambda: rng.normal(size=(-(-n // 5), 3)).repeat(5, axis=0)[:n],
        "one column": lambda: rng.normal(size=(n, 1)).round(1),
        "heavy tails": lambda: rng.standard_cauchy((n, 4)),
        "offset": lambda: rng.normal(size=(n, 3)) + np.array([1e9, -1e9, 0.0]),
    }[kind]()


def merged(X, cap, linkage, priority=False, work=10**9):
    clusters = make_clusters(X, cap)
    while not merging.merge_rounds(clusters, cap, LINKAGES[linkage], priority, work):
        pass
    return clusters.labels.tolist()


@pytest.fixture
def uncompiled(monkeypatch):
    """Run the kernels as plain Python, so that parts of them can be exchanged."""
    for module in (states, linkages, merging):
        for name in dir(module):
            if hasattr(getattr(module, name), "py_func"):
                monkeypatch.setattr(module, name, getattr(module, name).py_func)


class Pairs:
    """Distances between clusters by definition, in the order of operations of the kernels."""

    def __init__(self, X, linkage):
        self.X, self.linkage, self.known = X, linkage, {}

    def center(self, rows):
        first = self.X[rows[0]]
        total = sum((self.X[row] - first for row in rows[1:]), np.zeros(len(first)))
        return first + total / len(rows)

    def __getitem__(self, pair):
        if pair not in self.known:
            self.known[pair] = self.distance(*pair)
        return self.known[pair]

    def distance(self, a, b):
        apart = [sqrt(sum((self.X[i] - self.X[j]) ** 2)) for i, j in product(a, b)]
        square = sum((self.center(a) - self.center(b)) ** 2)
        return {
            "single": lambda: min(apart),
            "complete": lambda: max(apart),
            "average": lambda: sum(apart) / len(apart),
            "centroid": lambda: sqrt(square),
            "ward": lambda: sqrt(2.0 * len(a) * len(b) / (len(a) + len(b)) * square),
        }[self.linkage]()


def reference(X, cap, linkage, priority):
    """Look at all pairs before every merge; the lowest rows come first, so the first minimum."""
    pairs, clusters = Pairs(X, linkage), [(row,) for row in range(len(X))]
    while True:
        keys = {
            (a, b): pairs[a, b] / (len(a) + len(b) if priority else 1)
            for i, a in enumerate(clusters)
            for b in clusters[i + 1 :]
            if len(a) + len(b) <= cap
        }
        if not keys:
            break
        a, b = min(keys, key=keys.get)
        clusters = sorted([c for c in clusters if c not in (a, b)] + [tuple(sorted(a + b))])
    return [min(rows) for row in range(len(X)) for rows in clusters if row in rows]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("priority", [False, True])
@pytest.mark.parametrize("linkage", LINKAGES)
def test_merges_are_those_of_the_definition(kind, linkage, priority):
    rng = np.random.default_rng(KINDS.index(kind))
    for n, cap in ((2, 2), (14, 3), (23, 4), (26, 7), (20, 1), (12, 12)):
        X = data(kind, n, rng)
        assert merged(X, cap, linkage, priority) == reference(X, cap, linkage, priority)


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("d", [2, 40])
@pytest.mark.parametrize("priority", [False, True])
@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.slow
def test_bounds_of_both_sides_miss_nothing(monkeypatch, linkage, priority, d):
    rng = np.random.default_rng(d)
    X = pairs_and_outliers(12, 12, d, rng)
    X = rng.permutation(np.r_[X, np.round(X[:12] * 2) / 2])
    expected = reference(X, 3, linkage, priority)
    assert merged(X, 3, linkage, priority) == expected
    for patience in (0, 1):
        monkeypatch.setattr(merging, "PATIENCE", patience)
        assert merged(X, 3, linkage, priority) == expected


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("linkage", LINKAGES)
def test_only_bounds_of_both_sides(monkeypatch, kind, linkage):
    """Whatever the sizes, ties and rows, the merges stay those of the definition."""
    monkeypatch.setattr(merging, "PATIENCE", 0)
    rng = np.random.default_rng(KINDS.index(kind))
    for n, cap in ((14, 3), (23, 5)):
        X = data(kind, n, rng)
        assert merged(X, cap, linkage) == reference(X, cap, linkage, False)


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("linkage", LINKAGES)
def test_a_partner_that_all_share_costs_few_searches(monkeypatch, linkage):
    """With one bound alone, each of the 40 pairs would search again after each of 40 merges."""
    X = pairs_and_outliers(40, 40, 60, np.random.default_rng(0))
    searches = noted_searches(monkeypatch)
    monkeypatch.setattr(merging, "measure_centers", quick_measure)
    merged(X, 3, linkage)
    assert len(searches) < 6 * len(X)


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("linkage", LINKAGES)
def test_equal_distances_cost_few_searches(monkeypatch, linkage):
    """All records equally far apart: everyone's first choice is the lowest row there is."""
    searches = noted_searches(monkeypatch)
    monkeypatch.setattr(merging, "measure_centers", quick_measure)
    merged(np.eye(90), 3, linkage)
    assert len(searches) < 6 * 90


def noted_searches(monkeypatch):
    """Return a list that gets the slot of every search for a partner."""
    slots, search = [], merging.find_partner

    def noting(clusters, side, slot, *others):
        slots.append(slot)
        search(clusters, side, slot, *others)

    monkeypatch.setattr(merging, "find_partner", noting)
    return slots


def quick_measure(clusters, slot, start, stop, room):
    """The kernel `measure_centers`, in NumPy."""
    gaps = clusters.centers[:, start:stop] - clusters.centers[:, [slot]]
    clusters.squares[start:stop] = (gaps**2).sum(axis=0)
    sizes = clusters.sizes[start:stop]
    fits = np.flatnonzero((sizes > 0) & (sizes <= room))
    return start + fits[clusters.squares[start + fits].argmin()] if len(fits) else -1


@pytest.mark.parametrize("linkage", LINKAGES)
def test_without_a_cap_every_merge_is_that_of_scipy(linkage):
    X = np.random.default_rng(0).normal(size=(60, 3))
    expected = [frozenset([row]) for row in range(60)]
    for a, b, _, _ in hierarchy.linkage(X, method=linkage):
        expected.append(expected[int(a)] | expected[int(b)])
    clusters, found = make_clusters(X, 60), [{frozenset([row]) for row in range(60)}]
    while len(found) < 60:
        merging.merge_rounds(clusters, 60, LINKAGES[linkage], False, 1)  # one search or one merge
        now = {frozenset(np.flatnonzero(clusters.labels == label)) for label in clusters.labels}
        if now != found[-1]:
            found.append(now)
    for before, after, merged_now in zip(found, found[1:], expected[60:], strict=False):
        assert after - before == {merged_now}


@pytest.mark.parametrize("linkage", LINKAGES)
def test_coming_back_early_changes_nothing(linkage):
    X = np.random.default_rng(0).normal(size=(200, 4))
    for priority in (False, True):
        expected = merged(X, 5, linkage, priority)
        assert merged(X, 5, linkage, priority, work=1) == expected


@pytest.mark.parametrize("cap", [1, 2, 3, 50])
def test_equal_records_are_merged_in_row_order(cap):
    X = np.array([[1.0], [0.1], [1.0], [0.1], [1.0], [1.0], [0.1]])
    rows = {1.0: [0, 2, 4, 5], 0.1: [1, 3, 6]}
    labels = make_clusters(X, cap).labels.tolist()
    for value, equal in rows.items():
        expected = [equal[i - i % cap] for i in range(len(equal))]
        assert [labels[row] for row in equal] == expected, value


def test_many_equal_records_take_no_cube_of_steps():
    X = np.repeat(np.random.default_rng(0).normal(size=(3, 2)), 20_000, axis=0)
    sizes = np.bincount(merged(X, 4, "single"))
    assert set(sizes[sizes > 0].tolist()) == {4}


def test_uncompiled(request):
    X = np.random.default_rng(1).normal(size=(25, 3))
    expected = {linkage: merged(X, 4, linkage, True) for linkage in LINKAGES}
    request.getfixturevalue("uncompiled")
    for linkage, labels in expected.items():
        assert merged(X, 4, linkage, True) == labels
