"""A Dask cluster of real processes: a scheduler and workers, which can be killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

_SECONDS = 60.0


class Cluster:
    """A scheduler and its workers, each a process of its own, reached over loopback only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "scheduler.json"
        self._log = (folder / "log").open("w")
        self.scheduler = self._start(
            "scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(self.file)
        )
        wait_for(self.file.exists)
        self.workers: list[subprocess.Popen[bytes]] = []

    def _start(self, what: str, *words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", "--host", "127.0.0.1"]
        paths = os.pathsep.join(path for path in sys.path if path)
        return subprocess.Popen(
            [*command, *words],
            env={**os.environ, "PYTHONPATH": paths},
            stdout=self._log,
            stderr=self._log,
            cwd=self.folder,
        )

    def add(self, n: int = 2, *, preload: str = "") -> None:
        """Start workers; `preload` is a program that each runs first."""
        words = ["--scheduler-file", str(self.file), "--nthreads", "1", "--no-nanny"]
        if preload:
            path = self.folder / "preload.py"
            path.write_text(preload)
            words += ["--preload", str(path)]
        words += ["--no-dashboard", "--local-directory", str(self.folder)]
        self.workers += [self._start("worker", *words) for _ in range(n)]

    def kill_workers(self) -> None:
        """Kill all workers; they have no time to say so."""
        for worker in self.workers:
            worker.send_signal(signal.SIGKILL)
            worker.wait()
        self.workers = []

    def kill_scheduler(self) -> None:
        """Kill the scheduler."""
        self.scheduler.send_signal(signal.SIGKILL)
        self.scheduler.wait()

    def close(self) -> None:
        """End all processes."""
        self.kill_workers()
        self.kill_scheduler()
        self._log.close()


def wait_for(condition) -> None:
    """Wait until something is so."""
    ends = time.monotonic() + _SECONDS
    while not condition():
        assert time.monotonic() < ends, "it takes too long"
        time.sleep(0.05)
