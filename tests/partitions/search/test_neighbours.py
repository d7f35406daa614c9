"""The neighbours whose groups a search looks at: the nearest, and of equal records one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from microagg.partitions.search.neighbours import has_equal_records, kinds_of_records, near_lists


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
    sizes = kinds_of_records(X).sizes[kinds_of_records(X).of_record]
    own = near == np.arange(len(X))[:, None]
    assert not own[sizes > 1].any()
    assert not own[:, 0].any()


@given(grids)
def test_kinds_are_those_of_equal_records(X):
    kinds = kinds_of_records(X)
    equal = (X[:, None] == X).all(axis=2)
    assert np.array_equal(kinds.of_record[:, None] == kinds.of_record, equal)
    assert np.array_equal(kinds.sizes[kinds.of_record], equal.sum(axis=1))
    assert np.array_equal(
        kinds.of_record[kinds.rows], np.repeat(*np.unique(kinds.of_record, return_counts=True))
    )
    assert has_equal_records(X) == (len(kinds.sizes) < len(X))
