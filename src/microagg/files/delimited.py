"""CSV text to table and back.

All of the text is checked before polars parses it, so that no error message quotes a value. A quick
pass over the bytes counts the records and their fields; Python's csv module reads whatever that
pass cannot judge. Polars then parses the selected columns, and must find as many records.
"""

import codecs
import csv
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import BinaryIO, NoReturn

import narwhals as nw
import polars as pl

from microagg.core.errors import DataError, ParameterError
from microagg.core.missing import MARKERS
from microagg.core.words import counted
from microagg.files.dialect import (
    DELIMITERS,
    Dialect,
    decoded,
    detected_delimiter,
    long_fields,
    utf8_lines,
)
from microagg.files.headers import (
    N_SAMPLED,
    check_first_records,
    check_no_record,
)
from microagg.files.panics import without_panic_lines
from microagg.files.reading import STANDARD_INPUT, check_names
from microagg.files.record_count import count_well_formed_records
from microagg.files.room import need_room_to_read
from microagg.tables.columns import ColumnType
from microagg.tables.date_texts import is_laid_out_as_date
from microagg.tables.dates import is_written_as
from microagg.tables.numerals import as_numbers, first_entry, is_marked, nulled, with_decimal
from microagg.tables.roles import is_numeral

# A first line such as sep=; tells Excel the delimiter.
_EXCEL_HINT = re.compile(rb'"?sep=([,;|\t])"?\r?\n', re.IGNORECASE)
_TIMES = (ColumnType.DATE, ColumnType.DATETIME)
# Records encoded at a time.
_N_ENCODED = 100_000

_FOREIGN = {
    b"PAR1": ("Parquet", "Name it .parquet"),
    b"ARROW1": ("Arrow", "Name it .arrow"),
    b"\x1f\x8b": ("gzip", "Add .gz to its name"),
    b"PK\x03\x04": ("an Excel workbook or a zip archive", "Name it .xlsx, or unpack it"),
}
# Standard input has no name to change.
_PIPED = {
    "Parquet": "Name a .parquet file instead",
    "Arrow": "Name an .arrow file instead",
    "gzip": "Pipe it through gunzip",
    "an Excel workbook or a zip archive": "Name an .xlsx file instead",
}


class DelimitedText:
    """CSV text whose header has been read; `table` parses the records."""

    def __init__(
        self,
        data: bytes,
        where: str,
        dialect: Dialect | None = None,
        *,
        likely_delimiter: str | None = None,
    ) -> None:
        given = dialect or Dialect()
        _check_is_text(data, where)
        text, encoding = decoded(data, where, given.encoding)
        hint = _EXCEL_HINT.match(text)
        hinted = None
        if hint is not None:
            hinted, text = hint[1].decode(), text[hint.end() :]
        _check_not_blank(text, where)
        delimiter = given.delimiter or hinted
        if delimiter is None:
            delimiter = detected_delimiter(text, where, given.decimal, likely_delimiter)
        self._where = where
        self._delimiter = delimiter
        decimal = "." if delimiter == "," else given.decimal
        self._dialect = Dialect(delimiter, decimal, encoding)
        self._markers = (*MARKERS, *given.na)
        self._na = given.na
        self.markers: dict[str, int] = {}
        self.columns, begin = _header(text, delimiter, where)
        _check_header(self.columns, where)
        self._header_height = text.count(b"\n", 0, begin) + (hint is not None)
        self._n_records: int | None = None  # not counted yet
        self._records = text[begin : _end_of_records(text, begin, len(self.columns))]
        # Before anybody names columns: what is taken for their names may be values.
        check_first_records(self.columns, _first_records(self._records, delimiter), where)

    def check_not_empty(self) -> None:
        """Refuse a header alone, which may be the only record of a file without names."""
        if not self._records:
            raise self._no_records()

    def count_records(self) -> int:
        """Return the number of records; refuse those with more or fewer fields than the header."""
        if self._n_records is None:
            width = len(self.columns)
            self._n_records = count_well_formed_records(self._records, self._delimiter, width)
        if self._n_records is None:
            self._n_records = self._count_one_by_one()
        return self._n_records

    @property
    def dialect(self) -> Dialect:
        """Delimiter, decimal mark and encoding; reads the records if the mark is not yet known."""
        if self._dialect.decimal is None:
            self.table()
        return self._dialect

    def table(
        self, *, as_text: Collection[str] = (), columns: Collection[str] | None = None
    ) -> pl.DataFrame:
        """Parse the records; a column becomes numbers if all its entries are numbers.

        Columns in `as_text` stay text, character by character. Only the selected columns are
        parsed, in file order, but every record is checked in full.
        """
        n_records = self.count_records()  # checks all of them, before polars sees any
        if n_records == 0:
            raise self._no_records()
        named, as_text = set(self.columns if columns is None else columns), set(as_text)
        wanted = [j for j, name in enumerate(self.columns) if name in named]
        table = self._parsed(wanted)
        if table.shape != (n_records, len(wanted)):
            raise DataError(
                f"{self._where} is not well-formed CSV: it has irregular quotes or line ends."
            )
        texts = [
            column.alias(self.columns[j])
            for j, column in zip(wanted, table.get_columns(), strict=True)
        ]
        del table
        read = self._with_numbers(texts, as_text)
        check_no_record(read, self._where)
        return pl.DataFrame(read)

    def _parsed(self, wanted: Sequence[int]) -> pl.DataFrame:
        # Plain names: polars may take a name from the file for a pattern.
        plain = [f"column_{j}" for j in range(1, len(self.columns) + 1)]
        try:
            need_room_to_read(len(self._records))
            with without_panic_lines():
                return pl.read_csv(
                    self._records,
                    has_header=False,
                    schema=dict.fromkeys(plain, pl.String),
                    columns=[plain[j] for j in wanted],
                    separator=self._delimiter,
                )
        except MemoryError:
            raise
        except (Exception, pl.exceptions.PanicException):  # the message quotes values
            return pl.DataFrame()

    def _with_numbers(self, texts: list[pl.Series], as_text: Collection[str]) -> list[pl.Series]:
        free = [column for column in texts if column.name not in as_text]
        read = iter(
            self._without_markers(column, numbers)
            for column, numbers in zip(free, self._read(free, texts, as_text), strict=True)
        )
        return [column if column.name in as_text else next(read) for column in texts]

    def _read(
        self, free: list[pl.Series], texts: list[pl.Series], as_text: Collection[str]
    ) -> list[pl.Series]:
        """Return columns as numbers, where they are."""
        if (decimal := self._dialect.decimal) is not None:
            return [as_numbers(column, decimal, self._markers) for column in free]
        others = [column for column in texts if column.name in as_text]
        read, decimal = with_decimal(free, others, self._delimiter, self._where, self._markers)
        self._dialect = replace(self._dialect, decimal=decimal)
        return read

    def _without_markers(self, column: pl.Series, read: pl.Series) -> pl.Series:
        """Return a column without the markers of missing values, which are counted.

        In text other than dates, only those that were given are markers.
        """
        if read is not column:
            if read.null_count() > column.null_count():
                self._count(column, is_marked(column, self._markers))
            return read
        first = first_entry(column, self._markers)
        if first is not None and not self._na and not is_laid_out_as_date(first):
            return column
        absent = is_marked(column, (*self._markers, ""))  # blanks as well
        if not absent.any():
            return column
        marked, bare = is_marked(column, self._markers), nulled(column, absent)
        if not any(is_written_as(nw.from_native(bare, series_only=True), kind) for kind in _TIMES):
            marked = is_marked(column, self._na)
            bare = nulled(column, marked)
        self._count(column, marked)
        return bare

    def _count(self, column: pl.Series, marked: pl.Series) -> None:
        if count := int(marked.sum()):
            self.markers[column.name] = count

    def _count_one_by_one(self) -> int:
        width = len(self.columns)
        n_rows = 0
        with _csv_errors(self._where):
            reader = csv.reader(utf8_lines(self._records), strict=True, delimiter=self._delimiter)
            for row in reader:
                if len(row) != width and (row or width > 1):
                    self._refuse_line(self._header_height + reader.line_num, len(row))
                n_rows += 1
        return n_rows

    def _refuse_line(self, line: int, n_fields: int) -> NoReturn:
        got = "nothing" if n_fields == 0 else counted(n_fields, "field")
        signs = DELIMITERS.get(self._delimiter, "delimiters")
        raise DataError(
            f"line {line} of {self._where} holds {got} where the header names "
            f"{len(self.columns)}. Repair or remove it; fields with {signs} need double quotes."
        )

    def _no_records(self) -> DataError:
        return DataError(f"{self._where} has a header but no records.")


def _end_of_records(text: bytes, begin: int, width: int) -> int:
    """Return where the last record ends; blank lines after it do not count.

    In a file with one column, a blank line is a record with a missing value.
    """
    end = len(text)
    if width > 1:
        while end > begin and text[end - 1] in b"\r\n":
            end -= 1
    return end


@contextmanager
def _csv_errors(where: str) -> Iterator[None]:
    """Reword errors of the csv module, which quote values."""
    try:
        with long_fields():
            yield
    except csv.Error:
        raise DataError(
            f"{where} is not well-formed CSV: a double quote is not closed or not doubled."
        ) from None


def _recorded(lines: Iterable[str], seen: list[str]) -> Iterator[str]:
    for line in lines:
        seen.append(line)
        yield line


def _header(text: bytes, delimiter: str, where: str) -> tuple[tuple[str, ...], int]:
    """Return the column names and where the records begin."""
    lines: list[str] = []
    with _csv_errors(where):
        # A quoted name may contain line ends.
        rows = csv.reader(_recorded(utf8_lines(text), lines), strict=True, delimiter=delimiter)
        names = next(rows)
    if not names:
        raise DataError(f"the first line of {where} should name the columns; it is blank.")
    return tuple(names), len("".join(lines).encode())


def _check_is_text(data: bytes, where: str) -> None:
    if not data:
        raise DataError(f"{where} is empty.")
    for magic, (kind, remedy) in _FOREIGN.items():
        if data.startswith(magic):
            piped = where == STANDARD_INPUT
            _refuse_kind(where, kind, _PIPED.get(kind, remedy) if piped else remedy)


def _check_not_blank(text: bytes, where: str) -> None:
    if not re.search(rb"\S", text):
        raise DataError(f"{where} is empty.")
    if b"\0" in text:
        _refuse_kind(where, "binary, not text", "Export it as CSV in UTF-8")


def _refuse_kind(where: str, kind: str, remedy: str) -> NoReturn:
    raise DataError(f"{where} should be delimited text; it is {kind}. {remedy}.")


def _check_header(names: tuple[str, ...], where: str) -> None:
    if all(map(is_numeral, names)):
        # Not quoted: in a file without a header, these are the values of a record.
        raise DataError(
            f"the first line of {where} should name the columns; it holds numbers only. Add a "
            "header line first."
        )
    check_names(names, where)


def _first_records(records: bytes, delimiter: str) -> list[list[str]]:
    """Return the first records as they are written; none if quotes are irregular."""
    rows = csv.reader(utf8_lines(records), strict=True, delimiter=delimiter)
    with long_fields():
        try:
            return list(islice(rows, N_SAMPLED))
        except csv.Error:
            return []


def write_delimited(table: pl.DataFrame, stream: BinaryIO, dialect: Dialect | None = None) -> None:
    """Write the table as CSV; by default with commas, decimal points and UTF-8.

    Where the decimal mark is a comma, the fields are separated by semicolons by default.
    """
    dialect = dialect or Dialect()
    delimiter = dialect.delimiter or (";" if dialect.decimal == "," else ",")
    encoding = codecs.lookup(dialect.encoding or "utf-8").name
    # To polars, a name such as "^.*$" is a pattern.
    plain = table.rename({name: f"c{j}" for j, name in enumerate(table.columns)})
    types = plain.schema  # made anew on every access
    ready = plain.select(_as_written(name, dtype, dialect) for name, dtype in types.items())
    ready.columns = table.columns
    if encoding == "utf-8":
        ready.write_csv(stream, separator=delimiter)
        return
    encoder = codecs.getincrementalencoder(encoding)()
    try:
        for j, part in enumerate(ready.iter_slices(_N_ENCODED)):
            text = part.write_csv(separator=delimiter, include_header=j == 0)
            stream.write(encoder.encode(text))
        stream.write(encoder.encode("", True))
    except UnicodeEncodeError:  # the message quotes characters
        raise ParameterError(
            f"the encoding {encoding} lacks characters that the table contains. Choose another, "
            "such as utf-8 (--encoding, or encoding= in Python)."
        ) from None


def _as_written(name: str, dtype: pl.DataType, dialect: Dialect) -> pl.Expr:
    column = pl.col(name)
    if dialect.decimal == "," and (dtype.is_float() or dtype.is_decimal()):
        return column.cast(pl.String).str.replace(".", ",", literal=True)
    if dialect.delimiter not in (None, *DELIMITERS) and dtype.is_temporal():
        return column.cast(pl.String)  # so that entries with the delimiter are quoted
    return column
