"""Long work in processes of their own, which pages find again after a reload.

A job is a folder with its `request.json`, the `status.json` that its process writes as it goes on,
and at the end `result.json`. The process is told to stop through a pipe: a line asks it to keep the
best so far, and the end of the pipe, when the app is gone, ends it. What a job of one page does is
of no concern to another, and no record's values are in any of these three files.
"""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from threading import Lock, Thread
from typing import Any, Literal

from microagg.app.workspace import Workspace
from microagg.core.errors import MicroaggError, ParameterError

State = Literal["running", "stopping", "finished", "stopped", "cancelled", "failed"]

REQUEST, STATUS, RESULT = "request.json", "status.json", "result.json"
STOP = b"stop\n"
PREPARING = "preparing"
CANCELLED = "cancelled; nothing was kept."
# Tasks that write outside of their folder are told to end, and have this time to remove what they
# wrote. The others are killed at once: a compiled loop hears nothing.
_WRITES_ELSEWHERE = ("save",)
_SECONDS_TO_END = 0.5
_SECONDS_TO_DIE = 5.0
_TEMPORARY = ("TMPDIR", "TEMP", "TMP")  # where temporary files go: with the folder, they are gone
_KILLED = (
    "the run was ended by the system, most likely because there is not enough memory. Choose "
    "effort fast or another method, drop columns, or use a machine with more memory."
)


@dataclass(frozen=True)
class JobStatus:
    """How far a job is.

    `phase` names what it does, `done` of `total` units of that are done (0 of 0 if unknown).
    `loss` is that of the best groups so far in per cent, as the search compares records, or None.
    `message` says why a job failed or what became of it, `exit_code` is that of the command line.
    """

    state: State
    phase: str = PREPARING
    done: int = 0
    total: int = 0
    loss: float | None = None
    seconds: float = 0.0
    message: str = ""
    exit_code: int = 0

    @property
    def is_over(self) -> bool:
        """Whether nothing will change any more."""
        return self.state not in ("running", "stopping")


class Job:
    """One piece of work in a process of its own."""

    def __init__(self, folder: Path, task: str, request: dict[str, Any]) -> None:
        self.id = folder.name
        self.folder = folder
        self.task = task
        self.request = request
        self._began = time.monotonic()
        self._is_stopping = False
        self._ended: JobStatus | None = None
        self._lock = Lock()
        asked = json.dumps({"task": task, "request": request})
        (folder / REQUEST).write_text(asked, encoding="utf-8")
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "microagg.app.worker", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            cwd=folder,
            env={**os.environ, **dict.fromkeys(_TEMPORARY, str(folder))},
        )
        self._reaper = Thread(target=self._reap, daemon=True)
        self._reaper.start()

    def status(self) -> JobStatus:
        """Return how far it is."""
        if self._ended is not None:
            return self._ended
        is_over = self._process.poll() is not None
        known = self._written()  # after the look at the process: it is the last word then
        if not is_over:
            state: State = "stopping" if self._is_stopping else "running"
            return JobStatus(**{**known, "state": state, "seconds": self._seconds()})
        with self._lock:
            if self._ended is None:
                if known.get("state", "running") == "running":
                    known.update(state="failed", message=_KILLED, exit_code=MicroaggError.exit_code)
                self._ended = JobStatus(**{**known, "seconds": self._seconds()})
            return self._ended

    def stop(self) -> None:
        """Ask for the best groups so far; until there are any, the job goes on."""
        self._is_stopping = True
        with suppress(OSError, ValueError):  # it has ended
            assert self._process.stdin is not None
            self._process.stdin.write(STOP)
            self._process.stdin.flush()

    def cancel(self) -> None:
        """End the process and all that it started, and remove what it wrote."""
        with self._lock:
            is_over = self._process.poll() is not None
            if self._ended is None and not is_over:
                self._ended = JobStatus(
                    "cancelled", message=CANCELLED, seconds=self._seconds(), exit_code=130
                )
        if not is_over:  # the number of a process that has ended may be another's by now
            self._end()

    def result(self) -> dict[str, Any]:
        """Return what the task returned; a job that has none says why not."""
        status = self.status()
        if status.state not in ("finished", "stopped"):
            raise ParameterError(status.message or f"the job is {status.state}: it has no result.")
        found: dict[str, Any] = json.loads((self.folder / RESULT).read_text("utf-8"))
        return found

    def discard(self) -> None:
        """End the job if it is under way, and remove its folder."""
        self.cancel()
        rmtree(self.folder, ignore_errors=True)

    def _end(self) -> None:
        if self.task in _WRITES_ELSEWHERE:
            self._send(getattr(signal, "SIGTERM", None))
            self._reaper.join(_SECONDS_TO_END)
        if self._reaper.is_alive():
            self._send(getattr(signal, "SIGKILL", None))
            self._reaper.join(_SECONDS_TO_DIE)
        if self.task in _WRITES_ELSEWHERE:
            self._accept_if_done()
        if self._ended is not None and self._ended.state == "cancelled":
            rmtree(self.folder, ignore_errors=True)

    def _accept_if_done(self) -> None:
        """Take back that a task was cancelled if it had done its work: its files are there."""
        known = self._written()
        with self._lock:
            if known.get("state") == "finished":
                self._ended = JobStatus(**{**known, "seconds": self._seconds()})

    def _reap(self) -> None:
        """Wait for the process, then end at once what it started: that is in its group."""
        self._process.wait()
        with suppress(OSError):  # what was to be sent has nobody to read it
            assert self._process.stdin is not None
            self._process.stdin.close()
        if hasattr(os, "killpg"):
            self._send(signal.SIGKILL)

    def _send(self, number: int | None) -> None:
        """Send a signal to the whole group of the process; on Windows, end the process."""
        with suppress(OSError):  # it has ended
            if hasattr(os, "killpg") and number is not None:
                os.killpg(self._process.pid, number)
            else:
                self._process.kill()

    def _written(self) -> dict[str, Any]:
        """Return the last status that the process wrote; it is replaced, never half-written."""
        try:
            found: dict[str, Any] = json.loads((self.folder / STATUS).read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return found

    def _seconds(self) -> float:
        return time.monotonic() - self._began


class Jobs:
    """The jobs of an app, by their names; they end when the workspace is closed."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._jobs: dict[str, Job] = {}
        workspace.is_busy = self.is_busy
        workspace.closing.callback(self.cancel_all)

    def start(self, task: str, request: dict[str, Any]) -> Job:
        """Start a task of `microagg.app.tasks`; the request is JSON."""
        job = Job(self._workspace.job_folder(), task, request)
        self._jobs[job.id] = job
        return job

    def is_busy(self) -> bool:
        """Whether any job is under way."""
        jobs = list(self._jobs.values())  # another thread may start one meanwhile
        return any(not job.status().is_over for job in jobs)

    def discard(self, job: Job) -> None:
        """Remove a job and its files, such as a release that nobody needs any more."""
        self._jobs.pop(job.id, None)
        job.discard()

    def cancel_all(self) -> None:
        """End all jobs."""
        for job in list(self._jobs.values()):
            job.cancel()
