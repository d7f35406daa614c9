"""Text that is numbers, also where the first entries do not tell."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.tables import numerals
from microagg.tables.numerals import as_numbers

N = 600  # more than the entries that are looked at first


@pytest.mark.parametrize(
    ("first", "last", "dtype"),
    [
        (None, "1", pl.Int64),
        (" ", "1", pl.Int64),
        ("", "0.5", pl.Float64),
        ("1", "0.5", pl.Float64),
        ("1", "x", pl.String),
        ("x", "1", pl.String),
        ("1", "01", pl.String),
        ("0.5", "-01", pl.String),
        ("1", "\t01", pl.String),
        ("1", "\u00a001", pl.String),
        ("1", "18446744073709551615", pl.UInt64),
        ("18446744073709551616", "1", pl.String),
        ("18446744073709551616", "0.5", pl.Float64),
        ("1", "18446744073709551616", pl.String),
        ("1", "1,5", pl.String),
    ],
)
def test_every_entry_counts(first, last, dtype):
    column = pl.Series([first] * N + [last], dtype=pl.String)
    read = as_numbers(column)
    assert read.dtype == dtype
    if dtype == pl.String:
        assert read is column


@pytest.mark.parametrize(
    ("entry", "number"),
    [("1,5", 1.5), (" -1,5 ", -1.5), ("1e5", 1e5), (",5", 0.5), ("7", 7), ("1,5e-3", 0.0015)],
)
def test_decimal_commas(entry, number):
    assert as_numbers(pl.Series([entry]), ",").to_list() == [number]


@pytest.mark.parametrize(
    "entry", ["1.5", "1,2,3", "1.234,5", "1,234.5", "01,5", ",", "1, 5", "x,y"]
)
def test_what_is_no_number_with_decimal_commas(entry):
    assert as_numbers(pl.Series([entry]), ",").to_list() == [entry]


entries = st.none() | st.text("0123456789.,+- e\t", max_size=5)


@given(st.lists(entries, min_size=1, max_size=6), st.sampled_from(".,"))
def test_looking_at_the_first_entries_changes_nothing(values, decimal):
    column = pl.Series(values, dtype=pl.String)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numerals, "_N_FIRST", 1)
        quick = as_numbers(column, decimal)
    assert quick.dtype == as_numbers(column, decimal).dtype
    assert quick.equals(as_numbers(column, decimal))
