"""The first run on a machine: what is being compiled, and how much is left."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from microagg.core.progress import ProgressCallback, current_listener

TASK = "compiling for this machine, once"
_SECONDS_PER_LOOK = 0.5


@contextmanager
def showing_what_is_compiled(expected: int) -> Iterator[None]:
    """Report which kernels were compiled during the block, of about as many as are expected.

    Another process may compile some of them, so a thread looks at what is stored on disk.
    """
    listener = current_listener()
    if listener is None:
        yield
        return
    ended = threading.Event()
    watcher = threading.Thread(target=_watch, args=(listener, expected, ended), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


def _watch(listener: ProgressCallback, expected: int, ended: threading.Event) -> None:
    from microagg.cli.warming import loaded_kernels, name_of

    waiting = {name_of(own): own for own in loaded_kernels() if own.is_uncompiled()}
    known = {name_of(own) for own in loaded_kernels()}
    done = 0
    while not ended.wait(_SECONDS_PER_LOOK):
        for own in loaded_kernels():  # modules are imported when they are needed
            if (name := name_of(own)) not in known:
                known.add(name)
                if own.is_uncompiled():
                    waiting[name] = own
        finished = [name for name, own in waiting.items() if not own.is_uncompiled()]
        for name in finished:
            del waiting[name]
        if finished and not ended.is_set():
            done += len(finished)
            listener(f"{TASK}: {finished[-1]} done", done, max(expected, done))


def is_first_run() -> bool:
    """Whether the default method has not been compiled on this machine yet."""
    from microagg.kernels.search.trials import run_trials

    return bool(run_trials.is_uncompiled())  # type: ignore[attr-defined]
