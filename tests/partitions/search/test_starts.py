"""Where a method that improves groups may begin."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from microagg.core.errors import ParameterError
from microagg.partitions import MDAV
from microagg.partitions.search.starts import initial_labels

X = np.random.default_rng(0).normal(size=(30, 2))
RNG = np.random.default_rng(0)


def test_labels_are_taken_as_groups():
    assert initial_labels([7, 7, 9] * 10, X, 3, RNG, at_least=3).tolist() == [0, 0, 1] * 10


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series, pa.array])
def test_labels_of_any_kind(kind):
    labels = initial_labels(kind([7, 7, 9] * 10), X, 3, RNG, at_least=3)
    assert labels.tolist() == [0, 0, 1] * 10


def test_a_name_stands_for_the_groups_of_that_method():
    labels = initial_labels("mdav", X, 4, RNG, at_least=4)
    assert labels.tolist() == MDAV(k=4).fit_predict(X).tolist()


def test_an_unknown_name():
    with pytest.raises(ParameterError, match=r"initial must be one of .* Did you mean 'mdav'"):
        initial_labels("mdaw", X, 4, RNG, at_least=4)


def test_small_groups_where_that_matters():
    labels = [0] * 28 + [1, 1]
    assert initial_labels(labels, X, 3, RNG, at_least=1).max() == 1
    with pytest.raises(ParameterError, match=r"at least k = 3 records .* 1 of 2 groups have fewer"):
        initial_labels(labels, X, 3, RNG, at_least=3)


@pytest.mark.parametrize("initial", [None, 5, 2.5, True])
def test_what_is_neither_labels_nor_a_name(initial):
    with pytest.raises(ParameterError, match=r"labels, one for each of the 30 .* 'mdav'; got"):
        initial_labels(initial, X, 4, RNG, at_least=4)


def test_records_that_a_clusterer_left_out():
    with pytest.raises(ParameterError, match="numbers below 0"):
        initial_labels(np.r_[np.zeros(29, dtype=int), -1], X, 4, RNG, at_least=1)


def test_a_method_that_cannot_serve_the_data():
    with pytest.raises(ParameterError, match="initial must be one of"):
        initial_labels("univariate", X, 4, RNG, at_least=4)
    assert initial_labels("univariate", X[:, :1], 4, RNG, at_least=4).max() >= 3


def test_options_reach_the_methods_that_have_them():
    for name in ("mdav", "reporder"):
        labels = initial_labels(name, X, 4, RNG, at_least=4, n_jobs=1)
        assert np.bincount(labels).min() >= 4
