"""Passes: lists of tasks that read and write files of the work folder, each done once."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from microagg.core.parallel import as_completed
from microagg.core.validation import check_jobs
from microagg.scale.storage.work import WorkFolder
from microagg.scale.tasks.begun import check_worker
from microagg.scale.tasks.memory import give_back, tasks_at_once

_TASK = "protecting the dataset"
# How much work the passes are, in parts of a thousand; rounds of regions share what is left.
_SHARES = {"types": 10, "statistics": 20, "strata": 5, "names": 10, "route": 25, "write": 40}
_SHARES |= {"check": 30, "judge": 30, "count": 0, "hashes": 5, "texts": 20, "typed": 20}
_SHARES |= {"finished": 10, "keys": 0, "fetch": 5, "send": 5}
_SHARES |= {"pairs": 5, "own": 0, "owners": 0}
_ALL = 1000

Task = Callable[[WorkFolder, int], Any]


@dataclass
class Passes:
    """Runs passes one after the other, and reports how much of all is done."""

    work: WorkFolder
    memory: int | None = None
    n_rounds: int = 1
    _done: float = field(default=0.0, init=False)

    def run(self, name: str, task: Task, n_tasks: int, *, bytes_each: int = 0) -> None:
        """Do the tasks of a pass that are not done yet."""
        missing = [at for at in range(n_tasks) if not self.work.has(name, at)]
        share = self._share(name)
        n_done = n_tasks - len(missing)

        def progress() -> tuple[int, int]:
            return int(self._done + share * n_done / max(1, n_tasks)), _ALL

        outcomes = as_completed(
            partial(_do, task, self.work.path, name),
            missing,
            n_jobs=tasks_at_once(self.memory, bytes_each, check_jobs(-1)),
            task=_TASK,
            progress=progress,
        )
        for _ in outcomes:
            n_done += 1
        self._done += share

    def results(self, name: str, n_tasks: int) -> Iterator[Any]:
        """Return the results of a pass, one after the other."""
        for at in range(n_tasks):
            yield self.work.result(name, at)

    def _share(self, name: str) -> float:
        if name in _SHARES:
            return float(_SHARES[name])
        rest = _ALL - sum(_SHARES.values())
        return 0.0 if name.startswith("joined") else rest / self.n_rounds


def _do(task: Task, path: Path, name: str, number: int) -> None:
    """Do one task, wherever this is, and leave its result."""
    work = WorkFolder(path)
    check_worker(work)
    if not work.has(name, number):  # it may have been begun twice
        result = task(work, number)
        work.save(work.place(name, number, "result"), result)
        del result
        give_back()
