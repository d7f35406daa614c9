"""Jobs: stopped, cancelled, killed, and what is left of them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from microagg.app.jobs import Jobs
from microagg.app.workspace import Workspace
from microagg.core.errors import ParameterError

pytestmark = pytest.mark.slow
LATE = 1.0  # seconds that a busy machine may take to look
STUDY = {"ks": [3, 5], "methods": ["auto", "mdav"]}
LONG = {"k": 3, "effort": "best", "random_state": 1}


@pytest.fixture
def workspace(tmp_path):
    with Workspace(tmp_path / "cache", tmp_path / "state") as workspace:
        yield workspace


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A table whose search takes minutes."""
    path = tmp_path_factory.mktemp("data") / "normal.csv"
    values = np.random.default_rng(1).normal(size=(4_000, 6)).round(4)
    pl.DataFrame(values, schema=list("abcdef")).write_csv(path)
    return {"path": str(path)}


def wait_until(true, seconds=600.0):  # the first run of a method compiles it
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)


def ended(job):
    wait_until(lambda: job.status().is_over)
    return job.status()


def group_of(leader):
    """The processes of a group that are not dead, by their state."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            fields = (path / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == leader and fields[0] != "Z":
            found[int(path.name)] = fields[0]
    return found


def test_stop_keeps_the_best_groups_so_far(workspace, source):
    jobs = Jobs(workspace)
    job = jobs.start("protect", {"source": source, "plan": LONG})
    losses = []

    def has_two_losses():
        loss = job.status().loss
        if loss is not None and loss not in losses:
            losses.append(loss)
        return len(losses) > 1

    wait_until(has_two_losses)
    assert 0 < losses[-1] < losses[0] < 100
    assert jobs.is_busy()
    job.stop()
    assert job.status().state == "stopping"
    status = ended(job)
    assert (status.state, status.exit_code) == ("stopped", 0)
    assert not jobs.is_busy()
    result = job.result()
    assert result["manifest"]["interrupted"]
    assert result["manifest"]["verified"]
    assert result["manifest"]["grouping_loss"] <= losses[-1] + 1e-6
    assert any("best groups so far" in text for text in result["warnings"])


def test_stop_before_there_are_groups_waits_for_them(workspace, source):
    job = Jobs(workspace).start("protect", {"source": source, "plan": LONG})
    job.stop()  # while Python starts
    assert ended(job).state == "stopped"


def test_stop_without_a_search_changes_nothing(workspace, source):
    job = Jobs(workspace).start("protect", {"source": source, "plan": {"k": 3, "method": "mdav"}})
    job.stop()
    assert ended(job).state == "finished"


def test_stop_of_strata_keeps_what_each_has(workspace, tmp_path):
    rng = np.random.default_rng(2)
    values = {name: rng.normal(size=3_000).round(4) for name in "abcd"}
    table = pl.DataFrame(values | {"where": ["north", "south", "east"] * 1_000})
    table.write_csv(tmp_path / "strata.csv")
    plan = {**LONG, "columns": {"where": {"role": "stratum"}}}
    job = Jobs(workspace).start(
        "protect", {"source": {"path": str(tmp_path / "strata.csv")}, "plan": plan}
    )
    wait_until(lambda: job.status().loss is not None)
    job.stop()
    assert ended(job).state == "stopped"


def test_stop_ends_a_tight_bound(workspace, source):
    plan = {"k": 3, "method": "mdav", "bound": "tight"}
    job = Jobs(workspace).start("protect", {"source": source, "plan": plan})
    wait_until(lambda: job.status().phase.startswith("tight bound"))
    job.stop()
    assert ended(job).state == "finished"
    assert job.result()["manifest"]["lower_bound"] > 0


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks at processes in /proc")
def test_cancel_ends_everything_within_a_second(workspace, source):
    job = Jobs(workspace).start("protect", {"source": source, "plan": LONG})
    wait_until(lambda: job.status().phase == "searching")
    leader = job._process.pid
    assert group_of(leader)
    began = time.monotonic()
    job.cancel()
    assert time.monotonic() - began < 0.5, "it is not waited for: a compiled loop hears nothing"
    assert not group_of(leader), "the processor is idle"
    assert not job.folder.exists()
    assert job.status().state == "cancelled"
    with pytest.raises(ParameterError, match="cancelled"):
        job.result()


def test_cancel_while_saving_leaves_no_file(workspace, source, tmp_path):
    jobs = Jobs(workspace)
    made = jobs.start("protect", {"source": source, "plan": {"k": 3, "method": "mdav"}})
    assert ended(made).state == "finished"
    before = set(tmp_path.rglob("*"))
    target = {"target": str(tmp_path / "safe.csv"), "report": str(tmp_path / "safe.html")}
    job = jobs.start("save", {"job": made.id, **target})
    wait_until(lambda: job.status().phase not in ("preparing", "writing"))
    job.cancel()
    left = [path for path in set(tmp_path.rglob("*")) - before if not path.is_dir()]
    assert left == []


def test_cancel_after_everything_is_written_does_not_deny_it(workspace, source, tmp_path):
    """The process is held at its last status; cancelling then comes too late."""
    jobs = Jobs(workspace)
    made = jobs.start("protect", {"source": source, "plan": {"k": 3, "method": "mdav"}})
    assert ended(made).state == "finished"
    job = jobs.start("save", {"job": made.id, "target": str(tmp_path / "safe.csv")})
    wait_until(lambda: job._written().get("state") == "finished")
    job._process.poll = lambda: None  # it has not ended yet, as far as can be seen
    job.cancel()
    assert job.status().state == "finished"
    assert [own["what"] for own in job.result()["files"]] == ["table", "manifest"]
    assert (tmp_path / "safe.csv").exists()


def test_a_job_that_the_system_kills_says_so(workspace, source):
    job = Jobs(workspace).start("protect", {"source": source, "plan": LONG})
    wait_until(lambda: job.status().phase == "searching")
    os.killpg(job._process.pid, signal.SIGKILL)
    status = ended(job)
    assert (status.state, status.exit_code) == ("failed", 1)
    assert "not enough memory" in status.message


def test_bad_requests_are_one_sentence_with_the_exit_code(workspace, tmp_path):
    (tmp_path / "broken.csv").write_text('a,b\n1,2\n3\n"Sentinella')
    jobs = Jobs(workspace)
    asked = {
        2: {"source": {"path": str(tmp_path / "none.csv")}, "plan": {"k": 3}},
        3: {"source": {"path": str(tmp_path / "broken.csv")}, "plan": {"k": 3}},
    }
    started = {code: jobs.start("protect", request) for code, request in asked.items()}
    for code, job in started.items():
        status = ended(job)
        assert (status.state, status.exit_code) == ("failed", code)
        assert status.message.endswith(".")
        assert "Traceback" not in status.message
        assert "Sentinella" not in status.message


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks at processes in /proc")
def test_jobs_end_with_an_app_that_is_killed(source, tmp_path):
    code = (
        "import os, pathlib, signal, sys, time\n"
        "from microagg.app.workspace import Workspace; from microagg.app.jobs import Jobs\n"
        f"here = pathlib.Path({str(tmp_path)!r}); w = Workspace(here / 'cache', here)\n"
        f"job = Jobs(w).start('protect', {{'source': {source!r}, 'plan': {LONG!r}}})\n"
        "while job.status().phase != 'searching': time.sleep(0.05)\n"
        "print(job._process.pid, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    killed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    leader = int(killed.stdout)
    wait_until(lambda: not group_of(leader), seconds=1 + LATE)


def test_jobs_end_with_the_workspace(source, tmp_path):
    with Workspace(tmp_path / "cache", tmp_path / "state") as workspace:
        jobs = Jobs(workspace)
        job = jobs.start("protect", {"source": source, "plan": LONG})
        assert workspace.is_busy()
    assert job.status().state == "cancelled"
    assert not list((tmp_path / "cache").glob("app-*/"))


def test_a_job_that_has_ended_is_never_sent_a_signal(workspace, tmp_path, monkeypatch):
    """The number of its process may belong to another by then."""
    jobs = Jobs(workspace)
    job = jobs.start("describe", {"source": {"path": str(tmp_path / "none.csv")}})
    ended(job)
    job._reaper.join()
    assert job._process.stdin.closed, "no descriptor is left open"
    sent = []
    monkeypatch.setattr(os, "killpg", lambda *given: sent.append(given))
    job.cancel()
    jobs.discard(job)
    assert sent == []
    assert job.status().state == "failed"


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks at processes in /proc")
def test_what_a_killed_job_had_started_ends_too(workspace, source):
    job = Jobs(workspace).start("compare", {"source": source, "plan": {"k": 3}, **STUDY})
    wait_until(lambda: job.status().phase != "preparing")
    os.kill(job._process.pid, signal.SIGKILL)
    assert ended(job).state == "failed"
    job._reaper.join()
    wait_until(lambda: not group_of(job._process.pid), seconds=2)


def test_a_job_may_be_started_while_another_thread_looks(workspace, source):
    jobs = Jobs(workspace)
    first = jobs.start("describe", {"source": source})
    ended(first)
    first.status = lambda: jobs.start("describe", {"source": source}) and first._ended
    jobs.is_busy()
