"""Files that expand without end, and too little memory: one line, and nothing is written."""

import errno
import gzip
import json
import re
import subprocess
import sys

import numpy as np
import pytest

from microagg import Plan, measure, protect_file, verify
from microagg.cli.main import OUT_OF_MEMORY
from microagg.core.errors import DataError
from tests.cli.conftest import snapshot

LINE = (
    "microagg: 'people.csv.gz' is compressed and expands to more than 1 MB. If you trust it, raise "
    "the limit, as in --max-expanded 8GB (max_expanded= in Python).\n"
)


@pytest.fixture
def packed(folder):
    """A file of 12 MB in some thousand bytes, beside people.csv."""
    with gzip.open(folder / "people.csv.gz", "wb") as stream:
        stream.write(b"age,income\n")
    member = gzip.compress(b"30,2000\n40,4000\n" * 7500)
    with (folder / "people.csv.gz").open("ab") as stream:
        stream.write(member * 100)
    return folder / "people.csv.gz"


COMMANDS = [
    ["protect", "people.csv.gz", "-k", "3"],
    ["plan", "people.csv.gz"],
    ["verify", "people.csv.gz", "-k", "3"],
    ["verify", "people.csv", "-k", "3", "--original", "people.csv.gz", "--unit", "age"],
    ["measure", "people.csv.gz", "people.csv"],
    ["measure", "people.csv", "people.csv.gz"],
    ["compare", "people.csv.gz", "-k", "3"],
    ["sweep", "people.csv.gz", "-k", "3"],
]


@pytest.mark.usefixtures("packed")
@pytest.mark.parametrize("argv", COMMANDS, ids=" ".join)
def test_every_command_keeps_the_limit(run, folder, argv):
    before = snapshot(folder)
    done = run(*argv, "--max-expanded", "1MB")
    assert (done.code, done.out, done.err) == (3, "", LINE)
    assert snapshot(folder) == before


@pytest.mark.slow
def test_the_limit_can_be_raised_and_is_part_of_the_command(run, folder):
    with gzip.open(folder / "few.csv.gz", "wb") as stream:
        stream.write(b"age,income\n" + b"30,2000\n40,4000\n" * 50)
    asked = ["few.csv.gz", "-k", "3", "--method", "mdav", "-q"]
    assert run("protect", *asked, "--max-expanded", "800").code == 3
    done = run("protect", *asked, "--max-expanded", "1KB")
    assert (done.code, done.err) == (0, "")
    manifest = json.loads((folder / "few-protected.csv.gz.manifest.json").read_text())
    assert "--max-expanded 1KB" in manifest["command"]
    drafted = run("plan", "few.csv.gz", "--max-expanded", "1KB", "-o", "few.toml")
    assert "microagg protect few.csv.gz --max-expanded 1KB --plan few.toml" in drafted.out


@pytest.mark.parametrize("size", ["lots", "-1", "0"])
def test_a_limit_must_be_a_size(run, packed, size):
    done = run("verify", packed.name, "-k", "3", "--max-expanded", size)
    assert done.code == 2
    assert done.err.startswith("microagg: what a compressed file may expand to must be a size")


def test_the_library_takes_the_limit(packed):
    calls = [
        lambda limit: protect_file(packed, packed.with_name("o.csv"), Plan.of(k=2), **limit),
        lambda limit: verify(packed, k=3, **limit),
        lambda limit: measure(packed, packed.with_name("people.csv"), **limit),
    ]
    for call in calls:
        with pytest.raises(DataError, match=r"expands to more than 1\.5 MB"):
            call({"max_expanded": 1_500_000})


def array_too_large():
    np.empty((10**9, 10**9))


def no_memory():
    raise MemoryError


def no_process():
    raise OSError(errno.ENOMEM, "Cannot allocate memory")


def no_thread():
    raise RuntimeError("can't start new thread")


def no_library():
    try:
        raise ImportError("lib.so: failed to map segment from shared object")
    except ImportError as error:
        raise OSError("could not load the library") from error


@pytest.mark.parametrize(
    ("lack", "amount"),
    [
        (array_too_large, ": 6.94 EiB more could not be allocated"),
        (no_memory, ""),
        (no_process, ""),
        (no_thread, ""),
        (no_library, ""),
    ],
)
def test_a_lack_of_memory_is_one_line_with_what_to_do(run, folder, monkeypatch, lack, amount):
    monkeypatch.setattr("microagg.release.protect.go_through", lambda *_a, **_k: lack())
    before = snapshot(folder)
    done = run("protect", "people.csv", "-k", "4", "--identifier", "name", "--publish", "code")
    assert (done.code, done.out) == (OUT_OF_MEMORY, "")
    assert done.err == (
        f"microagg: there is not enough memory{amount}; nothing was written. Choose --effort fast "
        "or another --method, --drop columns, use fewer records, or use a machine with more "
        "memory.\n"
    )
    assert snapshot(folder) == before


@pytest.mark.parametrize(
    ("command", "options"),
    [("compare", ("--effort", "--methods")), ("sweep", ("--effort",))],
)
def test_what_to_do_names_options_that_the_command_has(run, monkeypatch, command, options):
    monkeypatch.setattr("microagg.release.source.read_source", lambda *_a, **_k: no_memory())
    done = run(command, "people.csv", "-k", "4")
    assert done.code == OUT_OF_MEMORY
    named = re.findall("--[a-z]+", done.err)
    assert named == [*options, "--drop"]
    assert all(option in run(command, "--help").out for option in named)


def test_commands_without_a_search_suggest_none(run, monkeypatch):
    monkeypatch.setattr("microagg.release.verify._Opened", lambda *_: no_memory())
    done = run("verify", "people.csv", "-k", "4")
    assert (done.code, done.err) == (
        OUT_OF_MEMORY,
        "microagg: there is not enough memory. Use fewer columns or records, or a machine with "
        "more memory.\n",
    )


def test_other_errors_of_the_same_kind_are_no_lack_of_memory(run, monkeypatch):
    def fail(*_args, **_options):
        raise RuntimeError("a defect")

    monkeypatch.setattr("microagg.release.protect.go_through", fail)
    with pytest.raises(RuntimeError, match="a defect"):
        run("protect", "people.csv", "-k", "4", "--identifier", "name", "--publish", "code")


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
@pytest.mark.skipif(sys.platform != "linux", reason="other systems keep no such limit")
def test_a_process_that_may_hold_little():
    script = (
        "import resource, sys, numpy as np, polars, numba; "
        "from microagg.release import protect as room; "
        "from microagg.cli.main import main; "
        "held = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize(); "
        "resource.setrlimit(resource.RLIMIT_AS, (held + 4 * 10**9,) * 2); "
        "room.go_through = lambda *_a, **_k: np.ones(10**10); "
        "main(['protect', 'people.csv', '-k', '4', '--identifier', 'name', '--publish', 'code'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (OUT_OF_MEMORY, "")
    assert done.stderr.startswith("microagg: there is not enough memory: 74.5 GiB more could not")
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(sys.platform != "linux", reason="other systems keep no such limit")
@pytest.mark.parametrize(("limits", "loaded"), [(True, ["scipy.linalg"]), (False, [])])
def test_libraries_that_wait_for_memory_are_loaded_while_there_is_some(limits, loaded):
    script = (
        "import resource, sys; "
        f"{limits} and resource.setrlimit(resource.RLIMIT_AS, (8 * 10**9,) * 2); "
        "from microagg.cli.limited import need_room_to_start; "
        "need_room_to_start(['protect', 'people.csv']); "
        "print([name for name in sys.modules if name == 'scipy.linalg'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{loaded}\n"
