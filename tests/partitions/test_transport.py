"""The assignment that keeps sizes, against a linear program."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment, linprog
from scipy.sparse import csr_array, kron, vstack

from microagg.partitions import transport
from microagg.partitions.transport import Transport


def least_cost(costs, fewest, most):
    """Cost of the cheapest assignment, by HiGHS."""
    n, c = costs.shape
    once = kron(csr_array(np.eye(n)), np.ones((1, c)))
    sizes = kron(np.ones((1, n)), csr_array(np.eye(c)))
    return linprog(
        costs.ravel(),
        A_ub=vstack([sizes, -sizes]),
        b_ub=np.r_[np.full(c, most), np.full(c, -fewest)],
        A_eq=once,
        b_eq=np.ones(n),
        method="highs",
    ).fun


def all_costs(X, centres):
    return ((X[:, None] - centres) ** 2).sum(axis=2)


def cost(costs, labels):
    return costs[np.arange(len(costs)), labels].sum()


def data(kind, n, c, d, rng):
    if kind == "ties":
        return rng.integers(0, 3, (n, d)).astype(float), rng.integers(0, 3, (c, d)).astype(float)
    X = rng.normal(size=(n, d)) if kind == "normal" else rng.standard_cauchy((n, d))
    if kind == "two clusters":
        X[: n // 2] += 1e4
        return X, X[np.r_[rng.integers(0, n // 2, c - c // 3), -1 - rng.integers(0, 5, c // 3)]]
    return X, X[rng.integers(0, n, c)]  # some centres may be equal


@pytest.fixture(params=[1, 3, 16])
def candidates(request, monkeypatch):
    """With few candidates the optimum is reached only by looking at all centres again."""
    monkeypatch.setattr(transport, "_CANDIDATES", request.param)


@pytest.mark.usefixtures("candidates")
@pytest.mark.parametrize("kind", ["normal", "ties", "heavy tails", "two clusters"])
@pytest.mark.parametrize("seed", range(5))
def test_no_assignment_is_cheaper(kind, seed):
    rng = np.random.default_rng(seed)
    fewest, c, d = int(rng.integers(1, 5)), int(rng.integers(2, 12)), int(rng.integers(1, 4))
    most = 2 * fewest - 1
    n = int(rng.integers(fewest * c, most * c + 1))
    X, centres = data(kind, n, c, d, rng)
    labels = np.arange(n) % c
    flow = Transport(X, c, fewest, most)
    for _ in range(3):  # prices and candidates stay while the centres move
        stretch = rng.uniform(1, 3, n)
        costs = all_costs(X, centres)
        costs[np.arange(n), labels] *= stretch
        new = flow.assign(centres, labels, stretch)
        sizes = np.bincount(new, minlength=c)
        assert fewest <= sizes.min() <= sizes.max() <= most
        assert cost(costs, new) == pytest.approx(least_cost(costs, fewest, most), rel=1e-8)
        labels, centres = new, centres + rng.normal(size=centres.shape) * 0.3


@pytest.mark.parametrize("seed", range(2))
def test_equal_sizes_are_a_matching_problem(monkeypatch, seed):
    monkeypatch.setattr("microagg.kernels.neighbours.blocks.ONE_BLOCK", 0)
    rng = np.random.default_rng(seed)
    c, k = 150, 4
    X = rng.normal(size=(c * k, 5))
    centres = X[rng.choice(len(X), c, replace=False)]
    labels = Transport(X, c, k, 2 * k - 1).assign(centres, np.arange(len(X)) % c)
    copies = np.repeat(all_costs(X, centres), k, axis=1)
    rows, columns = linear_sum_assignment(copies)
    assert np.bincount(labels).tolist() == [k] * c
    assert cost(all_costs(X, centres), labels) == pytest.approx(copies[rows, columns].sum())


@pytest.mark.slow
def test_a_larger_case():
    rng = np.random.default_rng(0)
    X, centres = rng.normal(size=(1000, 3)), rng.normal(size=(150, 3))
    labels = Transport(X, 150, 5, 9).assign(centres, np.arange(1000) % 150)
    costs = all_costs(X, centres)
    assert cost(costs, labels) == pytest.approx(least_cost(costs, 5, 9), rel=1e-9)


def test_without_a_proof_the_sizes_still_hold():
    rng = np.random.default_rng(0)
    X, centres = rng.normal(size=(400, 3)), rng.normal(size=(80, 3))
    labels = Transport(X, 80, 5, 9).assign(centres, np.arange(400) % 80, proven=False)
    assert np.bincount(labels).tolist() == [5] * 80


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["far out", "copies"])
def test_awkward_data_need_no_longer_lists(kind):
    rng = np.random.default_rng(0)
    X = rng.standard_cauchy((600, 4)) if kind == "far out" else rng.integers(0, 2, (600, 2)) * 1.0
    X = X[np.lexsort(X.T)]
    labels = np.arange(600) // 6
    centres = np.array([X[labels == g].mean(axis=0) for g in range(100)])
    flow = Transport(X, 100, 5, 9)
    new = flow.assign(centres, labels)
    costs = all_costs(X, centres)
    assert cost(costs, new) == pytest.approx(least_cost(costs, 5, 9), rel=1e-8)
    assert flow.candidates.shape[1] == transport._FIXED + transport._CANDIDATES
