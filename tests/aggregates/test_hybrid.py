"""Hybrid records: the mean and covariance of every group, and nothing else of its records."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.aggregates.hybrid import hybrid_records


def made(X, labels=None, seed=0):
    labels = np.zeros(len(X), dtype=np.intp) if labels is None else labels
    return hybrid_records(np.asarray(X, dtype=np.float64), labels, np.random.default_rng(seed))


def moments(X):
    return X.mean(axis=0), np.cov(X, rowvar=False).reshape(X.shape[1], X.shape[1])


def assert_same_moments(X, Y):
    """By the plain formulas of NumPy, relative to the spread of each column."""
    (mean, covariance), (new_mean, new_covariance) = moments(X), moments(Y)
    spread = np.sqrt(np.diagonal(covariance))
    level = np.abs(X).max(axis=0)
    assert (np.abs(new_mean - mean) <= 1e-12 * (spread + level)).all()
    allowed = np.outer(spread, spread) + np.outer(spread, level) + np.outer(level, spread)
    assert (np.abs(new_covariance - covariance) <= 1e-12 * (allowed + np.outer(level, level))).all()


@st.composite
def tables(draw):
    """Groups in any number of columns, with a rank that may be too low, far from zero or not."""
    d, n_groups = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    labels = np.repeat(np.arange(n_groups), draw(st.integers(2, 15)))
    rng.shuffle(labels)
    rank = draw(st.integers(0, d))
    X = rng.normal(size=(len(labels), rank)) @ rng.normal(size=(rank, d))
    X = X * 10.0 ** rng.integers(-3, 4, d) + draw(st.sampled_from([0.0, 1.0, 1e4]))
    return (np.round(X) if draw(st.booleans()) else X), labels


@given(tables(), st.integers(0, 99))
def test_every_group_keeps_its_mean_and_covariance(table, seed):
    X, labels = table
    Y = made(X, labels, seed)
    for group in range(labels.max() + 1):
        assert_same_moments(X[labels == group], Y[labels == group])


@given(st.integers(1, 4), st.integers(0, 9), st.integers(0, 99))
def test_nothing_is_left_of_the_records(d, more, seed):
    """From 2d + 1 records on, new ones correlate with the old like any others would."""
    size = 2 * d + 1 + more
    X = np.random.default_rng(seed).normal(size=(size, d))
    Y = made(X, seed=seed + 1)
    assert not np.isclose(X, Y, rtol=1e-6, atol=1e-9).all(axis=1).any()
    apart = [own - own.mean(axis=0) for own in (X, Y)]
    assert np.linalg.matrix_rank(np.hstack(apart)) == 2 * d


def test_too_few_records_share_a_space_with_the_original():
    """Why k below 2d + 1 is refused: with d + 1 records a group is only turned around."""
    X = np.random.default_rng(0).normal(size=(4, 3))
    apart = [own - own.mean(axis=0) for own in (X, made(X))]
    assert np.linalg.matrix_rank(np.hstack(apart)) == 3


@given(st.integers(0, 99))
def test_linear_relations_and_constants_stay(seed):
    rng = np.random.default_rng(seed)
    net, tax = rng.lognormal(8, 1, 30), rng.lognormal(2, 1, 30)
    X = np.column_stack([net, tax, net + tax, np.full(30, 0.1)])
    Y = made(X, np.arange(30) % 2, seed)
    assert np.allclose(Y[:, 0] + Y[:, 1], Y[:, 2], rtol=1e-12, atol=0)
    assert (Y[:, 3] == 0.1).all()


def test_a_group_of_equal_records_stays_as_it_is():
    X = np.tile([0.1, -7.3, 1e300], (9, 1))
    assert (made(X) == X).all()


@pytest.mark.parametrize("unit", [1e-305, 1e-150, 1e150, 1e300])
def test_very_large_and_small_numbers(unit):
    X = np.random.default_rng(0).normal(size=(20, 2))
    assert np.allclose(made(X * [1.0, unit]) / [1.0, unit], made(X), rtol=1e-6, atol=1e-9)


def test_numbers_beyond_floats_are_infinite():
    assert np.isinf(made(np.array([[1.7e308]] * 9 + [[-1.7e308]]), seed=1)).any()


@given(st.integers(1, 4), st.integers(0, 99))
def test_in_other_units_the_records_are_the_same(d, seed):
    X = np.random.default_rng(seed).normal(size=(12, d))
    assert np.allclose(made(X * 3.0 + 8.0, seed=seed), made(X, seed=seed) * 3.0 + 8.0)


def test_a_group_does_not_depend_on_the_values_of_others():
    X = np.random.default_rng(0).normal(size=(20, 2))
    labels = np.repeat([0, 1], 10)
    other = X.copy()
    other[:10] = [3.0, 4.0]  # of rank 0
    assert (made(X, labels)[10:] == made(other, labels)[10:]).all()


def test_the_seed_decides():
    X = np.random.default_rng(0).normal(size=(20, 2))
    assert (made(X, seed=1) == made(X, seed=1)).all()
    assert (made(X, seed=1) != made(X, seed=2)).all()


def test_the_signs_of_a_decomposition_do_not_matter(monkeypatch):
    """They differ between processors; the records must not."""
    X = np.random.default_rng(5).normal(size=(12, 3))
    svd = np.linalg.svd

    def other_signs(*arguments, **options):
        left, values, right = svd(*arguments, **options)
        return -left, values, -right

    before = made(X, seed=3)
    monkeypatch.setattr(np.linalg, "svd", other_signs)
    assert np.array_equal(made(X, seed=3), before)


def test_directions_are_uniform():
    """A record's new value says nothing of its old one: over many groups, all are alike."""
    X, labels = np.tile(np.arange(5.0), 2000)[:, None], np.repeat(np.arange(2000), 5)
    new = made(X, labels).reshape(2000, 5)
    assert np.abs(new.mean(axis=0) - 2.0).max() < 0.15
    assert np.abs(new.std(axis=0) - X.std()).max() < 0.05
