"""Files in and out by their suffix."""

import pandas as pd
import polars as pl
import pytest

from microagg.errors import DataError, MicroaggError, ParameterError
from microagg.tables.files import Format, TableFile, format_of, protected_name, write_table
from microagg.tables.frames import to_polars

TABLE = pl.DataFrame(
    {"i": pl.Series([1, 2], dtype=pl.Int16), "f": [0.1, 1e300], "t": ["x,y", None]}
)


@pytest.mark.parametrize(
    ("path", "format_", "protected"),
    [
        ("a/people.csv", Format.CSV, "a/people-protected.csv"),
        ("people.v2.csv.gz", Format.CSV_GZ, "people.v2-protected.csv.gz"),
        ("P.PARQUET", Format.PARQUET, "P-protected.PARQUET"),
        ("-", Format.CSV, "-"),
    ],
)
def test_suffix_says_what_a_file_is(path, format_, protected):
    assert format_of(path) is format_
    assert protected_name(path) == protected


@pytest.mark.parametrize(
    "path", ["people", "people.gz", "people.xlsx", "csv", "", "people.csv.zip"]
)
def test_other_suffixes_are_refused(path):
    with pytest.raises(ParameterError, match=r"\.csv, \.csv\.gz, .*\.parquet"):
        format_of(path)


@pytest.mark.parametrize(
    "name", ["t.csv", "t.csv.gz", "t.parquet", "t.arrow", "t.feather", "t.ipc"]
)
def test_what_is_written_is_read_back(tmp_path, name):
    path = str(tmp_path / name)
    write_table(TABLE, path)
    file = TableFile(path)
    assert file.columns == ("i", "f", "t")
    table = file.table(as_text=["t"])
    assert table.rows() == TABLE.rows()
    if not name.startswith("t.csv"):
        assert table.schema == TABLE.schema


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_a_name_with_wildcards_is_a_name(tmp_path, suffix):
    path = str(tmp_path / f"t[1]*{suffix}")
    write_table(TABLE, path)
    assert TableFile(path).table().rows() == TABLE.rows()


@pytest.mark.parametrize("values", [pd.period_range("2020", periods=2), pd.interval_range(0, 2)])
def test_types_that_csv_cannot_hold_are_no_full_disk(tmp_path, values):
    # Older versions of polars refuse these types on the way in, newer ones on the way out.
    with pytest.raises(MicroaggError, match=r"'p'.*Convert"):
        write_table(to_polars(pd.DataFrame({"p": values})), str(tmp_path / "t.csv"))
    assert list(tmp_path.iterdir()) == []


def test_only_a_slip_of_a_file_name_gets_a_hint(tmp_path):
    (tmp_path / "one.csv").touch()
    (tmp_path / "people.txt").touch()
    with pytest.raises(ParameterError, match=r"does not exist\.$"):
        TableFile(str(tmp_path / "people.csv"))
    (tmp_path / "peeple.csv").touch()
    with pytest.raises(ParameterError, match=r"Did you mean 'peeple\.csv'\?"):
        TableFile(str(tmp_path / "people.csv"))


def test_a_library_that_fails_is_not_quoted(tmp_path, monkeypatch):
    path = str(tmp_path / "t.parquet")
    write_table(TABLE, path)

    def failing(*_args):
        raise pl.exceptions.ComputeError("could not parse Sentinella")

    file = TableFile(path)
    monkeypatch.setattr(pl.LazyFrame, "collect", failing)
    with pytest.raises(DataError, match="damaged Parquet") as refused:
        file.table()
    assert "Sentinella" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__


def test_a_writer_that_fails_is_not_quoted(tmp_path, monkeypatch):
    def failing(_table, _stream):
        raise pl.exceptions.ComputeError("Sentinella: no space")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", failing)
    with pytest.raises(ParameterError, match="cannot be written") as refused:
        write_table(TABLE, str(tmp_path / "t.parquet"))
    assert "Sentinella" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []
