"""Many parts of a table at once: each as if it were alone, with one clock and one interrupt."""

import threading
import time
from typing import ClassVar

import numpy as np
import polars as pl
import pytest

from microagg.core import parallel
from microagg.core.errors import InterruptedSearchWarning
from microagg.core.progress import listening, report
from microagg.partitions import MDAV, Auto
from microagg.partitions.base import Partitioner
from microagg.release.parts import _Clock, fit_parts
from microagg.release.protect import protect
from tests.fakes import Faulty

X = np.random.default_rng(7).normal(size=(240, 3))
PARTS = [(X, np.arange(0, 40)), (X, np.arange(40, 200)), (X[:, :2], np.arange(200, 240))]


class Searching(Partitioner):
    """Builds groups and then searches until it is interrupted, or has no time."""

    # Part by its first value -> what it waits for before it has groups.
    waits: ClassVar[dict[float, threading.Event]] = {}

    def __init__(self, k=3, *, time_budget=None, n_jobs=-1):
        self.k = k
        self.time_budget = time_budget
        self.n_jobs = n_jobs

    def _group(self, X, k):  # noqa: ARG002
        report("first groups", 0, 1)
        self.interrupted_, self.timed_out_ = False, self.time_budget == 0
        if self.time_budget != 0 and (wait := self.waits.get(X[0, 0])):
            while not wait.is_set():
                report("first groups", 0, 1)
                time.sleep(0.001)
        try:
            while self.time_budget is None:
                report("searching", 1, 2)
                time.sleep(0.001)
        except KeyboardInterrupt:
            self.interrupted_ = True
        return np.zeros(len(X), dtype=np.intp)


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2, 5])
@pytest.mark.parametrize("method", [MDAV(3), Auto(3, effort="fast", random_state=4)])
def test_each_part_is_grouped_as_if_it_were_alone(method, n_jobs, monkeypatch):
    monkeypatch.setattr("microagg.release.parts.check_jobs", lambda _: n_jobs)
    alone = [method.fit_predict(matrix[rows]).tolist() for matrix, rows in PARTS]
    fitted = fit_parts(method, PARTS)
    assert [part.labels_.tolist() for part in fitted] == alone
    assert len({id(part) for part in fitted}) == 3


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_strata_get_the_same_groups_on_any_number_of_threads(n_jobs, monkeypatch):
    monkeypatch.setattr("microagg.release.parts.check_jobs", lambda _: n_jobs)
    table = pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(s=pl.Series(["x", "y", "z"] * 80))
    release = protect(
        table, 3, strata=["s"], blocks=[["a", "b"], ["c"]], effort="fast", random_state=1
    )
    for block, columns in enumerate([["a", "b"], ["c"]]):
        Z = table.select(columns).to_numpy()
        Z = (Z - Z.mean(axis=0)) / Z.std(axis=0, ddof=1)
        for stratum in range(3):
            own = release.labels[stratum::3, block]
            alone = Auto(3, effort="fast", random_state=1).fit_predict(Z[stratum::3])
            assert np.unique(own, return_inverse=True)[1].tolist() == alone.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress_is_that_of_all_parts(n_jobs):
    heard = []
    with listening(lambda *message: heard.append(message)):
        fit_parts(Auto(3, effort="fast", random_state=0, n_jobs=n_jobs), PARTS)
    assert {(task, total) for task, _, total in heard} == {("grouping", 240)}
    done = [done for _, done, _ in heard]
    assert done[-1] == 240
    assert len(set(done)) > 1


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_failure_is_raised(n_jobs, monkeypatch):
    monkeypatch.setattr("microagg.release.parts.check_jobs", lambda _: n_jobs)
    with pytest.raises(ValueError, match="no good"):
        fit_parts(Faulty(3), PARTS)


def interrupt_after(seconds):
    """Press Ctrl-C, once, at the first report after so long."""
    press_at, presses = time.monotonic() + seconds, []

    def listen(*_):
        if time.monotonic() >= press_at and not presses:
            presses.append(1)
            raise KeyboardInterrupt

    return listening(listen)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_an_interrupt_of_a_search_ends_all_parts_with_groups(n_jobs):
    with interrupt_after(0.3):
        fitted = fit_parts(Searching(3, n_jobs=n_jobs), PARTS)
    assert [len(part.labels_) for part in fitted] == [40, 160, 40]
    assert [part.interrupted_ for part in fitted] == [True] * 3
    assert [part.timed_out_ for part in fitted] == [False] * 3
    # Those that had not begun get no search.
    assert [part.time_budget == 0 for part in fitted].count(True) == 3 - n_jobs


def test_a_part_without_groups_gets_its_first_ones_after_an_interrupt(monkeypatch):
    monkeypatch.setattr(Searching, "waits", {X[40, 0]: threading.Event()})
    with interrupt_after(0.3):
        fitted = fit_parts(Searching(3, n_jobs=3), PARTS)
    assert [part.interrupted_ for part in fitted] == [True] * 3
    assert not any(part.timed_out_ for part in fitted)
    assert fitted[1].time_budget == 0


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_before_any_search_ends_everything(n_jobs, monkeypatch):
    waits = {matrix[rows[0], 0]: threading.Event() for matrix, rows in PARTS}
    monkeypatch.setattr(Searching, "waits", waits)
    with interrupt_after(0.3), pytest.raises(KeyboardInterrupt):
        fit_parts(Searching(3, n_jobs=n_jobs), PARTS)


def test_a_budget_that_runs_out_is_no_interrupt():
    fitted = fit_parts(Searching(3, time_budget=0.0), PARTS)
    assert [(part.interrupted_, part.timed_out_) for part in fitted] == [(False, True)] * 3


def test_an_interrupted_release_by_strata_keeps_k():
    table = pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(s=pl.Series(["x", "y", "z"] * 80))
    with (
        pytest.warns(InterruptedSearchWarning, match="best groups so far"),
        interrupt_after(0.5),
    ):
        release = protect(table, 3, strata=["s"], effort="best", random_state=1, bound="none")
    assert release.manifest.interrupted is True
    assert release.manifest.timed_out is False
    assert release.table.group_by("s", "a", "b", "c").len()["len"].min() >= 3


class TestClock:
    @pytest.fixture
    def now(self, monkeypatch):
        now = [1000.0]
        monkeypatch.setattr("microagg.release.parts.time.monotonic", lambda: now[0])
        return now

    def given(self, clock, place, n_records):
        estimator = Auto()
        clock.share(estimator, place, n_records)
        return estimator.time_budget

    def test_one_part_after_the_other_shares_by_records(self, now):
        clock = _Clock(Auto(time_budget=10.0), 100, at_once=1)
        assert self.given(clock, 0, 20) == pytest.approx(2.0)
        clock.end(0)
        now[0] += 1.0  # it took less
        assert self.given(clock, 1, 80) == pytest.approx(9.0)

    def test_parts_at_once_share_the_time_of_all_threads(self, now):
        clock = _Clock(Auto(time_budget=10.0), 100, at_once=2)
        assert self.given(clock, 0, 25) == pytest.approx(5.0)
        assert self.given(clock, 1, 25) == pytest.approx(5.0)
        now[0] += 5.0
        clock.end(0)
        assert self.given(clock, 2, 25) == pytest.approx(5.0)

    def test_none_gets_more_time_than_is_left(self, now):
        clock = _Clock(Auto(time_budget=10.0), 100, at_once=2)
        assert self.given(clock, 0, 90) == pytest.approx(10.0)
        now[0] += 20.0
        assert self.given(clock, 1, 10) == 0.0

    def test_no_budget_is_no_budget_until_it_stops(self):
        clock = _Clock(Auto(), 100, at_once=2)
        assert self.given(clock, 0, 50) is None
        clock.stop()
        assert self.given(clock, 1, 50) == 0.0


def test_parts_at_once_get_one_thread_each(monkeypatch):
    seen = []

    def group(_, X, k):  # noqa: ARG001
        seen.append(parallel.threads_available(2))
        return np.zeros(len(X), dtype=np.intp)

    monkeypatch.setattr(Searching, "_group", group)
    fit_parts(Searching(3, n_jobs=2), PARTS[:1] * 8)
    assert seen[0] == 1
