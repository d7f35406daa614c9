"""Work on threads: in order, with progress, and it stops when it should."""

import threading

import pytest

from microagg.core.parallel import side_by_side
from microagg.core.progress import listening, report


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
