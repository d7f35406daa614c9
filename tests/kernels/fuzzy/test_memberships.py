"""Memberships by rows: against the printed equations, and where those divide zero by zero."""

import math

import numpy as np
import pytest

from microagg.fuzzy.fuzziness import Exponential, Power
from microagg.kernels.fuzzy.memberships import (
    distances_to_all,
    draw_rows,
    exponential_weights,
    first_alike,
    power_weights,
)
from tests.fuzzy import references


def shares(fuzziness, X, V):
    found = fuzziness.weights(np.asarray(X, dtype=float), np.ascontiguousarray(np.transpose(V)))
    assert np.isfinite(found.values).all()
    np.testing.assert_allclose(found.values.sum(axis=1), found.sums, rtol=1e-12)
    return found.values / found.sums[:, None]


def points(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize("d", range(1, 11))
def test_distances_whatever_the_number_of_columns(d):
    V, x = points(7, d), points(1, d, seed=1)[0] + 1e3
    for function in (distances_to_all, distances_to_all.py_func):
        out = np.empty(7)
        nearest = function(x, np.ascontiguousarray(V.T), out)
        np.testing.assert_allclose(out, ((V - x) ** 2).sum(axis=1), rtol=1e-13)
        assert nearest == out.min()


@pytest.mark.parametrize("m", [1.01, 1.1, 1.5, 2.0, 3.7, 50.0])
def test_powers_against_the_equation(m):
    X, V = points(40, 3), points(9, 3, seed=1)
    expected = references.fcm_memberships(X, V, m)
    np.testing.assert_allclose(shares(Power(m), X, V), expected.astype(float), atol=1e-12)


@pytest.mark.parametrize("m", [1.01, 1.1, 2.0, 50.0])
def test_raised_weights_and_objective(m):
    X, V = points(40, 3), points(9, 3, seed=1)
    found = Power(m).raised(X, np.ascontiguousarray(V.T))
    raised = found.values * np.exp(Power(m).log_scales(found.sums))[:, None]
    expected = (references.fcm_memberships(X, V, m) ** m).astype(float)
    np.testing.assert_allclose(raised, expected, rtol=1e-9, atol=1e-300)
    objective = Power(m).objective(found.nearest, found.sums)
    assert objective == pytest.approx(references.fcm_objective(X, V, m), rel=1e-11)


@pytest.mark.parametrize("rate", [1e-8, 0.1, 1.0, 30.0])
def test_exponentials_against_the_equation(rate):
    X, V = points(40, 3), points(9, 3, seed=1)
    expected = references.efcm_memberships(X, V, rate)
    np.testing.assert_allclose(shares(Exponential(rate), X, V), expected.astype(float), atol=1e-12)
    found = Exponential(rate).raised(X, np.ascontiguousarray(V.T))
    objective = Exponential(rate).objective(found.nearest, found.sums)
    assert objective == pytest.approx(references.efcm_objective(X, V, rate), rel=1e-11)


@pytest.mark.parametrize("m", [1.0, 1.0 + 1e-15, 1.0 + 1e-9])
def test_m_near_one_is_the_nearest_centre(m):
    X, V = points(50, 3), points(6, 3, seed=1)
    nearest = references.squares(X, V).argmin(axis=1)
    np.testing.assert_allclose(shares(Power(m), X, V), np.eye(6)[nearest], atol=1e-12)


def test_a_large_lambda_is_the_nearest_centre_and_a_small_one_none():
    X, V = points(50, 3), points(6, 3, seed=1)
    nearest = references.squares(X, V).argmin(axis=1)
    for rate in (1e9, 1e99, 1e308, math.inf):
        np.testing.assert_allclose(shares(Exponential(rate), X, V), np.eye(6)[nearest])
    for rate in (1e-12, 1e-308, 0.0):
        np.testing.assert_allclose(shares(Exponential(rate), X, V), 1 / 6, rtol=1e-9)


def test_equally_near_centres_share():
    V = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [5.0, 5.0]]
    for fuzziness in (Power(1.0), Exponential(1e300)):
        np.testing.assert_allclose(shares(fuzziness, [[0.0, 0.0]], V), [[1 / 3] * 3 + [0.0]])


@pytest.mark.parametrize("m", [1.0, 1.0001, 2.0, 50.0])
def test_a_record_on_a_centre_or_on_several(m):
    V = [[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [0.0, 0.0]]
    X = [[1.0, 2.0], [3.0, 4.0], [0.0, 0.0], [1.0 + 2e-16, 2.0]]
    expected = [[0.5, 0, 0.5, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0.5, 0, 0.5, 0]]
    np.testing.assert_array_equal(shares(Power(m), X, V), expected)
    found = Power(m).raised(np.array(X), np.ascontiguousarray(np.transpose(V)))
    assert Power(m).objective(found.nearest, found.sums) == 0.0


def test_a_record_a_hair_from_a_centre_keeps_its_digits():
    V = np.array([[1e6, 1.0], [1e6 + 3e-4, 1.0]])
    x = np.array([[1e6 + 1e-4, 1.0]])
    expected = references.fcm_memberships(x, V, 2.0).astype(float)
    np.testing.assert_allclose(shares(Power(2.0), x, V), expected, rtol=1e-12)


def test_uncompiled_kernels_agree():
    X, columns = points(5, 3), np.ascontiguousarray(points(4, 3, seed=1).T)
    X[2] = columns[:, 1]
    for kernel, rule in ((power_weights, (2.5, True)), (exponential_weights, (0.7,))):
        results = []
        for function in (kernel, kernel.py_func):
            out, nearest, sums = np.empty((5, 4)), np.empty(5), np.empty(5)
            function(X, columns, *rule, out, nearest, sums)
            results.append(np.column_stack([out, nearest, sums]))
        np.testing.assert_allclose(*results, rtol=1e-14)


@pytest.mark.parametrize("function", [draw_rows, draw_rows.py_func])
def test_draws_follow_the_weights(function):
    weights = np.tile([0.0, 1.0, 0.0, 3.0, 4.0, 0.0], (8, 1))
    labels = np.full(8, -1)
    function(weights, np.array([0.0, 0.1249, 0.1251, 0.4999, 0.5001, 0.99, 1 - 1e-16, 1.0]), labels)
    assert labels.tolist() == [1, 1, 3, 3, 4, 4, 4, 4]


@pytest.mark.parametrize("function", [first_alike, first_alike.py_func])
def test_points_alike(function):
    X = np.array([[0.0], [5.0], [0.9], [1.8], [5.0], [0.5]])
    first = np.empty(6, dtype=np.intp)
    function(X, 1.0, first)
    assert first.tolist() == [0, 1, 0, 3, 1, 0]
