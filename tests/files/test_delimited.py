"""CSV text, judged before it is parsed. What is refused is in tests/cli/test_bad_input.py."""

import csv
import io
from contextlib import suppress

import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from microagg.core.errors import DataError
from microagg.files.delimited import DelimitedText
from microagg.files.formats import open_table


def parse(text, as_text=()):
    data = text.encode() if isinstance(text, str) else text
    return DelimitedText(data, "it").table(as_text=as_text)


def test_types_are_inferred_over_the_whole_file():
    rows = [f"{i},{i}" for i in range(5000)]
    table = parse("a,b\n" + "\n".join(rows) + "\n0.5,x\n")
    assert table.schema == {"a": pl.Float64, "b": pl.String}
    assert table.height == 5001


def test_columns_are_known_before_the_records_are_parsed():
    assert DelimitedText(b'\xef\xbb\xbf"a\nb",c\n1,2\n', "it").columns == ("a\nb", "c")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n\n", "\r\n\r\n", ""])
def test_blank_lines_at_the_end_are_no_records(end):
    assert parse("a,b\n1,2\n3,4" + end).rows() == [(1, 2), (3, 4)]


def test_with_one_column_a_blank_line_is_a_missing_value():
    assert parse("a\n1\n\n3\n\n").rows() == [(1,), (None,), (3,), (None,)]


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        (["1", "2"], [1, 2]),
        (["0", "-0"], [0, 0]),
        (["0", "0.5", "-0.5"], [0.0, 0.5, -0.5]),
        (["00123", "12"], ["00123", "12"]),
        (["-007", "1"], ["-007", "1"]),
        ([" 01", "1"], [" 01", "1"]),
        (["00.5", "1"], ["00.5", "1"]),
        (["+1", "2"], [1, 2]),
        ([" 1", "2 "], [1, 2]),
        (["1e5", ".5"], [1e5, 0.5]),
        ([" 1.5", "+2"], [1.5, 2.0]),
        (['"1"', '"2"'], [1, 2]),
        (["9223372036854775808", "1"], [2**63, 1]),
        (["1", "x"], ["1", "x"]),
        (["NA", "1"], [None, 1]),
        (["2020-01-01", "2020-01-02"], ["2020-01-01", "2020-01-02"]),
        (["1_000", "1"], ["1_000", "1"]),
        (["true", "false"], ["true", "false"]),
        (["9223372036854775808", "-1"], ["9223372036854775808", "-1"]),
        (["9223372036854775808", "0.5"], [2.0**63, 0.5]),
        (["", "2"], [None, 2]),
        ([" ", " "], [" ", " "]),
    ],
)
def test_how_entries_are_read(entries, expected):
    table = parse("x,pad\n" + "".join(f"{entry},0\n" for entry in entries))
    assert table["x"].to_list() == expected


def test_columns_as_text_keep_every_character():
    table = parse('a,b\n00123,"1,10"\n 1.10 ,\n"","2\n3"\n', as_text=["a", "b"])
    assert table.rows() == [("00123", "1,10"), (" 1.10 ", None), ("", "2\n3")]


def test_a_field_may_be_longer_than_the_csv_module_likes():
    limit = csv.field_size_limit()
    long = "x" * (limit + 1)
    assert parse(f"a,b\n1,{long}\n", as_text=["b"])["b"].to_list() == [long]
    assert csv.field_size_limit() == limit


def test_a_line_with_one_field_too_few():
    with pytest.raises(DataError, match="line 3 of it holds 1 field where the header names 2"):
        parse("a,b\n1,2\n3\n")


@pytest.mark.parametrize(
    ("data", "remedy"), [(b"PAR1", "Name a .parquet file"), (b"\x1f\x8b", "through gunzip")]
)
def test_a_stream_cannot_be_renamed(data, remedy):
    with pytest.raises(DataError, match=remedy):
        DelimitedText(data, "standard input")
    with pytest.raises(DataError, match=r"(Name it|its name)"):
        DelimitedText(data, "'t.csv'")


@pytest.mark.parametrize("name", ['a "b"', "x,y", "*", "^.*$", "two\nlines", "é", "c0"])
def test_any_name_is_kept(name):
    buffer = io.StringIO()
    csv.writer(buffer).writerows([[name, "c1"], [1, 2]])
    assert parse(buffer.getvalue()).columns == [name, "c1"]


text = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


@given(st.lists(st.tuples(text, text), min_size=1, max_size=8))
def test_any_text_survives(rows):
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows([("a", "b"), *rows])
    assert parse(buffer.getvalue(), as_text=["a", "b"]).rows() == rows


@given(st.binary(max_size=60))
def test_any_bytes_give_a_table_or_one_of_our_errors(data):
    with suppress(DataError):
        source = DelimitedText(data, "it")
        table = source.table(as_text=())
        assert tuple(table.columns) == source.columns
        assert table.height > 0


quoted = st.text('",\n\r a', max_size=3).map(lambda entry: '"' + entry.replace('"', '""') + '"')
entries = st.one_of(st.text(" a", max_size=3), quoted, st.text('" a', max_size=3))
lines = st.tuples(entries, entries).map(",".join)


@given(st.lists(lines, min_size=1, max_size=4).map("\n".join))
def test_what_is_read_is_what_the_csv_module_reads(body):
    try:
        table = parse("x,y\n" + body, as_text=["x", "y"])
    except DataError:
        table = None
    assume(table is not None)
    rows = csv.reader(io.StringIO(body.rstrip("\r\n"), newline=""), strict=True)
    assert table.fill_null("").rows() == [tuple(row) for row in rows]


@pytest.mark.parametrize("note", [b"sep=;\r\n", b'"sep=;"\n', b"SEP=;\n", b"\xef\xbb\xbfsep=;\n"])
def test_a_note_to_excel_is_no_header(note):
    text = DelimitedText(note + b"a;b\n1,5;2\n3,5;4\n", "'x.csv'")
    assert text.columns == ("a", "b")
    assert text.dialect.delimiter == ";"
    assert text.table().rows() == [(1.5, 2), (3.5, 4)]


def test_lines_count_after_a_note_to_excel():
    with pytest.raises(DataError, match="line 3 of"):
        DelimitedText(b"sep=;\na;b\n1;2;3\n4;5\n", "'x.csv'").table()


@pytest.mark.parametrize(
    "text",
    [
        "7,x\n8,y\n9,x\n",  # a number on top of numbers, beside text that recurs
        "Ada,2024-01-31\nBen,2024-02-01\n",
        "31.12.1999,5.5\nNA,6.5\n30.11.1999,7\n",
        "Ada,f,Rome\nBen,m,Bern\nCleo,f,Rome\nDan,m,Bern\n",  # all that repeats
    ],
)
def test_a_record_in_place_of_the_header_is_refused_without_its_values(text):
    with pytest.raises(DataError, match="looks like a record") as caught:
        parse(text)
    assert not any(value in str(caught.value) for value in ("Ada", "2024", "1999", "7"))


@pytest.mark.parametrize(
    "text",
    [
        "region,2019,2020\nnorth,1,2\nsouth,3,4\n",  # years
        "id,red,blue\n1,red,\n2,,blue\n",  # answers that were ticked
        "who,red,blue\np1,red,\np2,red,blue\np3,,blue\n",
        "who,guest,sex\np1,guest,m\np2,guest,f\np3,member,f\np4,member,m\n",
        "^a$,^.*$\nx,1\nx,2\ny,3\n",  # to polars, patterns
        "n,f,g\n1,f,g\n2,m,h\n3,f,g\n4,m,h\n",  # a name on top of numbers
        "id,2024-01-31\n1,5\n2,6\n",  # figures of a day
    ],
)
def test_names_may_be_numbers_dates_or_answers(text):
    assert parse(text).columns == text.split("\n", 1)[0].split(",")


def test_columns_of_one_name_are_refused_by_their_places():
    """In a file without a header, names would be values."""
    with pytest.raises(DataError, match=r"columns 2, 3 and 5 of 'x.csv' have the same name") as got:
        DelimitedText(b"Ada,Rome,Rome,5,Rome\nBen,Bern,Bern,7,Bern\n", "'x.csv'")
    assert "Rome" not in str(got.value)


@pytest.mark.parametrize(("text", "values"), [("a\n\n", [None]), ("a\n \n", [" "])])
def test_blank_lines_are_records_of_a_single_column(tmp_path, text, values):
    (tmp_path / "t.csv").write_text(text)
    assert open_table(str(tmp_path / "t.csv")).table().get_column("a").to_list() == values
