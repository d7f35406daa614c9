"""The first run compiles in two processes, of which the second never outlives its use."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numba
import numpy as np
import pytest

from microagg.kernels import background
from microagg.kernels.background import compiled_in_background
from microagg.kernels.compile import Kernel
from microagg.kernels.search.trials import run_trials
from microagg.partitions.auto import Auto

# Groups a small table; prints how many kernels of the search were found on disk, how many were
# compiled here, and the groups.
GROUPING = """
import numpy as np
from microagg.kernels.search.assignment import regroup
from microagg.kernels.search.descent import descend
from microagg.kernels.search.trials import run_trials
from microagg.partitions.auto import Auto

X = np.random.default_rng(3).normal(size=(40, 3))
fitted = Auto(3, effort="fast", random_state=1, n_jobs=2).fit(X)
stats = [kernel._from_python.stats for kernel in (regroup, descend, run_trials)]
print(sum(sum(of.cache_hits.values()) for of in stats))
print(sum(sum(of.cache_misses.values()) for of in stats))
print(*fitted.labels_)
"""
# Starts a helper that never ends of itself, tells its number, and waits.
WAITING = """
import time
from microagg.kernels import background

def warm_up():
    pass

warm_up.__module__, warm_up.__name__ = "tests.kernels.test_background", "sleep"
helper = background._start(warm_up)
print(helper.pid, flush=True)
time.sleep(60)
"""
ROOT = Path(__file__).parents[2]


def sleep():
    time.sleep(60)


def fail():
    raise ValueError


class Cold:
    """A kernel that nobody has compiled."""

    def is_uncompiled(self):
        return True


@pytest.fixture
def started(monkeypatch):
    """The helpers that are started."""
    helpers = []
    start = background._start

    def note(warm_up):
        helpers.append(start(warm_up))
        return helpers[-1]

    monkeypatch.setattr(background, "_start", note)
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.setattr(sleep, "__module__", "tests.kernels.test_background")
    monkeypatch.setattr(fail, "__module__", "tests.kernels.test_background")
    return helpers


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rsplit(")", 1)[1].split()[0] != "Z"


@pytest.mark.slow
def test_the_other_process_leaves_nothing_to_compile_for_the_search(tmp_path):
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", GROUPING], env=env, capture_output=True, text=True, check=True
    )
    found, compiled, labels = done.stdout.splitlines()
    assert (found, compiled) == ("3", "0")
    X = np.random.default_rng(3).normal(size=(40, 3))
    alone = Auto(3, effort="fast", random_state=1, n_jobs=1).fit(X)
    assert labels.split() == [str(label) for label in alone.labels_]


def test_a_block_that_fails_ends_the_helper(started):
    with pytest.raises(KeyboardInterrupt), compiled_in_background(Cold(), sleep, 2):
        raise KeyboardInterrupt
    assert started[0].returncode not in (None, 0)


def test_a_helper_that_hangs_is_ended(started, monkeypatch):
    monkeypatch.setattr(background, "_MOST_SECONDS", 0.5)
    with compiled_in_background(Cold(), sleep, 2):
        pass
    assert started[0].returncode not in (None, 0)


@pytest.mark.slow
def test_a_helper_that_fails_does_no_harm(started):
    with compiled_in_background(Cold(), fail, 2):
        done = True
    assert done
    assert started[0].returncode == 1


def test_nothing_is_started_for_one_thread_or_among_workers(started, monkeypatch):
    with compiled_in_background(Cold(), fail, 1):
        pass
    monkeypatch.setattr(background.multiprocessing, "parent_process", object)
    with compiled_in_background(Cold(), fail, 2):
        pass
    assert started == []


@pytest.mark.parametrize("interpreter", [None, "/usr/bin/blender", "/no/such/python"])
def test_without_an_interpreter_nothing_is_started(monkeypatch, interpreter):
    monkeypatch.setattr(background, "get_executable", lambda: interpreter)
    assert background._start(sleep) is None


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_the_helper_ends_with_a_parent_that_is_killed():
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    parent = subprocess.Popen([sys.executable, "-c", WAITING], stdout=subprocess.PIPE, env=env)
    with parent:
        helper = int(parent.stdout.readline())
        assert is_running(helper)
        parent.kill()
    end = time.monotonic() + 60
    while is_running(helper) and time.monotonic() < end:
        time.sleep(0.1)
    assert not is_running(helper)


@pytest.mark.slow
def test_a_kernel_knows_whether_it_is_to_be_compiled(tmp_path):
    script = (
        "from microagg.kernels.search.trials import run_trials; print(run_trials.is_uncompiled())"
    )
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def answer():
        asked = subprocess.run(
            [sys.executable, "-c", script], env=env, capture_output=True, check=True
        )
        return asked.stdout.decode().strip()

    assert answer() == "True"
    (folder,) = (place for place in tmp_path.iterdir() if place.name.startswith("search"))
    (folder / f"trials.{run_trials.py_func.__qualname__}-1.py311.nbi").touch()
    assert answer() == "False"


def test_a_kernel_that_cannot_be_shared_is_not_waited_for():
    uncached = numba.njit(fail)
    assert not Kernel(fail, uncached, uncached, borrows=True).is_uncompiled()
