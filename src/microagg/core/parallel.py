"""Parallel work, behind an interface like that of `concurrent.futures.Executor`.

Tasks are pure functions of an item: they do not depend on each other and give the same bytes
wherever they run. By default they run on threads, as kernels release the interpreter's lock.
Within `executing_on` they go to another executor: processes, or the workers of a Dask client. Tasks
that write to shared memory set `needs_threads` and stay on threads of this process.
"""

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from threading import Event, Lock
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from microagg.core.progress import current_listener, listening, report

Item = TypeVar("Item")
Result = TypeVar("Result")


# On some systems a wait without a timeout ignores Ctrl-C.
_SECONDS_PER_WAIT = 0.2


class StoppedError(BaseException):
    """Ends a task whose result is no longer wanted; no `except Exception` may catch it."""


# How much is done, of how much in total.
Progress = tuple[int, int]


class Executor(Protocol):
    """Anything that runs a function elsewhere and returns a future of its result.

    For example `ThreadPoolExecutor`, `ProcessPoolExecutor` or `get_executor()` of a Dask client.
    """

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> "Future[Any]":
        """Begin `fn(*args)`."""


class _Workers(NamedTuple):
    executor: Executor
    n_workers: int
    watch: Callable[[], None] | None


_workers: ContextVar[_Workers | None] = ContextVar("microagg_workers", default=None)


@contextmanager
def executing_on(
    executor: Executor, n_workers: int, watch: Callable[[], None] | None = None
) -> Iterator[None]:
    """Run the pure tasks started in this block on `executor`, which has `n_workers`.

    The executor must be able to send tasks, items and results: processes and other machines need
    them pickled. Parallel work within such a task runs on its own thread. `watch` is called often
    while tasks are running, and may raise if they cannot be finished.

    >>> with ThreadPoolExecutor(2) as pool, executing_on(pool, 2):
    ...     side_by_side(abs, [-1, 2, -3], n_jobs=1, task="counting")
    [1, 2, 3]
    """
    token = _workers.set(_Workers(executor, n_workers, watch))
    try:
        yield
    finally:
        _workers.reset(token)


class _ThreadShare:
    """The threads that the tasks of one call share, and whether they are to stop."""

    def __init__(self, n_threads: int, n_tasks: int) -> None:
        self.n_threads = n_threads
        self.n_left = n_tasks  # tasks that are not finished
        self.outer = _thread_share.get()
        self._stopped = Event()

    def share(self) -> int:
        """How many threads each remaining task may use."""
        return max(1, self.n_threads // max(1, self.n_left))

    def stop(self) -> None:
        """End the tasks, and those that they started, at their next report."""
        self._stopped.set()

    def stop_if_asked(self, *_: object) -> None:
        """Raise if this call, or one around it, is to stop."""
        if self._stopped.is_set():
            raise StoppedError
        if self.outer is not None:
            self.outer.stop_if_asked()

    def run(self, function: Callable[[Item], Result], item: Item) -> Result:
        """Run one task on one of the threads."""
        with _inside(self), listening(self.stop_if_asked):
            return function(item)


_thread_share: ContextVar[_ThreadShare | None] = ContextVar("microagg_thread_share", default=None)


@contextmanager
def _inside(shared: _ThreadShare) -> Iterator[None]:
    """Let work started in this block use no more than its share of these threads."""
    share_token, workers_token = _thread_share.set(shared), _workers.set(None)
    try:
        yield
    finally:
        _workers.reset(workers_token)
        _thread_share.reset(share_token)


def _run_elsewhere(function: Callable[[Item], Result], item: Item) -> Result:
    """Run one task on one thread, where its reports are not heard and nothing can stop it."""
    return _ThreadShare(1, 1).run(function, item)


def threads_available(n_jobs: int) -> int:
    """How many of `n_jobs` threads may be used here: within a task, its share of them.

    >>> threads_available(8), side_by_side(threads_available, [8] * 3, n_jobs=1, task="asking")
    (8, [8, 8, 8])
    """
    shared = _thread_share.get()
    return n_jobs if shared is None else min(n_jobs, shared.share())


def never() -> bool:
    """Return False: there is no limit."""
    return False


def side_by_side(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    n_jobs: int,
    task: str,
    enough: Callable[[], bool] = never,
    progress: Callable[[], Progress] | None = None,
    needs_threads: bool = False,
) -> list[Result]:
    """Return `[function(item) for item in items]`, computed in parallel by up to `n_jobs` threads.

    Once `enough` returns True, no further item is started, and the results of those started are
    returned. See `as_completed` for the other parameters.

    >>> side_by_side(abs, [-1, 2, -3], n_jobs=2, task="counting")
    [1, 2, 3]
    """
    results = dict(
        as_completed(
            function,
            items,
            n_jobs=n_jobs,
            task=task,
            enough=enough,
            progress=progress,
            needs_threads=needs_threads,
        )
    )
    return [results[place] for place in sorted(results)]


def as_completed(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    n_jobs: int,
    task: str,
    enough: Callable[[], bool] = never,
    progress: Callable[[], Progress] | None = None,
    needs_threads: bool = False,
    on_interrupt: Callable[[], None] | None = None,
) -> Iterator[tuple[int, Result]]:
    """Yield the index of each item and its result, as they are finished.

    So the best or the sum of many results can be found without storing them all.

    Reports how many items of `task` are done, or what `progress` returns if items take long;
    reports by the tasks themselves are not passed on. When a task fails or the run is interrupted,
    the other tasks end at their next report, and the failure is raised. A task may itself work in
    parallel: the threads are shared among the remaining tasks.

    Parameters
    ----------
    function : called with one item at a time
    n_jobs : threads; another executor (`executing_on`) has its own number of workers
    enough : once it returns True, no further item is started
    needs_threads : the tasks share memory, so no other executor may run them
    on_interrupt : called at the first Ctrl-C instead of ending the tasks, unless there is only one
        thread: then the interrupt is raised within the task
    """
    run = _Run(function, items, task, enough, progress, on_interrupt)
    workers = None if needs_threads else _workers.get()
    if workers is not None:
        shared = _ThreadShare(1, len(items))
        yield from run.on(workers.executor, 2 * workers.n_workers, shared, workers.watch)
        return
    n_threads = threads_available(n_jobs)
    if min(n_threads, len(items)) <= 1:
        yield from run.one_by_one()
        return
    with ThreadPoolExecutor(min(n_threads, len(items))) as pool:
        yield from run.on(pool, 2 * n_threads, _ThreadShare(n_threads, len(items)))


@dataclass(frozen=True)
class _Run(Generic[Item, Result]):
    """One call of `as_completed`."""

    function: Callable[[Item], Result]
    items: Sequence[Item]
    task: str
    enough: Callable[[], bool]
    progress: Callable[[], Progress] | None
    on_interrupt: Callable[[], None] | None

    def one_by_one(self) -> Iterator[tuple[int, Result]]:
        """Work on the items in this thread."""
        outer, done = current_listener(), 0

        def pass_on(*_: object) -> None:
            if outer is not None:  # it may want to stop the work
                outer(self.task, *self._progress(done))

        for place, item in enumerate(self.items):
            if self.enough():
                break
            with listening(pass_on):
                result = self.function(item)
            done += 1
            yield place, result
            pass_on()

    def on(
        self,
        executor: Executor,
        at_once: int,
        shared: _ThreadShare,
        watch: Callable[[], None] | None = None,
    ) -> Iterator[tuple[int, Result]]:
        """Work on the items there; of perhaps a million, only a few are submitted at a time."""
        on_threads = isinstance(executor, ThreadPoolExecutor)
        work = shared.run if on_threads else _run_elsewhere
        to_start = enumerate(self.items)
        pending: dict[Future[Result], int] = {}
        on_interrupt = self.on_interrupt
        try:
            while True:
                try:
                    if not self.enough():
                        for place, item in islice(to_start, at_once - len(pending)):
                            pending[executor.submit(work, self.function, item)] = place
                    if not pending:
                        return
                    yield from self._finished(pending, shared)
                    if watch is not None:
                        watch()
                except KeyboardInterrupt:
                    if on_interrupt is None:
                        raise
                    on_interrupt()
                    on_interrupt = None  # the next one ends it
        finally:
            shared.stop()
            running = [future for future in pending if not future.cancel()]
            if on_threads:  # they end at their next report
                wait(running)

    def _finished(
        self, pending: dict["Future[Result]", int], shared: _ThreadShare
    ) -> Iterator[tuple[int, Result]]:
        """Wait a moment and yield what is finished, in the order of the items."""
        wait(pending, _SECONDS_PER_WAIT, FIRST_COMPLETED)
        shared.stop_if_asked()
        for future in [future for future in pending if future.done()]:
            place = pending.pop(future)
            shared.n_left -= 1
            yield place, future.result()
            if self.progress is None:
                report(self.task, *self._progress(len(self.items) - shared.n_left))
        if self.progress is not None:
            report(self.task, *self.progress())

    def _progress(self, n_done: int) -> Progress:
        return (n_done, len(self.items)) if self.progress is None else self.progress()


class Best(Generic[Result]):
    """The best of many results, which may come from several threads and in any order.

    Of equally good ones, the one with the lowest index wins, whichever thread is first.

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
        """Keep `result` if its error is the lowest so far."""
        with self._lock:
            if not self._results or (error, place) < self._rank:
                self._rank, self._results = (error, place), [result]

    @property
    def error(self) -> float:
        """The error of the best result."""
        return self._rank[0]

    @property
    def result(self) -> Result:
        """The best result offered."""
        return self._results[0]


class _OneThreadEach:
    """Process-wide settings, in force while at least one block needs them."""

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
    """Keep scikit-learn's clusterers, run on several threads, from using threads of their own.

    Otherwise sums would depend on how threads split them. The number of threads for linear algebra
    and the warning filters belong to the whole process: blocks that overlap in time share one
    setting, and the last to end restores what was there before. Warnings about empty clusters are
    suppressed.
    """
    _one_thread_each.enter()
    try:
        yield
    finally:
        _one_thread_each.leave()
