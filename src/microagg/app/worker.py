"""The process of one job: `python -m microagg.app.worker FOLDER`.

It runs the task that the folder's request names, and writes its status as progress is reported.
Standard input is a pipe from the app: a line asks to stop with the best groups so far, and its end
means that the app is gone. Every failure becomes one sentence, as on the command line.
"""

import json
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from microagg.app.failures import sentence_about
from microagg.app.jobs import CANCELLED, PREPARING, REQUEST, RESULT, STATUS
from microagg.bounds.choices import TIGHT_TASK
from microagg.core.errors import SHOWN_WARNINGS, MicroaggError
from microagg.core.progress import listening, listening_for_best

_SECONDS_BETWEEN = 0.1


class _EndedError(BaseException):
    """SIGTERM: the job was cancelled."""


class Reporter:
    """Writes the status of a job, and ends its search if that is asked for."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / STATUS
        self._lock = threading.Lock()
        self._last = 0.0
        self._facts: dict[str, Any] = {"state": "running", "phase": PREPARING}
        self.is_stopping = threading.Event()

    def hear(self, phase: str, done: int, total: int) -> None:
        """Note the progress of a phase; a tight bound that was asked to stop is the best so far."""
        if self.is_stopping.is_set() and phase.startswith(TIGHT_TASK):
            raise KeyboardInterrupt
        self._note(phase=phase, done=int(done), total=int(total))

    def hear_best(self, loss: float | None) -> None:
        """Note the loss of the best groups so far; a search that is to stop keeps them."""
        if loss is not None:
            self._note(loss=round(loss, 6))
        if self.is_stopping.is_set():
            raise KeyboardInterrupt

    def end(self, state: str, message: str = "", exit_code: int = 0) -> None:
        """Write the last status."""
        with self._lock:
            self._facts.update(state=state, message=message, exit_code=exit_code)
            self._write()

    def _note(self, **facts: Any) -> None:
        with self._lock:
            is_new = facts.get("phase", self._facts["phase"]) != self._facts["phase"]
            self._facts.update(facts)
            if is_new or time.monotonic() - self._last >= _SECONDS_BETWEEN:
                self._write()

    def _write(self) -> None:
        write_json(self._path, self._facts)
        self._last = time.monotonic()


def write_json(path: Path, facts: Any) -> None:
    """Write a file that is never seen half-written."""
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps(facts, allow_nan=False), encoding="utf-8")
    beside.replace(path)


def main(folder: Path) -> int:
    """Do the job of a folder; returns the exit code that the command line would have."""
    reporter = Reporter(folder)
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in the terminal is for the app
    threading.Thread(target=_listen_to_app, args=(reporter,), daemon=True).start()
    state, message, code = "finished", "", 0
    try:
        with (
            listening(reporter.hear),
            listening_for_best(reporter.hear_best),
            warnings_heard() as heard,
        ):
            result = _run(folder)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # what was written is there: it is done
        write_json(folder / RESULT, {**result, "warnings": heard})
        state = "stopped" if result.get("manifest", {}).get("interrupted") else "finished"
    except MicroaggError as error:
        state, message, code = "failed", str(error), error.exit_code
    except (KeyboardInterrupt, _EndedError):
        state, message, code = "cancelled", CANCELLED, 130
    except Exception as error:
        state, code = "failed", MicroaggError.exit_code
        message = sentence_about(error)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with suppress(OSError):  # the folder is gone: nobody wants to know
        reporter.end(state, message, code)
    return code


def _run(folder: Path) -> dict[str, Any]:
    from microagg.app.tasks import TASKS

    asked = json.loads((folder / REQUEST).read_text("utf-8"))
    return TASKS[asked["task"]](folder, asked["request"]).model_dump(mode="json")


@contextmanager
def warnings_heard() -> Iterator[list[str]]:
    """Collect the warnings that the command line would print."""
    heard: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for category in SHOWN_WARNINGS:
            warnings.simplefilter("always", category)
        warnings.showwarning = lambda message, *_, **__: heard.append(str(message))
        yield heard


def _end(*_: object) -> NoReturn:
    raise _EndedError


def _listen_to_app(reporter: Reporter) -> None:
    """Stop when a line says so; end at once, with all that was started, when the app is gone."""
    while os.read(0, 64):  # not sys.stdin: at the end of the process nothing may hold its lock
        reporter.is_stopping.set()
    if hasattr(os, "killpg") and os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(MicroaggError.exit_code)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
