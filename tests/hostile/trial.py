"""The trial: cases of all kinds, one after another, in processes that may crash or hang."""

import multiprocessing
import shutil
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from tests.hostile.cases import Case, Ended, Finding

# What share of the time each kind of case gets.
SHARES = {"releases": 40, "files": 22, "damaged": 16, "kills": 8, "races": 4, "plans": 5}
SHARES |= {"terminal": 5, "memory": 6}
FOUND = "found"
SECONDS = 300.0  # longer than any case; one that takes longer hangs

Run = Callable[[Case, Path], str]


def run_of(kind: str) -> Run:
    """Return the function that runs cases of a kind: `run` in the module of that name."""
    found: Run = import_module(f"tests.hostile.{kind}").run
    return found


def tried(case: Case, keep: Path | None = None) -> Ended:
    """Run one case in a folder of its own; if something is found, the folder is kept."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="hostile-") as name:
        try:
            ended = Ended(case, run_of(case.kind)(case, Path(name)))
        except Finding as finding:
            ended = Ended(case, FOUND, str(finding))
        except Exception:
            ended = Ended(case, FOUND, traceback.format_exc(limit=-8))
        if ended.finding is not None and keep is not None:
            shutil.copytree(name, keep / _name_of(case), dirs_exist_ok=True)
    ended.seconds = time.monotonic() - began
    return ended


def _name_of(case: Case) -> str:
    return f"{case.kind}-{case.seed}-{case.number}"


def _work(pipe: Connection, keep: Path) -> None:
    """Run the cases that come through a pipe."""
    from tests.hostile.commands import stop_all

    try:
        while (case := pipe.recv()) is not None:
            pipe.send(tried(case, keep))
    except (EOFError, KeyboardInterrupt):
        pass
    finally:
        stop_all()


@dataclass
class Worker:
    """A process that runs cases, and what it is at."""

    process: Any
    pipe: Connection
    case: Case
    since: float


@dataclass
class Trial:
    """Cases of some kinds for some time: counts by kind and outcome, and what was found."""

    seed: int
    kinds: list[str]
    keep: Path
    first: int = 0
    counts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    findings: list[Ended] = field(default_factory=list)
    spent: Counter[str] = field(default_factory=Counter)
    given: Counter[str] = field(default_factory=Counter)

    def run(self, seconds: float, processes: int) -> Iterator[Ended]:
        """Run for so long, in so many processes; yields every case as it ends."""
        self.keep.mkdir(parents=True, exist_ok=True)
        until = time.monotonic() + seconds
        workers = [self._started() for _ in range(processes)]
        try:
            while workers:
                for worker in list(workers):
                    ended = self._ended(worker)
                    if ended is None:
                        continue
                    self._count(ended)
                    yield ended
                    workers.remove(worker)
                    if time.monotonic() < until:
                        workers.append(self._next(worker))
                    else:
                        _dismiss(worker)
                wait([worker.pipe for worker in workers], timeout=1.0)
        finally:
            for worker in workers:
                worker.process.terminate()

    def _started(self) -> Worker:
        """Start a process and give it a case."""
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        process = context.Process(target=_work, args=(there, self.keep))
        process.start()
        there.close()
        case = self._draw()
        here.send(case)
        return Worker(process, here, case, time.monotonic())

    def _next(self, worker: Worker) -> Worker:
        if not worker.process.is_alive():
            return self._started()
        case = self._draw()
        worker.pipe.send(case)
        return Worker(worker.process, worker.pipe, case, time.monotonic())

    def _draw(self) -> Case:
        """Return the next case of the kind that is farthest behind its share of the time."""
        kind = min(self.kinds, key=lambda own: (self.spent[own] / SHARES[own], self.given[own]))
        number = self.first + self.given[kind]
        self.given[kind] += 1
        return Case(self.seed, kind, number)

    def _ended(self, worker: Worker) -> Ended | None:
        """Return how the case of a process ended, if it has, one way or another."""
        seconds = time.monotonic() - worker.since
        try:
            if worker.pipe.poll():
                ended: Ended = worker.pipe.recv()
                return ended
        except (EOFError, ConnectionResetError):
            worker.process.join(10)
            words = f"the process ended with code {worker.process.exitcode}"
            return Ended(worker.case, FOUND, words, seconds)
        if seconds < SECONDS:
            return None
        worker.process.kill()
        worker.process.join()
        return Ended(worker.case, FOUND, f"no end after {SECONDS:.0f} seconds", seconds)

    def _count(self, ended: Ended) -> None:
        self.counts[ended.case.kind][ended.outcome] += 1
        self.spent[ended.case.kind] += ended.seconds
        if ended.finding is not None:
            self.findings.append(ended)

    @property
    def n_cases(self) -> int:
        """How many cases have ended."""
        return sum(sum(own.values()) for own in self.counts.values())

    def summary(self) -> dict[str, Any]:
        """Return what ran and what was found, ready for JSON."""
        return {
            "seed": self.seed,
            "cases": {kind: sum(own.values()) for kind, own in sorted(self.counts.items())},
            "outcomes": {
                kind: dict(sorted(own.items())) for kind, own in sorted(self.counts.items())
            },
            "seconds": {kind: round(own, 1) for kind, own in sorted(self.spent.items())},
            "findings": [
                {"replay": str(own.case), "finding": own.finding} for own in self.findings
            ],
        }


def _dismiss(worker: Worker) -> None:
    """Let a process end by itself."""
    try:
        worker.pipe.send(None)
    except OSError:
        return
    worker.process.join(30)
