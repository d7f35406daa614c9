"""The neighbour bound is below every partition, and above what neighbours alone say."""

import numpy as np
import pytest

from microagg.bounds import fast, lower_bound
from microagg.core.errors import DataError, ParameterError
from microagg.orderings import neighbours
from tests.bounds.references import exact_sse, optimal_sse, tiny_tables


@pytest.mark.slow
def test_never_above_the_optimum():
    for X, k in tiny_tables(1500, seed=1):
        assert 0.0 <= lower_bound(X, k) <= optimal_sse(X, k), (X.tolist(), k)


def test_any_prices_are_safe(monkeypatch):
    rng = np.random.default_rng(2)
    monkeypatch.setattr(fast, "_prices", lambda distances, *_: rng.normal(size=len(distances)))
    tried = [(X, k) for X, k in tiny_tables(500, seed=3) if 2 <= k <= len(X) // 2]
    assert len(tried) > 100
    for X, k in tried:
        assert fast.neighbour_shares(X, k).bound <= optimal_sse(X, k), (X.tolist(), k)


def sums_over_neighbours(X, k):
    distances = np.sort(((X[:, None] - X) ** 2).sum(axis=2), axis=1)[:, 1:]
    return sum(
        min(row[: s - 1].sum() / (2 * s) for s in range(k, min(2 * k, len(X)))) for row in distances
    )


@pytest.mark.parametrize("k", [2, 3, 7])
def test_at_least_the_sums_over_nearest_neighbours(k):
    rng = np.random.default_rng(4)
    for X in (rng.normal(size=(300, 4)), np.exp(2 * rng.normal(size=(200, 2)))):
        assert lower_bound(X, k) > 1.05 * sums_over_neighbours(X, k)
    grid = np.indices((12, 12)).reshape(2, -1).T.astype(float)
    assert lower_bound(grid, k) >= sums_over_neighbours(grid, k) * (1 - 1e-9)


def test_shares_of_a_group_stay_below_its_error():
    rng = np.random.default_rng(5)
    X = np.exp(rng.normal(size=(60, 3)))
    shares = fast.neighbour_shares(X, 4)
    for _ in range(3000):
        near = np.argsort(((X - X[rng.integers(60)]) ** 2).sum(axis=1))[:12]
        rows = rng.choice(near, size=rng.integers(4, 8), replace=False)
        sse = ((X[rows] - X[rows].mean(axis=0)) ** 2).sum()
        assert shares.values[rows].sum() <= sse + shares.margin


# Best known information loss, in per cent.
@pytest.mark.parametrize(
    ("table", "k", "best_known", "share"),
    [("tarragona", 3, 14.4675, 0.89), ("census", 5, 7.2437, 0.82), ("eia", 10, 1.93236, 0.79)],
)
def test_most_of_the_best_known_loss(standardised, table, k, best_known, share):
    X = standardised(table)
    bound = 100 * lower_bound(X, k) / (X * X).sum()
    assert share * best_known < bound < best_known


def test_moves_with_the_data():
    X = np.random.default_rng(6).normal(size=(200, 3))
    bound = lower_bound(X, 4)
    assert lower_bound(X * 8.0, 4) == pytest.approx(64.0 * bound, rel=1e-12)
    assert lower_bound(X + 1e6, 4) == pytest.approx(bound, rel=1e-4)
    assert lower_bound(X[::-1], 4) == pytest.approx(bound, rel=1e-9)


def test_no_search_needed():
    X = np.random.default_rng(7).normal(size=(9, 2))
    assert lower_bound(X, 1) == 0.0
    assert lower_bound(np.ones((20, 3)), 4) == 0.0
    sse = ((X - X.mean(axis=0)) ** 2).sum()
    assert sse * (1 - 1e-12) < lower_bound(X, 5) <= sse


@pytest.mark.parametrize("n", [9, 199, 999])
@pytest.mark.parametrize("columns", [1, 2])
def test_one_group_is_safe_whatever_record_comes_first(n, columns):
    for value in (0.3, 0.9, 1.1, 1e-7):
        X = np.full((n, columns), value) * np.linspace(1.0, 1.7, columns)
        X[0] = 0.0
        exact = exact_sse(X, range(n))
        assert float(exact) * (1 - 1e-9) <= lower_bound(X, (n + 1) // 2) <= exact


def test_parts_side_by_side_are_the_whole(monkeypatch):
    X = np.random.default_rng(9).normal(size=(300, 3))
    whole = lower_bound(X, 4)
    monkeypatch.setattr(neighbours, "_LEAST_ROWS", 50)
    assert lower_bound(X, 4) == whole


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e9, -1e12])
@pytest.mark.parametrize("tightness", ["fast", "tight"])
def test_one_column_has_its_optimum(offset, tightness):
    rng = np.random.default_rng(8)
    for _ in range(60):
        X = offset + rng.normal(size=(8, 1)) * 10.0 ** rng.integers(-3, 3)
        optimum = optimal_sse(X, 2)
        bound = lower_bound(X, 2, tightness=tightness)
        assert float(optimum) * (1 - 1e-9) <= bound <= optimum, X.tolist()


def test_refusals():
    with pytest.raises(ParameterError, match="k must be a whole number from 1 to 2"):
        lower_bound([[1.0], [2.0]], 3)
    with pytest.raises(ParameterError, match="tightness must be one of 'fast', 'tight'"):
        lower_bound([[1.0], [2.0]], 2, tightness="fats")
    with pytest.raises(DataError):
        lower_bound([[1.0], [np.nan]], 2)
