"""Desks for tests: real tasks, done at once and in this process."""

import traceback
from dataclasses import dataclass, field

import polars as pl

from microagg.app.actions import ACTIONS
from microagg.app.desk import Desk
from microagg.app.jobs import JobStatus
from microagg.app.tasks import TASKS
from microagg.app.worker import warnings_heard
from microagg.app.workspace import Workspace
from microagg.core.errors import MicroaggError

PEOPLE = {
    "name": [f"person {i}" for i in range(40)],
    "age": [20 + i % 17 for i in range(40)],
    "income": [1000 + 37 * i for i in range(40)],
    "tax": [100 + 3 * i for i in range(40)],
    "size": [("S", "M", "L")[i % 3] for i in range(40)],
    "town": [("Ayr", "Bude")[i % 2] for i in range(40)],
    "illness": [("flu", "gout", "none")[i % 3] for i in range(40)],
}


@dataclass
class DoneJob:
    """A job that was done when it was started."""

    id: str
    task: str
    request: dict
    found: dict | None
    message: str = ""
    ended: list = field(default_factory=list)

    def status(self):
        return JobStatus("finished" if self.found is not None else "failed", message=self.message)

    def result(self):
        return self.found

    def stop(self):
        self.ended.append("stop")

    def cancel(self):
        self.ended.append("cancel")


class JobsAtOnce:
    """Does each job when it is started; `waiting` ones are never done."""

    def __init__(self, workspace, waiting=()):
        self.workspace, self.waiting = workspace, waiting
        self.started, self.discarded = [], []

    def start(self, task, request):
        folder = self.workspace.job_folder()
        if task in self.waiting:
            job = DoneJob(folder.name, task, request, None)
            job.status = lambda: JobStatus("running", phase="search", done=1, total=4, loss=2.5)
        else:
            job = self._done(task, folder, request)
        self.started.append(job)
        return job

    def _done(self, task, folder, request):
        import json

        from microagg.app.jobs import REQUEST

        (folder / REQUEST).write_text(json.dumps({"task": task, "request": request}))
        try:
            with warnings_heard() as heard:
                found = TASKS[task](folder, request).model_dump(mode="json")
        except MicroaggError as error:
            return DoneJob(folder.name, task, request, None, str(error))
        except Exception:
            traceback.print_exc()
            raise
        return DoneJob(folder.name, task, request, {**found, "warnings": heard})

    def is_busy(self):
        return False

    def discard(self, job):
        self.discarded.append(job)

    def tasks(self):
        return [job.task for job in self.started]


def new_desk(folder, waiting=()):
    workspace = Workspace(folder / "cache", folder / "state")
    return Desk(workspace, JobsAtOnce(workspace, waiting))


def write_people(folder, **changes):
    path = folder / "people.csv"
    pl.DataFrame({**PEOPLE, **changes}).write_csv(path)
    return path


def do(desk, action, fields=None, **data):
    """Do something as the page would, and take up what jobs answer."""
    message = {"do": action, "id": action, "value": "", "fields": fields or {}, **data}
    desk.act(ACTIONS, message)
    desk.follow()


def open_people(folder, waiting=(), **changes):
    desk = new_desk(folder, waiting)
    path = write_people(folder, **changes)
    do(desk, "open", {"path": str(path)}, place="path")
    return desk


ROLES = {
    "name": "identifier",
    "size": "quasi-identifier",
    "town": "stratum",
    "illness": "sensitive",
}


def with_roles(folder, waiting=(), **changes):
    """Return a desk with people whose text columns have roles."""
    desk = open_people(folder, waiting, **changes)
    for column, role in ROLES.items():
        do(desk, "set_role", column=column, value=role)
    do(desk, "set_method", value="mdav")
    return desk


def with_visits(folder):
    """Return a desk with several records of each person, one after the other."""
    visits = {
        "person": [f"p{i // 4}" for i in range(40)],
        "age": [20 + 7 * i % 31 for i in range(40)],
        "cost": [1000 + 37 * i for i in range(40)],
    }
    path = folder / "visits.csv"
    pl.DataFrame(visits).write_csv(path)
    desk = new_desk(folder)
    do(desk, "open", {"path": str(path)}, place="path")
    do(desk, "set_role", column="person", value="unit")
    do(desk, "set_method", value="mdav")
    return desk
