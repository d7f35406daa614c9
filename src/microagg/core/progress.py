"""How long work says how far it is, without passing a callback through every signature.

Work that takes long returns to Python every fraction of a second and calls `report`; that is also
where an interrupt from the keyboard takes effect.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from microagg.core.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

ProgressCallback = Callable[[str, int, int], None]

PREPARING = "preparing (the first run of a method compiles it)"

# What `paced` aims at: often enough for a bar and an interrupt, and no burden.
_PACE_SECONDS = 0.1

_listener: ContextVar[ProgressCallback | None] = ContextVar("microagg_progress", default=None)


def report(task: str, done: int, total: int) -> None:
    """Tell whoever listens that `done` of `total` units of `task` are finished."""
    if (listener := _listener.get()) is not None:
        listener(task, done, total)


def paced(items: "NDArray[Any]") -> "Iterator[NDArray[Any]]":
    """Yield the items in parts that take a fraction of a second each, as far as can be foreseen.

    How many are in a part follows from the time that the part before took, so that the work must
    not depend on where a part ends.
    """
    at, n = 0, 1
    while at < len(items):
        began = time.perf_counter()
        yield items[at : at + n]
        at += n
        seconds = time.perf_counter() - began
        n = max(1, min(4 * n, int(n * _PACE_SECONDS / max(seconds, 1e-9))))


def current_listener() -> ProgressCallback | None:
    """Return who hears the reports made here, if anyone does."""
    return _listener.get()


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

    Until the first report a pulsing line says that something happens. All is gone when the block
    ends.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(file=sys.stderr), transient=True) as progress:
        bars = {"": progress.add_task(PREPARING, total=None)}
        shown = ""

        def show(task: str, done: int, total: int) -> None:
            nonlocal shown
            if task not in bars:
                bars[task] = progress.add_task(task, total=total)
            if task != shown:  # one line is enough: that of the latest task
                progress.update(bars[shown], visible=False)
                shown = task
            progress.update(bars[task], completed=done, total=total, visible=True)

        with listening(show):
            yield


def heard_by(progress: object) -> AbstractContextManager[None]:
    """Return the block that `progress` asks for: True for a bar, False for none, or a function."""
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
