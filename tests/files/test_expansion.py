"""Compressed files that expand to more than they may: refused in one sentence, before they do."""

import bz2
import gzip
import io
import lzma
import tracemalloc
import zipfile

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from microagg.core.errors import DataError, ParameterError
from microagg.core.sizes import as_size, bytes_in
from microagg.files.arrow_sizes import arrow_sizes
from microagg.files.dialect import Dialect
from microagg.files.expansion import DEFAULT_LIMIT
from microagg.files.formats import open_table, write_table
from microagg.files.parquet_sizes import parquet_sizes

MEGABYTE = 1_000_000


def read(path, limit=None):
    return open_table(str(path), dialect=Dialect(max_expanded=limit)).table()


def check_refused(path, limit, shown):
    with pytest.raises(DataError) as refused:
        read(path, limit)
    assert str(refused.value) == (
        f"{str(path)!r} is compressed and expands to more than {shown}. If you trust it, raise the "
        "limit, as in --max-expanded 8GB (max_expanded= in Python)."
    )


@pytest.mark.parametrize(
    ("size", "n_bytes"),
    [
        ("8GB", 8_000_000_000),
        ("8 gb", 8_000_000_000),
        ("1.5M", 1_500_000),
        ("2TiB", 2 * 2**40),
        ("3KiB", 3072),
        ("700", 700),
        ("700 bytes", 700),
        (" 1b ", 1),
        (12, 12),
    ],
)
def test_sizes(size, n_bytes):
    assert bytes_in(size) == n_bytes


@pytest.mark.parametrize(
    "size", ["", "lots", "-1GB", "0", "0.1", "1e9", "GB", "1PB", "9" * 50, 0, -5, True, 1.5, [1]]
)
def test_what_is_no_size(size):
    with pytest.raises(ParameterError, match=r"a size such as 8GB or 500MB; got .{1,30}$"):
        Dialect(max_expanded=size)


@pytest.mark.parametrize("n_bytes", [1, 999, 1000, 1_999_999, DEFAULT_LIMIT, 10**15, 3 * 10**18])
def test_sizes_are_written_as_they_are_read_and_never_too_large(n_bytes):
    shown = bytes_in(as_size(n_bytes).replace(",", ""))
    assert n_bytes * 0.99 <= shown <= n_bytes


@pytest.fixture(params=[".csv.gz", ".txt.gz", ".tsv.gz", ".tab.gz"])
def packed_text(request, tmp_path):
    """100 MB of records in some hundred kilobytes: one member of gzip, again and again."""
    mark = "\t" if request.param.startswith((".tsv", ".tab")) else ","
    member = gzip.compress(f"1{mark}2\n".encode() * 250_000)
    path = tmp_path / f"t{request.param}"
    path.write_bytes(gzip.compress(f"a{mark}b\n".encode()) + member * 100)
    return path


def test_text_is_unpacked_to_the_limit_and_no_further(packed_text):
    tracemalloc.start()
    try:
        check_refused(packed_text, "3MB", "3 MB")
        assert tracemalloc.get_traced_memory()[1] < 15 * MEGABYTE
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("limit", "fits"), [(2003, False), (2004, True), (None, True)])
def test_the_limit_is_kept_to_the_byte(tmp_path, limit, fits):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 500))
    if fits:
        assert read(path, limit).shape == (500, 2)
    else:
        check_refused(path, limit, "2 KB")


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow", ".sav", ".dta", ".xlsx"])
def test_a_file_may_always_be_as_large_as_it_is(tmp_path, suffix):
    if suffix != ".parquet":
        pytest.importorskip("pyreadstat")
        pytest.importorskip("openpyxl")
    path = tmp_path / f"t{suffix}"
    values = np.random.default_rng(1).normal(size=200)
    write_table(pl.DataFrame({"a": values}), str(path))
    if suffix == ".xlsx":  # one that is not compressed
        with (
            zipfile.ZipFile(io.BytesIO(path.read_bytes())) as old,
            zipfile.ZipFile(path, "w") as new,
        ):
            for part in old.infolist():
                new.writestr(part.filename, old.read(part))
    assert read(path, 1).shape == (200, 1)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".feather", ".zsav", ".xlsx"])
def test_tables_that_repeat_one_value(tmp_path, suffix):
    if suffix in (".zsav", ".xlsx"):
        pytest.importorskip("pyreadstat")
        pytest.importorskip("openpyxl")
    path = tmp_path / f"t{suffix}"
    n = 3000 if suffix == ".xlsx" else 20_000
    table = pl.DataFrame({"a": np.zeros(n), "b": ["x" * 40] * n})
    if suffix == ".arrow":
        table.write_ipc(path, compression="zstd")
    else:
        write_table(table, str(path))
    assert path.stat().st_size < 100_000
    check_refused(path, 100_000, "100 KB")
    assert read(path).shape == table.shape
    assert read(path, "100MB").equals(read(path))


def test_only_the_columns_that_are_read_count_in_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    write_table(pl.DataFrame({"a": np.zeros(20_000), "b": np.arange(20_000) % 2 == 0}), str(path))
    file = open_table(str(path), dialect=Dialect(max_expanded=20_000))
    assert file.table(columns=["b"]).shape == (20_000, 1)
    with pytest.raises(DataError, match="expands to more than 20 KB"):
        file.table(columns=["a"])


MIXED = pa.table(
    {
        "number": np.arange(5000.0),
        "same": np.zeros(5000, dtype=np.int64),
        "text": [f"entry {j}" for j in range(5000)],
        "few": pa.array(["a", "b", None, "c"] * 1250).dictionary_encode(),
        "list": [[1, 2]] * 5000,
        "parts": [{"x": 1, "y": "z"}] * 5000,
        "flag": [True, None] * 2500,
        "code": pa.array([b"0123456789abcdef"] * 5000, pa.binary(16)),
    }
)


@pytest.mark.parametrize("codec", ["zstd", "snappy", "gzip", "lz4", "none"])
@pytest.mark.parametrize("pages", ["1.0", "2.0"])
def test_sizes_of_parquet_are_those_that_another_library_finds(tmp_path, codec, pages):
    path = tmp_path / "t.parquet"
    pa.parquet.write_table(
        MIXED, path, compression=codec, data_page_version=pages, row_group_size=1500
    )
    facts = pa.parquet.read_metadata(path)
    groups = [facts.row_group(j) for j in range(facts.num_row_groups)]
    chunks = [group.column(j) for group in groups for j in range(facts.num_columns)]
    for name in MIXED.column_names:
        own = [c for c in chunks if c.path_in_schema.split(".")[0] == name]
        unpacked = sum(c.total_uncompressed_size for c in own)
        found = sum(parquet_sizes(path, {name}))
        assert found >= unpacked
        n_values = sum(c.num_values for c in own)
        widest = 16 * n_values
        assert found <= max(unpacked, widest)
    assert sum(parquet_sizes(path, {"same"})) == 8 * 5000
    assert sum(parquet_sizes(path, {"code"})) == 16 * 5000
    assert read(path, "2MB").height == 5000


def test_what_pages_say_counts_if_the_footer_says_less(tmp_path):
    path = tmp_path / "t.parquet"
    table = pa.table({"a": ["x" * 100_000]})
    pa.parquet.write_table(table, path, compression="zstd", use_dictionary=False)
    chunk = pa.parquet.read_metadata(path).row_group(0).column(0)
    data = path.read_bytes()
    end = len(data) - 8
    begin = end - int.from_bytes(data[end : end + 4], "little")
    honest, lie = (_whole_number(n) for n in (chunk.total_uncompressed_size, 20_000))
    assert len(honest) == len(lie)
    assert data.count(honest, begin) >= 1
    path.write_bytes(data[:begin] + data[begin:].replace(honest, lie))
    assert pa.parquet.read_metadata(path).row_group(0).column(0).total_uncompressed_size == 20_000
    check_refused(path, 50_000, "50 KB")


def _whole_number(n):
    """A whole number in the compact protocol of Thrift."""
    n, parts = 2 * n, []
    while n > 127:
        parts.append(n & 127 | 128)
        n >>= 7
    return bytes([*parts, n])


@pytest.mark.parametrize("codec", ["zstd", "lz4", "uncompressed"])
def test_sizes_of_arrow_are_those_of_its_buffers(tmp_path, codec):
    path = tmp_path / "t.feather"
    pa.feather.write_feather(MIXED, path, compression=codec, chunksize=1500)
    n_bytes = sum(
        buffer.size
        for batch in pa.feather.read_table(path).to_batches()
        for column in batch.columns
        for buffer in column.buffers()
        if buffer is not None
    )
    found = sum(arrow_sizes(path))
    if codec == "uncompressed":
        assert found == 5000 + 3  # records and categories
    else:
        assert 0.5 * n_bytes <= found <= 1.1 * n_bytes


def test_records_without_any_bytes_count(tmp_path):
    path = tmp_path / "t.arrow"
    pl.DataFrame({"a": pl.repeat(None, 500_000, dtype=pl.Null, eager=True)}).write_ipc(path)
    check_refused(path, 100_000, "100 KB")


def repack(path, change, compression):
    """Write a zip archive again, with other contents of its parts."""
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
        parts = {name: change(name, archive.read(name)) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


class TestExcel:
    @pytest.fixture
    def workbook(self, tmp_path):
        pytest.importorskip("openpyxl")
        path = tmp_path / "t.xlsx"
        write_table(pl.DataFrame({"a": [1, 2], "b": ["x", "y"]}), str(path))
        return path

    def changed(self, path, old, new):
        def change(name, content):
            return content.replace(old, new) if name.endswith("sheet1.xml") else content

        repack(path, change, zipfile.ZIP_DEFLATED)

    def test_a_part_of_blanks(self, workbook):
        self.changed(workbook, b"<sheetData>", b"<sheetData>" + b" " * MEGABYTE)
        check_refused(workbook, 500_000, "500 KB")
        assert read(workbook).shape == (2, 2)

    def test_rows_that_name_only_their_last_cell(self, tmp_path):
        pytest.importorskip("openpyxl")
        path = tmp_path / "t.xlsx"
        write_table(pl.DataFrame({f"c{j}": [1] for j in range(300)}), str(path))
        row = b'<row r="%d"><c r="KN%d"><v>1</v></c></row>'
        rows = b"".join(row % (j, j) for j in range(3, 903))
        self.changed(path, b"</sheetData>", rows + b"</sheetData>")
        check_refused(path, MEGABYTE, "1 MB")
        assert read(path).shape == (901, 300)


class TestR:
    @pytest.fixture(autouse=True)
    def _package(self):
        pytest.importorskip("rdata")

    @pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
    def test_compressed_files(self, tmp_path, pack):
        from tests.files.r_objects import r_file, r_numbers

        path = tmp_path / "t.rds"
        r_file(path, {"a": r_numbers(*[0] * 50_000)})
        content = path.read_bytes()
        if content.startswith(b"\x1f\x8b"):
            content = gzip.decompress(content)
        path.write_bytes(pack(content))
        check_refused(path, 100_000, "100 KB")
        assert read(path).height == 50_000
        path.write_bytes(pack(pack(content)))
        with pytest.raises(DataError, match="should be an R file"):
            read(path)

    @pytest.mark.parametrize("kind", [b"compact_intseq", b"compact_realseq"])
    def test_a_sequence_of_a_few_bytes(self, tmp_path, kind):
        from tests.files.r_objects import r_frame, r_numbers, r_short, write_object

        path = tmp_path / "t.rds"
        write_object(path, r_frame({"a": r_short(kind, r_numbers(10**13, 1, 1))}, n_records=1))
        check_refused(path, None, "4 GB")
        write_object(path, r_frame({"a": r_short(kind, r_numbers(90_000, 1, 1))}, n_records=90_000))
        check_refused(path, 100_000, "100 KB")
        assert read(path)["a"].to_list() == list(range(1, 90_001))


class TestStatistical:
    def test_a_number_of_records_that_is_not_believed(self, tmp_path):
        pytest.importorskip("pyreadstat")
        path = tmp_path / "t.zsav"
        write_table(pl.DataFrame({"a": np.zeros(30_000)}), str(path))
        data = path.read_bytes()
        place = data.index((30_000).to_bytes(4, "little"))
        assert place < 100
        path.write_bytes(data[:place] + (-1).to_bytes(4, "little", signed=True) + data[place + 4 :])
        check_refused(path, 100_000, "100 KB")
        assert read(path).height == 30_000
