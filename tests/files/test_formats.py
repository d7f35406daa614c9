"""Files in and out by their suffix."""

import gzip
from functools import partial
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from pyarrow import feather

import microagg
from microagg.core.errors import DataError, MicroaggError, ParameterError
from microagg.files.atomic import atomic_write_all
from microagg.files.dialect import Dialect
from microagg.files.formats import (
    format_of,
    open_table,
    protected_name,
    table_writer,
    write_table,
)
from microagg.tables.frames import to_polars

TABLE = pl.DataFrame(
    {"i": pl.Series([1, 2], dtype=pl.Int16), "f": [0.1, 1e300], "t": ["x,y", None]}
)


@pytest.mark.parametrize(
    ("path", "name", "protected"),
    [
        ("a/people.csv", "CSV", "a/people-protected.csv"),
        ("people.v2.csv.gz", "CSV", "people.v2-protected.csv.gz"),
        ("P.PARQUET", "Parquet", "P-protected.PARQUET"),
        ("p.feather", "Arrow", "p-protected.feather"),
        ("p.sav", "SPSS", "p-protected.sav"),
        ("p.zsav", "SPSS", "p-protected.zsav"),
        ("p.XPT", "SAS", "p-protected.sav"),
        ("-", "CSV", "-"),
    ],
)
def test_the_suffix_decides_the_format(path, name, protected):
    assert format_of(path).name == name
    assert protected_name(path) == protected


@pytest.mark.parametrize("path", ["people", "people.gz", "people.ods", "csv", "", "people.csv.zip"])
def test_other_suffixes_are_refused(path):
    with pytest.raises(ParameterError, match=r"\.csv, \.csv\.gz, .*\.parquet"):
        format_of(path)


@pytest.mark.parametrize(
    "name", ["t.csv", "t.csv.gz", "t.parquet", "t.arrow", "t.feather", "t.ipc"]
)
def test_what_is_written_is_read_back(tmp_path, name):
    path = str(tmp_path / name)
    write_table(TABLE, path)
    file = open_table(path)
    assert file.columns == ("i", "f", "t")
    table = file.table(as_text=["t"])
    assert table.rows() == TABLE.rows()
    if not name.startswith("t.csv"):
        assert table.schema == TABLE.schema


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_a_name_with_wildcards_is_a_name(tmp_path, suffix):
    path = str(tmp_path / f"t[1]*{suffix}")
    write_table(TABLE, path)
    assert open_table(path).table().rows() == TABLE.rows()


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
        open_table(str(tmp_path / "people.csv"))
    (tmp_path / "peeple.csv").touch()
    with pytest.raises(ParameterError, match=r"Did you mean 'peeple\.csv'\?"):
        open_table(str(tmp_path / "people.csv"))


def test_a_library_that_fails_is_not_quoted(tmp_path, monkeypatch):
    path = str(tmp_path / "t.parquet")
    write_table(TABLE, path)

    def failing(*_args):
        raise pl.exceptions.ComputeError("could not parse Sentinella")

    file = open_table(path)
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


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.arrow"])
def test_only_the_named_columns_are_read_in_the_order_of_the_file(tmp_path, name):
    path = str(tmp_path / name)
    write_table(TABLE, path)
    table = open_table(path).table(columns=["t", "i"])
    assert table.rows() == TABLE.select("i", "t").rows()
    with pytest.raises(ParameterError, match="has no column 'x'"):
        open_table(path).table(columns=["x"])


def test_records_are_checked_whole_whatever_columns_are_wanted(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3\n")
    with pytest.raises(DataError, match="line 3"):
        open_table(str(tmp_path / "t.csv")).table(columns=["a"])


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_the_other_columns_stay_on_disk(tmp_path, monkeypatch, name):
    path = str(tmp_path / name)
    write_table(TABLE, path)
    monkeypatch.setattr(Path, "read_bytes", None)
    assert open_table(path).table(columns=["f"]).columns == ["f"]


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_arrow_files_of_others_are_read(tmp_path, compression):
    feather.write_feather(TABLE.to_arrow(), tmp_path / "t.feather", compression=compression)
    assert open_table(str(tmp_path / "t.feather")).table().rows() == TABLE.rows()


@pytest.mark.parametrize("name", ["t.arrow", "t.feather", "t.ipc"])
def test_others_read_our_arrow_files(tmp_path, name):
    write_table(TABLE, str(tmp_path / name))
    table = feather.read_table(tmp_path / name)
    assert table.schema.field("t").type == "large_string"  # not a type that old readers lack
    assert table.to_pylist() == TABLE.to_dicts()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"a,b\n1,2\n", "should be Arrow"),
        (b"FEA1    FEA1", "version 1"),
        (b"ARROW1", "damaged Arrow"),
        (b"ARROW1\0\0SentinellaARROW1", "damaged Arrow"),
    ],
)
def test_bad_arrow_files_get_one_sentence(tmp_path, content, words):
    (tmp_path / "t.arrow").write_bytes(content)
    with pytest.raises(DataError, match=words) as refused:
        open_table(str(tmp_path / "t.arrow"))
    assert "Sentinella" not in str(refused.value)


def test_an_arrow_file_without_records(tmp_path):
    write_table(TABLE.clear(), str(tmp_path / "t.arrow"))
    with pytest.raises(DataError, match="no records"):
        open_table(str(tmp_path / "t.arrow")).table()


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_a_file_is_written_in_the_dialect_of_another(tmp_path, name):
    text = "größe;ort\n1,5;Köln\n-2,25;a|b\n".encode("cp1252")
    source = tmp_path / name
    source.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    file = open_table(str(source))
    table = file.table()
    assert table.rows() == [(1.5, "Köln"), (-2.25, "a|b")]
    assert file.dialect == Dialect(";", ",", "cp1252")
    write_table(table, str(tmp_path / f"out-{name}"), dialect=file.dialect)
    written = (tmp_path / f"out-{name}").read_bytes()
    assert (gzip.decompress(written) if name.endswith("gz") else written) == text


def test_a_table_and_its_manifest_are_written_together(tmp_path):
    table, manifest = tmp_path / "t.csv", tmp_path / "t.json"

    def failing(_path):
        raise OSError(28, "No space left on device")

    with pytest.raises(ParameterError, match="No space left"):
        atomic_write_all({manifest: failing, table: table_writer(TABLE, str(table))}, force=False)
    assert list(tmp_path.iterdir()) == []
    atomic_write_all(
        {manifest: lambda path: path.write_text("{}"), table: table_writer(TABLE, str(table))},
        force=False,
    )
    assert open_table(str(table)).table().rows() == TABLE.rows()


def test_standard_output_gets_the_dialect_too(capfdbinary):
    write_table(TABLE, "-", dialect=Dialect(";", ",", "utf-16"))
    out = capfdbinary.readouterr().out.decode("utf-16")
    assert out.replace("e+", "e") == "i;f;t\n1;0,1;x,y\n2;1e300;\n"


def test_an_output_in_no_format_gets_a_list_of_those_that_can_be_written(tmp_path):
    release = microagg.protect(pl.DataFrame({"x": [1.0, 2, 3, 4]}), 2, method="mdav")
    for write in (partial(write_table, TABLE), release.save):
        with pytest.raises(
            ParameterError, match=r"outputs must end in \.csv, .*\.dta or \.xlsx \("
        ) as refused:
            write(str(tmp_path / "people.ods"))
        assert ".sas7bdat" not in str(refused.value)
        assert ".xpt" not in str(refused.value)


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["a\0b", "c"])])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv.gz"])
def test_text_files_do_not_get_a_zero_byte_for_which_they_would_not_be_read(tmp_path, name, dtype):
    table = pl.DataFrame({"a": [1, 2], "t": pl.Series(["a\0b", "c"], dtype=dtype)})
    with pytest.raises(ParameterError, match=r"zero byte, .* as in 't'\. .* \.parquet\."):
        write_table(table, str(tmp_path / name))
    with pytest.raises(ParameterError, match=r"zero byte, .* as in 'n\\x00'\."):
        write_table(pl.DataFrame({"n\0": [1]}), str(tmp_path / name))
    assert not (tmp_path / name).exists()
    write_table(table.select(pl.col("t").cast(pl.String)), str(tmp_path / "t.parquet"))


@pytest.mark.parametrize("suffix", [".csv", ".xlsx", ".dta", ".sav"])
@pytest.mark.parametrize("dtype", [pl.Date, pl.Datetime("us"), pl.Datetime("ms")])
@pytest.mark.parametrize("day", [-105_000_000, -800_000, 3_000_000, 105_000_000])
def test_dates_beyond_the_years_1_to_9999_are_refused(tmp_path, capfd, suffix, dtype, day):
    unit = getattr(dtype, "time_unit", "day")
    per_day = {"day": 1, "ms": 86_400_000, "us": 86_400_000_000}[unit]
    numbers = pl.Series("born", [0, day * per_day], dtype=pl.Int64)
    table = pl.DataFrame({"n": [1, 2]}).with_columns(
        numbers.cast(pl.Int32 if unit == "day" else pl.Int64).cast(dtype)
    )
    with pytest.raises(ParameterError, match=r"years 1 to 9999,? as in 'born'"):
        write_table(table, str(tmp_path / f"t{suffix}"))
    assert "panicked" not in capfd.readouterr().err
    assert not list(tmp_path.iterdir())
