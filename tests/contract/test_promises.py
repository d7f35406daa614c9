"""What every registered method promises of its groups."""

import numpy as np
import pytest

from microagg.core.estimator import Estimator
from microagg.core.registry import METHODS, Guarantee
from tests.contract.conftest import estimator, methods_that
from tests.references import number_by_first_record, sse


def records(method, n, d=3, seed=0):
    columns = 1 if method.single_column else d
    return np.random.default_rng(seed).normal(size=(n, columns))


def assert_promise(method, labels, n, k):
    assert labels.shape == (n,)
    sizes = np.bincount(labels)
    assert sizes.min() >= k
    if method.guarantee is Guarantee.K_TO_2K_MINUS_1:
        assert sizes.max() <= 2 * k - 1
    assert labels.tolist() == number_by_first_record(labels)


@pytest.mark.parametrize("k", [1, 2, 3, 5, 10, 33])
@pytest.mark.parametrize("n", [33, 47, 100, 334])
def test_every_group_holds_what_is_promised(method, n, k):
    X = records(method, n, seed=n + k)
    assert_promise(method, estimator(method, k).fit_predict(X), n, k)


@pytest.mark.parametrize("k", [1, 2, 5, 8])
@pytest.mark.parametrize("extra", ["n = k", "n = 2k - 1", "n = 2k", "n = 3k - 1", "n = 3k"])
def test_few_records(method, k, extra):
    n = {"n = k": k, "n = 2k - 1": 2 * k - 1, "n = 2k": 2 * k}.get(extra)
    n = n or {"n = 3k - 1": 3 * k - 1, "n = 3k": 3 * k}[extra]
    assert_promise(method, estimator(method, k).fit_predict(records(method, n)), n, k)


@pytest.mark.parametrize(
    "values",
    [
        np.zeros((40, 3)),
        np.repeat(np.arange(8.0), 5)[:, None] * [1.0, -1.0, 0.5],
        np.tile([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], (20, 1)),
        np.c_[np.arange(40.0), np.full(40, 7.0), np.full(40, -1e9)],
        np.random.default_rng(0).integers(0, 3, (41, 3)).astype(float),
        np.random.default_rng(0).standard_cauchy((41, 3)) * 1e130,
        np.random.default_rng(0).normal(size=(41, 3)) * 1e-139,
    ],
    ids=["equal", "repeated", "two points", "constant columns", "ties", "huge", "tiny"],
)
@pytest.mark.parametrize("k", [1, 3, 7])
def test_awkward_data(method, values, k):
    X = values[:, :1] if method.single_column else values
    model = estimator(method, k).fit(X)
    assert_promise(method, model.labels_, len(X), k)
    assert np.isfinite(model.sse_)


def test_one_column(method):
    X = records(method, 50, d=1)
    assert_promise(method, estimator(method, 4).fit_predict(X), 50, 4)


def test_attributes_agree_with_the_labels(method):
    X = records(method, 60)
    model = estimator(method, 4).fit(X)
    assert model.n_groups_ == len(np.unique(model.labels_))
    assert model.sse_ == pytest.approx(((X - model.centers_[model.labels_]) ** 2).sum(), rel=1e-9)
    assert model.k == 4


@methods_that(lambda method: not method.draws)
def test_centres_are_the_means_of_the_groups(method):
    X = records(method, 60)
    model = estimator(method, 4).fit(X)
    assert len(model.centers_) == model.n_groups_
    for group, center in enumerate(model.centers_):
        np.testing.assert_allclose(center, X[model.labels_ == group].mean(axis=0), atol=1e-12)
    assert model.sse_ == pytest.approx(sse(X, model.labels_), rel=1e-12)


def test_every_method_answers_the_same_questions(method):
    model = estimator(method, 3).fit(records(method, 30))
    assert isinstance(model, Estimator)
    assert not model.interrupted_
    assert not model.timed_out_


def test_a_default_for_k(method):
    X = records(method, 30)
    model = estimator(method)
    assert_promise(method, model.fit_predict(X), 30, model.k)


@methods_that(lambda method: method.deterministic)  # the others draw by row
@pytest.mark.parametrize("seed", range(3))
def test_shifting_scaling_and_reordering_do_not_change_the_groups(method, seed):
    X = records(method, 90, seed=seed)
    labels = estimator(method, 4).fit_predict(X)
    rng = np.random.default_rng(seed)
    same = {
        "shift": X + rng.normal(size=X.shape[1]) * 100,
        "scale up": X * 12345.678,
        "scale down": X * 1.2e-7,
        "large offset": X + 1e9,
    }
    for name, changed in same.items():
        assert estimator(method, 4).fit_predict(changed).tolist() == labels.tolist(), name
    order = rng.permutation(len(X))
    moved = estimator(method, 4).fit_predict(X[order])
    assert moved.tolist() == number_by_first_record(labels[order])


def test_the_same_labels_every_time_on_any_number_of_threads(method):
    X = records(method, 300)
    jobs = [{"n_jobs": 1}, {"n_jobs": 2}] if "n_jobs" in method.options else [{}, {}]
    first, second = (estimator(method, 3, **options).fit_predict(X).tolist() for options in jobs)
    assert first == second


def test_the_input_is_not_changed(method):
    X = records(method, 40) + 1e6
    before = X.copy()
    estimator(method, 3).fit(X)
    np.testing.assert_array_equal(X, before)


def test_the_registry_is_consistent():
    for name, method in METHODS.items():
        options = [option for option in method.cls().get_params() if option != "k"]
        assert sorted(method.options) == sorted(options)
        assert method.name == name
        assert method.cls.single_column == method.single_column
        assert method.cls.draws == method.draws
        assert all((method.summary, method.cost, method.source))
