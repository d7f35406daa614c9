"""What is shown while kernels are compiled, and `microagg warm`."""

import ast
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

import microagg
from microagg.cli import demo, first_run, warm, warming
from microagg.core.progress import listening, report

PACKAGE = Path(microagg.__file__).parent


class FakeKernel:
    """A kernel that is compiled when the test says so."""

    def __init__(self, name):
        self.__module__ = "microagg.kernels.fakes"
        self.py_func = SimpleNamespace(__name__=name)
        self.compiled = False

    def is_uncompiled(self):
        return not self.compiled


@pytest.fixture
def kernels(monkeypatch):
    made = [FakeKernel(name) for name in ("cut", "sort", "walk")]
    monkeypatch.setattr(warming, "loaded_kernels", lambda: made)
    monkeypatch.setattr(first_run, "_SECONDS_PER_LOOK", 0.01)
    return made


def wait_for(heard, count):
    end = time.monotonic() + 30
    while len(heard) < count and time.monotonic() < end:
        time.sleep(0.01)
    assert len(heard) == count


def test_each_kernel_is_reported_once_it_is_compiled(kernels):
    heard = []
    with listening(lambda *said: heard.append(said)), first_run.showing_what_is_compiled(3):
        time.sleep(0.1)
        assert heard == []
        kernels[1].compiled = True
        wait_for(heard, 1)
        kernels[0].compiled = True
        wait_for(heard, 2)
    assert heard == [
        (f"{first_run.TASK}: fakes.sort done", 1, 3),
        (f"{first_run.TASK}: fakes.cut done", 2, 3),
    ]


def test_a_module_that_is_imported_later_is_looked_at_as_well(kernels):
    heard = []
    with listening(lambda *said: heard.append(said)), first_run.showing_what_is_compiled(1):
        time.sleep(0.1)
        late = FakeKernel("late")
        kernels.append(late)
        time.sleep(0.1)
        late.compiled = True
        wait_for(heard, 1)
    assert heard == [(f"{first_run.TASK}: fakes.late done", 1, 1)]


def test_nobody_listens_nothing_runs(kernels):
    with first_run.showing_what_is_compiled(3):
        report("grouping", 1, 2)
    assert kernels


@pytest.mark.slow
def test_demo_says_that_it_compiles(run, monkeypatch):
    monkeypatch.setattr(demo, "is_first_run", lambda: True)
    outcome = run("demo")
    assert outcome.code == 0
    assert outcome.err == f"{demo._FIRST_RUN}\n"
    monkeypatch.setattr(demo, "is_first_run", lambda: False)
    assert run("demo", "--force").err == ""


def test_warm_says_what_it_does(run, monkeypatch):
    done = [("method mdav", 0, 2), ("bounds", 1, 2)]
    monkeypatch.setattr(warming, "warm", lambda: iter(done))
    outcome = run("warm")
    assert outcome.code == 0
    assert outcome.err == "1 of 2: method mdav\n2 of 2: bounds\n"
    assert outcome.out.endswith("s; all are stored.\n")
    assert run("warm", "--quiet") == type(outcome)(0, "", "")


def test_warm_needs_a_folder(refused, monkeypatch):
    monkeypatch.setattr(warming, "stored_in", lambda _: None)
    assert "Set NUMBA_CACHE_DIR" in refused(2, "warm")
    assert warm.__doc__


def called_from_python():
    """The names that modules outside the room of kernels import from it."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        if "kernels" in path.relative_to(PACKAGE).parts:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(warming.ROOM):
                found |= {f"{node.module.rpartition('.')[2]}.{own.name}" for own in node.names}
    return found


@pytest.mark.slow
def test_warm_runs_every_kernel_that_python_calls():
    steps = list(warming.warm())
    assert steps[0][1:] == (0, len(steps))
    assert steps[-1][1:] == (len(steps) - 1, len(steps))
    every = {warming.name_of(own): own for own in warming.all_kernels()}
    wanted = called_from_python() & every.keys()
    assert len(wanted) > 60
    idle = [name for name in wanted if not every[name]._from_python.overloads]
    assert not idle, f"add steps to cli/warming.py that call {', '.join(sorted(idle))}"
