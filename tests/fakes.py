"""Methods that exist in tests only: one with chance in it, and some that fail in their own way."""

import _thread
import signal
import threading
from types import MappingProxyType
from typing import ClassVar

import numpy as np
import pytest

from microagg.core import registry
from microagg.core.progress import report
from microagg.core.registry import Guarantee, Method
from microagg.core.validation import check_jobs, check_labels, check_rng
from microagg.partitions.base import Partitioner


class Shuffled(Partitioner):
    """Groups of k records drawn at random, or those of `initial`; remembers what it was given."""

    seen: ClassVar[list[dict[str, object]]] = []

    def __init__(self, k=3, *, initial=None, random_state=None, n_jobs=None):
        self.k = k
        self.initial = initial
        self.random_state = random_state
        self.n_jobs = n_jobs

    def uses_randomness(self):
        return self.initial is None

    def _group(self, X, k):
        self.seen.append({"n": len(X), **self.get_params()})
        rng, _ = check_rng(self.random_state), check_jobs(self.n_jobs)
        if self.initial is not None:
            return check_labels(self.initial, n_records=len(X), parameter="initial", at_least=k)
        return np.minimum(rng.permutation(len(X)) // k, len(X) // k - 1)


class Faulty(Partitioner):
    """Fails as `failure` says once it gets more records than a trial has."""

    failure: ClassVar[BaseException] = ValueError("987654321 is no good")

    def __init__(self, k=3):
        self.k = k

    def _group(self, X, k):  # noqa: ARG002
        if len(X) > 50:
            raise self.failure
        return np.zeros(len(X), dtype=np.intp)


class Lonely(Partitioner):
    """Breaks the promise: every record is a group."""

    def __init__(self, k=3):
        self.k = k

    def _group(self, X, k):  # noqa: ARG002
        return np.arange(len(X))


class Endless(Partitioner):
    """Reports for ever, until somebody ends it."""

    started = threading.Event()
    ended = threading.Event()

    def __init__(self, k=3):
        self.k = k

    def _group(self, X, k):  # noqa: ARG002
        if len(X) <= 50:
            return np.zeros(len(X), dtype=np.intp)
        self.started.set()
        pause = threading.Event()
        try:
            for _ in range(6000):  # a minute or so: no test may hang
                report("waiting", 0, 1)
                pause.wait(0.01)
            raise TimeoutError
        except Exception:  # what ends it must get past this
            return np.zeros(len(X), dtype=np.intp)
        finally:
            self.ended.set()


def interrupt_once_started() -> None:
    """Press Ctrl-C when `Endless` runs, and again if nothing comes of it."""

    def press():
        assert Endless.started.wait(60)
        _thread.interrupt_main()
        while not Endless.ended.wait(5):
            _thread.interrupt_main()

    # A process that a shell runs in the background begins with the interrupt ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=press, daemon=True).start()


def _entry(cls: type, **facts: object) -> Method:
    return Method(
        name=cls.__name__.lower(),
        path=f"{__name__}:{cls.__name__}",
        summary="made for tests",
        guarantee=Guarantee.AT_LEAST_K,
        cost="nothing",
        source="none",
        **facts,
    )


FAKES = {
    method.name: method
    for method in (
        _entry(Shuffled, options=("initial", "random_state", "n_jobs"), deterministic=False),
        _entry(Faulty),
        _entry(Lonely),
        _entry(Endless),
    )
}


@pytest.fixture
def fakes(monkeypatch):
    """Register the methods of this file."""
    monkeypatch.setattr(registry, "METHODS", MappingProxyType({**registry.METHODS, **FAKES}))
    monkeypatch.setattr(Shuffled, "seen", [])
    monkeypatch.setattr(Endless, "started", threading.Event())
    monkeypatch.setattr(Endless, "ended", threading.Event())
