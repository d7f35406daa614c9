"""Exact neighbours: nearest first, ties to the lower row, the same however they are listed."""

import numpy as np
import pytest

from microagg.core.progress import listening
from microagg.kernels.basics.rounding import without_offset
from microagg.orderings import neighbours
from microagg.orderings.indicators import coded
from microagg.orderings.neighbours import nearest_neighbours, nearest_records


def by_sorting(X):
    """All other rows, by distance and then by number."""
    found = []
    for row, point in enumerate(X):
        gaps = np.zeros(len(X))
        for column, value in zip(X.T, point, strict=True):
            gaps += (column - value) ** 2
        order = np.lexsort((np.arange(len(X)), gaps))
        found.append([(gaps[i], i) for i in order.tolist() if i != row])
    return found


@pytest.mark.parametrize("decimals", [0, 1, 9])
def test_lists_are_those_of_sorting_all_distances(decimals):
    X = np.random.default_rng(decimals).normal(size=(200, 3)).round(decimals)
    found = nearest_neighbours(X, 12)
    compared = 0
    for row, expected in enumerate(by_sorting(X)):
        if sum(gap == 0.0 for gap, _ in expected) <= 12:  # else it may itself be one too many
            assert found.distances[row].tolist() == [gap for gap, _ in expected[:12]]
            assert found.rows[row].tolist() == [other for _, other in expected[:12]]
            compared += 1
    assert compared > 100


def test_no_more_neighbours_than_there_are():
    assert nearest_neighbours(np.array([[0.0], [1.0], [5.0]]), 9).rows.tolist() == [
        [1, 2],
        [0, 2],
        [1, 0],
    ]


def test_a_shorter_list_is_the_beginning_of_a_longer_one():
    X = np.random.default_rng(1).integers(0, 4, size=(300, 2)).astype(float)
    longer = nearest_neighbours(X, 40)
    for width in (1, 7, 40, 50):
        shorter = nearest_neighbours(X, min(width, 40))
        begun = longer.nearest(width)
        assert np.array_equal(begun.rows, shorter.rows)
        assert np.array_equal(begun.distances, shorter.distances)
        assert begun.rows.flags.c_contiguous


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_the_number_of_threads_changes_nothing(n_jobs, monkeypatch):
    X = np.random.default_rng(2).normal(size=(500, 3)).round(1)
    whole = nearest_neighbours(X, 9)
    monkeypatch.setattr(neighbours, "_LEAST_ROWS", 60)
    parts = nearest_neighbours(X, 9, n_jobs=n_jobs)
    assert np.array_equal(whole.rows, parts.rows)
    assert np.array_equal(whole.distances, parts.distances)


def test_an_offset_that_is_removed_exactly_changes_nothing():
    X = 1e9 + np.random.default_rng(3).normal(size=(300, 3)).round(2)
    assert not np.array_equal(without_offset(X), X)
    with_it, without_it = nearest_neighbours(X, 9), nearest_neighbours(without_offset(X), 9)
    assert np.array_equal(with_it.rows, without_it.rows)
    assert np.array_equal(with_it.distances, without_it.distances)


def test_records_may_have_a_column_more():
    points, lift = np.array([[0.0], [1.0], [5.0]]), np.array([[3.0], [0.0], [0.0]])
    found = nearest_records(points, np.hstack((points, lift)), 1, n_jobs=1, task="bound")
    assert found.rows.tolist() == [[1], [0], [1]]
    assert found.distances.tolist() == [[1.0], [10.0], [16.0]]


def categories(rng, n, count, size=0.7):
    """Indicators of some of `count` categories, of which some may not occur."""
    return np.eye(count)[rng.integers(0, count - 1, n)] * size


@pytest.fixture(params=["mixed", "nominal", "same size", "one box"])
def coded_columns(request):
    rng = np.random.default_rng(5)
    n = 300 if request.param == "one box" else 1500
    numbers = rng.normal(size=(n, 2)).round(1)
    if request.param == "nominal":
        return np.hstack([categories(rng, n, 12), categories(rng, n, 30)])
    if request.param == "same size":  # only the rows tell where a category ends
        return np.hstack([categories(rng, n, 12, 0.1), categories(rng, n, 30, 0.1), numbers])
    return np.hstack([numbers[:, :1], categories(rng, n, 40), numbers, categories(rng, n, 3, 1.3)])


@pytest.mark.parametrize("lift", [False, True])
def test_categories_are_compared_as_codes_with_the_same_distances(coded_columns, lift, monkeypatch):
    X = coded_columns
    records = np.column_stack([X, np.arange(len(X)) % 7 / 7.0]) if lift else X
    assert coded(records) is not None
    found = nearest_records(X, records, 9, n_jobs=1, task="bound")
    monkeypatch.setattr(neighbours, "coded", lambda _: None)
    plain = nearest_records(X, records, 9, n_jobs=1, task="bound")
    assert found.rows.tolist() == plain.rows.tolist()
    assert found.distances.tolist() == plain.distances.tolist()


class TestIndicators:
    def test_columns_that_are_none(self):
        """With a record in two categories or in none, with another value, or an offset."""
        X = categories(np.random.default_rng(6), 200, 30)
        assert coded(X).values.shape == (200, 2)  # and the category that does not occur
        for row, column, value in ((0, np.flatnonzero(X[0] == 0.0)[0], 0.7), (0, X[0].argmax(), 0)):
            changed = X.copy()
            changed[row, column] = value
            assert coded(changed) is None
        changed = X.copy()
        changed[199, X[199].argmax()] = 0.6
        assert coded(changed) is None
        assert coded(X - X.mean(axis=0)) is None

    def test_few_columns(self):
        assert coded(np.eye(10)[np.arange(50) % 10]) is None


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress_and_interrupts(n_jobs, monkeypatch):
    monkeypatch.setattr(neighbours, "_LEAST_ROWS", 60)
    X, heard = np.random.default_rng(4).normal(size=(200, 2)), []
    with listening(lambda *message: heard.append(message)):
        nearest_neighbours(X, 5, n_jobs=n_jobs, task="bound")
    assert heard[-1] == ("bound", 200, 200)

    def interrupt(*_):
        raise KeyboardInterrupt

    with listening(interrupt), pytest.raises(KeyboardInterrupt):
        nearest_neighbours(X, 5, n_jobs=n_jobs)
