"""Text that a spreadsheet would run as a formula is escaped on request, and read back as it was."""

import csv
import gzip
import io
import itertools
import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.core.errors import ParameterError
from microagg.files.dialect import Dialect
from microagg.files.formats import FORMATS, check_escaping, open_table, write_table
from microagg.files.formulas import Unescaped, escaped

SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20"
FORMULAS = [
    *(f"{sign}cmd|'/c calc'!A0" for sign in SIGNS),
    *(f"{blank}=1+1" for blank in (" ", "\u00a0", "\u200b", "\ufeff", "\x01")),
    *("\tplain", "\rplain", "-", "=", "-5+3", "+49 30 123", "-0x1F", "-1e", "@", "'=1", "''@x"),
]
HARMLESS = ["", "a", "a=b", "x-y", "'a", "5", "1-2", "e@mail", '"=1"', "Ω"]
NUMBERS = ["-5", "+5", "-5.25", "-0,5", "-1.234,56", "+1e-5", " -7 ", "-inf", "+Infinity", "\t-5"]


def would_run(cell):
    """Whether a spreadsheet would run a cell, by a few plain lines."""
    bare = cell.lstrip("\t\r\n \u00a0\u200b\ufeff\x01")
    if not bare or bare[0] not in SIGNS:
        return cell[:1] in ("\t", "\r", "\n") and not _is_number(bare)
    return not _is_number(bare)


def _is_number(text):
    try:
        float(text.replace(".", "").replace(",", ""))
    except ValueError:
        return False
    return True


def column(values):
    return pl.DataFrame({"a": pl.Series(values, dtype=pl.String)})


def back(values):
    """What is read of values once they are escaped, without a file between."""

    class Kept:
        columns = ("a",)

        def table(self, **_asked):
            return escaped(column(values))

    return Unescaped(Kept()).table().get_column("a").to_list()


@pytest.mark.parametrize("value", FORMULAS)
def test_formulas_get_an_apostrophe(value):
    (cell,) = escaped(column([value])).get_column("a")
    assert cell == f"'{value}"
    assert not would_run(cell)
    assert back([value]) == [value]


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("x;=1+1", "x;'=1+1"),
        ("a, -b, -5, c", "a,' -b, -5, c"),
        ("=1|+x", "'=1|'+x"),
        ("-5,-x", "'-5,'-x"),
        ("x\t'@y", "x\t''@y"),
        ("x;-1,5+cmd|' /C calc'!A0", "x;'-1,5+cmd|' /C calc'!A0"),
        ("x;-1,5,=y", "x;-1,5,'=y"),
        ('x;"=1+1', "x;'\"=1+1"),
        *((f"{end}=1+1", f"'{end}'=1+1") for end in "\t\r\n"),
    ],
)
def test_formulas_after_another_delimiter_get_one_as_well(value, cell):
    assert escaped(column([value])).get_column("a").to_list() == [cell]
    assert not any(map(would_run, re.split(r"[,;|\t\r\n]", cell)))
    assert back([value, None]) == [value, None]


def test_a_quotation_mark_does_not_hide_one_from_other_delimiters(tmp_path):
    """Quotes are doubled in the file; after another delimiter the two of them are an empty text."""
    texts = ['x;"=1+1;y', '"=1+1', 'x;" =1+1', 'x|""@y', 'x"\t"+1+1\tz']
    table = pl.DataFrame({"a": ["b"] * len(texts), "c": texts})
    write_table(table, str(tmp_path / "t.csv"), escape_formulas=True)
    text = (tmp_path / "t.csv").read_text()
    for delimiter in ",;|\t":
        rows = csv.reader(io.StringIO(text), delimiter=delimiter)
        assert not any(would_run(cell) for row in rows for cell in row)
    assert back(texts) == texts


@pytest.mark.parametrize("value", [*HARMLESS, *NUMBERS])
def test_other_text_and_numbers_are_not_touched(value):
    assert escaped(column([value, None])).get_column("a").to_list() == [value, None]
    assert back([value, None]) == [value, None]


def test_every_short_text_keeps_to_itself():
    """Over an alphabet with all that matters: no two texts become one, and all come back."""
    texts = ["".join(t) for n in range(6) for t in itertools.product("'=-5 \t;\"", repeat=n)]
    cells = escaped(column(texts)).get_column("a").to_list()
    assert len(set(cells)) == len(texts)
    assert not any(map(would_run, cells))
    assert not any(would_run(part) for cell in cells for part in re.split("[\t;]", cell))
    assert back(texts) == texts


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=8), max_size=8))
def test_any_text_comes_back(texts):
    cells = escaped(column(texts)).get_column("a").to_list()
    assert len(set(cells)) == len(set(texts))
    assert back(texts) == texts


def test_only_text_and_names_are_escaped():
    table = pl.DataFrame(
        {
            "=n": [-5, 2],
            "x": [-1.5, 2.0],
            "c": pl.Series(["=a", "b"], dtype=pl.Categorical),
            "'@e": pl.Series([None, "+a"], dtype=pl.Enum(["+a"])),
            "^.*$": ["-x", "-3"],
        }
    )
    found = escaped(table)
    assert found.columns == ["'=n", "x", "c", "''@e", "^.*$"]
    assert found.rows() == [(-5, -1.5, "'=a", None, "'-x"), (2, 2.0, "b", "'+a", "-3")]


@pytest.mark.parametrize("suffix", FORMATS[0].suffixes)
@pytest.mark.parametrize("dialect", [None, Dialect(";", ",", "cp1252")])
def test_in_every_text_file(tmp_path, suffix, dialect):
    path = tmp_path / f"t{suffix}"
    table = pl.DataFrame({"@a": ["=1;2", "-3,5", None, "'+x"], "b": [-1.5, 2.0, 3.0, 4.0]})
    write_table(table, str(path), dialect=dialect, escape_formulas=True)
    data = gzip.decompress(path.read_bytes()) if suffix.endswith(".gz") else path.read_bytes()
    delimiter = "\t" if suffix[:4] in (".tsv", ".tab") else None
    delimiter = delimiter or (";" if dialect else "," if suffix.startswith(".csv") else "\t")
    rows = list(csv.reader(io.StringIO(data.decode()), delimiter=delimiter))
    number = "-1,5" if dialect else "-1.5"
    assert rows[0] == ["'@a", "b"]
    assert rows[1] == ["'=1;2", number]
    assert [row[0] for row in rows[2:]] == ["-3,5", "", "''+x"]
    opened = open_table(str(path), dialect=Dialect(delimiter))
    assert Unescaped(opened).table(as_text=["@a"], columns=["@a", "b"]).equals(table)


@pytest.mark.parametrize("other", [each for each in FORMATS[1:] if each.can_be_written])
def test_other_formats_refuse_it(tmp_path, other):
    path = str(tmp_path / f"t{other.suffixes[0]}")
    for attempt in (
        lambda: check_escaping(path),
        lambda: write_table(column(["=1"]), path, escape_formulas=True),
    ):
        with pytest.raises(ParameterError, match=rf"in {other.name} files text is never a formula"):
            attempt()


def test_as_written_without_it(tmp_path):
    write_table(pl.DataFrame({"=a": ["=1+1", "@x"]}), str(tmp_path / "t.csv"))
    assert (tmp_path / "t.csv").read_text() == "=a\n=1+1\n@x\n"


def test_an_excel_cell_with_a_formula_in_it_is_text(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    write_table(pl.DataFrame({"=a": FORMULAS[:8]}), str(tmp_path / "t.xlsx"))
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx").active
    cells = [row[0] for row in sheet.iter_rows()]
    assert [cell.value for cell in cells] == ["=a", *FORMULAS[:8]]
    assert {cell.data_type for cell in cells} == {"s"}
