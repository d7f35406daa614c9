"""Large tables: near linear, without a trace of borders, and as dependable as small ones."""

import time
from itertools import pairwise

import numpy as np
import pytest

from microagg.core.progress import listening
from microagg.kernels.basics.group_sums import summarise
from microagg.partitions import MDAV
from microagg.partitions.auto import EFFORTS_FOR_LARGE, Auto
from microagg.partitions.search import large, neighbours, region, regions
from microagg.partitions.search.dealing import deal_out, deal_out_parts
from microagg.partitions.search.exchanging import NO_LIMITS, Limits
from microagg.partitions.search.large import LargeSearch, is_large
from microagg.partitions.search.neighbours import close_lists, may_have_equal_records, near_lists
from microagg.partitions.search.region import RegionEffort, join_parts, search_region
from microagg.requirements.coded import GroupRule, failing_rules, pack
from tests.references import sse

X = np.random.default_rng(3).normal(size=(3_000, 4))
EFFORT = RegionEffort(trials_per_record=0.3, rounds=2, dissolved=0.07, merges=False)


@pytest.fixture
def small_is_large(monkeypatch):
    monkeypatch.setattr(large, "_LARGER_THAN", 1_000)
    monkeypatch.setattr(neighbours, "_FEW_RECORDS", 500)
    monkeypatch.setattr(region, "_FIRST_GROUPS", 500)
    monkeypatch.setattr(regions, "size_limit", lambda *_: 600)


def fast(k=5, **options):
    return Auto(k, **{"effort": "fast", "random_state": 0, **options})


def search(k=5, limits=NO_LIMITS, n_jobs=1, seed=0, records=X):
    return LargeSearch(records, k, limits, np.random.default_rng(seed), n_jobs)


def assert_sizes(labels, k):
    sizes = np.bincount(labels)
    assert k <= sizes.min() <= sizes.max() <= 2 * k - 1


def test_which_tables_are_large():
    assert [is_large(n, 5) for n in (50_000, 50_001)] == [False, True]
    assert [is_large(10**6, k) for k in (1, 2, 50, 51)] == [False, True, True, False]


@pytest.mark.usefixtures("small_is_large")
@pytest.mark.parametrize("effort", ["fast", pytest.param("balanced", marks=pytest.mark.slow)])
def test_any_number_of_threads_gives_the_same_groups(effort):
    one, two = (fast(effort=effort, n_jobs=jobs).fit(X) for jobs in (1, 2))
    assert one.labels_.tolist() == two.labels_.tolist()
    assert_sizes(one.labels_, 5)
    assert one.sse_ < 0.9 * MDAV(5).fit(X).sse_
    assert not one.timed_out_
    assert not one.interrupted_
    assert one.near_ is None  # its lists are not exact, so no bound may start from them


@pytest.mark.usefixtures("small_is_large")
def test_borders_leave_no_trace(monkeypatch):
    """Many small regions end close to a single one."""
    found = []
    for most in (300, len(X)):
        monkeypatch.setattr(regions, "size_limit", lambda *_, most=most: most)
        searching = search()
        searching.run(EFFORT)
        assert searching.error == pytest.approx(sse(X, searching.labels))
        found.append(searching.error)
    assert found[0] < 1.02 * found[1]


@pytest.mark.usefixtures("small_is_large")
def test_the_last_round_leaves_no_step_that_gains():
    searching = search()
    searching.run(EFFORT)
    before = searching.error
    searching.waiting[:] = True
    rows = np.arange(len(X))
    searching._one_round(EFFORT.without_trials(), searching.ordered_labels, [rows])
    assert searching.error > 0.999 * before


@pytest.mark.slow
@pytest.mark.usefixtures("small_is_large")
@pytest.mark.parametrize("k", [2, 3, 12])
def test_groups_hold_k_to_2k_minus_1_records(k):
    model = fast(k).fit(X)
    assert_sizes(model.labels_, k)
    assert model.sse_ < MDAV(k).fit(X).sse_


@pytest.mark.usefixtures("small_is_large")
@pytest.mark.parametrize(
    "records",
    [
        np.zeros((1_200, 2)),
        np.repeat(X[:300], 5, axis=0),
        np.round(X[:1_500], 1)[:, :2],
        np.c_[X[:1_500], np.full(1_500, 1e9)],
        np.random.default_rng(0).standard_cauchy((1_500, 3)) * 1e130,
        X[:1_500] * 1e-139,
    ],
    ids=["equal", "repeated", "rounded", "an offset", "huge", "tiny"],
)
def test_awkward_data(records):
    model = fast(3).fit(records)
    assert_sizes(model.labels_, 3)
    assert model.sse_ <= MDAV(3).fit(records).sse_ * (1 + 1e-9)


@pytest.mark.usefixtures("small_is_large")
def test_no_time_leaves_the_first_groups():
    model = fast(time_budget=0).fit(X)
    assert model.timed_out_
    assert_sizes(model.labels_, 5)
    assert not fast(time_budget=1000).fit(X).timed_out_


@pytest.mark.usefixtures("small_is_large")
def test_a_time_budget_is_shared_by_all_rounds():
    searching = search(limits=Limits(deadline=time.monotonic() + 1000))
    searching.run(EFFORT)
    assert searching.is_complete()
    assert not searching.running
    assert searching._progress() == (pytest.approx(searching.n_trials, abs=20), searching.n_trials)
    searching.ended = []
    for at_once, seconds in ((1, 100), (2, 200)):
        share = searching._seconds_for(len(X) // 2, at_once)
        assert share == pytest.approx(seconds, abs=9)


@pytest.mark.usefixtures("small_is_large")
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("reports", [1, 6])
def test_an_interrupt_ends_the_search_with_the_best_so_far(jobs, reports):
    heard = []

    def interrupt(task, done, total):
        heard.append(task)
        assert 0 <= done <= total
        if heard.count("searching") == reports:
            raise KeyboardInterrupt

    model = fast(n_jobs=jobs)
    with listening(interrupt):
        model.fit(X)
    assert model.interrupted_
    assert_sizes(model.labels_, 5)
    assert list(dict.fromkeys(heard)) == ["finding neighbours", "first groups", "searching"]
    first = region.groups_of_parts(X[region.boxes_order(X)], 5)
    assert model.sse_ <= sse(X[region.boxes_order(X)], first) * (1 + 1e-9)


@pytest.mark.usefixtures("small_is_large")
@pytest.mark.slow
def test_requirements_are_kept():
    codes = np.random.default_rng(0).integers(4, size=len(X))
    model = fast(3).fit(X, requirements=[GroupRule.distinct(codes, 3)])
    for group in range(model.n_groups_):
        members = model.labels_ == group
        assert members.sum() >= 3
        assert len(set(codes[members])) >= 3
    assert model.near_ is None


def test_a_region_elsewhere_gives_the_same_groups():
    """Groups of two regions, then regrouped across the border, as another process would."""
    halves = np.array_split(np.argsort(X[:, 0]), 2)
    found = [search_region(X[rows], 5, EFFORT, seed=1) for rows in halves]
    labels = join_parts(halves, found)
    assert_sizes(labels, 5)
    again = search_region(X, 5, EFFORT, seed=2, labels=labels)
    assert np.array_equal(again, search_region(X, 5, EFFORT, seed=2, labels=labels))
    assert_sizes(again, 5)
    assert sse(X, again) < 0.99 * sse(X, labels) < sse(X, MDAV(5).fit_predict(X))


def test_a_region_under_rules():
    codes = np.arange(600) % 3
    rule = GroupRule.distinct(codes, 2)
    effort = RegionEffort(1, rounds=1, dissolved=0.07, merges=False, growth=0.0)
    labels = search_region(X[:600], 3, effort, seed=1, rules=[rule])
    for group in range(labels.max() + 1):
        assert len(set(codes[labels == group])) >= 2
    assert np.bincount(labels).min() >= 3


@pytest.mark.parametrize("n", [600, len(X)])
@pytest.mark.parametrize("kind", ["ordered_closeness", "equal_closeness"])
def test_a_region_under_closeness(n, kind):
    """Codes go with the first axis, so that groups of near records are far from the whole."""
    codes = np.clip(np.round(X[:n, 0]), -2, 2).astype(int) + 2
    rule = getattr(GroupRule, kind)(codes, 0.25)
    effort = RegionEffort(1, rounds=1, dissolved=0.07, merges=False, growth=0.0)
    labels = search_region(X[:n], 3, effort, seed=1, rules=[rule])
    overall = np.bincount(codes, minlength=5) / n
    for group in range(labels.max() + 1):
        apart = np.bincount(codes[labels == group], minlength=5) / (labels == group).sum() - overall
        far = np.abs(apart.cumsum()).sum() / 4 if "ordered" in kind else np.abs(apart).sum() / 2
        assert far <= 0.25 + 1e-9
    assert np.bincount(labels).min() >= 3


@pytest.mark.parametrize("n_codes", [5, 4_001], ids=["ties", "all different"])
def test_parts_that_are_dealt_out_resemble_the_whole(n_codes):
    rng = np.random.default_rng(3)
    records, t = rng.normal(size=(4_001, 3)), 0.15
    codes = records[:, 0].argsort().argsort() * n_codes // len(records)
    rule = GroupRule.ordered_closeness(codes, t)
    labels = deal_out_parts(records, rule, 4, np.random.default_rng(1))
    assert np.bincount(labels).min() >= 4
    assert np.array_equal(labels, deal_out_parts(records, rule, 4, np.random.default_rng(1)))
    whole = deal_out(records, rule, 4)
    assert labels.max() == pytest.approx(whole.max(), rel=0.02)
    failing = [
        np.count_nonzero(failing_rules(pack([rule], 4, len(records)), own) > -2)
        for own in (labels, whole)
    ]
    assert failing[0] <= failing[1] + 0.02 * labels.max()
    assert sse(records, labels) < 1.25 * sse(records, whole)


@pytest.mark.parametrize(("n", "k", "n_groups"), [(7, 4, 1), (5, 1, 5), (8, 4, 2)])
def test_regions_too_small_to_search(n, k, n_groups):
    assert search_region(X[:n], k, EFFORT, seed=0).max() + 1 == n_groups


def test_close_lists_hold_one_of_several_equal_records(monkeypatch):
    monkeypatch.setattr(neighbours, "_FEW_RECORDS", 100)
    records = np.repeat(X[:400], 3, axis=0)
    close, near = close_lists(records, 10), near_lists(records, 10)
    assert np.mean([len(set(a) & set(b)) for a, b in zip(close // 3, near // 3)]) > 9.5
    assert (close != np.arange(1_200)[:, None]).all()


def test_equal_records_are_noticed():
    assert not may_have_equal_records(X)
    assert may_have_equal_records(np.vstack((X, X[1234])))
    assert may_have_equal_records(np.array([[0.0, 1.0], [-0.0, 1.0]]))


def test_efforts_cool_from_round_to_round():
    for effort in EFFORTS_FOR_LARGE.values():
        turns = [effort.turn(number).temperatures for number in range(effort.rounds)]
        assert turns[0][0] == effort.temperatures[0]
        assert turns[-1][1] == pytest.approx(effort.temperatures[1])
        assert all(a[1] == pytest.approx(b[0]) for a, b in pairwise(turns))
        assert effort.without_trials().trials(10**6, 5) == 0


def test_joined_parts_keep_their_groups():
    labels = join_parts([np.array([3, 0]), np.array([1, 2])], [np.array([1, 0]), np.array([0, 0])])
    assert summarise(np.zeros((4, 1)), labels).labels.tolist() == [0, 1, 1, 2]
