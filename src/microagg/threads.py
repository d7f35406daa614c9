"""Work on threads, side by side: kernels release the interpreter's lock while they run."""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from threading import Event
from typing import TypeVar

from microagg.progress import current_listener, listening, report

Item = TypeVar("Item")
Result = TypeVar("Result")


# Waiting without an end is deaf to the keyboard on some systems.
_PATIENCE_SECONDS = 0.2


class StoppedError(BaseException):
    """Ends work that is no longer wanted, from inside; no handler takes it for its own failure."""


def side_by_side(
    function: Callable[[Item], Result], items: Sequence[Item], *, n_jobs: int, task: str
) -> list[Result]:
    """Return `[function(item) for item in items]`, worked out by `n_jobs` threads.

    Reports how many items of `task` are done; what the work itself reports is not passed on. When
    one item fails or the run is interrupted, the others end at their next report, and the failure
    is raised.

    >>> side_by_side(abs, [-1, 2, -3], n_jobs=2, task="counting")
    [1, 2, 3]
    """
    if n_jobs == 1 or len(items) == 1:
        return _one_by_one(function, items, task)
    stopped = Event()

    def stop_if_asked(*_: object) -> None:
        if stopped.is_set():
            raise StoppedError

    def work(item: Item) -> Result:
        with listening(stop_if_asked):
            return function(item)

    with ThreadPoolExecutor(n_jobs) as pool:
        try:
            futures = [pool.submit(work, item) for item in items]
            pending, done = set(futures), 0
            while pending:
                ended, pending = wait(pending, _PATIENCE_SECONDS, FIRST_COMPLETED)
                for future in ended:
                    future.result()
                    done += 1
                    report(task, done, len(items))
        except BaseException:
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [future.result() for future in futures]


def _one_by_one(
    function: Callable[[Item], Result], items: Sequence[Item], task: str
) -> list[Result]:
    results: list[Result] = []
    outer = current_listener()

    def pass_on(*_: object) -> None:
        if outer is not None:  # it may want to stop the work
            outer(task, len(results), len(items))

    for item in items:
        with listening(pass_on):
            results.append(function(item))
        report(task, len(results), len(items))
    return results
