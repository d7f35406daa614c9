"""Distance-based record linkage."""

import dataclasses
import json

import numpy as np
import polars as pl
import pytest

from microagg.core.errors import ParameterError
from microagg.kernels.attacks.distance_linkage import MixedPoints, make_box_tree, rank_own_points
from microagg.measures.risk.linkage import distance_linkage, own_ranks
from microagg.measures.sampling import sampled_rows, standard_error
from microagg.partitions import MDAV
from microagg.tables.matching import open_pair
from tests.indicators import coordinates

JS = (1, 2, 5, 10)


def plain_ranks(pair, enough):
    """Every record against every other, column by column as the kernel adds up."""
    (X, codes), (Z, others) = pair.points_before(), pair.points_after()
    less, equal = np.empty(len(X), dtype=int), np.empty(len(X), dtype=int)
    for i, x in enumerate(X):
        squares = np.zeros(len(Z))
        for j in range(X.shape[1]):
            squares += (Z[:, j] - x[j]) ** 2
        for j, apart in enumerate(pair.code_distances):
            squares += apart * (others[:, j] != codes[i, j])
        less[i] = (squares < squares[i]).sum()
        equal[i] = (squares == squares[i]).sum()
    gone = less >= enough
    return np.where(gone, enough, less), np.where(gone, 0, equal)


def released(kind, X, rng):
    if kind == "noise":
        return X + rng.normal(size=X.shape) * 0.4
    if kind == "microaggregated":
        model = MDAV(k=4).fit(X)
        return model.centers_[model.labels_]
    if kind == "swapped":
        return rng.permutation(X)
    return X.round()  # many ties


@pytest.mark.parametrize("kind", ["noise", "microaggregated", "swapped", "rounded"])
@pytest.mark.parametrize("d", [1, 2, 5, 8])
def test_ranks_are_those_of_a_plain_scan(numbers_pair, kind, d):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(700, d)) * 2
    if kind == "rounded":
        X = X.round()
    pair = numbers_pair(X, released(kind, X, rng))
    got = own_ranks(pair, np.arange(700), enough=10, n_jobs=2)
    wanted = plain_ranks(pair, 10)
    assert np.array_equal(got[0], wanted[0])
    assert np.array_equal(got[1], wanted[1])
    assert (wanted[0] < 10).any()


def test_the_kernel_counts_the_same_uncompiled():
    rng = np.random.default_rng(0)
    points = rng.integers(0, 4, size=(90, 3)).astype(float)
    codes, apart = rng.integers(-1, 5, size=(90, 2)), np.array([0.5, 1.5])
    counts = rng.integers(1, 4, size=90)
    X, own = rng.integers(0, 4, size=(40, 3)) + 0.5, rng.integers(0, 90, size=40)
    known = rng.integers(-1, 6, size=(40, 2))
    tree = make_box_tree(MixedPoints(points, codes), counts, apart)
    results = []
    for function in (rank_own_points, rank_own_points.py_func):
        less, equal = np.zeros(40, dtype=np.intp), np.zeros(40, dtype=np.intp)
        function(tree, MixedPoints(X, known), np.arange(40), own, 10**6, less, equal)
        results.append((less, equal))
    squares = ((X[:, None] - points) ** 2).sum(axis=2) + (known[:, None] != codes) @ apart
    radius = squares[np.arange(40), own][:, None]
    for less, equal in results:
        assert np.array_equal(less, (squares < radius) @ counts)
        assert np.array_equal(equal, (squares == radius) @ counts)


def test_hand_computed_shares(numbers_pair):
    X = np.array([[0.0], [1.0], [5.0], [0.0]])
    Z = np.array([[1.0], [1.0], [0.0], [5.0]])
    # Nearer and as near, by record: (1, 2), (0, 2), (3, 1), (3, 1).
    result = distance_linkage(numbers_pair(X, Z), n_jobs=1)
    assert result.linked == {1: 0.5 / 4, 2: (0.5 + 1) / 4, 5: 1.0, 10: 1.0}
    assert result.guessed == {1: 0.25, 2: 0.5, 5: 1.0, 10: 1.0}
    assert set(result.standard_errors.values()) == {0.0}
    assert (result.n_records, result.n_sampled) == (4, 4)


def test_one_class_is_pure_guessing(numbers_pair):
    X = np.random.default_rng(0).normal(size=(300, 3))
    result = distance_linkage(numbers_pair(X, np.tile(X.mean(axis=0), (300, 1))))
    assert result.linked == pytest.approx(result.guessed)


def test_an_unprotected_table_is_linked_throughout(numbers_pair):
    X = np.random.default_rng(0).normal(size=(300, 3))
    assert set(distance_linkage(numbers_pair(X, X)).linked.values()) == {1.0}


def test_classes_of_k_share_their_link(numbers_pair):
    X = np.random.default_rng(0).normal(size=(600, 2))
    model = MDAV(k=6).fit(X)
    linked = distance_linkage(numbers_pair(X, model.centers_[model.labels_])).linked
    assert linked[1] <= 1 / 6
    assert linked[2] == pytest.approx(2 * linked[1])
    assert linked[5] == pytest.approx(5 * linked[1])


def test_same_result_on_any_number_of_threads_and_in_any_order(numbers_pair, monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3000, 4))
    Z = X + rng.normal(size=X.shape) * 0.3
    shuffle = rng.permutation(3000)
    monkeypatch.setattr("microagg.measures.risk.linkage._PER_ITEM", 100)
    one, three = (distance_linkage(numbers_pair(X, Z), n_jobs=n) for n in (1, 3))
    assert one == three
    shuffled = distance_linkage(numbers_pair(X[shuffle], Z[shuffle]))
    assert shuffled.linked == pytest.approx(one.linked)


def test_a_sample_is_linked_to_all_records(numbers_pair):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(4000, 3))
    pair = numbers_pair(X, X + rng.normal(size=X.shape) * 0.1)
    exact = distance_linkage(pair)
    sampled = distance_linkage(pair, most=1000, seed=1)
    assert (sampled.n_records, sampled.n_sampled) == (4000, 1000)
    assert sampled.guessed == exact.guessed
    assert sampled == distance_linkage(pair, most=1000, seed=1)
    assert sampled != distance_linkage(pair, most=1000, seed=2)
    for j in JS:
        assert 0 < sampled.standard_errors[j] < 0.02
        assert abs(sampled.linked[j] - exact.linked[j]) < 4 * sampled.standard_errors[j]


def test_standard_errors_are_the_spread_of_samples():
    outcomes = np.random.default_rng(0).random(500) ** 3
    means, errors = [], []
    for seed in range(400):
        rows = sampled_rows(500, 200, seed)
        assert len(np.unique(rows)) == 200
        means.append(outcomes[rows].mean())
        errors.append(standard_error(outcomes[rows], 500))
    assert np.mean(errors) == pytest.approx(np.std(means), rel=0.1)
    assert standard_error(outcomes, 500) == 0.0


def test_categories_and_missing_values_are_linked():
    before = pl.DataFrame({"x": [1.0, None, 3.0, 9.0], "c": ["a", "b", None, "b"]})
    after = before.with_columns(c=pl.Series(["a", "b", None, "a"]))
    assert distance_linkage(open_pair(before, before)).linked[1] == 1.0
    pair = open_pair(before, after, quasi_identifiers=["x", "c"])
    less, equal = own_ranks(pair, np.arange(4), enough=10, n_jobs=1)
    wanted = plain_ranks(pair, 10)
    assert (less.tolist(), equal.tolist()) == (wanted[0].tolist(), wanted[1].tolist())


@pytest.mark.slow
@pytest.mark.parametrize("n_categories", [2, 40, 400])
def test_many_categories_are_compared_exactly(n_categories):
    """As far apart as their indicators are, however many there are."""
    rng = np.random.default_rng(n_categories)
    n = 1500
    codes = rng.integers(0, n_categories, size=(2, n)).astype(str)
    codes[1, ::2] = codes[0, ::2]  # half of them keep theirs
    before = pl.DataFrame({"x": rng.normal(size=n), "y": rng.normal(size=n), "c": codes[0]})
    after = before.with_columns(pl.col("x", "y").round(), c=codes[1])
    pair = open_pair(before, after, quasi_identifiers=["x", "y", "c"])
    less, equal = own_ranks(pair, np.arange(n), enough=5, n_jobs=2)
    wanted = plain_ranks(pair, 5)
    assert np.array_equal(less, wanted[0])
    assert np.array_equal(equal, wanted[1])
    X, Z = coordinates(pair)
    indicators = np.square(X[:200, None] - Z).sum(axis=2)
    own = indicators[np.arange(200), np.arange(200)][:, None]
    nearer = (indicators < own - 1e-9).sum(axis=1)
    assert np.array_equal(np.minimum(nearer, 5), np.minimum(less[:200], 5))


def test_awkward_tables(awkward):
    result = distance_linkage(awkward)
    assert all(0 <= share <= 1 for share in result.linked.values())
    json.dumps(dataclasses.asdict(result), allow_nan=False)


def test_candidates_are_checked(numbers_pair):
    with pytest.raises(ParameterError, match="candidates"):
        distance_linkage(numbers_pair(np.eye(3), np.eye(3)), candidates=[0])
