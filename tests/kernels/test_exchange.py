import numpy as np
import pytest

from microagg.kernels import exchange as kernels
from microagg.kernels.exchange import make_exchange, take_turns
from tests.references import sse

KERNELS = ("measure_group", "squared_distance", "least_change", "best_exchange", "take_turns")


def best_change(X, labels, rows):
    """Least change of the error over every exchange of one of the rows."""
    before = sse(X, labels)
    changes = [0.0]
    for i in rows:
        for j in np.flatnonzero(labels != labels[i]):
            swapped = labels.copy()
            swapped[[i, j]] = labels[[j, i]]
            changes.append(sse(X, swapped) - before)
    return min(changes)


def grouping(n, k, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) + np.array([0.0, 50.0, -1e3])
    return X, rng.permutation(np.minimum(np.arange(n) // k, n // k - 1))


@pytest.mark.parametrize(("n", "k", "seed"), [(12, 3, 0), (20, 4, 1), (23, 5, 2), (9, 2, 3)])
def test_each_turn_makes_the_best_exchange(n, k, seed):
    X, labels = grouping(n, k, seed)
    exchange = make_exchange(X, labels)
    for row in np.tile(np.arange(n), 3):
        before = exchange.group_of.copy()
        done = take_turns(exchange, np.array([row]))
        gain = sse(X, exchange.group_of) - sse(X, before)
        assert gain == pytest.approx(best_change(X, before, [row]), abs=1e-9)
        assert done == (gain < -1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_at_the_end_no_exchange_gains_and_sizes_are_kept(seed):
    X, labels = grouping(40, 4, seed)
    exchange = make_exchange(X, labels)
    while take_turns(exchange, np.arange(40)):
        pass
    assert best_change(X, exchange.group_of, range(40)) == pytest.approx(0.0, abs=1e-9)
    assert np.bincount(exchange.group_of).tolist() == np.bincount(labels).tolist()
    for group in range(10):
        members = exchange.members[exchange.starts[group] : exchange.starts[group + 1]]
        assert sorted(members) == np.flatnonzero(exchange.group_of == group).tolist()
        np.testing.assert_allclose(exchange.centers[group], X[members].mean(axis=0))


def test_equal_records_are_left_alone():
    exchange = make_exchange(np.full((9, 2), 0.1), np.arange(9) % 3)
    assert take_turns(exchange, np.arange(9)) == 0


def test_uncompiled(monkeypatch):
    X, labels = grouping(18, 3, 5)
    compiled = make_exchange(X, labels)
    count = take_turns(compiled, np.arange(18))
    for name in KERNELS:
        monkeypatch.setattr(kernels, name, getattr(kernels, name).py_func)
    exchange = make_exchange(X, labels)
    assert kernels.take_turns(exchange, np.arange(18)) == count > 0
    assert exchange.group_of.tolist() == compiled.group_of.tolist()
