"""Parallel work on threads: kernels release the interpreter's lock while they run."""

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from itertools import islice
from threading import Event, Lock
from typing import Generic, TypeVar

from microagg.core.progress import current_listener, listening, report

Item = TypeVar("Item")
Result = TypeVar("Result")


# On some systems, waiting without a timeout ignores Ctrl-C.
_PATIENCE_SECONDS = 0.2


class StoppedError(BaseException):
    """Stops work that is no longer needed; not an Exception, so that no handler catches it."""


# Done and total.
Progress = tuple[int, int]


def _never() -> bool:
    return False


def side_by_side(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    n_jobs: int,
    task: str,
    enough: Callable[[], bool] = _never,
    progress: Callable[[], Progress] | None = None,
) -> list[Result]:
    """Return `[function(item) for item in items]`, computed by `n_jobs` threads.

    Once `enough()` is true, no further item is started; the results are those of the items before.

    Reports how many items of `task` are done, or what `progress` returns if items take long;
    reports of the work itself are not passed on. If an item fails or the run is interrupted, the
    others stop at their next report, and the error is raised.

    >>> side_by_side(abs, [-1, 2, -3], n_jobs=2, task="counting")
    [1, 2, 3]
    """
    if n_jobs == 1 or len(items) <= 1:
        return _one_by_one(function, items, task, enough, progress)
    stopped = Event()

    def stop_if_asked(*_: object) -> None:
        if stopped.is_set():
            raise StoppedError

    def work(item: Item) -> Result:
        with listening(stop_if_asked):
            return function(item)

    futures: list[Future[Result]] = []

    def begin(item: Item) -> Future[Result]:
        futures.append(pool.submit(work, item))
        return futures[-1]

    with ThreadPoolExecutor(n_jobs) as pool:
        try:
            n_ended = 0
            for ended in _as_they_end(map(begin, items), 2 * n_jobs, enough):
                for future in ended:
                    future.result()
                    n_ended += 1
                    if progress is None:
                        report(task, n_ended, len(items))
                if progress is not None:
                    report(task, *progress())
        except BaseException:
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [future.result() for future in futures]


def _as_they_end(
    futures: Iterator[Future[Result]], at_once: int, enough: Callable[[], bool]
) -> Iterator[set[Future[Result]]]:
    """Start only as many futures at a time as the threads need; there may be a million.

    Yields those that ended, every fraction of a second.
    """
    pending: set[Future[Result]] = set()
    while True:
        if not enough():
            pending.update(islice(futures, at_once - len(pending)))
        if not pending:
            return
        ended, pending = wait(pending, _PATIENCE_SECONDS, FIRST_COMPLETED)
        yield ended


def _one_by_one(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    task: str,
    enough: Callable[[], bool],
    progress: Callable[[], Progress] | None,
) -> list[Result]:
    results: list[Result] = []
    outer = current_listener()

    def pass_on(*_: object) -> None:
        if outer is not None:  # it may want to stop the work
            outer(task, *(progress() if progress else (len(results), len(items))))

    for item in items:
        if enough():
            break
        with listening(pass_on):
            results.append(function(item))
        pass_on()
    return results


class Best(Generic[Result]):
    """The best of many results that arrive from several threads in any order.

    Ties go to the lowest place, so that the result does not depend on timing.

    >>> best = Best()
    >>> for place, error, name in [(2, 5.0, "c"), (1, 5.0, "b"), (0, 7.0, "a")]:
    ...     best.offer(error, place, name)
    >>> best.result
    'b'
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._rank = (math.inf, 0)
        self._results: list[Result] = []

    def offer(self, error: float, place: int, result: Result) -> None:
        """Keep `result` if its error is the least so far."""
        with self._lock:
            if not self._results or (error, place) < self._rank:
                self._rank, self._results = (error, place), [result]

    @property
    def result(self) -> Result:
        """The best result offered so far."""
        return self._results[0]


class _OneThreadEach:
    """Keeps process-wide settings while at least one block needs them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._blocks = 0
        self._settings = ExitStack()

    def enter(self) -> None:
        from sklearn.exceptions import ConvergenceWarning
        from threadpoolctl import threadpool_limits

        with self._lock:
            if self._blocks == 0:
                self._settings.enter_context(threadpool_limits(limits=1, user_api="blas"))
                self._settings.enter_context(warnings.catch_warnings())
                warnings.simplefilter("ignore", ConvergenceWarning)
            self._blocks += 1

    def leave(self) -> None:
        with self._lock:
            self._blocks -= 1
            if self._blocks == 0:
                self._settings.close()


_one_thread_each = _OneThreadEach()


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Keep linear algebra inside this block on one thread, and scikit-learn from starting its own.

    Then no sum depends on how threads share it. The number of threads for linear algebra and the
    warning filters belong to the whole process: overlapping blocks share one setting, and the last
    to end restores the previous one. Warnings about empty clusters are silenced.
    """
    _one_thread_each.enter()
    try:
        yield
    finally:
        _one_thread_each.leave()
