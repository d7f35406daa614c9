"""Progress reports, without passing a callback through every signature.

Long-running work returns to Python every fraction of a second and calls `report`; that is also
where Ctrl-C takes effect.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TextIO

from microagg.core.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

ProgressCallback = Callable[[str, int, int], None]
BestCallback = Callable[[float | None], None]
Announcer = Callable[[str], object]

PREPARING = "preparing (the first run of a method compiles it)"

# The target of `paced`: often enough for a progress bar and Ctrl-C, at no noticeable cost.
_PACE_SECONDS = 0.1

_listener: ContextVar[ProgressCallback | None] = ContextVar("microagg_progress", default=None)
_best_listener: ContextVar[BestCallback | None] = ContextVar("microagg_best", default=None)
_announcer: ContextVar[Announcer | None] = ContextVar("microagg_announcer", default=None)


def report(task: str, done: int, total: int) -> None:
    """Report that `done` of `total` units of `task` are finished, if anyone is listening."""
    if (listener := _listener.get()) is not None:
        listener(task, done, total)


def announce(sentence: str) -> None:
    """Say something before long work: to the announcer, if there is one, or as a task."""
    if (announcer := _announcer.get()) is not None:
        announcer(sentence)
    else:
        report(sentence, 0, 1)


@contextmanager
def announcing(announcer: Announcer) -> Iterator[None]:
    """Send what is announced inside this block to `announcer`.

    >>> with announcing(print):
    ...     announce("the work folder takes up to 2 GB")
    the work folder takes up to 2 GB
    """
    token = _announcer.set(announcer)
    try:
        yield
    finally:
        _announcer.reset(token)


def report_best(error: float | None) -> None:
    """Report the squared error of the best groups so far, if anyone wants to hear it.

    None if there are groups, but their error is not known yet. Only searches that keep these groups
    when they are interrupted report it, and only where they do: so a listener can end the
    search, and get them, by raising `KeyboardInterrupt`.
    """
    if (listener := _best_listener.get()) is not None:
        listener(error)


def paced(items: "NDArray[Any]") -> "Iterator[NDArray[Any]]":
    """Yield the items in parts that take roughly a fraction of a second each.

    The size of a part depends on how long the previous one took, so results must not depend on
    where parts end.
    """
    at, n = 0, 1
    while at < len(items):
        began = time.perf_counter()
        yield items[at : at + n]
        at += n
        seconds = time.perf_counter() - began
        n = max(1, min(4 * n, int(n * _PACE_SECONDS / max(seconds, 1e-9))))


def current_listener() -> ProgressCallback | None:
    """Return the callback that receives reports made here, if there is one."""
    return _listener.get()


def current_best_listener() -> BestCallback | None:
    """Return the callback that hears of the best groups found here, if there is one."""
    return _best_listener.get()


@contextmanager
def listening_for_best(callback: BestCallback | None) -> Iterator[None]:
    """Send what `report_best` reports inside this block to `callback`.

    >>> heard = []
    >>> with listening_for_best(heard.append):
    ...     report_best(2.5)
    >>> heard
    [2.5]
    """
    token = _best_listener.set(callback)
    try:
        yield
    finally:
        _best_listener.reset(token)


def reporting_best_as(error: float | None) -> AbstractContextManager[None]:
    """Report this error in place of those of a search whose groups will be changed."""
    outer = _best_listener.get()
    return listening_for_best(None if outer is None else lambda _: outer(error))


@contextmanager
def without_reports() -> Iterator[None]:
    """Do work inside this block, such as compiling, without reporting progress."""
    with listening(None), listening_for_best(None):
        yield


@contextmanager
def listening(callback: ProgressCallback | None) -> Iterator[None]:
    """Send the reports made inside this block to `callback(task, done, total)`.

    >>> heard = []
    >>> with listening(lambda *message: heard.append(message)):
    ...     report("grouping", 5, 10)
    >>> heard
    [('grouping', 5, 10)]
    """
    token = _listener.set(callback)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def terminal_bar() -> Iterator[None]:
    """Show the reports made inside this block as a bar on standard error, if that is a terminal.

    Until the first report, a pulsing line shows that something is happening. The bar disappears
    when the block ends.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress

    with (
        _own_standard_error() as stream,
        Progress(console=Console(file=stream), transient=True) as progress,
    ):
        bars = {"": progress.add_task(PREPARING, total=None)}
        shown = ""

        def show(task: str, done: int, total: int) -> None:
            nonlocal shown
            if task not in bars:
                bars[task] = progress.add_task(task, total=total)
            if task != shown:  # show only the latest task
                progress.update(bars[shown], visible=False)
                shown = task
            progress.update(bars[task], completed=done, total=total, visible=True)

        with listening(show):
            yield


@contextmanager
def _own_standard_error() -> Iterator[TextIO]:
    """Yield standard error by a descriptor of its own: readers of files use the other one."""
    try:
        descriptor = os.dup(sys.stderr.fileno())
    except (OSError, ValueError):  # not a file
        yield sys.stderr
        return
    with open(descriptor, "w", encoding=sys.stderr.encoding, errors="backslashreplace") as stream:
        yield stream


def reporting_to(progress: object) -> AbstractContextManager[None]:
    """Send reports where `progress` says: True for a bar, False for nowhere, or a function."""
    if progress is False:
        return nullcontext()
    if progress is True:
        return terminal_bar()
    if callable(progress):
        return listening(progress)
    raise ParameterError(
        "progress must be True, False or a function of (task, done, total); got "
        f"{type(progress).__name__}."
    )
