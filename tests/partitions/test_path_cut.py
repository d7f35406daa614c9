import numpy as np
import pytest

from microagg.core.errors import DataError
from microagg.kernels.paths import cuts
from microagg.partitions import path_cut
from microagg.partitions.path_cut import cut_sequence
from tests.references import best_cut, sse


def cases(count):
    rng = np.random.default_rng(0)
    for case in range(count):
        n, d, k = rng.integers(1, 11), rng.integers(1, 4), rng.integers(1, 5)
        if k > n:
            continue
        kind = case % 4
        if kind == 0:
            X = rng.normal(size=(n, d))
        elif kind == 1:
            X = rng.integers(-3, 4, (n, d)).astype(float)
        elif kind == 2:
            X = rng.integers(-50, 50, (n, d)) + 1e6
        else:
            X = rng.standard_cauchy((n, d)) * 1e3
        yield X, int(k)


def test_no_cut_is_cheaper():
    for X, k in cases(1200):
        labels = cut_sequence(X, np.arange(len(X)), k)
        assert sse(X, labels) == pytest.approx(best_cut(X, k), rel=1e-9, abs=1e-9)
        assert np.bincount(labels).min() >= k


@pytest.mark.slow
def test_no_cut_is_cheaper_in_whole_numbers():
    for X, k in cases(1200):
        whole = np.round(X)
        labels = cut_sequence(whole.astype(np.int64), np.arange(len(X)), k)
        assert sse(whole, labels, integer=True) == best_cut(whole, k, integer=True)


@pytest.mark.parametrize("integer", [False, True])
@pytest.mark.slow
def test_no_cut_of_the_ring_is_cheaper(integer):
    for X, k in cases(600):
        whole = np.round(X)
        order = np.random.default_rng(k).permutation(len(X))
        given = whole.astype(np.int64) if integer else whole
        labels = cut_sequence(given, order, k, tour=True)
        rotations = [best_cut(whole[np.roll(order, -r)], k, integer) for r in range(len(X))]
        assert sse(whole, labels, integer) == pytest.approx(min(rotations), rel=1e-12)


@pytest.mark.parametrize("tour", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3, 7, 60])
def test_tiles_do_not_show(monkeypatch, k, tour):
    """Whatever the tiles, the cut is the same."""
    X = np.random.default_rng(1).normal(size=(700, 2))
    order = np.random.default_rng(2).permutation(700)
    for matrix in (X, np.round(X * 100).astype(np.int64)):
        monkeypatch.setattr(path_cut, "_LEAST_PER_TILE", 256)
        one = cut_sequence(matrix, order, k, tour=tour)
        monkeypatch.setattr(path_cut, "_LEAST_PER_TILE", 13)
        monkeypatch.setattr(path_cut, "_CELLS_PER_TILE", 0)
        assert cut_sequence(matrix, order, k, tour=tour).tolist() == one.tolist()


def test_scales_that_differ_by_many_orders():
    """Small groups beside huge gaps: nothing is lost against the large numbers."""
    small = np.array([0.0, 1e-6, 3e-6, 4e-6, 9e-6, 1e-5])
    X = np.concatenate((small, 1e9 + small * 1e3, 1e15 + np.arange(6) * 8.0))[:, None]
    labels = cut_sequence(X, np.arange(len(X)), 3)
    assert labels.tolist() == np.repeat(np.arange(5, -1, -1), 3).tolist()


@pytest.mark.parametrize(
    "values", [[0, 2**40, 1, 2**41], [-(2**62), 2**62, 0, 1], [0, 1, 2, 2**31]]
)
def test_overflow_is_refused(values):
    X = np.array(values, dtype=np.int64)[:, None]
    with pytest.raises(DataError, match="could exceed 64-bit integers"):
        cut_sequence(X, np.arange(4), 2)


def test_only_neighbours_have_to_be_near():
    """A sorted column may span far more than a window: nothing overflows, nothing is refused."""
    steps = np.random.default_rng(0).integers(0, 10**6, 50_000)
    X = (np.cumsum(steps) - 10**10)[:, None]
    labels = cut_sequence(X, np.arange(50_000), 3)
    real = cut_sequence(X.astype(float), np.arange(50_000), 3)
    assert (labels != real).mean() < 0.05


def test_integer_costs_that_add_up_to_more_than_64_bits():
    """No window overflows, but their sum would; it is never formed."""
    X = np.random.default_rng(0).integers(0, 2**26, (80_000, 1))
    labels = cut_sequence(X, np.arange(80_000), 2)
    values = X.ravel().tolist()
    cost, total = [0, None], 0
    for end in range(2, 80_001):
        cost.append(
            min(
                cost[end - size] + window_cost(values[end - size : end])
                for size in (2, 3)
                if end >= size and cost[end - size] is not None
            )
        )
    ends = np.flatnonzero(np.diff(labels, append=-1)) + 1
    for start, end in zip([0, *ends[:-1].tolist()], ends.tolist()):
        total += window_cost(values[start:end])
    assert total == cost[-1] > 2**63


def window_cost(values):
    """Squared error about the rounded mean in Python's own integers."""
    center = (2 * sum(values) + len(values)) // (2 * len(values))
    return sum((value - center) ** 2 for value in values)


def test_a_large_offset_is_no_overflow():
    X = np.array([1, 2, 2, 3, 4, 4, 6, 6, 8, 10], dtype=np.int64)[:, None]
    far = X + (2**62 + 1)
    expected = cut_sequence(X, np.arange(10), 3)
    assert cut_sequence(far, np.arange(10), 3).tolist() == expected.tolist()


def test_the_uncompiled_kernels_agree(monkeypatch):
    X = np.random.default_rng(1).normal(size=(40, 2))
    matrices = (X, np.round(X * 100).astype(np.int64))
    expected = [cut_sequence(matrix, np.arange(40), 3, tour=True).tolist() for matrix in matrices]
    for module in (cuts, path_cut):
        for name in dir(module):
            if hasattr(getattr(module, name), "py_func"):
                monkeypatch.setattr(module, name, getattr(module, name).py_func)
    found = [cut_sequence(matrix, np.arange(40), 3, tour=True).tolist() for matrix in matrices]
    assert found == expected


def test_a_tour_is_cut_as_a_path_once_the_time_is_up():
    X = np.random.default_rng(3).normal(size=(40, 2))
    order = np.random.default_rng(4).permutation(40)
    asked = iter([False] * 3 + [True])
    hurried = cut_sequence(X, order, 4, tour=True, enough=lambda: next(asked))
    assert (hurried == cut_sequence(X, order, 4)).all()
    assert sse(X, cut_sequence(X, order, 4, tour=True)) < sse(X, hurried)
