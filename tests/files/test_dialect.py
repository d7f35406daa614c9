"""CSV as people have it: delimiters, decimal marks and encodings."""

import csv
import io

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.core.errors import DataError, ParameterError
from microagg.files.delimited import DelimitedText, write_delimited
from microagg.files.dialect import DELIMITERS, Dialect

ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "cp1252", "iso8859-1")


def read(data, dialect=None, **options):
    source = DelimitedText(data.encode() if isinstance(data, str) else data, "it", dialect)
    return source.table(**options), source.dialect


def written(table, dialect=None):
    stream = io.BytesIO()
    write_delimited(table, stream, dialect)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"delimiter": "a"}, "the delimiter must be"),
        ({"delimiter": "7"}, "the delimiter must be"),
        ({"delimiter": '"'}, "the delimiter must be"),
        ({"delimiter": "'"}, "the delimiter must be"),
        ({"delimiter": "-"}, "the delimiter must be"),
        ({"delimiter": ";;"}, "the delimiter must be"),
        ({"delimiter": ""}, "the delimiter must be"),
        ({"delimiter": "\n"}, "the delimiter must be"),
        ({"delimiter": "§"}, "the delimiter must be"),
        ({"decimal": ";"}, "a point or a comma"),
        ({"decimal": ""}, "a point or a comma"),
        ({"delimiter": ",", "decimal": ","}, "both the delimiter and the decimal mark"),
        ({"encoding": "utf-9"}, "that Python knows"),
        ({"encoding": "hex"}, "that Python knows"),
        ({"encoding": ""}, "that Python knows"),
    ],
)
def test_what_cannot_be_a_dialect_is_refused(options, words):
    with pytest.raises(ParameterError, match=words):
        Dialect(**options)


@pytest.mark.parametrize(
    ("text", "delimiter", "decimal", "rows"),
    [
        ("a,b\n1,2.5\n", ",", ".", [(1, 2.5)]),
        ("a;b\n1;2,5\n", ";", ",", [(1, 2.5)]),
        ("a;b\n1;2.5\n", ";", ".", [(1, 2.5)]),
        ("a;b\n1;2\n", ";", ",", [(1, 2)]),
        ("a\tb\n1\t-2,5\n", "\t", ",", [(1, -2.5)]),
        ("a\tb\n1\t2\n", "\t", ".", [(1, 2)]),
        ("a|b\n1|,5\n", "|", ",", [(1, 0.5)]),
        ("a\n1\n", ",", ".", [(1,)]),
        ("a;b\n1,5;x,y\n,25;z\n", ";", ",", [(1.5, "x,y"), (0.25, "z")]),
        ("a,b\n1,x;y\n2,z\n", ",", ".", [(1, "x;y"), (2, "z")]),
        ("a|b,c\n1,2\n3,4\n", ",", ".", [(1, 2), (3, 4)]),
        ('"a;b",c\n1,2\n', ",", ".", [(1, 2)]),
        ('"a,b";c\n"1,2";3\n', ";", ",", [(1.2, 3)]),
        ("a;b\n1,234;0,5\n", ";", ",", [(1.234, 0.5)]),
        ("a;b\n1.234;0.5\n", ";", ".", [(1.234, 0.5)]),
        ("a\tb\n1.234\t2.345\n", "\t", ".", [(1.234, 2.345)]),
        ("a;b\n1.234,5;1\n", ";", ",", [("1.234,5", 1)]),
        ("a;b\n1,234.5;1\n", ";", ",", [("1,234.5", 1)]),
        ("a;b\n1,234,567;1\n", ";", ",", [("1,234,567", 1)]),
        ("a;b\n1,5;1\n2.5;2\n", ";", ",", [("1,5", 1), ("2.5", 2)]),
        ("a;b\n01,5;1\n", ";", ",", [("01,5", 1)]),
    ],
)
def test_delimiter_and_decimal_mark_are_found(text, delimiter, decimal, rows):
    table, dialect = read(text)
    assert table.rows() == rows
    assert dialect == Dialect(delimiter, decimal, "utf-8")


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("a,b;c\n1,2;3\n", "--delimiter"),
        ("a,b;c\n1\n", "--delimiter"),
        ("x;a;b\n1;1.5;2,5\n", "--decimal"),
        ("a;b\n1;1,234\n2;56,789\n", "--decimal"),
        ("a;b\n1;1.234\n2;56.789\n", "--decimal"),
        ("a\tb\n1\t1,234\n", "--decimal"),
    ],
)
def test_what_can_be_read_in_two_ways_is_refused(text, option):
    with pytest.raises(DataError, match=option) as refused:
        read(text)
    assert "234" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "options", "rows"),
    [
        ("a,b;c\n1,2;3\n", {"delimiter": ";"}, [(1.2, 3)]),
        ("a,b;c\n1,2;3\n", {"delimiter": ","}, [(1, "2;3")]),
        ("a:b\n1:2\n", {"delimiter": ":"}, [(1, 2)]),
        ("a b\n1 2\n", {"delimiter": " "}, [(1, 2)]),
        ("a;b\n1.5;2,5\n", {"decimal": ","}, [("1.5", 2.5)]),
        ("a;b\n1.5;2,5\n", {"decimal": "."}, [(1.5, "2,5")]),
        ("a;b\n1;1,234\n", {"decimal": ","}, [(1, 1.234)]),
        ("a;b\n1;1,234\n", {"decimal": "."}, [(1, "1,234")]),
        ("a\n1,5\n", {"decimal": ","}, [(1.5,)]),
    ],
)
def test_what_is_given_settles_it(text, options, rows):
    assert read(text, Dialect(**options))[0].rows() == rows


def test_text_columns_show_the_mark_if_no_numbers_do():
    assert read("a;b\n1;2.5\n", as_text=["b"])[1].decimal == "."
    assert read("a\tb\n1\t2,5\n", as_text=["b"])[1].decimal == ","


def test_a_dialect_is_whole_before_the_table_is_read():
    assert DelimitedText(b"a;b\n1;2,5\n", "it").dialect == Dialect(";", ",", "utf-8")


def test_a_field_of_the_delimiter_of_the_file_needs_quotes():
    with pytest.raises(DataError, match="fields with semicolons need double quotes"):
        read("a;b\n1;2\n1;2;3\n")


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("given", [True, False])
def test_encodings_are_found_and_written_again(encoding, given):
    data = "n;wörter\n1;é\n2;„ß“\n" if encoding != "iso8859-1" else "n;wörter\n1;é\n2;ß\n"
    data = data.encode(encoding)
    if encoding == "iso8859-1" and not given:
        encoding = "cp1252"  # of which it is a part, but for control characters
    table, dialect = read(data, Dialect(encoding=encoding) if given else None)
    assert dialect.encoding == encoding
    assert table.columns == ["n", "wörter"]
    assert table["wörter"][0] == "é"
    assert written(table, dialect) == data


@pytest.mark.parametrize("order", ["le", "be"])
def test_utf_16_in_either_order(order):
    text = "\ufeffa,b\n1,é\n".encode(f"utf-16-{order}")
    for dialect in (None, Dialect(encoding="utf-16"), Dialect(encoding=f"utf-16-{order}")):
        table, found = read(text, dialect)
        assert table.rows() == [(1, "é")]
        assert found.encoding == "utf-16"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"a,b\n1,\x81\n", "neither UTF-8 nor Windows-1252"),
        (b"a,b\n1,\xe9\x01\n", "neither UTF-8 nor Windows-1252"),
        ("a,b\n1,é\n".encode() + b"2,\xe9\n", "in some places"),
        ("a,b\n1,Ж\n2,Щ\n".encode() + b"2,\xd0\n", "in some places"),
        (b"\xef\xbb\xbfa,b\n1,\xe9\n", "in some places"),
        (b"\xff\xfea", "not text in the encoding utf-16"),
    ],
)
@pytest.mark.parametrize("chunk", [1, 3, 1 << 20])
def test_bytes_that_are_no_text_are_refused(data, words, chunk, monkeypatch):
    monkeypatch.setattr("microagg.files.dialect._CHUNK", chunk)
    with pytest.raises(DataError, match=words) as refused:
        read(data)
    assert "--encoding" in str(refused.value)


def test_a_given_encoding_that_does_not_fit_is_refused():
    with pytest.raises(DataError, match="not text in the encoding utf-8"):
        read(b"a,b\n1,\xe9\n", Dialect(encoding="UTF8"))
    with pytest.raises(DataError, match="not text in the encoding ascii"):
        read("a,b\n1,é\n", Dialect(encoding="ascii"))


def test_characters_that_the_encoding_lacks_are_not_quoted():
    with pytest.raises(ParameterError, match="cp1252 lacks characters") as refused:
        written(pl.DataFrame({"a": ["Ж"]}), Dialect(encoding="cp1252"))
    assert "Ж" not in str(refused.value)
    assert refused.value.__suppress_context__


def test_many_records_are_encoded_part_by_part(monkeypatch):
    monkeypatch.setattr("microagg.files.delimited._N_ENCODED", 2)
    table = pl.DataFrame({"a": list("äöüéè")})
    data = written(table, Dialect(encoding="utf-16"))
    assert data == written(table).decode().encode("utf-16")


def test_numbers_are_written_with_the_mark():
    table = pl.DataFrame(
        {"f": [1.5, None, 1e300], "d": [1, 2, 3], "t": ["1.5", "a;b", None]},
        schema_overrides={"d": pl.Decimal(5, 2)},
    )
    text = written(table, Dialect(";", ",")).decode()
    assert text.replace("e+", "e") == 'f;d;t\n1,5;1,00;1.5\n;2,00;"a;b"\n1e300;3,00;\n'


characters = st.characters(codec="utf-8", exclude_characters="\0\ufeff")


@st.composite
def tables(draw):
    names = draw(
        st.lists(
            st.text(characters, min_size=1, max_size=5).filter(lambda name: name.strip()),
            min_size=1,
            max_size=3,
            unique=True,
        )
    )
    names[0] = f"x{names[0]}"  # a header of numbers only is none
    if len(set(names)) < len(names):
        names = names[:1]
    n_records = draw(st.integers(1, 4))
    entry = st.none() | st.text(characters, max_size=5)
    return pl.DataFrame(
        {name: draw(st.lists(entry, min_size=n_records, max_size=n_records)) for name in names},
        schema=dict.fromkeys(names, pl.String),
    )


@given(
    tables(),
    st.sampled_from([*DELIMITERS, ":", " ", "~"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_any_text_comes_back_in_any_dialect(table, delimiter, encoding):
    dialect = Dialect(delimiter, encoding=encoding)
    data = written(table, dialect)
    again, found = read(data, dialect, as_text=table.columns)
    assert again.equals(table)
    assert (found.delimiter, found.encoding) == (delimiter, encoding)
    assert written(again, found) == data


@given(
    tables(),
    st.sampled_from(list(DELIMITERS)),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_what_others_write_is_read(table, delimiter, encoding, end):
    buffer = io.StringIO()
    rows = [["" if entry is None else entry for entry in row] for row in table.rows()]
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows([table.columns, *rows])
    again, _ = read(buffer.getvalue().encode(encoding), Dialect(delimiter), as_text=table.columns)
    assert again.columns == table.columns
    assert [list(row) for row in again.rows()] == rows


plain = st.text(st.characters(codec="utf-8", exclude_characters='\0\ufeff\r,;\t|"'), max_size=4)


@given(
    st.lists(st.tuples(plain, plain, st.integers()), min_size=1, max_size=4),
    st.sampled_from(list(DELIMITERS)),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_the_delimiter_is_found_where_no_other_occurs(rows, delimiter, encoding):
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter).writerows([("a", "b", "c"), *rows])
    table, dialect = read(buffer.getvalue().encode(encoding), as_text="abc")
    assert dialect.delimiter == delimiter
    assert dialect.encoding == encoding
    assert table.fill_null("").rows() == [(a, b, str(c)) for a, b, c in rows]


floats = st.floats(allow_nan=False, allow_infinity=False)


@given(
    st.lists(st.tuples(floats, floats, st.integers(-99, 99)), min_size=1, max_size=5),
    st.sampled_from([(",", "."), *((sign, mark) for sign in ";\t|" for mark in ".,")]),
)
def test_numbers_come_back_in_any_dialect(rows, dialect):
    table = pl.DataFrame(rows, schema=["a", "b", "c"], orient="row")
    data = written(table, Dialect(*dialect))
    assert read(data, Dialect(*dialect))[0].equals(table)
    try:
        again, found = read(data)
    except DataError as error:
        assert "may be decimal marks or thousands separators" in str(error)  # noqa: PT017
    else:
        assert again.equals(table)
        assert (found.delimiter, found.decimal) == dialect
