"""How long work says how far it is, without passing a callback through every signature.

Work that takes long returns to Python every fraction of a second and calls `report`; that is also
where an interrupt from the keyboard takes effect.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

from microagg.errors import ParameterError

ProgressCallback = Callable[[str, int, int], None]

PREPARING = "preparing (the first run compiles, some seconds)"

_listener: ContextVar[ProgressCallback | None] = ContextVar("microagg_progress", default=None)


def report(task: str, done: int, total: int) -> None:
    """Tell whoever listens that `done` of `total` units of `task` are finished."""
    if (listener := _listener.get()) is not None:
        listener(task, done, total)


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
        waiting = progress.add_task(PREPARING, total=None)
        bars = {}

        def show(task: str, done: int, total: int) -> None:
            progress.update(waiting, visible=False)
            if task not in bars:
                bars[task] = progress.add_task(task, total=total)
            progress.update(bars[task], completed=done, total=total)

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
