"""The command line, in processes whose every byte of output is seen.

`Warm` keeps a process that has loaded everything and runs one command after another in it: a
crash ends that process, not the trial, and what libraries write past Python is caught as well.
`fresh` starts a process for one command, as people do.
"""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from tests.hostile.cases import Finding

LIMIT = 120.0  # seconds; no command of the trial needs more than a few
MEMORY = 12 << 30  # of addresses, so that a damaged file cannot take the machine down

# Reads arguments and a folder from standard input, line by line, and answers with exit codes.
SERVER = (
    f"""
MEMORY = {MEMORY}
"""
    + """
import json, os, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
asked, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
import microagg.files.temporary as temporary
from microagg.cli.main import main
young = temporary._SECONDS_YOUNG
print("ready", file=answers, flush=True)
for line in asked:
    told = json.loads(line)
    os.chdir(told["folder"])
    temporary._SECONDS_YOUNG = 0.0 if told["later"] else young
    for descriptor, name in ((1, "out"), (2, "err")):
        place = os.open(told[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(place, descriptor)
        os.close(place)
    sys.stdout = open(1, "w", closefd=False, encoding="utf-8")
    sys.stderr = open(2, "w", closefd=False, encoding="utf-8", errors="backslashreplace")
    try:
        main(told["argv"])
    except SystemExit as leaving:
        code = leaving.code or 0
    except BaseException:
        import traceback
        traceback.print_exc()
        code = 1
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            pass
    print(code, file=answers, flush=True)
"""
)


@dataclass(frozen=True)
class Outcome:
    """How a command ended: a negative code is the signal that ended it."""

    code: int
    out: str
    err: str
    raw: bytes = b""  # what was written to standard output


class Warm:
    """A process that runs commands; use it in a `with` block."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._answers = tempfile.TemporaryDirectory(prefix="hostile-")

    def __enter__(self) -> "Warm":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        self._answers.cleanup()

    def stop(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def run(self, folder: Path, *argv: str, later: bool = False) -> Outcome:
        """Run one command in a folder.

        A run takes files for left behind only if they have not changed for a minute: `later` is
        as if they had not.
        """
        self.start(folder, *argv, later=later)
        return self.wait()

    def ready(self) -> "subprocess.Popen[str]":
        """Return the process, started if need be, once it can take a command."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-c", SERVER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            assert self._process.stdout is not None
            self._process.stdout.readline()
        return self._process

    def start(self, folder: Path, *argv: str, later: bool = False) -> None:
        """Send a command off."""
        process = self.ready()
        assert process.stdin is not None
        names = {name: str(Path(self._answers.name) / name) for name in ("out", "err")}
        told = {"argv": argv, "folder": str(folder), "later": later, **names}
        process.stdin.write(json.dumps(told) + "\n")
        process.stdin.flush()

    def wait(self) -> Outcome:
        """Return how the command ended."""
        process = self._process
        assert process is not None
        assert process.stdout is not None
        answered, _, _ = select.select([process.stdout], [], [], LIMIT)
        if not answered:
            self.stop()
            raise Finding(f"a command took more than {LIMIT:.0f} seconds")
        said = process.stdout.readline()
        code = int(said) if said else process.wait()
        if not said:
            self._process = None
        out, err = ((Path(self._answers.name) / name).read_bytes() for name in ("out", "err"))
        return Outcome(code, _text(out), _text(err), out)


def started(folder: Path, *argv: str, memory: int | None = None) -> "subprocess.Popen[bytes]":
    """Start a process of its own for a command, which may have so many bytes of addresses."""
    limited = [] if memory is None else ["sh", "-c", f'ulimit -v {memory >> 10}; exec "$@"', "sh"]
    return subprocess.Popen(
        [*limited, sys.executable, "-m", "microagg", *argv],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=own_environment(),
    )


def fresh(folder: Path, *argv: str) -> Outcome:
    """Run a command in a process of its own."""
    return ended(started(folder, *argv))


def ended(process: "subprocess.Popen[bytes]") -> Outcome:
    """Return how a process ended."""
    try:
        out, err = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise Finding(f"a command took more than {LIMIT:.0f} seconds") from None
    return Outcome(process.returncode, _text(out), _text(err), out)


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace")


def own_environment() -> dict[str, str]:
    """Return the environment, with the package that is being tried."""
    import microagg

    source = str(Path(microagg.__file__).parents[1])
    others = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return {**os.environ, "PYTHONPATH": os.pathsep.join([source, *filter(None, others)])}


def stopped(process: "subprocess.Popen[bytes]", after: float, number: signal.Signals) -> None:
    """Send a process a signal after so many seconds, unless it has ended by then."""
    deadline = time.monotonic() + after
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    with suppress(ProcessLookupError):
        process.send_signal(number)


_WARM: list[Warm] = []


def warm(at: int = 0) -> Warm:
    """Return one of the processes that this one keeps."""
    while len(_WARM) <= at:
        _WARM.append(Warm())
    return _WARM[at]


def stop_all() -> None:
    """End all processes that are kept."""
    while _WARM:
        _WARM.pop().stop()


def arguments(options: dict[str, Sequence[str] | str | bool]) -> list[str]:
    """Return options as they are given on the command line."""
    found: list[str] = []
    for flag, value in options.items():
        if value is True:
            found.append(flag)
        elif isinstance(value, str):
            found += [flag, value]
        elif value is not False:
            found += [part for each in value for part in (flag, each)]
    return found
