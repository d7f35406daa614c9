"""The neighbours whose groups a search looks at: the nearest, and of equal records one."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from microagg.bounds.fast import n_listed, neighbour_shares
from microagg.bounds.lower import bound_on
from microagg.kernels.basics.rounding import without_offset
from microagg.kernels.neighbours import listing as kernels
from microagg.kernels.neighbours.blocks import make_blocks
from microagg.orderings.neighbours import nearest_neighbours
from microagg.partitions import Auto
from microagg.partitions.search import neighbours as module
from microagg.partitions.search.neighbours import (
    distinct_records,
    has_equal_records,
    list_near,
    near_lists,
)


def test_near_lists_hold_the_nearest():
    X = np.random.default_rng(8).normal(size=(40, 3))
    distances = ((X[:, None] - X) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    assert near_lists(X, 5).tolist() == distances.argsort(axis=1)[:, :5].tolist()


def test_all_equal_records_are_on_near_lists():
    X = np.repeat([[0.0, 3.0], [1.0, 0.0]], 60, axis=0)
    assert len(np.unique(near_lists(X, 10))) > 100


@pytest.mark.parametrize("seed", range(5))
def test_a_list_holds_one_record_of_each_of_the_nearest_kinds(seed):
    rng = np.random.default_rng(seed)
    distinct = rng.normal(size=(30, 2))
    X = np.repeat(distinct, rng.integers(1, 9, size=30), axis=0)[::-1]
    kind = ((X[:, None] - distinct) ** 2).sum(axis=2).argmin(axis=1)
    for row, near in enumerate(near_lists(X, 8)):
        assert row not in near
        distances = ((distinct - X[row]) ** 2).sum(axis=1)
        alone = int((kind == kind[row]).sum() == 1)
        assert kind[near].tolist() == distances.argsort()[alone : 8 + alone].tolist()


grids = arrays(
    np.float64,
    st.tuples(st.integers(2, 30), st.integers(1, 3)),
    elements=st.integers(0, 2).map(float),
)


@given(grids, st.integers(1, 12))
def test_lists_are_full_and_hold_no_record_that_has_equals_itself(X, count):
    near = near_lists(X, count)
    assert near.shape == (len(X), min(count, len(X) - 1))
    sizes = distinct_records(X).sizes[distinct_records(X).of_record]
    own = near == np.arange(len(X))[:, None]
    assert not own[sizes > 1].any()
    assert not own[:, 0].any()


@given(grids)
def test_kinds_are_those_of_equal_records(X):
    kinds = distinct_records(X)
    equal = (X[:, None] == X).all(axis=2)
    assert np.array_equal(kinds.of_record[:, None] == kinds.of_record, equal)
    assert np.array_equal(kinds.sizes[kinds.of_record], equal.sum(axis=1))
    assert np.array_equal(
        kinds.of_record[kinds.rows], np.repeat(*np.unique(kinds.of_record, return_counts=True))
    )
    assert has_equal_records(X) == (len(kinds.sizes) < len(X))


TABLES = {
    "continuous": np.random.default_rng(1).normal(size=(300, 3)),
    "one decimal": np.random.default_rng(2).normal(size=(300, 3)).round(1),
    "ties everywhere": np.random.default_rng(3).integers(0, 4, size=(300, 3)).astype(float),
    "two kinds": np.random.default_rng(4).integers(0, 2, size=(60, 1)).astype(float),
    "a large kind": np.repeat([[0.0, 3.0], [1.0, 0.0], [2.0, 2.0]], [60, 1, 2], axis=0),
    "all equal": np.ones((20, 2)),
    "an offset": 1e9 + np.random.default_rng(5).normal(size=(300, 2)).round(1),
    "tiny numbers": 1e-170 * np.random.default_rng(6).normal(size=(100, 2)),
    "huge numbers": 1e160 * np.random.default_rng(7).normal(size=(100, 2)),
    "one far out": np.vstack([np.random.default_rng(8).normal(size=(80, 2)) * 1e-9, [[1e9, 0]]]),
    "a lattice": np.stack(np.meshgrid(np.arange(20.0), np.arange(20.0)), axis=2).reshape(-1, 2),
}


def assert_exact(X, count, width):
    near, expected = list_near(without_offset(X), count), nearest_neighbours(X, width)
    found = near.exact(X, width)
    assert np.array_equal(found.rows, expected.rows)
    assert np.array_equal(found.distances, expected.distances)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize(("count", "width"), [(25, 8), (25, 20), (30, 30), (3, 10)])
@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_lists_for_a_search_hold_the_exact_ones(name, count, width):
    assert_exact(TABLES[name], count, width)


@given(
    arrays(
        np.float64, st.tuples(st.integers(2, 30), st.integers(1, 3)), elements=st.integers(0, 3)
    ),
    st.integers(1, 30),
    st.integers(1, 30),
)
def test_exact_lists_of_any_table(X, count, width):
    assert_exact(X, count, width)


def test_hardly_any_record_is_looked_up_again(monkeypatch):
    looked_up = []

    def fill_in(_out, _points, _records, rows, **_):
        looked_up.append(len(rows))

    near = list_near(TABLES["one decimal"], 25)
    monkeypatch.setattr(module, "fill_in", fill_in)
    near.exact(TABLES["one decimal"], 10)
    assert sum(looked_up) <= 10
    near.exact(TABLES["one decimal"], 60)  # more than are listed
    assert looked_up[-1] == 300


def test_kernels_do_the_same_uncompiled(monkeypatch):
    X = TABLES["one decimal"][:60]
    near, expected = list_near(X, 25), nearest_neighbours(X, 10)
    for name in ("order_listed", "list_nearest", "write_others", "insert"):
        monkeypatch.setattr(kernels, name, getattr(kernels, name).py_func)
    monkeypatch.setattr(module, "order_listed", kernels.order_listed)
    assert np.array_equal(near.exact(X, 10).rows, expected.rows)
    distances, rows = np.empty((60, 10)), np.empty((60, 10), dtype=np.intp)
    kernels.list_nearest(X, np.arange(60), make_blocks(X, np.arange(60)), distances, rows)
    assert np.array_equal(rows, expected.rows)
    assert np.array_equal(distances, expected.distances)


@pytest.mark.parametrize("name", ["continuous", "one decimal", "ties everywhere", "an offset"])
@pytest.mark.parametrize("k", [2, 5, 12])
def test_a_bound_is_the_same_with_the_neighbours_of_the_search(name, k):
    X = TABLES[name]
    model = Auto(k, effort="fast", random_state=0).fit(X)
    given = model.near_.exact(X, n_listed(k))
    assert neighbour_shares(X, k, given).bound == neighbour_shares(X, k).bound
    assert bound_on(X, k, "fast", 1.0, near=model.near_) == bound_on(X, k, "fast", 1.0)


def test_neighbours_are_not_pickled_and_not_kept_for_other_records():
    model = Auto(3, effort="fast", random_state=0).fit(TABLES["continuous"])
    copy = pickle.loads(pickle.dumps(model))
    assert copy.near_ is None
    assert copy.labels_.tolist() == model.labels_.tolist()
    assert model.fit(TABLES["continuous"][:4]).near_ is None
