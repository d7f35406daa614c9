"""What bad input gets: one line, its exit code, and nothing written. `refused` checks all three."""

import datetime
import gzip
import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from microagg.files import reading as files
from microagg.partitions.fixed_size import CBFS

ROLES = ("--identifier", "name", "--sensitive", "code")
OK = ("protect", "people.csv", "-k", "4", *ROLES)
MDAV = ("--method", "mdav")
COMPARE = ("compare", "people.csv", *ROLES)
ROW = b"age,income\n34,987654321\n36,12\n35,13\n"


def parquet(table):
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    return buffer.getvalue()


PARQUET = parquet(pl.DataFrame({"age": [1, 2, 3], "income": [987654321, 1, 2]}))
DAMAGED = PARQUET[:40] + b"\xff" * 60 + PARQUET[100:]

BAD_FILES = {
    "empty": ("t.csv", b"", "empty"),
    "empty but for a mark": ("t.csv", b"\xef\xbb\xbf\n", "empty"),
    "empty gzip": ("t.csv.gz", b"", "empty"),
    "gzip of nothing": ("t.csv.gz", gzip.compress(b""), "empty"),
    "empty parquet": ("t.parquet", b"", "empty"),
    "blank first line": ("t.csv", b"\nage,income\n1,987654321\n", "blank"),
    "header without rows": ("t.csv", b"age,income\n", "no records"),
    "header without a newline": ("t.csv", b"age,income", "no records"),
    "a record alone": ("t.csv", b"Sentinella,Bo\n", "no records"),
    "parquet without rows": ("t.parquet", parquet(pl.DataFrame({"a": [1]}).clear()), "no records"),
    "too many fields": ("t.csv", ROW + b"987654321,2,3\n", "line 5"),
    "too few fields": ("t.csv", ROW + b"987654321\n", "line 5"),
    "blank line inside": ("t.csv", ROW + b"\n987654321,1\n", "line 5"),
    "ragged after a long header": ("t.csv", b'"a\nb",c\n1,2\n987654321\n', "line 4"),
    "parquet called csv": ("t.csv", PARQUET, "Parquet"),
    "gzip called csv": ("t.csv", gzip.compress(ROW), "gzip"),
    "zip called csv": ("t.csv", b"PK\x03\x04 987654321", "Excel"),
    "csv called parquet": ("t.parquet", ROW, "should be Parquet"),
    "damaged parquet": ("t.parquet", DAMAGED, "damaged"),
    "text called gz": ("t.csv.gz", ROW, "gzip"),
    "cut gzip": ("t.csv.gz", gzip.compress(ROW)[:-12], "gzip"),
    "parquet inside gzip": ("t.csv.gz", gzip.compress(PARQUET), "Parquet"),
    "a measurement on top": ("t.csv", b"Sentinella,777.125\nBo,3\n", "is the first line a header"),
    "a negative number on top": (
        "t.csv",
        b"Sentinella;00123;-1\nBo;2;3\n",
        "is the first line a header",
    ),
    "zero bytes": ("t.csv", ROW + b"\0,987654321\n", "binary"),
    "half of UTF-16": ("t.csv", "age,income\n1,987654321\n".encode("utf-16")[:-1], "utf-16"),
    "no text in any usual encoding": ("t.csv", ROW + b"\x81,987654321\n", "--encoding"),
    "damaged UTF-8": ("t.csv", ROW + "é".encode() + b"\xe9,987654321\n", "--encoding"),
    "column named twice": (
        "t.csv",
        b"age,income,age\n1,987654321,3\n",
        "columns 1 and 3 of 't.csv' have the same name",
    ),
    "column without a name": ("t.csv", b"age,,income\n1,987654321,3\n", "column 2"),
    "no header": ("t.csv", b"987654321,2\n3,4\n", "header line"),
    "no header above names": ("t.csv", b"Sentinella,48200\nBo,3\n", "column 1 (text in 1"),
    "two delimiters": ("t.csv", b"age,a;income\n1,2;987654321\n", "--delimiter"),
    "two decimal marks": ("t.csv", b"age;income\n1.5;987654321,5\n2.5;3,5\n", "--decimal"),
    "marks of thousands": ("t.csv", b"age;income\n1;987,321\n2;3,500\n", "--decimal"),
    "quote never closed": ("t.csv", ROW + b'"987654321,1\n2,3\n', "quote"),
    "quote inside a field": ("t.csv", ROW + b'"98"7654321,1\n', "quote"),
    "old Mac line ends": ("t.csv", ROW.replace(b"\n", b"\r"), "CSV"),
    "missing value": ("t.csv", ROW + b",987654321\n", "missing in 'age' (1)"),
    "missing in one column": ("t.csv", b"age\n987654321\n\n1\n", "missing in 'age' (1)"),
    "missing at the end": ("t.csv", b"age\n987654321\n1\n\n", "missing in 'age' (1)"),
    "infinite value": ("t.csv", ROW + b"1e999,987654321\n", "infinite in 'age' (1)"),
    "text without a role": ("t.csv", b"n,who\n1,Sentinella\n2,Bo\n3,Cy\n", "'who' (text in 3"),
    "codes": ("t.csv", b"n,zip\n1,00123\n2,45678\n", "leading zeros in 1 of 2 records"),
    "a marker": ("t.csv", ROW + b"?,1\n", "are missing in 'age' (1)"),
    "numbers spoilt": ("t.csv", ROW + b"Sentinella,1\n", "'age' (text in 1 of 4 records)"),
    "dates": ("t.parquet", parquet(pl.DataFrame({"d": [datetime.date(1999, 1, 1)]})), "'d' (date"),
    "only text": ("t.csv", b"who\nSentinella\nBo\n", "'who'"),
    "beyond 64 bits": ("t.csv", b"a,b\n9876543210987654321098,1\n-1,2\n", "beyond 64 bits"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_data_exits_3(refused, folder, name):
    path, content, words = BAD_FILES[name]
    (folder / path).write_bytes(content)
    assert words in refused(3, "protect", path, "-k", "2")


@pytest.mark.parametrize("name", ["empty", "header without rows", "too few fields", "zero bytes"])
@pytest.mark.parametrize("command", ["verify", "compare"])
def test_other_commands_refuse_bad_data_too(refused, folder, name, command):
    path, content, words = BAD_FILES[name]
    (folder / path).write_bytes(content)
    assert words in refused(3, command, path, "-k", "2")


def test_compare_needs_roles_as_protect_does(refused):
    assert "'name'" in refused(3, "compare", "people.csv", "-k", "3")


BAD_REQUESTS = {
    "missing file": (("protect", "persons.csv", "-k", "3"), "does not exist"),
    "nearly the name": (("protect", "peeple.csv", "-k", "3"), "Did you mean 'people.csv'?"),
    "missing folder": (("protect", "nowhere/people.csv", "-k", "3"), "does not exist"),
    "unknown suffix": (("protect", "people.ods", "-k", "3"), ".parquet"),
    "unknown output suffix": ((*OK, "-o", "out.doc"), ".parquet"),
    "nearly a suffix": (("protect", "people.cvs", "-k", "3"), "Did you mean '.csv'?"),
    "nearly an output suffix": ((*OK, "-o", "out.parqet"), "Did you mean '.parquet'?"),
    "name too long": (("protect", f"{'x' * 300}.csv", "-k", "3"), "too long"),
    "output name too long": ((*OK, "-o", f"{'x' * 300}.csv"), "too long"),
    "output folder missing": ((*OK, "-o", "nowhere/out.csv"), "does not exist"),
    "output inside a file": ((*OK, "-o", "people.csv/out.csv"), "does not exist"),
    "k zero": (("protect", "people.csv", "-k", "0"), "got 0"),
    "k negative": (("protect", "people.csv", "-k", "-3"), "got -3"),
    "k a fraction": (("protect", "people.csv", "-k", "2.5"), "got '2.5'"),
    "k a word": (("protect", "people.csv", "-k", "three"), "got 'three'"),
    "k empty": (("protect", "people.csv", "-k", ""), "got ''"),
    "k too large": (("protect", "people.csv", "-k", "61", *ROLES), "from 1 to 60"),
    "k of 5000 digits": (("protect", "people.csv", "-k", "9" * 5000), "got '99999"),
    "demo k of 5000 digits": (("demo", "-k", "9" * 5000), "got '99999"),
    "verify k of 5000 digits": (("verify", "people.csv", "-k", "9" * 5000), "got '99999"),
    "k missing": (("protect", "people.csv"), "missing option '-k'"),
    "no input": (("protect", "-k", "3"), "missing argument 'INPUT'"),
    "two inputs": (
        ("protect", "people.csv", "people.csv", "-k", "3"),
        "unexpected argument: people.csv",
    ),
    "unknown method": ((*OK, "--method", "mdaw"), "Did you mean 'mdav'?"),
    "unknown option": ((*OK, "--sensitve", "code"), "Did you mean '--sensitive'?"),
    "unknown command": (("protct", "people.csv"), "Did you mean 'protect'?"),
    "option of a command alone": (("-k", "3"), "no such option"),
    "unknown column": ((*OK, "--quasi-identifier", "Agee"), "Did you mean 'age'?"),
    "far from any column": ((*OK, "--sensitive", "zzz"), "Its columns are 'name', 'age'"),
    "two roles": ((*OK, "--quasi-identifier", "code"), "one role only"),
    "all dropped": (
        (*OK, "--identifier", "age", "--identifier", "height", "--sensitive", "income"),
        "no quasi-identifier",
    ),
    "unknown effort": ((*OK, "--effort", "bst"), "Did you mean 'best'?"),
    "effort of another method": ((*OK, *MDAV, "--effort", "best"), "how much work 'mdav' does"),
    "effort as an option": ((*OK, "--option", "effort=best"), "give it as --effort"),
    "unknown bound": ((*OK, "--bound", "tigt"), "Did you mean 'tight'?"),
    "bound of a draw": ((*OK, "--method", "fcm", "--bound", "fast"), "does not guarantee k"),
    "time that is none": ((*OK, "--time-budget", "long"), "time_budget must be a finite number"),
    "negative time": ((*OK, "--time-budget", "-1"), "of at least 0"),
    "no time at all": ((*OK, "--time-budget", "nan"), "time_budget must be a finite number"),
    "time of another method": ((*OK, *MDAV, "--time-budget", "3"), "runs to its end"),
    "unknown option of the method": ((*OK, *MDAV, "--option", "leftovers=group"), "'leftover'"),
    "k as option of the method": ((*OK, "--option", "k=9"), "has no option 'k'"),
    "bad value for the method": ((*OK, *MDAV, "--option", "leftover=none"), "'nearest'"),
    "option without a value": ((*OK, "--option", "leftover"), "NAME=VALUE"),
    "option given twice": ((*OK, "--option", "a=1", "--option", "a=2"), "twice"),
    "constraint that is none": ((*OK, "--constraint", "age"), "at character 4"),
    "constraint that is not linear": ((*OK, "--constraint", "age*height = 3"), "not linear"),
    "constraint on an unknown column": ((*OK, "--constraint", "agee >= 3"), "Did you mean 'age'?"),
    "constraint on a sensitive column": ((*OK, "--constraint", "code >= 3"), "is sensitive"),
    "constraints that contradict": (
        (*OK, "--constraint", "age >= 3", "--constraint", "age <= 2"),
        "contradict",
    ),
    "strict k without a draw": ((*OK, "--strict-k"), "guarantees k anyway"),
    "strict k as an option": (
        (*OK, "--method", "fcm", "--option", "strict_k=true"),
        "--strict-k",
    ),
    "unknown scale": ((*OK, "--scale", "logs"), "'standardise', 'robust', 'rank', 'log', 'none'"),
    "json and table on one stream": ((*OK, "--json", "-o", "-"), "standard output"),
    "no name": ((*OK, "-o", ""), "path must be the name of a file; got ''"),
    "one column only": ((*OK, "--method", "univariate"), "exactly one quasi-identifier; got 3"),
    "verify without k": (("verify", "people.csv"), "is missing. Give k (-k), or a plan"),
    "verify k zero": (("verify", "people.csv", "-k", "0"), "got 0"),
    "verify unknown column": (
        ("verify", "people.csv", "-k", "2", "--quasi-identifier", "agge"),
        "Did you mean 'age'?",
    ),
    "demo k": (("demo", "-k", "none"), "got 'none'"),
    "demo k too large": (("demo", "-k", "443", "-o", "."), "from 1 to 442"),
    "demo k too large in a new folder": (("demo", "-k", "443", "-o", "new/er"), "from 1 to 442"),
    "seed a word": ((*OK, "--seed", "x"), "--seed must be a whole number from 0 to"),
    "seed negative": ((*OK, "--seed", "-1"), "got -1"),
    "seed too large": ((*OK, "--seed", "4294967296"), "got 4294967296"),
    "seed of 5000 digits": ((*OK, "--seed", "9" * 5000), "got '99999"),
    "compare without k": (("compare", "people.csv"), "missing option '-k'"),
    "compare k zero": ((*COMPARE, "-k", "3,0"), "got 0"),
    "compare k a word": ((*COMPARE, "-k", "3,five"), "got 'five'"),
    "compare no k": ((*COMPARE, "-k", ","), "at least one k"),
    "compare k twice": ((*COMPARE, "-k", "3", "-k", "5"), "-k is given 2 times"),
    "compare k too large": ((*COMPARE, "-k", "3,61"), "from 1 to 60"),
    "compare unknown method": ((*COMPARE, "-k", "3", "--methods", "md,mdaw"), "'mdav'?"),
    "compare no method": ((*COMPARE, "-k", "3", "--methods", ""), "at least one method"),
    "compare missing file": (("compare", "peeple.csv", "-k", "3"), "Did you mean 'people.csv'?"),
    "compare unknown suffix": (("compare", "people.xls", "-k", "3"), ".parquet"),
    "compare output suffix": ((*COMPARE, "-k", "3", "-o", "x.doc"), ".parquet"),
    "compare unknown column": ((*COMPARE, "-k", "3", "--sensitive", "agge"), "'age'?"),
    "compare unknown scale": ((*COMPARE, "-k", "3", "--scale", "logs"), "Did you mean 'log'?"),
    "compare seed": ((*COMPARE, "-k", "3", "--seed", "1.5"), "--seed must be"),
    "compare jobs": ((*COMPARE, "-k", "3", "--jobs", "0"), "--jobs must be"),
    "compare json and csv": ((*COMPARE, "-k", "3", "--json", "-o", "-"), "standard output"),
    "integer without its scale": (
        (*OK, "--method", "npn-mhm", "--option", "integer=true"),
        "--scale none",
    ),
}


@pytest.mark.parametrize("name", BAD_REQUESTS)
def test_bad_request_exits_2(refused, name):
    argv, words = BAD_REQUESTS[name]
    assert words in refused(2, *argv)


@pytest.mark.parametrize(
    "argv",
    [
        ("demo", "--json"),
        ("verify", "people.csv", "-k", "2", "--identifier", "name"),
        ("protect", "one.csv", "-k", "2"),
    ],
)
def test_a_far_guess_is_not_offered(refused, argv):
    assert "Did you mean" not in refused(2, *argv)


def test_folder_instead_of_input(refused, folder):
    (folder / "t.csv").mkdir()
    assert "is a folder" in refused(2, "plan", "t.csv")
    # To protect, a folder is a dataset.
    assert "the folder 't.csv' holds no files" in refused(2, "protect", "t.csv", "-k", "3")


def test_folder_instead_of_output(refused, folder):
    (folder / "out.csv").mkdir()
    assert "is a folder" in refused(2, *OK, "-o", "out.csv", "--force")


def test_input_that_may_not_be_read(refused, monkeypatch):
    def forbidden(*_args, **_kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", forbidden)
    assert "Permission denied" in refused(2, *OK)


def test_existing_output_needs_force(refused, folder):
    (folder / "people-protected.csv").write_text("precious")
    assert "--force" in refused(2, *OK)


def test_dangling_link_is_an_existing_output(refused, folder):
    (folder / "people-protected.csv").symlink_to("nowhere")
    assert "--force" in refused(2, *OK)


def test_input_is_never_overwritten_through_standard_input(folder):
    before = (folder / "people.csv").read_bytes()
    with (folder / "people.csv").open("rb") as stream:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "microagg", "protect", "-", "-k", "4", *ROLES),
                *("-o", "people.csv", "--force"),
            ],
            stdin=stream,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert "never overwritten" in done.stderr
    assert (folder / "people.csv").read_bytes() == before


@pytest.mark.parametrize("link", ["same", "symlink", "hard link", "another way"])
def test_input_is_never_overwritten(refused, folder, link):
    target = folder / "out.csv"
    if link == "same":
        target = folder / "people.csv"
    elif link == "symlink":
        target.symlink_to("people.csv")
    elif link == "hard link":
        os.link(folder / "people.csv", target)
    else:
        (folder / "sub").mkdir()
        target = folder / "sub" / ".." / "people.csv"
    assert "never overwritten" in refused(2, *OK, "-o", str(target), "--force")


def unwritable_folder(folder):
    """A folder in which no file can be made; root may write to any that is on a disk."""
    if os.geteuid() == 0:
        return Path("/proc/self")
    closed = folder / "closed"
    closed.mkdir(mode=0o555)
    return closed


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a Linux system")
def test_unwritable_folder_is_found_before_the_input_is_read(refused, folder, monkeypatch):
    monkeypatch.setattr(files, "_bytes_of", lambda path: pytest.fail(f"{path} was read"))
    target = unwritable_folder(folder) / "out.csv"
    assert "cannot be written" in refused(2, *OK, "-o", str(target))


def test_cheap_checks_come_before_the_input_is_read(refused, monkeypatch):
    monkeypatch.setattr(files, "_bytes_of", lambda path: pytest.fail(f"{path} was read"))
    refused(2, *OK, "--method", "mdaw")
    refused(2, "protect", "people.csv", "-k", "x")
    refused(2, *COMPARE, "-k", "3", "--methods", "mdaw")
    refused(2, *COMPARE, "-k", "3,x")


def test_text_without_a_role_names_the_remedies(refused):
    message = refused(3, "protect", "people.csv", "-k", "3")
    assert "--identifier" in message
    assert "--sensitive" in message
    assert "'name'" in message


def test_nested_columns_do_not_go_to_csv(refused, folder):
    table = pl.DataFrame({"n": [1, 2], "several": [["Sentinella"], ["b"]]})
    table.write_parquet(folder / "t.parquet")
    argv = ("protect", "t.parquet", "-k", "2", "--sensitive", "several", "-o", "out.csv")
    assert "'several'" in refused(2, *argv)


def test_standard_input_is_judged_like_a_file(refused, monkeypatch):
    for data, code in ((b"", 3), (b"age,b\n987654321\n", 3), (PARQUET, 3)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert "standard input" in refused(code, "protect", "-", "-k", "2")


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_failure_while_writing_leaves_nothing(refused, monkeypatch, failure, suffix):
    def cut_short(_table, stream, **_options):
        stream.write(b"half of it")
        raise failure

    monkeypatch.setattr(pl.DataFrame, "write_csv", cut_short)
    monkeypatch.setattr(pl.DataFrame, "write_parquet", cut_short)
    code = 130 if isinstance(failure, KeyboardInterrupt) else 2
    message = refused(code, *OK, *MDAV, "-o", f"out{suffix}")
    assert ("interrupted" if code == 130 else "No space left") in message


PRINTING = {
    "help": ("--help",),
    "help of a command": ("protect", "--help"),
    "version": ("--version",),
    "methods": ("methods",),
    "methods as json": ("methods", "--json"),
    "verify": ("verify", "people.csv", "-k", "2"),
    "demo": ("demo",),
    "comparison": (*COMPARE, "-k", "3", "--methods", "mdav"),
    "table": (*OK, *MDAV, "-o", "-"),
    "summary": (*OK, *MDAV),
    "json": (*OK, *MDAV, "--json"),
}


# A process of its own takes seconds to load what these need.
SLOW = {"verify", "demo", "comparison", "table", "summary", "json"}
UNWRITABLE = {"full": "No space left on device", "closed": "it is closed"}
needs_full_device = pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="needs a device that is always full"
)


@needs_full_device
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in PRINTING],
)
@pytest.mark.parametrize("state", UNWRITABLE)
def test_unwritable_standard_output_is_one_line(name, state):
    redirect = ">/dev/full" if state == "full" else ">&-"
    done = subprocess.run(
        ["sh", "-c", f'"$@" {redirect}', "sh", sys.executable, "-m", "microagg", *PRINTING[name]],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == f"microagg: standard output cannot be written: {UNWRITABLE[state]}.\n"


@needs_full_device
@pytest.mark.parametrize("name", sorted(SLOW - {"demo"}))
@pytest.mark.parametrize("state", UNWRITABLE)
def test_unwritable_standard_output_in_this_process(run, monkeypatch, name, state):
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full if state == "full" else None)
        outcome = run(*PRINTING[name])
    assert outcome.code == 2
    assert outcome.err == f"microagg: standard output cannot be written: {UNWRITABLE[state]}.\n"


@pytest.mark.parametrize("argv", [("protect", "-", "-k", "2"), ("verify", "-", "-k", "2")])
def test_closed_standard_input(refused, monkeypatch, argv):
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input is closed" in refused(2, *argv)


def test_broken_promise_writes_nothing(refused, monkeypatch):
    monkeypatch.setattr(CBFS, "_group", lambda _self, X, _k: np.arange(len(X)))
    assert "nothing was released" in refused(4, *OK, "--method", "cbfs")


@pytest.mark.parametrize(
    "argv",
    [
        ("protect", "bare.csv", "-k", "3"),
        ("protect", "bare.csv", "-k", "3", "--identifier", "name"),
        ("plan", "bare.csv"),
        ("verify", "bare.csv", "-k", "3", "--sensitive", "illness"),
        ("measure", "people.csv", "bare.csv", "--key", "name"),
        ("compare", "bare.csv", "-k", "3", "--methods", "mdav", "--sensitive", "illness"),
        ("sweep", "bare.csv", "-k", "3", "--sensitive", "illness"),
    ],
)
def test_a_file_without_a_header_is_not_quoted(refused, folder, argv):
    rows = [
        ("Sentinella", "00123", "f"),
        *((f"p{i}", f"{i % 3:05d}", "fm"[i % 2]) for i in range(9)),
    ]
    text = "".join(",".join(row) + "\n" for row in [*rows, ("p9", "00123", "f")])
    (folder / "bare.csv").write_text(text)
    assert "looks like a record" in refused(3, *argv)


@pytest.mark.parametrize(
    ("argv", "path"),
    [(("verify", "people.csv", "-k"), "microagg verify"), (("-x",), "microagg")],
)
def test_help_is_that_of_the_command(refused, argv, path):
    assert f"Try '{path} --help'." in refused(2, *argv)
