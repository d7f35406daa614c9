"""Entries such as NA: missing values among numbers and dates, words in other text."""

import polars as pl
import pytest

from microagg.core.missing import MARKERS
from microagg.files.delimited import DelimitedText
from microagg.files.dialect import Dialect

NAMED = ["NA", "N/A", "NaN", "null", ".", "-", "?", "#N/A", "#NULL!"]


def read(entries, *, delimiter=",", as_text=(), **given):
    lines = (f'"{entry}"{delimiter}0' for entry in entries)
    text = f"x{delimiter}pad\n" + "\n".join(lines) + "\n"
    file = DelimitedText(text.encode(), "it", Dialect(delimiter=delimiter, **given))
    return file.table(as_text=as_text)["x"], file


@pytest.mark.parametrize("marker", [*NAMED, "na", "nan", "NULL", "n/a", " NA "])
class TestAmongNumbers:
    def test_whole(self, marker):
        column, file = read(["12", marker, "-3"])
        assert (column.dtype, column.to_list()) == (pl.Int64, [12, None, -3])
        assert file.markers == {"x": 1}

    def test_decimal(self, marker):
        column, _ = read(["1.5", marker, "2"])
        assert (column.dtype, column.to_list()) == (pl.Float64, [1.5, None, 2.0])

    def test_decimal_commas(self, marker):
        column, file = read(["1,5", marker, "2"], delimiter=";")
        assert (column.dtype, column.to_list()) == (pl.Float64, [1.5, None, 2.0])
        assert file.dialect.decimal == ","

    def test_with_blanks_only_markers_are_counted(self, marker):
        column, file = read(["7", "", marker, " ", marker])
        assert column.to_list() == [7, None, None, None, None]
        assert file.markers == {"x": 2}

    def test_beyond_the_first_entries(self, marker):
        column, file = read([*map(str, range(5000)), marker])
        assert (column.dtype, column.null_count()) == (pl.Int64, 1)
        assert file.markers == {"x": 1}

    def test_dates(self, marker):
        column, file = read(["2024-01-31", marker, "2024-02-01"])
        assert column.to_list() == ["2024-01-31", None, "2024-02-01"]
        assert file.markers == {"x": 1}

    def test_dates_with_blanks(self, marker):
        column, file = read(["2024-01-31", marker, "  ", "2024-02-01"])
        assert column.to_list() == ["2024-01-31", None, None, "2024-02-01"]
        assert file.markers == {"x": 1}


def test_blanks_among_dates_alone_and_in_other_text():
    column, file = read(["31.01.2024", " ", "1.2.2024"])
    assert (column.to_list(), file.markers) == (["31.01.2024", None, "1.2.2024"], {})
    column, file = read(["north", " ", "south"])
    assert (column.to_list(), file.markers) == (["north", " ", "south"], {})


def test_all_usual_markers_are_known():
    assert {*NAMED} <= {*MARKERS}


@pytest.mark.parametrize(
    "entries",
    [
        ["NA", "NA"],  # nothing else: text
        ["NA", "DE", "FR"],  # countries
        ["-", "low", "high"],
        ["NA", "007"],  # codes
        ["?", "1", "about 2"],
    ],
)
def test_text_keeps_them(entries):
    column, file = read(entries)
    assert column.to_list() == entries
    assert file.markers == {}


def test_columns_that_are_read_as_text_keep_them():
    column, file = read(["1", "NA"], as_text=["x"])
    assert column.to_list() == ["1", "NA"]
    assert file.markers == {}


class TestNamed:
    def test_in_text(self):
        column, file = read(["NA", "DE", "-"], na=("NA",))
        assert column.to_list() == [None, "DE", "-"]
        assert file.markers == {"x": 1}

    def test_among_numbers_beside_the_usual_ones(self):
        column, file = read(["none", "3", "NA"], na=("none",))
        assert column.to_list() == [None, 3, None]
        assert file.markers == {"x": 2}

    def test_among_dates(self):
        column, _ = read(["2024-01-31", "never"], na=("never",))
        assert column.to_list() == ["2024-01-31", None]
