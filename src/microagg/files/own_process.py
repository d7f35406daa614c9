"""Reading in a process of its own, so that a library that crashes on a damaged file ends only that.

The process is a Python of its own, which imports nothing but what reads the file: unlike one of
`multiprocessing`, it never runs the program that asked. It gets its request as JSON and answers
with JSON and a table of Arrow, both through pipes: nothing is left on disk, and nothing that comes
from a hostile file is unpickled. It ends with its answer, or when it is interrupted.
"""

import errno
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from multiprocessing.spawn import get_executable
from typing import Any

import polars as pl

from microagg.core.errors import MicroaggError

Answer = tuple[dict[str, Any], pl.DataFrame]

# -P: files in the current folder are not importable, as they are not for the caller.
_CODE = (
    "import json, sys; sys.path[:] = json.loads(sys.stdin.buffer.readline()); "
    "from microagg.files.own_process import answer; answer()"
)
_N_LENGTH = 8
_TOO_LITTLE = "there is not enough memory to read the file."
# How Windows ends a process that crashes.
_FIRST_WINDOWS_CRASH = 0xC0000000


class UnreadableError(Exception):
    """The file could not be read, or whatever read it crashed."""


def read_apart(function: str, request: Mapping[str, Any]) -> Answer:
    """Return what a function of this package, `module:name`, returns for a request.

    Its errors are all an `UnreadableError`, except for a lack of memory. Where there is no Python
    to start, as in a program that was frozen into one file, the function is called here.
    """
    python = get_executable()
    if not python or getattr(sys, "frozen", False):
        return read_here(function, request)
    folders = [folder for folder in sys.path if isinstance(folder, str)]  # others are not searched
    asked = f"{json.dumps(folders)}\n{json.dumps([function, request])}\n".encode()
    try:
        done = subprocess.run(
            [python, "-P", "-c", _CODE],
            input=asked,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "POLARS_MAX_THREADS": "1"},
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            check=False,
        )
    except OSError as error:
        if error.errno == errno.ENOMEM:
            raise MemoryError(_TOO_LITTLE) from None
        raise _not_started(python, error.strerror) from None
    return _checked(done.returncode, done.stdout, python)


def _checked(code: int, answered: bytes, python: Any) -> Answer:
    """Return the answer of a process that ended with this code."""
    if code == -getattr(signal, "SIGKILL", 9):
        # Systems that run out of memory end the process that takes most of it.
        raise MemoryError(_TOO_LITTLE)
    if code < 0 or code >= _FIRST_WINDOWS_CRASH:
        raise UnreadableError
    if code != 0 or len(answered) < _N_LENGTH:
        raise _not_started(python, f"it ended with code {code}")
    begin = _N_LENGTH + int.from_bytes(answered[:_N_LENGTH], "little")
    facts: dict[str, Any] = json.loads(answered[_N_LENGTH:begin])
    if (failed := facts.get("failed")) is not None:
        raise MemoryError(_TOO_LITTLE) if failed == "memory" else UnreadableError
    return facts, pl.read_ipc_stream(io.BytesIO(memoryview(answered)[begin:]))


def _not_started(python: Any, why: str | None) -> MicroaggError:
    return MicroaggError(
        f"the file is read by a Python process of its own, and {os.fsdecode(python)!r} could not "
        f"be run for that: {why}."
    )


def read_here(function: str, request: Mapping[str, Any]) -> Answer:
    """Return what `read_apart` returns, at the risk of crashing."""
    try:
        facts, table = _called(function, json.loads(json.dumps(request)))
    except MemoryError:
        raise
    except (Exception, pl.exceptions.PanicException):  # the message may quote values
        raise UnreadableError from None
    return json.loads(json.dumps(facts)), table


def _called(function: str, request: Mapping[str, Any]) -> Answer:
    module, _, name = function.partition(":")
    found: Answer = getattr(import_module(f"microagg.files.{module}"), name)(**request)
    return found


def answer() -> None:
    """Call the function that standard input names, and write the answer to standard output."""
    # Ctrl-C reaches both processes; it is for the other one to say what ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with os.fdopen(os.dup(1), "wb") as stream:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # libraries may print
        table = pl.DataFrame()
        try:
            facts, table = _called(*json.loads(sys.stdin.buffer.readline()))
        except MemoryError:
            facts = {"failed": "memory"}
        except (Exception, pl.exceptions.PanicException):
            facts = {"failed": "file"}
        head = json.dumps(facts).encode()
        stream.write(len(head).to_bytes(_N_LENGTH, "little") + head)
        stream.flush()
        table.write_ipc_stream(stream)
