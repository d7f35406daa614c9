"""scikit-learn's own checks on `Microaggregator`, and its promise with every registered method."""

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from microagg import Microaggregator, protect, verify
from microagg.core.errors import ParameterError
from tests.contract.conftest import LESS_WORK, methods_that

# Groups hold k records or more, so that some records are in a group that is not the nearest.
NOT_THE_NEAREST = "fit_transform gives records their own group's values, transform the nearest's"


def cannot_apply(estimator):  # noqa: ARG001
    return {
        "check_transformer_general": NOT_THE_NEAREST,
        "check_transformer_data_not_an_array": NOT_THE_NEAREST,
    }


@parametrize_with_checks(
    [
        Microaggregator(effort="fast"),
        Microaggregator(k=4, method="mdav", missing="impute", scale="robust"),
        Microaggregator(k=4, method="mdav", missing="value", scale="rank"),
    ],
    expected_failed_checks=cannot_apply,
)
@pytest.mark.slow
def test_scikit_learn_check(estimator, check):
    check(estimator)


def of(method, k=3):
    """A transformer with this method, as strict as it can be, and quick."""
    options = dict(LESS_WORK.get(method.name, {}))
    return Microaggregator(
        k,
        method=method.name,
        effort=options.pop("effort", "balanced"),
        method_options=options,
        strict_k=method.draws,
        random_state=0,
    )


usable = methods_that(lambda method: not method.needs)


def records(method):
    rng = np.random.default_rng(4)
    names = ["a"] if method.single_column else ["a", "b", "c"]
    return pl.DataFrame({name: rng.normal(size=31) for name in names})


@usable
def test_values_are_those_that_protect_releases(method):
    X, transformer = records(method), of(method)
    released = transformer.fit_transform(X)
    asked = transformer.get_params()
    release = protect(X, quasi_identifiers=X.columns, **asked)
    assert released.equals(release.table)
    assert transformer.labels_.tolist() == release.labels.tolist()
    assert transformer.information_loss_ == release.information_loss
    assert transformer.n_groups_ == len(released.unique()) <= 31 // 3
    assert verify(released, k=3).satisfied


@methods_that(lambda method: not method.draws and not method.needs)
def test_each_group_is_nearest_to_its_own_mean(method):
    X, transformer = records(method), of(method)
    released = transformer.fit_transform(X)
    assert np.allclose(transformer.transform(released), released)


@usable
def test_new_records_get_the_values_of_a_group(method):
    X, transformer = records(method), of(method)
    released = transformer.fit_transform(X)
    new = transformer.transform(X * 1.1)
    assert len(new) == len(X)
    assert new.join(released, on=X.columns, how="anti").is_empty()


@methods_that(lambda method: method.draws)
def test_drawn_values_promise_less_and_say_so(method):
    transformer = clone(of(method)).set_params(strict_k=False)
    with pytest.warns(match="draws values at random and does not guarantee k"):
        transformer.fit(records(method))
    assert transformer.manifest_.promise != "k-anonymity"


@methods_that(lambda method: method.single_column)
def test_more_columns_than_the_method_takes(method):
    X = records(method).with_columns(b=1.5)
    with pytest.raises(ParameterError, match="column"):
        of(method).fit(X)


@methods_that(lambda method: method.needs)
def test_methods_for_sensitive_columns_are_refused(method):
    with pytest.raises(
        ParameterError, match=f"{method.name!r} groups for {method.needs} of a sens"
    ):
        of(method).fit(records(method))
