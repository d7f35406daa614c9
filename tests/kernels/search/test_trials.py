"""Search with a journal: books that always balance, steps that gain, trials that can be undone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microagg.kernels.search.descent import descend, improve_record
from microagg.kernels.search.state import (
    FREE,
    TOUCHED,
    WAITING,
    begin_trial,
    dequeue,
    draw,
    enqueue,
    errors_of_touched,
    make_search,
    undo_trial,
)
from microagg.kernels.search.trials import (
    choose_groups,
    exchange_some,
    gather_spare_records,
    rebuild,
    run_trials,
)
from microagg.partitions.search.neighbours import near_lists
from tests.references import sse


def begin(seed, n, k, *, ties=False, neighbours=12):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, 2)).astype(float) if ties else rng.normal(size=(n, 3))
    labels = rng.permutation(np.minimum(np.arange(n) // k, n // k - 1))
    return make_search(X, near_lists(X, neighbours), labels, k, seed)


def assert_the_books_balance(search, k):
    assignment = search.assignment
    sizes = assignment.sizes
    in_use = np.flatnonzero(sizes)
    assert sizes.sum() == len(search.X)
    assert k <= sizes[in_use].min() <= sizes.max() <= 2 * k - 1
    for group in in_use:
        members = assignment.members[group, : sizes[group]]
        assert (assignment.labels[members] == group).all()
    assert assignment.errors.sum() == pytest.approx(sse(search.X, assignment.labels), abs=1e-9)
    free = search.free[: search.counters[FREE]]
    assert sorted(free) == np.flatnonzero(sizes == 0).tolist()
    assert search.free_place[free].tolist() == list(range(len(free)))


def groups_of(search):
    labels = search.assignment.labels
    return {frozenset(np.flatnonzero(labels == group)) for group in np.unique(labels)}


@settings(max_examples=25)
@given(seed=st.integers(0, 2**16), n=st.integers(8, 50), k=st.integers(2, 6), ties=st.booleans())
@pytest.mark.slow
def test_every_step_lowers_the_error(seed, n, k, ties):
    k = min(k, n)
    search = begin(seed, n, k, ties=ties)
    errors = [search.assignment.errors.sum()]
    for row in range(n):
        made = improve_record(search, k, row)
        errors.append(search.assignment.errors.sum())
        assert (errors[-1] < errors[-2]) == made
    assert_the_books_balance(search, k)


def test_chains_are_found_beside_migrations_and_exchanges():
    touched = set()
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(80, 3))
        search = make_search(X, near_lists(X, 12), rng.permutation(80) % 20, 3, seed)
        for row in np.tile(np.arange(80), 3):
            begin_trial(search)
            if improve_record(search, 3, row):
                touched.add(int(search.counters[TOUCHED]))
    assert touched == {2, 3}


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("ties", [False, True])
def test_settled_groups_have_nothing_to_gain(k, ties):
    search = begin(k, 36, k, ties=ties, neighbours=59)
    while search.counters[WAITING]:
        descend(search, k, 1_000)
        if not any(improve_record(search, k, row) for row in range(36)):
            break
        for row in range(36):
            enqueue(search, row)
    X, labels, error = search.X, search.assignment.labels, search.assignment.errors.sum()
    sizes = np.bincount(labels, minlength=36 // k)
    for i in range(36):
        for j in range(i):
            changed = labels.copy()
            changed[i], changed[j] = labels[j], labels[i]
            assert sse(X, changed) > error * (1 - 1e-8)
        for group in np.flatnonzero((sizes > 0) & (sizes < 2 * k - 1)):
            if sizes[labels[i]] > k:
                changed = labels.copy()
                changed[i] = group
                assert sse(X, changed) > error * (1 - 1e-8)


@settings(max_examples=15)
@given(seed=st.integers(0, 2**16), n=st.integers(12, 60), k=st.integers(2, 5), ties=st.booleans())
@pytest.mark.slow
def test_a_trial_can_be_taken_back(seed, n, k, ties):
    search = begin(seed, n, k, ties=ties)
    descend(search, k, 10_000)
    groups = np.empty(8, dtype=np.intp)
    rows, distances = np.empty(16 * k, dtype=np.intp), np.empty(16 * k)
    for trial in range(8):
        before, error = groups_of(search), search.assignment.errors.sum()
        begin_trial(search)
        count = choose_groups(search, 6, groups)
        if count < 2:
            continue
        if trial % 2:
            rebuild(search, k, trial % 4 == 1, groups, count, rows, distances)
        else:
            exchange_some(search, groups, count)
        assert_the_books_balance(search, k)
        descend(search, k, 10_000)
        assert_the_books_balance(search, k)
        old, new = errors_of_touched(search)
        assert new - old == pytest.approx(search.assignment.errors.sum() - error, abs=1e-9)
        undo_trial(search)
        assert_the_books_balance(search, k)
        assert groups_of(search) == before


def test_cold_trials_never_lose_and_in_the_end_gain():
    search = begin(1, 150, 3)
    descend(search, 3, 100_000)
    start = last = search.assignment.errors.sum()
    for at in range(300):
        run_trials(search, 3, at, at + 1, 300, 1e-15, 1e-15, True)
        error = search.assignment.errors.sum()
        assert error <= last * (1 + 1e-12)
        last = error
    assert last < 0.99 * start
    assert_the_books_balance(search, 3)


def test_trials_change_the_number_of_groups():
    search = begin(2, 90, 3)
    counts = set()
    for at in range(200):
        run_trials(search, 3, at, at + 1, 200, 1.0, 1.0, True)
        counts.add(int(np.count_nonzero(search.assignment.sizes)))
    assert len(counts) > 2


def test_without_mergers_the_number_of_groups_only_grows():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(90, 2))
    search = make_search(X, near_lists(X, 12), np.repeat(np.arange(20), [5] * 10 + [4] * 10), 3, 1)
    counts = []
    for at in range(100):
        run_trials(search, 3, at, at + 1, 100, 1e-4, 1e-4, False)
        counts.append(int(np.count_nonzero(search.assignment.sizes)))
    assert counts == sorted(counts)
    assert counts[-1] > 20
    assert_the_books_balance(search, 3)


def test_only_records_that_wait_are_tried():
    X = np.random.default_rng(5).normal(size=(60, 2))
    labels = np.arange(60) // 3
    near = near_lists(X, 12)
    assert descend(make_search(X, near, labels, 3, 1, np.array([], dtype=np.intp)), 3, 999) == 0
    search = make_search(X, near, labels, 3, 1, np.array([7, 3]))
    assert search.counters[WAITING] == 2
    assert [dequeue(search), dequeue(search)] == [7, 3]
    assert not search.queued.any()


def test_spare_records_from_everywhere_make_one_more_group():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(20, 2)) + 100.0 * np.repeat(np.arange(5), 4)[:, None]
    search = make_search(X, near_lists(X, 12), np.repeat(np.arange(5), 4), 3, 1)
    before = groups_of(search)
    begin_trial(search)
    gather_spare_records(search, 3)
    assert_the_books_balance(search, 3)
    (new,) = [group for group in groups_of(search) if len({row // 4 for row in group}) > 1]
    assert len(new) == 3
    assert sorted(map(len, groups_of(search))) == [3, 3, 3, 3, 4, 4]
    undo_trial(search)
    assert groups_of(search) == before


def test_too_few_spare_records_stay_where_they_are():
    X = np.random.default_rng(3).normal(size=(11, 2))
    search = make_search(X, near_lists(X, 5), np.repeat([0, 1, 2], [4, 4, 3]), 3, 1)
    before = groups_of(search)
    begin_trial(search)
    gather_spare_records(search, 3)
    assert groups_of(search) == before
    assert search.counters[TOUCHED] == 0


def test_draws_are_even():
    search = begin(0, 20, 3)
    counts = np.bincount([draw(search, 7) for _ in range(2100)], minlength=7)
    assert len(counts) == 7
    assert 240 < counts.min() <= counts.max() < 360
