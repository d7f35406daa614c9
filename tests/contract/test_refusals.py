"""Bad input gets one clear sentence from every method."""

import numpy as np
import pytest

from microagg.core.errors import DataError, ParameterError
from microagg.core.registry import METHODS
from tests.contract.bad_values import BAD_VALUES, CASES, N_COLUMNS, N_RECORDS
from tests.contract.conftest import estimator, methods_that


def records(method):
    n_columns = 1 if method.single_column else N_COLUMNS
    return np.random.default_rng(0).normal(size=(N_RECORDS, n_columns))


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
    with pytest.raises(DataError, match="must be from 1e-140 to 1e\\+140 in absolute value"):
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


@methods_that(lambda method: "integer" in method.options)
def test_fractions_are_not_integers(method):
    with pytest.raises(DataError, match="needs whole numbers"):
        estimator(method, 3, integer=True).fit(records(method))


@pytest.mark.parametrize(("method", "option", "bad"), CASES.values(), ids=CASES)
def test_options_are_checked(method, option, bad):
    with pytest.raises(ParameterError) as caught:
        estimator(method, **{"k": 3, option: bad.value}).fit(records(method))
    expected, _, came = str(caught.value).partition("; got ")
    assert expected.startswith(f"{option} must ")
    assert bad.expected in expected
    assert came.startswith(str(bad))
    assert "\n" not in str(caught.value)


@methods_that(lambda method: method.needs)
@pytest.mark.parametrize("requirements", [None, []], ids=["none", "empty"])
def test_what_a_method_needs_is_asked_for(method, requirements):
    with pytest.raises(ParameterError) as caught:
        method.cls(3).fit(records(method), requirements=requirements)
    assert f"{method.class_name} needs t-closeness of exactly one column" in str(caught.value)
    assert "; got none. Give " in str(caught.value)
    assert method.needs in str(caught.value)
    assert method.needed_flag in str(caught.value)


def test_every_option_has_a_value_to_refuse(method):
    without = [option for option in method.cls().get_params() if option not in BAD_VALUES]
    assert not without, (
        f"{method.name} has options that are never tried with a bad value: {', '.join(without)}. "
        "For each, add to BAD_VALUES in tests/contract/bad_values.py what it must refuse and what "
        "the message must say was expected."
    )


def test_every_value_to_refuse_belongs_to_an_option():
    options = {option for method in METHODS.values() for option in method.cls().get_params()}
    stale = BAD_VALUES.keys() - options
    assert not stale, (
        f"no method has the options {', '.join(sorted(stale))} any more: remove them from "
        "BAD_VALUES in tests/contract/bad_values.py."
    )
