"""Repeated ordering: every round at least as good as the one before, the best start kept."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info

from microagg.core.progress import listening
from microagg.orderings.walks import farthest_from_mean
from microagg.partitions import MDAV, MDAVMHM, RepOrdMic
from microagg.partitions.reporder import repeat_ordering
from microagg.partitions.search.starts import kmeans_starts
from tests.references import sse

RNG = np.random.default_rng(5)
X = RNG.normal(size=(200, 3))


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**16),
    n=st.integers(1, 60),
    k=st.integers(1, 7),
    n_groups=st.integers(1, 60),
    ties=st.booleans(),
)
def test_no_round_is_worse_than_the_one_before(seed, n, k, n_groups, ties):
    rng = np.random.default_rng(seed)
    records = rng.integers(0, 4, (n, 2)).astype(float) if ties else rng.normal(size=(n, 2))
    _, groups = np.unique(rng.integers(0, n_groups, n), return_inverse=True)
    labels, errors = repeat_ordering(records, groups, min(k, n), farthest_from_mean(records))
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(errors))
    assert errors[-1] == pytest.approx(sse(records, labels), abs=1e-9)


def test_the_groups_of_another_method_only_get_better():
    for k in (2, 3, 7):
        start = MDAV(k=k).fit(X)
        named = RepOrdMic(k=k, initial="mdav").fit(X)
        given_labels = RepOrdMic(k=k, initial=start.labels_).fit(X)
        assert named.labels_.tolist() == given_labels.labels_.tolist()
        assert named.sse_ <= MDAVMHM(k=k).fit(X).sse_ <= start.sse_
        assert named.n_rounds_ >= 2


def test_groups_to_begin_with_may_be_of_any_size():
    labels = np.r_[np.zeros(199, dtype=int), 1]
    sizes = np.bincount(RepOrdMic(k=5, initial=labels).fit_predict(X))
    assert (sizes.min(), sizes.max()) >= (5, 5)
    assert sizes.max() <= 9


def test_the_best_start_is_kept():
    entry = farthest_from_mean(X)
    starts = kmeans_starts(X, 12, np.random.default_rng(3))
    errors = [repeat_ordering(X, start(), 4, entry)[1][-1] for start in starts]
    model = RepOrdMic(k=4, n_starts=12, random_state=3).fit(X)
    assert model.sse_ == pytest.approx(min(errors), rel=1e-12)
    assert min(errors) < max(errors)


def test_starts_have_one_to_many_clusters_and_no_more_than_there_are_records():
    starts = kmeans_starts(X, 9, np.random.default_rng(0))
    assert [len(np.unique(start())) for start in starts] == list(range(1, 10))
    five_points = np.repeat(np.arange(5.0), 8)[:, None]
    starts = kmeans_starts(five_points, 200, np.random.default_rng(0))
    assert len(starts) == 5
    assert all(len(np.unique(start()[:8])) == 1 for start in starts)


def test_nothing_is_left_set_for_the_process():
    def threads():
        return [(pool["user_api"], pool["num_threads"]) for pool in threadpool_info()]

    RepOrdMic(k=3, n_starts=2).fit(X)
    before, filters = threads(), list(warnings.filters)
    for jobs in (1, 2):
        RepOrdMic(k=3, n_starts=30, n_jobs=jobs).fit(X)
    assert threads() == before
    assert warnings.filters == filters


@pytest.mark.slow
def test_clusters_that_come_out_empty_are_nothing_to_warn_of():
    jittered = np.repeat(RNG.normal(size=(20, 2)), 6, axis=0) + RNG.normal(size=(120, 2)) * 1e-10
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = RepOrdMic(k=3, n_starts=60, random_state=0).fit_predict(jittered)
    assert np.bincount(labels).min() >= 3


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_ends_it_at_the_next_report(n_jobs):
    reports = 0

    def interrupt(*_):
        nonlocal reports
        reports += 1
        raise KeyboardInterrupt

    with listening(interrupt), pytest.raises(KeyboardInterrupt):
        RepOrdMic(k=3, n_starts=20, random_state=0, n_jobs=n_jobs).fit(X)
    assert reports == 1


def test_whether_there_is_chance_in_it():
    assert RepOrdMic().uses_randomness()
    assert RepOrdMic(initial="reporder").uses_randomness()
    assert not RepOrdMic(initial="mdav").uses_randomness()
    assert not RepOrdMic(initial=[0, 0, 0]).uses_randomness()


def test_the_seed_decides():
    first, second, other = (
        RepOrdMic(k=3, n_starts=5, random_state=seed).fit_predict(X).tolist() for seed in (1, 1, 2)
    )
    assert first == second
    assert first != other


def test_a_time_budget_ends_it_after_one_round_at_least():
    hurried = RepOrdMic(k=3, time_budget=0, random_state=0, n_jobs=1).fit(X)
    assert hurried.timed_out_
    assert hurried.n_rounds_ == 1
    patient = RepOrdMic(k=3, time_budget=600, n_starts=2, random_state=0).fit(X)
    assert not patient.timed_out_
    assert patient.sse_ == RepOrdMic(k=3, n_starts=2, random_state=0).fit(X).sse_ < hurried.sse_
