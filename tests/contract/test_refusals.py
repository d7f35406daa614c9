"""Bad input gets one clear sentence from every method."""

import numpy as np
import pytest

from microagg.core.errors import DataError, ParameterError
from tests.contract.conftest import estimator


def records(method, n=20):
    return np.random.default_rng(0).normal(size=(n, 1 if method.single_column else 3))


@pytest.mark.parametrize("k", [0, -1, 2.5, 3.0, True, False, "3", None, np.float64(3), 21, 10**30])
def test_k_out_of_range(method, k):
    with pytest.raises(ParameterError, match="k must be a whole number from 1 to 20") as caught:
        estimator(method, k).fit(records(method))
    assert "\n" not in str(caught.value)
    assert repr(k) in str(caught.value)


@pytest.mark.parametrize("k", [np.int32(3), np.uint8(3), np.int64(3)])
def test_whole_numbers_of_other_kinds_are_fine(method, k):
    assert np.bincount(estimator(method, k).fit_predict(records(method))).min() >= 3


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_not_finite(method, value):
    X = records(method)
    X[4, 0] = value
    with pytest.raises(DataError, match="1 of 20 records contain NaN or infinity"):
        estimator(method, 3).fit(X)


def test_text(method):
    X = records(method).astype(object)
    X[4, 0] = "secret"
    with pytest.raises(DataError, match="got text") as caught:
        estimator(method, 3).fit(X)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("factor", [1e200, 1e-200])
def test_squares_beyond_floating_point(method, factor):
    with pytest.raises(DataError, match="must be from 1e-140 to 1e\\+140 in size"):
        estimator(method, 3).fit(records(method) * factor)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([["31337"], ["1"], ["2"], ["3"]], "got text"),
        ([[31337.0], [1.0, 2.0], [3.0], [4.0]], "rows of different lengths"),
        (np.array([31337.0, 1.0, 2.0, 3.0])[None, None], "an array of 3 dimension"),
        (np.float64(31337.0), "an array of 0 dimension"),
        (np.array([[31337.0 + 1j], [1], [2], [3]]), "real numbers"),
        (np.array([["2020-01-01"], ["2020-01-02"]], dtype="datetime64[D]"), "dates or times"),
        (np.empty((0, 3)), "0 sample"),
        (np.empty((3, 0)), "0 feature"),
    ],
    ids=["strings", "ragged", "3-d", "scalar", "complex", "dates", "no records", "no columns"],
)
def test_no_matrix_of_numbers(method, X, message):
    with pytest.raises(DataError, match=message) as caught:
        estimator(method, 2).fit(X)
    assert "31337" not in str(caught.value)


def test_one_dimension(method):
    column = np.array([31337.0, 1.0, 2.0, 3.0])
    if method.single_column:
        assert estimator(method, 2).fit_predict(column).shape == (4,)
    else:
        with pytest.raises(DataError, match="an array of 1 dimension") as caught:
            estimator(method, 2).fit(column)
        assert "31337" not in str(caught.value)


BAD_OPTIONS = {
    "integer": 1,
    "tour": "yes",
    "n_starts": 0,
    "leftover": "none",
    "linkage": "nearest",
    "max_size": 5,
    "priority": 1,
    "initial": "none",
    "random_state": -1,
    "n_jobs": 0,
    "gain": -0.1,
    "refine": "no",
    "split": "none",
    "n_restarts": -1,
    "max_iterations": 0,
    "time_budget": "long",
    "effort": "much",
    "m1": 0.9,
    "m2": "large",
    "lambda1": -1,
    "lambda2": "small",
    "n_clusters": 21,
    "constraints": 3,
    "initial_centers": [[1.0]],
    "tolerance": -1,
    "strict_k": "yes",
}


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1], "one number for each of the 20 records; got an array of shape"),
        (np.zeros(20), "whole numbers; got an array of type float64"),
        ([[0]] * 20, "one number for each of the 20 records"),
        ([[0], [1, 2]], "sequences of different lengths"),
    ],
)
def test_initial_labels_that_are_no_partition(method, labels, message):
    if "initial" in method.options:
        with pytest.raises(ParameterError, match=f"initial must be.*{message}"):
            estimator(method, 3, initial=labels).fit(records(method))


def test_options_are_checked(method):
    defaults = method.cls().get_params()
    for option, bad in BAD_OPTIONS.items():
        if option in defaults:
            with pytest.raises(ParameterError, match=f"{option} must be"):
                estimator(method, 3, **{option: bad}).fit(records(method))


def test_fractions_are_not_integers(method):
    if "integer" in method.cls().get_params():
        with pytest.raises(DataError, match="needs whole numbers"):
            estimator(method, 3, integer=True).fit(records(method))
