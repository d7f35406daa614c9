"""Neighbours from a forest: true ones, most of the nearest, the same on any number of threads."""

import numpy as np
import pytest

from microagg.kernels.neighbours import forest as kernels
from microagg.kernels.neighbours import listing
from microagg.orderings import forest as module
from microagg.orderings.forest import forest_neighbours
from microagg.orderings.neighbours import nearest_neighbours

X = np.random.default_rng(0).normal(size=(3_000, 4))


def share_found(found, exact):
    return np.mean([len(set(a) & set(b)) / len(b) for a, b in zip(found, exact, strict=True)])


@pytest.fixture(params=["compiled", "uncompiled"])
def compiled_or_not(request, monkeypatch):
    if request.param == "uncompiled":
        for name in ("cut_into_leaves", "compare_in_leaves", "compare_with_next"):
            monkeypatch.setattr(module, name, getattr(kernels, name).py_func)


@pytest.mark.parametrize(("n", "width"), [(2, 5), (30, 4), (64, 10)])
@pytest.mark.usefixtures("compiled_or_not")
def test_few_records_have_exact_lists(n, width):
    found = forest_neighbours(X[:n], width)
    assert np.array_equal(found, nearest_neighbours(X[:n], width).rows)


@pytest.mark.usefixtures("compiled_or_not")
def test_lists_hold_the_nearest_that_were_met():
    some = X[:200]
    found = forest_neighbours(some, 6)
    exact = nearest_neighbours(some, 6).rows
    assert share_found(found, exact) > 0.9
    for row, listed in enumerate(found):
        assert row not in listed
        assert len(set(listed)) == 6
        apart = ((some[listed] - some[row]) ** 2).sum(axis=1)
        assert (np.diff(apart) >= 0).all()


def test_most_of_the_nearest_are_found():
    assert share_found(forest_neighbours(X, 15), nearest_neighbours(X, 15).rows) > 0.97


def test_any_number_of_threads_gives_the_same_lists():
    one, two = (forest_neighbours(X, 8, n_jobs=jobs) for jobs in (1, 2))
    assert np.array_equal(one, two)


def test_tight_clusters_far_from_each_other():
    """Far from the origin, records of a cluster still find each other."""
    rng = np.random.default_rng(1)
    clusters = rng.permutation(np.arange(2_000) % 10)
    points = 1e6 * clusters[:, None] + rng.normal(scale=1e-3, size=(2_000, 3))
    found = forest_neighbours(points, 5)
    assert (clusters[found] == clusters[:, None]).all()
    assert share_found(found, nearest_neighbours(points, 5).rows) > 0.9


def test_leaves_lie_on_one_side_of_the_first_cut():
    order, state = np.arange(100), np.array([3], dtype=np.uint64)
    kernels.cut_into_leaves(X[:100], 50, state, order)
    assert sorted(order) == list(range(100))
    plain, again = np.arange(100), np.array([3], dtype=np.uint64)
    kernels.cut_into_leaves.py_func(X[:100], 50, again, plain)
    assert plain.tolist() == order.tolist()
    from microagg.kernels.basics.randomness import draw_below

    draws = np.array([3], dtype=np.uint64)
    first, second = (draw_below(draws, 100) for _ in range(2))
    along = X[:100] @ (X[second] - X[first])
    assert along[order[:50]].max() <= along[order[50:]].min()


@pytest.mark.parametrize("lists_within", [listing.lists_within, listing.lists_within.py_func])
def test_lists_within_a_region(lists_within):
    near = np.array([[1, 2], [0, 3], [3, 0], [2, 1]])
    regions, place = np.array([0, 1, 1, 1]), np.array([0, 0, 1, 2])
    found = np.empty((3, 2), dtype=np.intp)
    lists_within(near, np.array([1, 2, 3]), regions, 1, place, found)
    assert found.tolist() == [[2, 0], [2, 1], [1, 0]]
