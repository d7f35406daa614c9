"""The default method: as good as can be found, the same every time, and stoppable at any time."""

import time

import numpy as np
import pytest

from microagg.core.errors import ParameterError
from microagg.core.progress import listening
from microagg.partitions import MDAV, Univariate
from microagg.partitions.auto import EFFORTS, Auto
from microagg.partitions.search import recombining, regions
from microagg.partitions.search.exchanging import Limits
from microagg.partitions.search.improving import Improving
from microagg.partitions.search.recombining import recombine
from microagg.partitions.search.regions import split_into_regions
from tests.references import best_partition, sse

X = np.random.default_rng(5).normal(size=(150, 3))


def fast(k, **options):
    return Auto(k, **{"effort": "fast", "random_state": 0, **options})


@pytest.mark.parametrize(
    "values",
    [
        np.zeros((40, 3)),
        np.repeat(np.arange(8.0), 5)[:, None] * [1.0, -1.0, 0.5],
        np.tile([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], (20, 1)),
        np.c_[np.arange(40.0), np.full(40, 7.0), np.full(40, -1e9)],
        np.random.default_rng(0).standard_cauchy((41, 3)) * 1e130,
        np.random.default_rng(0).normal(size=(41, 3)) * 1e-139,
    ],
    ids=["equal", "repeated", "two points", "constant columns", "huge", "tiny"],
)
@pytest.mark.parametrize("effort", ["fast", "balanced"])
@pytest.mark.slow
def test_awkward_data(values, effort):
    model = Auto(3, effort=effort, random_state=0).fit(values)
    assert np.bincount(model.labels_).min() >= 3
    assert model.sse_ <= MDAV(3).fit(values).sse_ * (1 + 1e-9)


@pytest.mark.slow
def test_tiny_tables_end_at_the_optimum():
    for seed in range(6):
        records = np.random.default_rng(seed).normal(size=(9, 2))
        assert fast(2, random_state=seed).fit(records).sse_ == pytest.approx(
            best_partition(records, 2), rel=1e-9
        )


def test_one_column_is_grouped_optimally():
    column = X[:, :1]
    assert fast(4).fit(column).sse_ == Univariate(4).fit(column).sse_


def test_more_effort_finds_more():
    records = np.random.default_rng(2).normal(size=(100, 4))
    hurried = fast(3, time_budget=0).fit(records).sse_
    few, many = (
        Auto(3, effort=effort, random_state=0).fit(records).sse_ for effort in ("fast", "balanced")
    )
    assert MDAV(3).fit(records).sse_ >= hurried > few > many


@pytest.mark.parametrize("effort", ["fast", "balanced"])
@pytest.mark.slow
def test_the_same_groups_on_any_number_of_threads(effort, monkeypatch):
    records = X[:40]
    for most in (5000, 30):  # one region, several
        monkeypatch.setattr(regions, "size_limit", lambda *_, most=most: most)
        one, two = (
            Auto(3, effort=effort, random_state=7, n_jobs=jobs).fit_predict(records)
            for jobs in (1, 2)
        )
        assert one.tolist() == two.tolist()


def test_regions_hold_all_groups_once_and_not_too_many_records():
    rng = np.random.default_rng(0)
    sizes = rng.integers(3, 6, 400)
    parts = split_into_regions(rng.normal(size=(400, 2)), sizes, rng, most=300)
    assert sorted(np.concatenate(parts)) == list(range(400))
    held = [sizes[part].sum() for part in parts]
    assert max(held) <= 300
    assert min(held) > 100


def test_large_tables_are_improved_region_by_region():
    records = np.random.default_rng(1).normal(size=(6_000, 2))
    model = fast(5).fit(records)
    assert model.sse_ < 0.97 * MDAV(5).fit(records).sse_
    assert np.bincount(model.labels_).min() >= 5


def test_the_time_ends_the_search_with_valid_groups():
    model = Auto(3, effort="best", time_budget=0, random_state=0).fit(X)
    assert model.sse_ <= MDAV(3).fit(X).sse_
    assert model.timed_out_
    assert not model.interrupted_
    assert np.bincount(model.labels_).min() >= 3
    assert not Auto(3, effort="fast", time_budget=1000, random_state=0).fit(X).timed_out_


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_ends_the_search_with_the_best_so_far(jobs):
    heard = []

    def interrupt(task, done, total):
        heard.append((task, done, total))
        if task == "searching":
            raise KeyboardInterrupt

    model = Auto(3, effort="balanced", random_state=0, n_jobs=jobs)
    with listening(interrupt):
        model.fit(X)
    assert model.interrupted_
    assert np.bincount(model.labels_).min() >= 3
    assert model.sse_ < MDAV(3).fit(X).sse_


def test_recombining_takes_the_best_of_all():
    rng = np.random.default_rng(0)
    for _ in range(5):
        records = rng.normal(size=(24, 2))
        partitions = [rng.permutation(np.repeat(np.arange(3), 4)) for _ in range(6)]
        whole = [np.r_[a, b + 3] for a, b in zip(partitions, reversed(partitions))]
        best = min(sse(records[:12], a) for a in partitions)
        best += min(sse(records[12:], b) for b in partitions)
        assert sse(records, recombine(records, whole)) == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("parameters", [(0, 1e-9), (10**6, 1.0)])
def test_recombining_many_groups_looks_first_whether_it_can_gain(monkeypatch, parameters):
    """By a relaxation, which does not keep it from what gains more than the share asked for."""
    monkeypatch.setattr(recombining, "_MANY_GROUPS", parameters[0])
    monkeypatch.setattr(recombining, "_WORTHWHILE", parameters[1])
    test_recombining_takes_the_best_of_all()


def test_recombining_many_groups_is_not_worth_a_gain_that_is_too_small(monkeypatch):
    records = np.array([[0.0], [0.1], [5.0], [5.1], [9.0], [9.1], [20.0], [20.1]])
    halves = [np.array([0, 0, 1, 1, 2, 3, 2, 3]), np.array([0, 1, 0, 1, 2, 2, 3, 3])]
    best = min(halves, key=lambda labels: sse(records, labels))
    assert sse(records, recombine(records, halves)) < sse(records, best)
    monkeypatch.setattr(recombining, "_MANY_GROUPS", 0)
    monkeypatch.setattr(recombining, "_WORTHWHILE", 1.0)
    assert recombine(records, halves).tolist() == best.tolist()


def test_recombining_one_partition_gives_it_back():
    labels = MDAV(3).fit_predict(X)
    assert recombine(X, [labels, labels]).tolist() == labels.tolist()


def test_recombining_lets_equal_records_stand_for_each_other():
    """Rows 0 and 1 are equal, so that {0, 2} of the first goes with {0, 3} of the second."""
    records = np.array([[5.0], [5.0], [4.9], [5.05], [20.0], [21.0]])
    pool = [[0, 1, 0, 2, 1, 2], [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 2, 2]]
    labels = recombine(records, [np.array(labels) for labels in pool])
    assert np.bincount(labels).tolist() == [2, 2, 2]
    assert sse(records, labels) == pytest.approx(0.005 + 0.00125 + 0.5)


def test_recombining_many_equal_records():
    """A group of three equal ones is used as often as there are records for it."""
    records = np.repeat([[0.0], [1.0]], 9, axis=0)
    mixed = np.array([0, 0, 1, 1, 1, 2, 3, 4, 5, 0, 3, 3, 2, 2, 4, 4, 5, 5])
    split = np.array([0, 1, 2, 3, 3, 3, 0, 1, 2, 0, 1, 2, 4, 5, 4, 5, 4, 5])
    labels = recombine(records, [mixed, split])
    assert np.bincount(labels).tolist() == [3] * 6
    assert sse(records, labels) == 0.0


@pytest.mark.parametrize(
    ("option", "value"),
    [("effort", "much"), ("time_budget", -1), ("random_state", -1), ("n_jobs", 0)],
)
def test_options_out_of_range(option, value):
    with pytest.raises(ParameterError, match=f"{option} must be"):
        Auto(3, **{option: value}).fit(X)


@pytest.mark.parametrize("name", ["census", "eia", "tarragona"])
@pytest.mark.parametrize("k", [3, 10])
@pytest.mark.slow
def test_fast_is_below_mdav_on_the_benchmark_tables(standardised, name, k):
    records = standardised(name)
    assert fast(k).fit(records).sse_ < 0.98 * MDAV(k).fit(records).sse_


def test_a_time_budget_is_shared_by_all_regions(monkeypatch):
    monkeypatch.setattr(regions, "size_limit", lambda *_: 30)
    limits = Limits(deadline=time.monotonic() + 1000)
    rng = np.random.default_rng(0)
    improving = Improving(X, MDAV(3).fit_predict(X), 3, limits, rng, 1)
    improving.run(EFFORTS["fast"])
    assert not improving.running
    assert improving.n_made == improving._progress()[0] > 0.9 * improving.n_trials
    assert improving.is_complete()
    improving.ended = [improving.n_trials // 2]
    for at_once, seconds in ((1, 250), (2, 500)):
        share = improving._seconds_for(improving.n_trials // 8, at_once)
        assert share == pytest.approx(seconds, abs=9)


def test_values_that_hardly_differ_beside_others_come_to_an_end():
    column = np.full(35, -0.6894780314478497)
    column[[11, 15, 17, 19, 20, 22, 32, 34]] = -0.6894780015985968
    column[[2, 5, 8, 13, 16, 21, 23, 25, 26, 30, 31]] = 1.4089333439527447
    records = np.column_stack((column, np.zeros((35, 3))))
    for seed in range(3):
        labels = Auto(k=2, effort="fast", random_state=seed).fit(records).labels_
        assert np.bincount(labels).min() >= 2
