"""Text files by their suffix: .csv, .txt, .tsv and .tab, plain or compressed."""

import gzip

import polars as pl
import pytest

from microagg.core.errors import DataError
from microagg.files.dialect import Dialect
from microagg.files.formats import open_table, protected_name, write_table

TABLE = pl.DataFrame({"a": [1.5, 2.0], "b": ["x", "y"]})


def lines_of(path):
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode().splitlines()


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("t.csv", "a,b"),
        ("t.txt", "a\tb"),
        ("t.tsv", "a\tb"),
        ("t.tab", "a\tb"),
        ("t.csv.gz", "a,b"),
        ("t.txt.gz", "a\tb"),
        ("t.tsv.gz", "a\tb"),
        ("t.TAB.gz", "a\tb"),
    ],
)
def test_the_delimiter_of_a_new_file(tmp_path, name, header):
    write_table(TABLE, str(tmp_path / name))
    assert lines_of(tmp_path / name)[0] == header
    assert open_table(str(tmp_path / name)).table().equals(TABLE)


@pytest.mark.parametrize(
    ("source", "delimiter", "target", "expected"),
    [
        ("in.csv", ";", "out.csv", ";"),
        ("in.csv", "\t", "out.csv", "\t"),
        ("in.csv", ",", "out.tsv", "\t"),
        ("in.csv", ";", "out.txt", ";"),
        ("in.txt", "\t", "out.txt", "\t"),
        ("in.txt", "|", "out.txt", "|"),
        ("in.txt", "\t", "out.csv", ","),
        ("in.tsv", "\t", "out.csv", ","),
        ("in.tsv", "\t", "out.tab.gz", "\t"),
        ("in.tsv", ";", "out.tsv", "\t"),
    ],
)
def test_the_delimiter_after_a_file(tmp_path, source, delimiter, target, expected):
    (tmp_path / source).write_text(f"a{delimiter}b\n1.5{delimiter}x\n2.0{delimiter}y\n")
    opened = open_table(str(tmp_path / source))
    table = opened.table()
    assert table.equals(TABLE)
    write_table(table, str(tmp_path / target), dialect=opened.dialect)
    assert lines_of(tmp_path / target)[0] == f"a{expected}b"


def test_decimal_commas_need_semicolons(tmp_path):
    (tmp_path / "in.tsv").write_text("a\tb\n1,5\tx\n")
    opened = open_table(str(tmp_path / "in.tsv"))
    table = opened.table()
    write_table(table, str(tmp_path / "out.csv"), dialect=opened.dialect)
    assert lines_of(tmp_path / "out.csv") == ["a;b", "1,5;x"]


def test_the_suffix_settles_what_is_doubtful(tmp_path):
    for name in ("t.tsv", "t.csv"):
        (tmp_path / name).write_text("a\tname, first\n1\tx, y\n2\tz, u\n")
    assert open_table(str(tmp_path / "t.tsv")).columns == ("a", "name, first")
    with pytest.raises(DataError, match="could be separated by commas or tabs"):
        open_table(str(tmp_path / "t.csv"))
    (tmp_path / "one.tab").write_text("remark\nyes, but\nno\n")
    assert open_table(str(tmp_path / "one.tab")).table()["remark"].to_list() == ["yes, but", "no"]
    (tmp_path / "semi.tsv").write_text("a;b\n1;x\n")
    assert open_table(str(tmp_path / "semi.tsv")).columns == ("a", "b"), "the content goes first"


def test_a_given_delimiter_goes_first(tmp_path):
    (tmp_path / "t.tsv").write_text("a b\n1 x\n")
    assert open_table(str(tmp_path / "t.tsv"), dialect=Dialect(delimiter=" ")).columns == ("a", "b")


def test_a_plain_file_that_claims_to_be_compressed(tmp_path):
    (tmp_path / "t.tsv.gz").write_text("a\tb\n")
    with pytest.raises(DataError, match="should be compressed with gzip"):
        open_table(str(tmp_path / "t.tsv.gz"))
    (tmp_path / "t.tsv").write_bytes(gzip.compress(b"a\tb\n"))
    with pytest.raises(DataError, match=r"should be delimited text; it is gzip. Add .gz to its"):
        open_table(str(tmp_path / "t.tsv"))


def test_the_protected_file_keeps_the_suffix():
    assert protected_name("in/people.tab.gz") == "in/people-protected.tab.gz"
    assert protected_name("people.RData") == "people-protected.csv"


@pytest.mark.parametrize("text", ["1,2,Bo\n", "1,2\n1,2,Bo\n", '"1"2,Bo\n'])
def test_no_column_is_named_before_all_records_fit_the_header(tmp_path, text):
    """The first line may be what is left of a record."""
    (tmp_path / "in.csv").write_text(f"lu,Ann\n{text}")
    with pytest.raises(DataError, match=r"line \d of .* holds 3 fields|not well-formed") as said:
        open_table(str(tmp_path / "in.csv"))
    assert "Ann" not in str(said.value)
