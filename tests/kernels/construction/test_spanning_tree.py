import numpy as np
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree as scipy_tree

from microagg.kernels.construction import spanning_tree
from microagg.kernels.neighbours import blocks
from microagg.partitions import mst
from microagg.partitions.mst import minimum_spanning_tree, tree_parts
from tests.references import squared_distances


@pytest.fixture(params=["one block", "many blocks"])
def layout(request, monkeypatch):
    if request.param == "many blocks":
        monkeypatch.setattr(blocks, "ONE_BLOCK", 0)
        monkeypatch.setattr(mst, "ONE_BLOCK", 0)


def kruskal(X):
    """Edges by length, then lower and higher row."""
    n = len(X)
    apart = [squared_distances(X, X[row]) for row in range(n)]
    edges = sorted((apart[i][j], i, j) for i in range(n) for j in range(i + 1, n))
    part = list(range(n))
    tree = []
    for length, i, j in edges:
        if part[i] != part[j]:
            tree.append((length, i, j))
            old, new = part[j], part[i]
            part = [new if p == old else p for p in part]
    return tree


def edges(parents, lengths):
    return sorted(
        (lengths[row], *sorted((row, int(parents[row])))) for row in np.flatnonzero(parents >= 0)
    )


@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize("kind", ["normal", "heavy tails", "ties", "equal"])
def test_the_tree_is_that_of_kruskal(kind):
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 40, 90):
        X = {
            "normal": rng.normal(size=(n, 3)),
            "heavy tails": rng.standard_cauchy((n, 2)),
            "ties": rng.integers(0, 4, (n, 2)).astype(float),
            "equal": np.ones((n, 2)),
        }[kind]
        order, parents, lengths = minimum_spanning_tree(X)
        assert edges(parents, lengths) == kruskal(X)
        assert sorted(order.tolist()) == list(range(n))
        place = np.argsort(order)
        assert all(place[parents[row]] < place[row] for row in order[1:])


@pytest.mark.slow
def test_the_tree_has_the_length_of_scipys():
    X = np.random.default_rng(0).normal(size=(1300, 4))
    _, _, lengths = minimum_spanning_tree(X)
    apart = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    assert np.sqrt(lengths[1:]).sum() == pytest.approx(scipy_tree(apart).sum())


@pytest.mark.parametrize("k", [1, 2, 3, 7])
def test_both_sides_of_a_cut_keep_k(k):
    rng = np.random.default_rng(k)
    for n in (k, 2 * k, 30, 61):
        X = rng.normal(size=(n, 2)).round(1)  # with ties and duplicates
        tree = minimum_spanning_tree(X)
        labels = tree_parts(*tree, k)
        assert np.bincount(labels).min() >= k
        assert len(set(labels.tolist())) == len(set(naive_parts(kruskal(X), n, k)))
        assert same_partition(labels, naive_parts(kruskal(X), n, k))


def naive_parts(tree, n, k):
    """Try the edges, longest first, and count both sides anew each time."""
    kept = sorted(tree, key=lambda edge: (-edge[0], edge[1], edge[2]))
    for edge in list(kept):
        rest = [other for other in kept if other != edge]
        labels = components(rest, n)
        if min(labels.count(labels[edge[1]]), labels.count(labels[edge[2]])) >= k:
            kept = rest
    return components(kept, n)


def components(tree, n):
    part = list(range(n))
    for _, i, j in tree:
        old, new = part[j], part[i]
        part = [new if p == old else p for p in part]
    return part


def same_partition(left, right):
    pairs = set(zip(np.asarray(left).tolist(), right))
    return len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def test_the_uncompiled_kernels_agree(monkeypatch):
    X = np.random.default_rng(0).normal(size=(70, 2))
    compiled = minimum_spanning_tree(X)
    parts = tree_parts(*compiled, 4)
    for module in (blocks, spanning_tree):
        for name in dir(module):
            if hasattr(getattr(module, name), "py_func"):
                monkeypatch.setattr(module, name, getattr(module, name).py_func)
    for name in ("grow_tree", "cut_tree", "label_parts"):
        monkeypatch.setattr(mst, name, getattr(spanning_tree, name))
    for left, right in zip(compiled, minimum_spanning_tree(X)):
        assert left.tolist() == right.tolist()
    assert tree_parts(*compiled, 4).tolist() == parts.tolist()
