"""CSV files of a dataset: read in blocks of whole records, typed by all of them, written in parts.

They are kept as Arrow files in the work folder, first as text, then with the types that all files
together have; the other passes read those.
"""

import codecs
import csv
import gzip
import io
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import IntEnum
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa

from microagg.core.errors import DataError, ParameterError
from microagg.core.missing import MARKERS
from microagg.files.delimited import DelimitedText, write_delimited
from microagg.files.dialect import Dialect, decoded
from microagg.scale.storage.work import WorkFolder
from microagg.tables.columns import ColumnType
from microagg.tables.dates import is_written_as
from microagg.tables.numerals import as_numbers, is_marked, nulled
from microagg.tables.polars_columns import as_polars
from microagg.tables.roles import may_be_record

# Bytes that are read at a time.
BLOCK_BYTES = 16 << 20
# Blocks that a record may take: one that never ends would fill the memory.
_MOST_BLOCKS = 4
# Bytes that a task takes that reads them.
CSV_BYTES = 16 * BLOCK_BYTES
CSV, TEXTS, TYPED, FINISHED = "csv", "texts", "typed", "finished"
_NEWLINE, _QUOTE = 10, 34
_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_TIMES = (ColumnType.DATE, ColumnType.DATETIME)
_DAMAGED = (gzip.BadGzipFile, EOFError, zlib.error)


class Kind(IntEnum):
    """What the entries of a column are; of two parts, the column is the higher."""

    EMPTY = 0
    WHOLE = 1
    LARGE = 2  # beyond 63 bits
    FLOAT = 3
    DATES = 4
    TEXT = 5


_DTYPES = {Kind.WHOLE: pl.Int64, Kind.LARGE: pl.UInt64, Kind.FLOAT: pl.Float64}


@dataclass(frozen=True)
class CsvSetting:
    """The files, how they are written, and the columns that stay text."""

    paths: tuple[Path, ...]
    dialect: Dialect
    columns: tuple[str, ...]
    as_text: frozenset[str]


class TextFacts(NamedTuple):
    """What the columns of a file are, and how many rows it has."""

    kinds: dict[str, Kind]
    n_rows: int


def first_dialect(path: Path, given: Dialect) -> tuple[Dialect, tuple[str, ...]]:
    """Return how the first file is written, and its columns, by its first block."""
    block = next(blocks(path), b"")
    is_wide = str(given.encoding).lower().replace("_", "-").startswith(("utf-16", "utf-32"))
    if is_wide or block.startswith(_WIDE_MARKS):
        raise ParameterError(
            f"{str(path)!r} is in UTF-16 or UTF-32, which cannot be read in parts. Save it as "
            "UTF-8 first."
        )
    text = DelimitedText(block, repr(str(path)), given)
    text.count_records()  # before a message names columns: if some do not fit, it may be none
    return replace(text.dialect, na=given.na), text.columns


class Looked(NamedTuple):
    """What the first records of a file tell: bytes and fields of each, and how far it is packed."""

    record_bytes: float
    n_fields: int
    expansion: float


def looked_at(path: Path) -> Looked:
    """Look at the first block of a file, before anything is known of how it is written."""
    with path.open("rb") as stream:
        packed = _unpacked(stream, path)
        try:
            block = packed.read(BLOCK_BYTES)
        except _DAMAGED:
            raise _not_packed(path) from None
        expansion = len(block) / max(1, stream.tell())
    line = block.partition(b"\n")[0]
    return Looked(
        max(1.0, len(block) / max(1, block.count(b"\n"))),
        1 + max(line.count(mark) for mark in (b",", b";", b"\t", b"|")),
        max(1.0, expansion) if packed is not stream else 1.0,
    )


def _unpacked(stream: Any, path: Path) -> Any:
    is_packed = path.name.lower().endswith(".gz")
    return gzip.GzipFile(fileobj=stream, mode="rb") if is_packed else stream


def _not_packed(path: Path) -> DataError:
    return DataError(
        f"{str(path)!r} should be compressed with gzip; it holds something else or is damaged."
    )


@contextmanager
def _opened(path: Path, mode: str) -> Iterator[IO[bytes]]:
    with path.open(mode) as stream:
        if not path.name.lower().endswith(".gz"):
            yield cast(IO[bytes], stream)
            return
        # No file name or time inside: the same table always gives the same bytes.
        options: dict[str, Any] = {"filename": "", "mode": mode, "mtime": 0}
        with gzip.GzipFile(fileobj=stream, **options) as packed:
            yield cast(IO[bytes], packed)


def blocks(path: Path) -> Iterator[bytes]:
    """Read a file in blocks that end with a record: at a line end outside quotes."""
    try:
        with _opened(path, "rb") as stream:
            held = b""
            while data := stream.read(BLOCK_BYTES):
                held += data
                end = _end_of_records(held)
                if not end and len(held) > _MOST_BLOCKS * BLOCK_BYTES:
                    raise DataError(
                        f"{str(path)!r} has a record of more than {len(held) >> 20:,} MiB, or what "
                        "looks like one: is a quotation mark not closed, or do lines end without a "
                        "line feed? Correct that first."
                    )
                if end:
                    yield held[:end]
                    held = held[end:]
            if held:
                yield held
    except _DAMAGED:
        raise _not_packed(path) from None


def _end_of_records(data: bytes) -> int:
    """Return where the last whole record ends; 0 if none does."""
    every = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(every == _NEWLINE)
    quotes = np.flatnonzero(every == _QUOTE)
    outside = ends[np.searchsorted(quotes, ends) % 2 == 0]
    return int(outside[-1]) + 1 if len(outside) else 0


def text_tables(path: Path, setting: CsvSetting) -> Iterator[pl.DataFrame]:
    """Read a file as text, a table for every block; every record is checked in full."""
    dialect, n_rows, header = setting.dialect, 0, b""
    own = replace(dialect, encoding="utf-8")
    for block in blocks(path):
        where = repr(str(path)) if not n_rows else f"{str(path)!r} after {n_rows:,} records"
        text, _ = decoded(block, where, dialect.encoding)
        parsed = DelimitedText(header + text, where, own)
        _check_columns(path, parsed.columns, setting)
        if not header:
            header = _header(parsed.columns, str(dialect.delimiter))
            if parsed.count_records() == 0:  # a file without records
                continue
        table = parsed.table(as_text=parsed.columns)
        n_rows += len(table)
        yield table


def _check_columns(path: Path, own: tuple[str, ...], setting: CsvSetting) -> None:
    """Refuse a file with other columns; names in its first line may be values, so few are shown."""
    first = setting.columns
    if set(own) != set(first) and (may_be_record(own) or may_be_record(first)):
        raise DataError(
            f"{str(path)!r} and {str(setting.paths[0])!r} do not name the same columns. Some names "
            "are numbers: does each file have a header? Make all files alike."
        )
    if missing := [name for name in first if name not in own]:
        others = f"{str(path)!r} has no column {missing[0]!r}, and {str(setting.paths[0])!r} has"
        if len(own) == 1 < len(first):
            raise DataError(
                f"{others}: its first line is not separated by {setting.dialect.delimiter!r}, as "
                "those of the other files are. If it belongs to them, write it with the same "
                "delimiter; otherwise move it elsewhere."
            )
        raise DataError(
            f"{others}. Make all files alike, or move what does not belong to them elsewhere."
        )
    if extra := [name for name in own if name not in first]:
        raise DataError(
            f"{str(path)!r} has a column {extra[0]!r}, and {str(setting.paths[0])!r} does not. "
            "Make all files alike."
        )


def _header(columns: tuple[str, ...], delimiter: str) -> bytes:
    line = io.StringIO()
    csv.writer(line, delimiter=delimiter, lineterminator="\n").writerow(columns)
    return line.getvalue().encode()


def read_texts(work: WorkFolder, number: int) -> TextFacts:
    """Task: keep a file as text in the work folder, and find out what its columns are."""
    setting: CsvSetting = work.facts(CSV)
    return _keep_texts(work, setting, number, TEXTS)


def read_finished(work: WorkFolder, number: int) -> TextFacts:
    """Task: keep a finished file as text in the work folder."""
    return keep_as_text(FINISHED, work, number)


def keep_as_text(name: str, work: WorkFolder, number: int) -> TextFacts:
    """Task: keep a file of a setting of this name as text in the work folder."""
    return _keep_texts(work, work.facts(name), number, name)


def _keep_texts(work: WorkFolder, setting: CsvSetting, number: int, name: str) -> TextFacts:
    kinds = dict.fromkeys(setting.columns, Kind.EMPTY)
    n_rows = 0

    def tables() -> Iterator[pa.Table]:
        nonlocal n_rows
        for table in text_tables(setting.paths[number], setting):
            n_rows += len(table)
            for column in table.get_columns():
                if column.name not in setting.as_text:
                    kinds[column.name] = higher(kinds[column.name], kind_of(column, setting))
            # By name: polars may take a name for a pattern.
            own = {column: table.get_column(column) for column in setting.columns}
            yield pl.DataFrame(own).to_arrow()

    schema = pa.schema([(name, pa.large_string()) for name in setting.columns])
    write_batches(work, work.place(name, number, "arrow"), schema, tables())
    return TextFacts(kinds, n_rows)


def kind_of(column: pl.Series, setting: CsvSetting) -> Kind:
    """Return what the entries of a block are."""
    markers = (*MARKERS, *setting.dialect.na)
    bare = nulled(column, is_marked(column, (*markers, "")))
    if bare.null_count() == len(bare):
        return Kind.EMPTY
    numbers = as_numbers(column, setting.dialect.decimal or ".", markers)
    if numbers is not column:
        return next(kind for kind, dtype in _DTYPES.items() if numbers.dtype == dtype)
    texts = nw.from_native(bare.alias(""), series_only=True)
    return Kind.DATES if any(is_written_as(texts, kind) for kind in _TIMES) else Kind.TEXT


def higher(one: Kind, other: Kind) -> Kind:
    """Return what a column is, of which two parts are these.

    >>> higher(Kind.WHOLE, Kind.FLOAT).name, higher(Kind.DATES, Kind.WHOLE).name
    ('FLOAT', 'TEXT')
    """
    pair = {one, other} - {Kind.EMPTY}
    if Kind.DATES in pair and len(pair) > 1:
        return Kind.TEXT
    if pair == {Kind.WHOLE, Kind.LARGE}:  # below 0 and beyond 63 bits: never rounded silently
        return Kind.TEXT
    return max(one, other)


def type_file(work: WorkFolder, number: int) -> dict[str, int]:
    """Task: give the columns of a file their types; return how many entries mean missing values."""
    setting: CsvSetting = work.facts(CSV)
    kinds: dict[str, Kind] = work.facts(TYPED)
    markers: dict[str, int] = {}

    def tables() -> Iterator[pa.Table]:
        with pa.OSFile(str(work.place(TEXTS, number, "arrow"))) as source:
            file = pa.ipc.open_file(source)
            for at in range(file.num_record_batches):
                table = pl.DataFrame(pl.from_arrow(file.get_batch(at)))
                yield _typed(table, setting, kinds, markers)

    fields = [(name, _arrow_type(kinds[name])) for name in setting.columns]
    write_batches(work, work.place(TYPED, number, "arrow"), pa.schema(fields), tables())
    return markers


def _arrow_type(kind: Kind) -> pa.DataType:
    return {Kind.WHOLE: pa.int64(), Kind.LARGE: pa.uint64(), Kind.FLOAT: pa.float64()}.get(
        kind, pa.large_string()
    )


def _typed(
    table: pl.DataFrame,
    setting: CsvSetting,
    kinds: Mapping[str, Kind],
    counts: dict[str, int],
) -> pa.Table:
    columns = []
    markers = (*MARKERS, *setting.dialect.na)
    for name in setting.columns:
        column, kind = table.get_column(name).alias(""), kinds[name]
        if name in setting.as_text:
            columns.append(column)
            continue
        own = setting.dialect.na if kind is Kind.TEXT else markers
        marked = is_marked(column, own)
        if count := int(marked.sum()):
            counts[name] = counts.get(name, 0) + count
        if kind in _DTYPES:
            numbers = as_numbers(column, setting.dialect.decimal or ".", markers)
            if numbers is column:  # nothing but missing values
                numbers = pl.Series([None] * len(column), dtype=_DTYPES[kind])
            columns.append(numbers.cast(_DTYPES[kind]))
        else:
            blank = (*own, "") if kind is Kind.DATES else own
            columns.append(nulled(column, is_marked(column, blank)))
    return pa.table([column.to_arrow() for column in columns], names=list(setting.columns))


def write_batches(
    work: WorkFolder, path: Path, schema: pa.Schema, tables: Iterator[pa.Table]
) -> None:
    """Write tables to an Arrow file, a batch each."""

    def write(beside: Path) -> None:
        with pa.OSFile(str(beside), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
            for table in tables:
                writer.write_table(table.cast(schema).combine_chunks())

    work.write(path, write)


@contextmanager
def writing(path: Path, schema: pa.Schema, dialect: Dialect) -> Iterator[Callable[[Any], object]]:
    """Write a CSV file, some rows at a time."""
    header = _text(schema.empty_table(), dialect)
    with _opened(path, "wb") as stream:
        stream.write(header)
        yield lambda table: stream.write(_text(table, dialect)[len(header) :])


def _text(table: pa.Table, dialect: Dialect) -> bytes:
    buffer = io.BytesIO()
    columns = {name: pl.Series(pl.from_arrow(table[name])) for name in table.column_names}
    write_delimited(pl.DataFrame(columns), buffer, dialect)
    return buffer.getvalue()


def as_judged(column: Any, decimal: str) -> pl.Series:
    """Return a column of a finished file as numbers, if it is, for constraints and weights."""
    series = as_polars(column)
    return as_numbers(series, decimal) if series.dtype == pl.String else series
