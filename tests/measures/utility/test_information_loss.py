"""IL = 100 * SSE / SST."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from microagg import information_loss
from microagg.core.errors import DataError, ParameterError
from microagg.measures.utility.information_loss import squared_errors

RNG = np.random.default_rng(11)


def test_by_hand():
    assert information_loss([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1]) == pytest.approx(
        100 / 101
    )


@given(
    hnp.arrays(np.float64, (6, 2), elements=st.floats(-1e3, 1e3)),
    st.lists(st.integers(0, 2), min_size=6, max_size=6),
)
def test_by_the_definition(X, labels):
    labels = np.array(labels)
    sse = sum(((X[labels == g] - X[labels == g].mean(axis=0)) ** 2).sum() for g in set(labels))
    sst = ((X - X.mean(axis=0)) ** 2).sum()
    assume(sst > 1e-6)
    assert information_loss(X, labels) == pytest.approx(100 * sse / sst, abs=1e-9)


def test_ends_of_the_scale():
    X = RNG.normal(size=(20, 3))
    assert information_loss(X, np.arange(20)) == 0
    assert information_loss(X, np.zeros(20, dtype=int)) == pytest.approx(100)
    assert information_loss(np.ones((4, 2)), [0, 0, 1, 1]) == 0


def test_shift_and_scale_do_not_matter():
    X, labels = RNG.integers(0, 1000, (60, 3)).astype(float), np.repeat(np.arange(20), 3)
    plain = information_loss(X, labels)
    assert information_loss(X + np.array([1e9, 0, -1e12]), labels) == pytest.approx(
        plain, rel=1e-12
    )
    assert information_loss(X * 1e-6, labels) == pytest.approx(plain, rel=1e-12)


def test_labels_may_have_gaps_and_signs():
    X = RNG.normal(size=(4, 2))
    assert information_loss(X, [7, 7, -1, -1]) == information_loss(X, [0, 0, 1, 1])


def test_errors_are_in_the_units_of_the_data():
    errors = squared_errors(np.array([[0.0], [2.0]]), np.array([0, 0]))
    assert (errors.sse, errors.sst) == (2.0, 2.0)


def test_bad_input():
    with pytest.raises(ParameterError, match="labels must be one number for each of the 2 records"):
        information_loss([[1.0], [2.0]], [0, 0, 0])
    with pytest.raises(ParameterError, match="labels must be whole numbers"):
        information_loss([[1.0], [2.0]], [0.0, 1.0])
    with pytest.raises(DataError, match="finite"):
        information_loss([[1.0], [float("nan")]], [0, 0])
