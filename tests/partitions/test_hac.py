"""HAC: the repair of sizes, and the options."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from microagg.core.progress import listening
from microagg.kernels.agglomeration.linkage import LINKAGES
from microagg.partitions import HAC
from microagg.partitions.hac import Moves, with_sizes_repaired
from tests.references import best_partition, sse


@st.composite
def requests(draw):
    n = draw(st.integers(1, 60))
    k = draw(st.integers(1, n))
    values = draw(st.sampled_from([2, 5, 10**6]))  # from nearly all equal to no ties
    d = draw(st.integers(1, 4))
    X = np.random.default_rng(draw(st.integers(0, 99))).integers(0, values, (n, d))
    return X.astype(float), k


@settings(max_examples=150)
@given(requests(), st.sampled_from(list(LINKAGES)), st.booleans())
def test_sizes_and_number_of_groups(request, linkage, priority):
    X, k = request
    most = HAC(k, linkage=linkage, priority=priority).fit(X)
    grown = HAC(k, linkage=linkage, priority=priority, max_size="2k-1").fit(X)
    for model in (most, grown):
        sizes = np.bincount(model.labels_)
        assert k <= sizes.min() <= sizes.max() <= 2 * k - 1
    assert most.n_groups_ == len(X) // k


@settings(max_examples=100)
@given(st.integers(2, 7), st.data())
def test_any_clusters_that_merging_can_leave_are_repaired(k, data):
    """Under the cap k any sizes can be left; under 2k-1 at most one below k, that fits no other."""
    if data.draw(st.booleans()):
        sizes = data.draw(st.lists(st.integers(1, k), min_size=1, max_size=9))
    else:
        small = data.draw(st.integers(1, k - 1))
        others = st.integers(max(k, 2 * k - small), 2 * k - 1)
        sizes = [small, *data.draw(st.lists(others, min_size=1, max_size=9))]
    n = sum(sizes)
    assume(n >= k)
    X = np.random.default_rng(n).normal(size=(n, 2))
    first = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    repaired = np.bincount(with_sizes_repaired(X, np.repeat(first, sizes), k))
    repaired = repaired[repaired > 0]
    assert k <= repaired.min() <= repaired.max() <= 2 * k - 1


def test_groups_that_are_large_enough_stay():
    """Only the records of clusters below k are grouped anew, if they make whole groups."""
    X = np.random.default_rng(0).normal(size=(12, 2))
    labels = np.array([0, 0, 0, 3, 3, 5, 5, 7, 7, 9, 9, 9])
    repaired = with_sizes_repaired(X, labels.copy(), 3)
    for kept in ([0, 1, 2], [9, 10, 11]):
        assert len(set(repaired[kept].tolist())) == 1
        assert (repaired == repaired[kept[0]]).sum() == 3


def test_one_record_over_goes_where_it_costs_least():
    X = np.random.default_rng(1).normal(size=(10, 2))
    labels = np.array([0, 0, 0, 3, 3, 3, 6, 6, 6, 9])
    options = [np.where(labels == 9, group, labels) for group in (0, 3, 6)]
    best = min(options, key=lambda option: sse(X, option))
    repaired = with_sizes_repaired(X, labels.copy(), 3)
    assert sse(X, repaired) == pytest.approx(sse(X, best))


def test_one_record_short_is_taken_where_it_costs_least():
    """A cluster of k-1 beside others of 2k-1, which have no room for it."""
    X = np.random.default_rng(2).normal(size=(12, 2))
    labels = np.repeat([0, 2, 7], [2, 5, 5])
    options = []
    for row in range(2, 12):
        options.append(labels.copy())
        options[-1][row] = 0
    repaired = with_sizes_repaired(X, labels.copy(), 3)
    assert sse(X, repaired) == pytest.approx(min(sse(X, option) for option in options))


def test_the_cheaper_of_both_repairs():
    rng = np.random.default_rng(3)
    won = set()
    for _ in range(30):
        X = rng.normal(size=(13, 2))
        labels = np.repeat([0, 3, 8], [3, 5, 5])  # k = 4
        dissolved, filled = Moves(X, labels, 4), Moves(X, labels, 4)
        assert dissolved.dissolve(0)
        assert filled.fill_up(0)
        errors = sse(X, dissolved.labels), sse(X, filled.labels)
        assert sse(X, with_sizes_repaired(X, labels.copy(), 4)) == pytest.approx(min(errors))
        won.add(errors[0] < errors[1])
    assert won == {True, False}


def test_centers_follow_the_moves():
    X = np.random.default_rng(4).normal(size=(30, 3)) + 100
    moves = Moves(X, np.repeat([0, 4, 13, 21], [4, 9, 8, 9]), 5)
    assert moves.fill_up(0)
    moves.shed(1)
    for group in range(4):
        members = moves.labels == group
        assert moves.sizes[group] == members.sum()
        np.testing.assert_allclose(moves.centers[group], X[members].mean(axis=0))


def test_never_better_than_the_optimum():
    for seed, (linkage, max_size) in enumerate(product(LINKAGES, ("k", "2k-1"))):
        X = np.random.default_rng(seed).normal(size=(11, 2))
        model = HAC(3, linkage=linkage, max_size=max_size).fit(X)
        assert model.sse_ >= best_partition(X, 3) - 1e-9


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("priority", [False, True])
@pytest.mark.parametrize("max_size", ["k", "2k-1"])
def test_the_order_of_rows_decides_nothing(linkage, max_size, priority):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(85, 3))
    order = rng.permutation(85)
    model = HAC(4, linkage=linkage, max_size=max_size, priority=priority)
    labels, moved = model.fit_predict(X), model.fit_predict(X[order])
    assert (np.equal.outer(labels, labels)[order][:, order] == np.equal.outer(moved, moved)).all()


def test_separate_clumps_are_found():
    rng = np.random.default_rng(6)
    clump = rng.permutation(60) % 12
    X = rng.normal(size=(12, 2))[clump] * 100 + rng.normal(size=(60, 2))
    for linkage in LINKAGES:
        labels = HAC(5, linkage=linkage).fit_predict(X)
        assert (np.equal.outer(labels, labels) == np.equal.outer(clump, clump)).all()


def test_progress_is_reported_to_the_end():
    heard = []
    with listening(lambda task, done, total: heard.append((task, done, total))):
        HAC(k=3, linkage="ward").fit(np.random.default_rng(0).normal(size=(400, 3)))
    assert [task for task, _, _ in heard][:1] == ["merging"]
    assert ("merging", 400, 400) in heard
    assert all(0 <= done <= total for _, done, total in heard)


def test_a_part_that_is_tiny_beside_the_table():
    records = [[0.0], [1e-150], [3e-150], [5e-150], [1.0], [1.0], [1.0]]
    assert np.bincount(HAC(k=3).fit_predict(records)).min() >= 3
