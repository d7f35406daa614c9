"""An input is read once, and its hash is that of the bytes that were read."""

import io
import os
import sys

import polars as pl
import pytest

from microagg.core.errors import ParameterError
from microagg.files.dialect import Dialect
from microagg.files.formats import open_table, write_table

TABLE = pl.DataFrame({"n": [1, None], "x": [0.5, -2.25], "t": ["ä;b", None]})
OPENED = {}


def count_opening(event, args):
    """Count how often a watched file is opened; an audit hook sees it whoever opens it."""
    if event == "open" and str(args[0]) in OPENED:
        OPENED[str(args[0])] += 1


@pytest.fixture(scope="module")
def _watching():
    sys.addaudithook(count_opening)  # there is no way to remove it
    yield
    OPENED.clear()


@pytest.mark.usefixtures("_watching")
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_a_csv_file_is_opened_once(tmp_path, name):
    path = tmp_path / name
    write_table(TABLE, str(path), dialect=Dialect(";", ",", "cp1252"))
    OPENED[str(path)] = 0
    source = open_table(str(path))
    first = source.table()
    assert source.table(as_text=source.columns, columns=["n", "t"]).width == 2
    assert source.dialect == Dialect(";", ",", "cp1252")
    assert len(source.sha256) == 64
    assert OPENED[str(path)] == 1
    path.unlink()
    assert source.table().equals(first)


def test_standard_input_has_no_hash(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,2\n")))
    source = open_table("-")
    assert source.table().rows() == [(1, 2)]
    assert source.sha256 is None


def test_a_file_without_permission_is_refused_before_it_is_opened(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("a\nx\n")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may read any file
    with pytest.raises(ParameterError, match="cannot be read: Permission denied"):
        open_table(str(path))


@pytest.mark.parametrize("kind", ["a named pipe", "a device"])
def test_what_may_never_end_is_not_read(tmp_path, kind):
    path = tmp_path / "t.csv"
    if kind == "a device":
        path.symlink_to("/dev/zero")
    else:
        os.mkfifo(path)
    with pytest.raises(ParameterError, match=f"{kind}, not a regular file. Pipe it into"):
        open_table(str(path))
