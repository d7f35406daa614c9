"""SPSS, Stata and SAS files are read in a process of its own, which may crash."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import asdict

import polars as pl
import pytest

from microagg.core.errors import DataError, MicroaggError
from microagg.files import own_process, statistical_reader
from microagg.files.formats import open_table
from microagg.files.own_process import UnreadableError, read_apart, read_here

pyreadstat = pytest.importorskip("pyreadstat")

# A command in a folder that must not be searched for modules.
PYTHON = [sys.executable, "-P"]


@pytest.fixture
def _apart(monkeypatch):
    """Read files as a user does; elsewhere, tests read them in their own process."""
    monkeypatch.setattr(statistical_reader, "read_apart", read_apart)


@pytest.fixture
def survey(tmp_path):
    path = tmp_path / "née ~ 1.sav"
    pyreadstat.write_sav(
        pl.DataFrame({"a": [1.0, 2.0, 9.0, None], "b": ["x" * 20, "", 'ß\n"', "y"]}),
        path,
        column_labels={"a": "Ümlaut"},
        variable_value_labels={"a": {1.0: "one", 2.5: "two and a half"}, "b": {"y": "yes"}},
        missing_ranges={"a": [9.0, {"lo": -float("inf"), "hi": -1.0}]},
        variable_measure={"a": "ordinal"},
        variable_format={"a": "F8.2"},
    )
    return path


def crashing(path):
    """Let the labels belong to column 255: pyreadstat then reads beyond its own memory."""
    data = path.read_bytes()
    labelled = b"\4\0\0\0\1\0\0\0\1\0\0\0"
    assert labelled in data
    path.write_bytes(data.replace(labelled, b"\4\0\0\0\1\0\0\0\xff\0\0\0"))
    return path


def request_for(path):
    return {"path": str(path), "suffix": path.suffix, "encoding": None}


def test_another_process_answers_the_same(survey):
    request = request_for(survey)
    apart, here = (read("statistical_file:read_facts", request) for read in (read_apart, read_here))
    assert apart[0] == here[0]
    assert len(apart[0]["missing"]["a"]) == 2
    more = {**request, "names": ["b", "a"], "as_text": ["a"], "most_records": 0}
    apart, here = (read("statistical_file:read_columns", more) for read in (read_apart, read_here))
    assert apart[1].equals(here[1])
    assert apart[1].schema == here[1].schema


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".sav", ".zsav", ".dta", ".xpt"])
def test_tables_and_labels_arrive_whole(tmp_path, suffix, monkeypatch):
    path = tmp_path / f"t{suffix}"
    table = pl.DataFrame({"a": [1.0, None, 2.5] * 50, "b": ["x", "", "long text"] * 50})
    if suffix == ".xpt":
        pyreadstat.write_xport(table, path, column_labels={"a": "A"})
    elif suffix == ".dta":
        pyreadstat.write_dta(table, path, variable_value_labels={"a": {1: "one"}})
    else:
        labels = {"a": {1.0: "one"}}
        pyreadstat.write_sav(table, path, compress=suffix == ".zsav", variable_value_labels=labels)
    here = open_table(str(path))
    monkeypatch.setattr(statistical_reader, "read_apart", read_apart)
    apart = open_table(str(path))
    assert apart.table().equals(here.table())
    assert asdict(apart.annotations) == asdict(here.annotations)
    assert apart.sha256 == here.sha256


@pytest.mark.usefixtures("_apart")
def test_a_crash_is_one_sentence(survey, capfd):
    with pytest.raises(DataError, match="should be an SPSS file; it holds something else or is da"):
        open_table(str(crashing(survey)))
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_a_crash_is_one_line_of_the_command(survey):
    done = subprocess.run(
        [*PYTHON, "-m", "microagg", "verify", str(crashing(survey)), "-k", "2"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.count("\n") == 1
    assert "holds something else or is damaged" in done.stderr


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("import os; os.abort()", UnreadableError),
        ("import os; os.kill(os.getpid(), 11)", UnreadableError),
        ("import os; os.kill(os.getpid(), 9)", MemoryError),
        ("import sys; sys.exit(3)", MicroaggError),
        ("pass", MicroaggError),
    ],
)
@pytest.mark.skipif(os.name != "posix", reason="other systems have no such signals")
def test_how_a_process_may_end(monkeypatch, code, error):
    monkeypatch.setattr(own_process, "_CODE", f"import resource; {_NO_CORE}; {code}")
    with pytest.raises(error):
        read_apart("statistical_file:read_facts", {})


_NO_CORE = "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))"


def test_a_python_that_is_not_there(monkeypatch):
    monkeypatch.setattr(own_process, "get_executable", lambda: "/nowhere/python")
    with pytest.raises(MicroaggError, match=r"'/nowhere/python' could not be run for that: .+\.$"):
        read_apart("statistical_file:read_facts", {})


@pytest.mark.parametrize("how", ["frozen", "embedded"])
def test_without_a_python_the_file_is_read_here(monkeypatch, survey, how):
    if how == "frozen":
        monkeypatch.setattr(sys, "frozen", True, raising=False)
    else:
        monkeypatch.setattr(own_process, "get_executable", lambda: None)
    monkeypatch.setattr(own_process.subprocess, "run", None)
    facts, _ = read_apart("statistical_file:read_facts", request_for(survey))
    assert facts["columns"] == ["a", "b"]


def test_a_lack_of_memory_there_is_one_here(monkeypatch):
    code = (
        f"import sys; sys.path[:] = {sys.path!r}; sys.stdin.buffer.readline(); "
        "from microagg.files import own_process; "
        "own_process._called = lambda *_: (_ for _ in ()).throw(MemoryError); own_process.answer()"
    )
    monkeypatch.setattr(own_process, "_CODE", code)
    with pytest.raises(MemoryError, match="not enough memory to read the file"):
        read_apart("statistical_file:read_facts", {})


@pytest.mark.slow
def test_programs_need_no_guard_and_their_folder_holds_no_modules(survey):
    """A script without `if __name__ == "__main__"`, in a folder with a hostile module."""
    folder = survey.parent
    (folder / "json.py").write_text("raise SystemExit('taken for a module')")
    (folder / "polars.py").write_text("raise SystemExit('taken for a module')")
    script = folder / "script.py"
    script.write_text(
        textwrap.dedent(
            f"""
            print("once")
            from microagg.files.formats import open_table
            print(open_table({str(survey)!r}).table().shape)
            """
        )
    )
    done = subprocess.run(
        [*PYTHON, "-O", str(script)], capture_output=True, text=True, check=False, cwd=folder
    )
    assert (done.stdout, done.stderr) == ("once\n(4, 2)\n", "")


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such signals")
def test_an_interrupt_ends_both_processes(tmp_path):
    """The process that reads writes its number, and then never ends by itself."""
    number = tmp_path / "number"
    endless = (
        "import os, time, signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "
        f"open({str(number)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    )
    script = textwrap.dedent(
        f"""
        from microagg.files import own_process
        own_process._CODE = {json.dumps(endless)}
        own_process.read_apart("statistical_file:read_facts", {{}})
        """
    )
    process = subprocess.Popen([*PYTHON, "-c", script], stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 60
        while not (number.exists() and number.read_text()) and time.monotonic() < end:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) != 0
    finally:
        process.kill()
        process.wait()
    with pytest.raises(ProcessLookupError):
        os.kill(int(number.read_text()), 0)
