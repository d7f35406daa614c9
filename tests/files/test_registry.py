"""Every registered format keeps the same contract: round trips, refusals, hashes, documentation."""

import hashlib
import os
import subprocess
import sys
from datetime import date, datetime
from pathlib import Path

import polars as pl
import pytest

from microagg.core.errors import DataError, ParameterError
from microagg.files.dialect import Dialect
from microagg.files.formats import (
    FORMATS,
    check_fits,
    format_of,
    open_table,
    protected_name,
    suffix_list,
    write_table,
)
from tests.files.r_objects import r_file, r_numbers, r_texts

for package in ("pyreadstat", "openpyxl", "xlsxwriter", "rdata"):
    pytest.importorskip(package)

DOCS = Path(__file__).parents[2] / "docs" / "guides" / "files.md"
SUFFIXES = [suffix for each in FORMATS for suffix in each.suffixes]
WRITABLE = [suffix for suffix in SUFFIXES if format_of(f"t{suffix}").can_be_written]
READ_ONLY = [suffix for suffix in SUFFIXES if suffix not in WRITABLE]

MIXED = pl.DataFrame(
    {
        "whole": [1, -(2**53), None],
        "real": [0.1, None, 1e300],
        "text": ['a,"b"', None, "ünï\nzwei"],
        "day": [date(2024, 2, 29), None, date(1500, 1, 1)],
        "time": [datetime(2024, 2, 29, 12, 30, 15), None, datetime(1999, 12, 31)],
    }
)


@pytest.fixture(params=SUFFIXES)
def file(request, tmp_path, monkeypatch):
    """Path of a file of every format, with the columns a and b."""
    return written(request.param, tmp_path, monkeypatch)


def written(suffix, folder, monkeypatch):
    table, path = pl.DataFrame({"a": [1.0, 2.5], "b": ["x", "y"]}), folder / f"t{suffix}"
    if suffix in WRITABLE:
        write_table(table, str(path))
        return str(path)
    if format_of(str(path)).name == "R":
        return r_file(path, {"a": r_numbers(1.0, 2.5), "b": r_texts("x", "y")})
    import pyreadstat

    pyreadstat.write_xport(table, path, file_format_version=5)
    if suffix == ".sas7bdat":  # which no package can write

        def read(place, **options):
            del options["user_missing"]
            return pyreadstat.read_xport(place, **options)

        monkeypatch.setattr(pyreadstat, "read_sas7bdat", read)
    return str(path)


@pytest.mark.parametrize("suffix", WRITABLE)
def test_a_mixed_table_comes_back(tmp_path, suffix):
    path = str(tmp_path / f"t{suffix}")
    table = MIXED
    if suffix == ".xlsx":  # which has no earlier dates
        table = MIXED.with_columns(day=pl.Series([date(2024, 2, 29), None, date(1900, 3, 1)]))
    write_table(table, path)
    again = open_table(path).table()
    if "delimiter" in format_of(path).dialect:  # dates are text there
        again = again.with_columns(
            pl.col("day").str.to_date(), pl.col("time").str.to_datetime(time_unit="us")
        )
    assert again.equals(table)
    assert again.schema == table.schema


@pytest.mark.parametrize(
    "suffix", [each for each in WRITABLE if format_of(f"t{each}").name not in ("SPSS", "Stata")]
)
def test_names_that_polars_takes_for_patterns_are_names(tmp_path, suffix):
    table = pl.DataFrame(
        {
            "day": [date(2024, 2, 29), date(1900, 3, 1)],
            "time": [datetime(2024, 2, 29, 12, 30, 15), datetime(1999, 12, 31)],
            "text": ["x", "y"],
            "real": [0.5, 1.5],
            "whole": [1, 2],
        }
    )
    table.columns = ["^day$", "^time$", "^.*$", "*", "day"]
    check_fits(table, f"t{suffix}")
    write_table(table, str(tmp_path / f"t{suffix}"))
    again = open_table(str(tmp_path / f"t{suffix}")).table()
    assert again.columns == table.columns
    assert again["*"].equals(table["*"])
    assert again["^.*$"].equals(table["^.*$"])


def test_every_reader_keeps_the_contract(file):
    source = open_table(file)
    assert source.columns == ("a", "b")
    assert (source.dialect is not None) == ("delimiter" in format_of(file).dialect)
    assert source.table().rows() == [(1.0, "x"), (2.5, "y")]
    assert source.table(columns=["b"], as_text=["b"]).columns == ["b"]
    assert source.table(columns=["b", "a"]).columns == ["a", "b"]
    with pytest.raises(ParameterError, match="has no column 'c'"):
        source.table(columns=["c"])


def test_the_hash_is_that_of_the_file(file):
    expected = hashlib.sha256(Path(file).read_bytes()).hexdigest()
    source = open_table(file)
    assert source.sha256 == expected
    source.table()
    assert source.sha256 == expected


def test_a_file_that_changes_while_it_is_read_is_refused_or_held_in_memory(file):
    source = open_table(file)
    content = Path(file).read_bytes()
    Path(file).write_bytes(content + b"\n")
    if "delimiter" in format_of(file).dialect or format_of(file).name in ("Excel", "R"):
        assert source.sha256 == hashlib.sha256(content).hexdigest()
        assert source.table().height == 2
        return
    with pytest.raises(DataError, match="changed while it was being read"):
        assert source.sha256
    Path(file).write_bytes(content)
    os.utime(file, ns=(0, 0))  # the same size, at another time
    for attempt in (source.table, lambda: source.sha256):
        with pytest.raises(DataError, match="changed while it was being read"):
            attempt()


def test_dialect_options_are_taken_or_refused(file):
    taken = format_of(file).dialect
    delimiter = "," if file.endswith((".csv", ".csv.gz")) else "\t"
    for option, value in (("delimiter", delimiter), ("decimal", "."), ("encoding", "utf-8")):
        dialect = Dialect(**{option: value})
        if option in taken:
            assert open_table(file, dialect=dialect).columns == ("a", "b")
        else:
            with pytest.raises(ParameterError, match=r"files do not take an? .*Leave it out"):
                open_table(file, dialect=dialect)
    if "sheet" not in taken:
        with pytest.raises(ParameterError, match=r"do not take a sheet.*Leave it out"):
            open_table(file, dialect=Dialect(sheet="people"))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_input_must_exist_and_be_a_file(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    with pytest.raises(ParameterError, match="does not exist"):
        open_table(str(path))
    path.mkdir()
    with pytest.raises(ParameterError, match="is a folder"):
        open_table(str(path))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_empty_file_is_refused(tmp_path, suffix):
    (tmp_path / f"t{suffix}").touch()
    with pytest.raises(DataError, match=r"is empty|is damaged"):
        open_table(str(tmp_path / f"t{suffix}"))


@pytest.mark.parametrize("suffix", [suffix for suffix in SUFFIXES if format_of(f"t{suffix}").check])
def test_columns_that_do_not_fit_are_named_with_a_way_out(tmp_path, suffix):
    table = pl.DataFrame({"fine": [1], "unfit": [[1, 2]]})
    for attempt in (check_fits, write_table):
        with pytest.raises(ParameterError, match=r"'unfit'.*Convert .*\.parquet") as refused:
            attempt(table, str(tmp_path / f"t{suffix}"))
        assert "fine" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [s for s in WRITABLE if not format_of(f"t{s}").check])
def test_formats_without_a_check_hold_any_column(tmp_path, suffix):
    table = pl.DataFrame({"list": [[1, 2]], "struct": [{"a": 1}], "binary": [b"\0"]})
    write_table(table, str(tmp_path / f"t{suffix}"))
    assert open_table(str(tmp_path / f"t{suffix}")).table().equals(table)


@pytest.mark.parametrize("suffix", READ_ONLY)
def test_a_format_that_is_only_read_says_what_to_write_instead(tmp_path, suffix):
    with pytest.raises(ParameterError, match=r"cannot be written.*ends in \.csv"):
        write_table(MIXED, str(tmp_path / f"t{suffix}"))
    assert protected_name(f"t{suffix}").endswith(tuple(WRITABLE))


@pytest.mark.parametrize(
    "each", [each for each in FORMATS if each.extra], ids=lambda each: each.name
)
def test_a_missing_extra_is_named(tmp_path, monkeypatch, each):
    path = tmp_path / f"t{each.suffixes[0]}"
    path.touch()
    for package in each.packages:
        with monkeypatch.context() as patched:
            patched.setitem(sys.modules, package, None)
            match = rf"^{each.name} files need the package {package}.*microagg\[{each.extra}\]"
            with pytest.raises(ParameterError, match=match):
                open_table(str(path))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_documentation_lists_the_suffix(suffix):
    (row,) = [
        line for line in DOCS.read_text().splitlines() if f"`{suffix}`" in line and line[0] == "|"
    ]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    format_ = format_of(f"t{suffix}")
    assert cells[1] == "yes"
    assert cells[2].startswith("yes" if format_.can_be_written else "no")
    assert (f"microagg[{format_.extra}]" in cells[3]) == (format_.extra is not None)


def test_suffixes_are_unique_and_listed():
    assert len(set(SUFFIXES)) == len(SUFFIXES)
    assert suffix_list().replace(" or ", ", ").split(", ") == SUFFIXES


def test_listing_the_formats_loads_no_library():
    script = (
        "import sys; from microagg.files.formats import suffix_list; suffix_list();"
        "print({'numpy', 'polars', 'pyreadstat', 'openpyxl', 'rdata'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout.strip() == b"set()"
