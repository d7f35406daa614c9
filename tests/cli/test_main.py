"""The entry point: version, help, pipes, interrupts, what is loaded."""

import io
import json
import os
import pty
import random
import re
import select
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest
import typer

import microagg
from microagg.core import progress
from microagg.core.progress import report, terminal_bar

HEAVY = ("numba", "sklearn", "polars", "narwhals", "pandas", "scipy")
PYTHON_M = [sys.executable, "-m", "microagg"]


@pytest.mark.parametrize(
    "argv", [[], ["protect"], ["verify"], ["compare"], ["sweep"], ["methods"], ["demo"]]
)
def test_version_everywhere(run, argv):
    outcome = run(*argv, "--version")
    assert (outcome.code, outcome.out) == (0, f"microagg {microagg.__version__}\n")


@pytest.mark.parametrize("argv", [["--help"], ["-h"], []])
def test_help_lists_the_commands(run, argv):
    outcome = run(*argv)
    assert outcome.code == 0
    for name in ("protect", "verify", "compare", "sweep", "methods", "demo"):
        assert re.search(rf"^  {name}  ", outcome.out, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_python_m_microagg():
    done = subprocess.run(
        [
            *PYTHON_M,
            "protect",
            "people.csv",
            "-k",
            "4",
            "--identifier",
            "name",
            "--sensitive",
            "code",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Protected 60 records" in done.stdout


@pytest.mark.usefixtures("folder")
@pytest.mark.slow
def test_failure_of_a_process_is_one_line():
    done = subprocess.run(
        [*PYTHON_M, "protect", "nowhere.csv", "-k", "4"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "microagg: the input 'nowhere.csv' does not exist.\n"


@pytest.mark.parametrize(
    "argv",
    [
        ["--help"],
        ["protect", "--help"],
        ["compare", "-h"],
        ["sweep", "-h"],
        ["methods"],
        ["--version"],
    ],
)
def test_quick_commands_load_nothing_heavy(argv):
    script = (
        "import json, sys\n"
        "from microagg.cli.main import main\n"
        "try:\n"
        f"    main({argv!r})\n"
        "finally:\n"
        f"    print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert json.loads(done.stderr) == []


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.slow
def test_large_tables_pass_a_pipe_whole(folder, unbuffered):
    lines = ["a,b", *(f"{i % 2},{'x' * 200}" for i in range(40_000))]  # more than a pipe holds
    (folder / "t.csv").write_text("\n".join(lines) + "\n")
    done = subprocess.run(
        [*PYTHON_M, "protect", "t.csv", "-k", "200", "--sensitive", "b", "-o", "-", "--quiet"],
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == (folder / "t.csv").read_text()


@pytest.mark.slow
def test_reader_that_leaves_is_no_error(folder):
    """`microagg ... -o - | head -1` ends quietly."""
    lines = ["a,b", *(f"{i},{'x' * 200}" for i in range(40_000))]  # more than a pipe holds
    (folder / "t.csv").write_text("\n".join(lines))
    process = subprocess.Popen(
        [*PYTHON_M, "protect", "t.csv", "-k", "200", "--sensitive", "b", "-o", "-", "--quiet"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"a,b\n"
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 141


def read_until(descriptor, wanted, seconds):
    """Read from a terminal until `wanted` appears or its other end closes."""
    text, deadline = b"", time.monotonic() + seconds
    while wanted not in text and time.monotonic() < deadline:
        if select.select([descriptor], [], [], 0.2)[0]:
            try:
                piece = os.read(descriptor, 4096)
            except OSError:  # the other end of a terminal closed
                break
            text += piece
    return text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "said", "code"),
    [(signal.SIGINT, "interrupted", 130), (signal.SIGTERM, "terminated", 143)],
)
def test_a_signal_during_work_leaves_nothing(folder, sent, said, code):
    """The bar on the terminal says that grouping has begun; then comes the signal."""
    chance = random.Random(3)
    rows = (",".join(f"{chance.random():.6f}" for _ in range(6)) for _ in range(150_000))
    (folder / "big.csv").write_text("a,b,c,d,e,f\n" + "\n".join(rows) + "\n")
    before = sorted(os.listdir(folder))
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*PYTHON_M, "protect", "big.csv", "-k", "3", "--method", "mdav"],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(theirs)
    try:
        shown = read_until(ours, b"grouping", 120)
        assert b"grouping" in shown, shown
        process.send_signal(sent)
        shown = read_until(ours, said.encode(), 60)
        assert process.wait(60) == code
    finally:
        process.kill()
        os.close(ours)
    printed = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", shown).decode()
    assert printed.count(f"microagg: {said}") == 1
    assert "Traceback" not in printed
    assert process.stdout.read() == b""
    assert sorted(os.listdir(folder)) == before


@pytest.mark.slow
def test_a_signal_while_files_are_written_removes_what_was_begun(folder):
    """The table is being written to its temporary file when the signal comes."""
    script = (
        "import os, signal, sys\n"
        "from microagg.cli.main import main\n"
        "from microagg.release import saving\n"
        "def end(_path):\n"
        "    print(*(name for name in os.listdir() if name.endswith('.tmp')))\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "saving.table_writer = lambda *_, **__: end\n"
        "main(['protect', 't.csv', '-k', '3', '--method', 'mdav'])\n"
    )
    (folder / "t.csv").write_text("a,b\n" + "".join(f"{i}.5,{i * i}\n" for i in range(12)))
    before = sorted(os.listdir(folder))
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.stderr.endswith("microagg: terminated; nothing half-written was left behind.\n")
    assert done.returncode == 143
    assert len(done.stdout.split()) == 2
    assert sorted(os.listdir(folder)) == before


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_while_a_library_calls_python_is_not_forgotten(name, code):
    """What is raised in such a call is printed and forgotten by ctypes, as llvmlite uses it."""
    script = (
        "import ctypes, signal, sys, time\n"
        "from microagg.cli import main as cli\n"
        "def run(*_):\n"
        f"    call = ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.{name}))\n"
        "    call()\n"
        "    time.sleep(600)\n"
        "cli._run = run\n"
        "cli.main(['verify', 't.csv'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    said = {130: "interrupted", 143: "terminated"}[code]
    assert (done.stderr, done.returncode) == (f"microagg: {said}.\n", code)


def interrupt_at(monkeypatch, *tasks):
    """Press Ctrl-C at the first report of each of these tasks."""
    waiting = list(tasks)

    @contextmanager
    def bar():
        def listen(task, _done, _total):
            if waiting and task == waiting[0]:
                waiting.pop(0)
                raise KeyboardInterrupt

        with progress.listening(listen):
            yield

    monkeypatch.setattr(progress, "terminal_bar", bar)


PEOPLE = ("protect", "people.csv", "-k", "4", "--identifier", "name", "--sensitive", "code")


def test_an_interrupt_of_the_search_writes_the_best_so_far(run, folder, monkeypatch):
    interrupt_at(monkeypatch, "searching")
    outcome = run(*PEOPLE)
    assert outcome.code == 130
    assert outcome.err.startswith(
        "microagg: warning: interrupted: these are the best groups so far"
    )
    assert "written to" in outcome.out
    checked = run("verify", "people-protected.csv", "-k", "4", "--sensitive", "code")
    assert checked.code == 0
    assert sorted(os.listdir(folder)) == [
        "people-protected.csv",
        "people-protected.csv.manifest.json",
        "people.csv",
    ]


def test_an_interrupt_of_the_bound_leaves_a_release_without_one(run, monkeypatch):
    interrupt_at(monkeypatch, "bound")
    outcome = run(*PEOPLE, "--json")
    assert outcome.code == 0
    assert "there is no bound" in outcome.err
    assert json.loads(outcome.out)["lower_bound"] is None


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_shows_at_once_that_something_happens(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with terminal_bar():
        assert "preparing (the first run" in terminal.getvalue()
        report("grouping", 1, 2)
        time.sleep(0.3)
        shown = terminal.getvalue()
        assert "grouping" in shown
        assert shown.rindex("grouping") > shown.rindex("preparing")


@pytest.mark.parametrize("argv", [["verify", "people.csv", "-k", "2"], ["methods"]])
def test_interrupt_of_what_writes_nothing(run, monkeypatch, argv):
    def interrupted(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(typer, "echo", interrupted)
    outcome = run(*argv)
    assert (outcome.code, outcome.err) == (130, "microagg: interrupted.\n")


def test_interrupt_in_process_is_one_line(run, folder, monkeypatch):
    from microagg.partitions.mdav import MDAV

    def interrupted(*_args):
        raise KeyboardInterrupt

    monkeypatch.setattr(MDAV, "_group", interrupted)
    roles = ("--identifier", "name", "--sensitive", "code")
    outcome = run("protect", "people.csv", "-k", "4", *roles)
    assert outcome.code == 130
    assert outcome.err == "microagg: interrupted; nothing half-written was left behind.\n"
    assert os.listdir(folder) == ["people.csv"]


def test_an_interrupt_that_a_library_made_an_error_of_is_one_line(run, folder, monkeypatch):
    """As pydantic does if a signal comes while it writes the manifest."""
    from microagg.plans.manifest import Manifest

    def interrupted(*_args, **_options):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as ended:
            raise ValueError("Error calling function") from ended

    monkeypatch.setattr(Manifest, "model_dump", interrupted)
    roles = ("--identifier", "name", "--sensitive", "code")
    outcome = run("protect", "people.csv", "-k", "4", "--method", "mdav", *roles)
    assert outcome.code == 130
    assert outcome.err == "microagg: interrupted; nothing half-written was left behind.\n"
    assert os.listdir(folder) == ["people.csv"]


def test_an_option_that_counts_once_is_refused_twice(run):
    outcome = run("protect", "people.csv", "-k", "3", "--output", "a.csv", "-o", "b.csv")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        "microagg: --output is given 2 times; give it once. Try 'microagg protect --help'.\n"
    )
