"""Work side by side: in order, with progress, and it stops when it should."""

import pickle
import threading
import time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial

import numpy as np
import polars as pl
import pytest

from microagg.core.parallel import (
    as_completed,
    executing_on,
    side_by_side,
    threads_available,
)
from microagg.core.progress import listening, report
from microagg.measures.risk.informed import informed
from microagg.measures.risk.linkage import distance_linkage
from microagg.measures.risk.probabilistic import probabilistic
from microagg.partitions import ICSM
from microagg.partitions import auto as auto_module
from microagg.tables.matching import open_pair


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_results_come_in_order_and_progress_is_told(n_jobs):
    heard = []
    with listening(lambda *message: heard.append(message)):
        squares = side_by_side(lambda x: x * x, range(20), n_jobs=n_jobs, task="squaring")
    assert squares == [x * x for x in range(20)]
    assert heard == [("squaring", done, 20) for done in range(1, 21)]


def test_two_threads_work_at_the_same_time():
    meet = threading.Barrier(2, timeout=10)
    places = side_by_side(lambda _: meet.wait(), [0, 1], n_jobs=2, task="meeting")
    assert sorted(places) == [0, 1]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_one_failure_ends_the_others_at_their_next_report(n_jobs):
    def work(item):
        if item == 0:
            raise ValueError("no")
        while True:
            report("waiting", 0, 1)

    with pytest.raises(ValueError, match="no"):
        side_by_side(work, [0, 1, 2, 3], n_jobs=n_jobs, task="work")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_in_the_listener_ends_the_work(n_jobs):
    def stop(*_):
        raise KeyboardInterrupt

    def work(item):
        while item:
            report("waiting", 0, 1)

    with listening(stop), pytest.raises(KeyboardInterrupt):
        side_by_side(work, [0, 1, 2], n_jobs=n_jobs, task="work")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_nothing_is_begun_once_it_is_enough(n_jobs):
    done = []
    results = side_by_side(
        lambda item: done.append(item) or item,
        range(1_000_000),
        n_jobs=n_jobs,
        task="work",
        enough=lambda: len(done) >= 10,
    )
    assert results == list(range(len(results)))
    assert 10 <= len(results) == len(done) <= 10 + 2 * n_jobs


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_items_that_take_long_tell_their_progress_in_between(n_jobs):
    steps, heard = [], []
    told = threading.Event()

    def hear(*message):
        heard.append(message)
        if 0 < message[1] < 8:
            told.set()

    def work(item):
        for step in range(4):
            steps.append(item)
            report("step", 0, 1)
            if (item, step) == (1, 2):
                assert told.wait(10)  # no last step before somebody heard of the others
        return item

    with listening(hear):
        results = side_by_side(
            work, [0, 1], n_jobs=n_jobs, task="work", progress=lambda: (len(steps), 8)
        )
    assert results == [0, 1]
    assert heard[-1] == ("work", 8, 8)


def test_results_come_as_they_are_finished():
    others = threading.Event()

    def work(item):
        assert item or others.wait(10)
        return item * item

    outcomes = as_completed(work, range(4), n_jobs=2, task="work")
    assert sorted(next(outcomes) for _ in range(3)) == [(1, 1), (2, 4), (3, 9)]
    others.set()
    assert list(outcomes) == [(0, 0)]


def test_whoever_has_enough_of_the_results_ends_the_rest():
    began, ended = threading.Event(), threading.Event()

    def work(item):
        if item == 0:
            assert began.wait(10)
            return
        began.set()
        try:
            while True:
                report("waiting", 0, 1)
        finally:
            ended.set()

    outcomes = as_completed(work, range(2), n_jobs=2, task="work")
    assert next(outcomes) == (0, None)
    outcomes.close()
    assert ended.is_set()


class TestWithinATask:
    def test_threads_are_shared_among_the_tasks(self):
        assert threads_available(8) == 8
        meet = threading.Barrier(2, timeout=10)

        def ask(_):
            meet.wait()
            count = threads_available(8)
            meet.wait()  # nobody has ended yet
            return count

        assert side_by_side(ask, range(2), n_jobs=2, task="asking") == [1, 1]
        assert side_by_side(ask, range(2), n_jobs=5, task="asking") == [2, 2]

    def test_who_is_left_gets_the_threads_of_the_others(self):
        def ask(item):
            deadline = time.monotonic() + 10
            while item and threads_available(8) < 4 and time.monotonic() < deadline:
                time.sleep(0.01)
            return threads_available(8) if item else 0

        assert side_by_side(ask, range(2), n_jobs=4, task="asking") == [0, 4]

    @pytest.mark.parametrize("n_jobs", [1, 2, 7])
    def test_work_side_by_side_comes_to_an_end(self, n_jobs):
        def row(i):
            return side_by_side(lambda j: 10 * i + j, range(3), n_jobs=n_jobs, task="inner")

        expected = [[0, 1, 2], [10, 11, 12], [20, 21, 22], [30, 31, 32]]
        assert side_by_side(row, range(4), n_jobs=n_jobs, task="outer") == expected
        with ThreadPoolExecutor(1) as pool, executing_on(pool, 1):  # one thread for all
            assert side_by_side(row, range(4), n_jobs=n_jobs, task="outer") == expected

    def test_a_failure_elsewhere_ends_inner_work(self):
        began = threading.Event()

        def wait_for_ever(_):
            began.set()
            while True:
                report("waiting", 0, 1)
                time.sleep(0.001)

        def work(item):
            if item == 0:
                assert began.wait(10)
                raise ValueError("no")
            side_by_side(wait_for_ever, range(2), n_jobs=2, task="inner")

        with pytest.raises(ValueError, match="no"):
            side_by_side(work, range(2), n_jobs=4, task="outer")


def test_the_first_interrupt_may_be_left_to_the_caller():
    interrupted = threading.Event()
    presses = []

    def listen(*_):
        if not presses:
            presses.append(1)
            raise KeyboardInterrupt

    def work(item):
        while item and not interrupted.is_set():
            report("waiting", 0, 1)
            time.sleep(0.001)
        return item

    def run():
        given = {"n_jobs": 2, "task": "work", "on_interrupt": interrupted.set}
        return dict(as_completed(work, range(3), **given))

    with listening(listen):
        assert run() == {0: 0, 1: 1, 2: 2}
    interrupted.clear()
    presses.clear()
    with listening(listen), pytest.raises(KeyboardInterrupt):
        dict(as_completed(work, range(3), n_jobs=2, task="work"))


class Pickling:
    """Runs nothing that a process, or another machine, could not be sent."""

    def __init__(self):
        self.n_tasks = 0

    def submit(self, fn, /, *args):
        self.n_tasks += 1
        future = Future()
        try:
            function, given = pickle.loads(pickle.dumps((fn, args)))
            future.set_result(pickle.loads(pickle.dumps(function(*given))))
        except Exception as error:
            future.set_exception(error)
        return future


def shift(by, item):
    if item < 0:
        raise ValueError("below zero")
    return item + by, threads_available(8)


class TestAnotherExecutor:
    def test_processes_do_the_work(self):
        heard = []
        with ProcessPoolExecutor(1) as pool, executing_on(pool, 1):
            with listening(lambda *message: heard.append(message)):
                assert side_by_side(partial(shift, 5), range(3), n_jobs=1, task="work") == [
                    (5, 1),
                    (6, 1),
                    (7, 1),
                ]
            with pytest.raises(ValueError, match="below zero"):
                side_by_side(partial(shift, 5), [1, -1], n_jobs=1, task="work")
        assert heard == [("work", done, 3) for done in (1, 2, 3)]

    def test_tasks_that_share_memory_stay_on_threads(self):
        elsewhere, seen = Pickling(), []
        with executing_on(elsewhere, 1):
            side_by_side(seen.append, range(3), n_jobs=2, task="work", needs_threads=True)
        assert sorted(seen) == [0, 1, 2]
        assert elsewhere.n_tasks == 0

    @pytest.mark.parametrize("what", ["icsm", "first groups", "linkage", "likely", "runs"])
    def test_pure_tasks_give_the_same_wherever_they_run(self, what, monkeypatch):
        monkeypatch.setattr(auto_module, "LARGEST_TOUR", 10)
        monkeypatch.setattr(auto_module, "_LARGEST_MDAV", 50)
        X = np.random.default_rng(3).normal(size=(150, 3)).round(2)
        before = pl.DataFrame(X, schema=["a", "b", "c"])
        pair = open_pair(before, before.with_columns(pl.all().round(0)))

        def work():
            if what == "icsm":
                model = ICSM(3, n_restarts=4, random_state=1).fit(X)
                return model.labels_.tolist(), model.n_iterations_
            if what == "first groups":
                return auto_module.first_groups(X, 3, np.random.default_rng(0), 2, None).tolist()
            if what == "linkage":
                return distance_linkage(pair)
            if what == "likely":
                return probabilistic(pair)
            return informed(pair)

        expected, elsewhere = work(), Pickling()
        with executing_on(elsewhere, 2):
            assert work() == expected
        assert elsewhere.n_tasks > 0
