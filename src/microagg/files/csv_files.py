"""CSV and other delimited text, plain or compressed with gzip: reader, writer, what does not fit.

A `.tsv` or `.tab` file is written with tabs. So is a `.txt` file, unless the input had another
delimiter.
"""

import gzip
import io
import sys
import zlib
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

import polars as pl

from microagg.core.errors import DataError, ParameterError
from microagg.files.delimited import DelimitedText, write_delimited
from microagg.files.dialect import Dialect
from microagg.files.expansion import unpacked
from microagg.files.formulas import escaped
from microagg.files.reading import InputFile, select_columns
from microagg.files.writing import WriteOptions
from microagg.files.years import BEYOND, is_beyond

_PACKED = ".gz"
_TAB = "\t"
# Suffixes that stand for tabs: those of files that always have them, and the one that usually does.
_ALWAYS_TABS, _BY_DEFAULT = (".tsv", ".tab"), (".txt",)


class CsvReader:
    """A CSV file, read from disk once; the text of its records stays in memory."""

    annotations = None

    def __init__(self, source: InputFile, dialect: Dialect | None = None) -> None:
        data = source.read_all()
        if source.suffix.endswith(_PACKED):
            data = _decompressed(data, source)
        self._source = source
        likely = _TAB if _is_one_of(source.suffix, _ALWAYS_TABS) else None
        self._text = DelimitedText(data, source.where, dialect, likely_delimiter=likely)
        # Before a message names columns: if records do not fit the header, it may be none.
        self._text.check_not_empty()
        self._text.count_records()

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names, in file order."""
        return self._text.columns

    @property
    def dialect(self) -> Dialect:
        """Decimal mark and encoding, and the delimiter unless it is the one the suffix stands for.

        So a .tsv file is written to a .csv file with commas.
        """
        found = self._text.dialect
        is_tabs = found.delimiter == _TAB and _stands_for_tabs(self._source.suffix)
        return replace(found, delimiter=None) if is_tabs else found

    @property
    def markers(self) -> dict[str, int]:
        """How many entries of each column were markers of missing values, once it was read."""
        return self._text.markers

    @property
    def sha256(self) -> str | None:
        """SHA-256 of the file as it was on disk; None for standard input."""
        return self._source.sha256

    def table(
        self, *, as_text: Collection[str] = (), columns: Collection[str] | None = None
    ) -> pl.DataFrame:
        """Parse the records of the selected columns (default: all), in file order."""
        names = select_columns(self.columns, columns, self._source.where)
        return self._text.table(as_text=as_text, columns=names)


def _is_one_of(suffix: str, suffixes: tuple[str, ...]) -> bool:
    """Whether a suffix, plain or of a compressed file, is one of these."""
    return suffix.removesuffix(_PACKED) in suffixes


def _stands_for_tabs(suffix: str) -> bool:
    return _is_one_of(suffix, (*_ALWAYS_TABS, *_BY_DEFAULT))


def _decompressed(data: bytes, source: InputFile) -> bytes:
    where = source.where
    if not data:
        raise DataError(f"{where} is empty.")
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            return unpacked(cast(BinaryIO, stream), source.check_expansion)
    except (OSError, EOFError, zlib.error):
        raise DataError(
            f"{where} should be compressed with gzip; it holds something else or is damaged."
        ) from None


def check_csv(table: pl.DataFrame, _suffix: str) -> None:
    """Refuse columns that CSV cannot hold."""
    unfit = [
        repr(name)
        for name, dtype in table.schema.items()
        # Types added by other libraries, such as pandas periods, arrive as extension types.
        if dtype.is_nested() or dtype in (pl.Binary, pl.Object) or hasattr(dtype, "ext_name")
    ]
    if unfit:
        raise ParameterError(
            "CSV holds only text, numbers, dates and times, not lists, structures, binary values "
            f"or periods as in {', '.join(unfit)}. Convert these columns, drop them as "
            "identifiers, or write to .parquet."
        )
    for column in table.get_columns():
        plain = column.alias("")  # polars may take a name for a pattern
        if "\0" in column.name or _has_zero_byte(plain):
            raise ParameterError(
                "text files cannot hold text with a zero byte, which marks them as binary, as in "
                f"{column.name!r}. Convert or rename the column, or write to .parquet."
            )
        if is_beyond(plain):
            raise ParameterError(
                f"text files cannot hold {BEYOND}, as in {column.name!r}. Correct or drop the "
                "column, or write to .parquet."
            )


def _has_zero_byte(column: pl.Series) -> bool:
    if column.dtype not in (pl.String, pl.Categorical, pl.Enum):
        return False
    return column.cast(pl.String).str.contains("\0", literal=True).any()


def write_csv(table: pl.DataFrame, path: Path, options: WriteOptions) -> None:
    """Write the table as CSV in the dialect, compressed if the suffix says so."""
    dialect = _written_dialect(options)
    if options.escape_formulas:
        table = escaped(table)
    with path.open("wb") as stream:
        if not options.suffix.endswith(_PACKED):
            write_delimited(table, stream, dialect)
            return
        # No file name or time inside: the same table always gives the same bytes.
        with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed:
            write_delimited(table, cast(BinaryIO, packed), dialect)


def _written_dialect(options: WriteOptions) -> Dialect:
    """Return the dialect of a file with this suffix: that of the input, as far as it fits."""
    dialect = options.dialect or Dialect()
    is_open = dialect.delimiter is None and _stands_for_tabs(options.suffix)
    if is_open or _is_one_of(options.suffix, _ALWAYS_TABS):
        return replace(dialect, delimiter=_TAB)
    return dialect


def write_to_standard_output(
    table: pl.DataFrame, dialect: Dialect | None = None, *, escape_formulas: bool = False
) -> None:
    """Write the table as CSV to standard output."""
    buffer = io.BytesIO()
    write_delimited(escaped(table) if escape_formulas else table, buffer, dialect)
    data = buffer.getbuffer()
    # With PYTHONUNBUFFERED set, a single call may write only part of the data.
    while data:
        data = data[sys.stdout.buffer.write(data) :]
    sys.stdout.buffer.flush()
