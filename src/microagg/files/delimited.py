"""CSV text -> table: checked whole before a library parses it, so that no message quotes a value.

Raggedness and quotes are judged on the bytes, and with Python's csv module where these are
irregular; polars then parses the columns that are wanted. The two must agree on the number of
records.
"""

import codecs
import csv
import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import BinaryIO, NoReturn

import polars as pl

from microagg.core.errors import DataError, ParameterError
from microagg.files.dialect import (
    DELIMITERS,
    Dialect,
    decoded,
    detected_delimiter,
    long_fields,
    utf8_lines,
)
from microagg.files.regularity import count_regular_records
from microagg.tables.numerals import LEADING_ZERO as LEADING_ZERO
from microagg.tables.numerals import as_numbers, with_decimal

STANDARD_INPUT = "standard input"

# A first line such as sep=; says to Excel what the delimiter is.
_NOTE_TO_EXCEL = re.compile(rb'"?sep=([,;|\t])"?\r?\n', re.IGNORECASE)
# Records that are encoded at a time.
_N_ENCODED = 100_000

_FOREIGN = {
    b"PAR1": ("Parquet", "Name it .parquet"),
    b"ARROW1": ("Arrow", "Name it .arrow"),
    b"\x1f\x8b": ("gzip", "Name it .csv.gz"),
    b"PK\x03\x04": ("a zip archive or an Excel workbook", "Export it as CSV"),
}
# What stands for a stream has no name to change.
_PIPED = {
    "Parquet": "Name a .parquet file instead",
    "Arrow": "Name an .arrow file instead",
    "gzip": "Pipe it through gunzip",
}


class DelimitedText:
    """The bytes of a CSV file with its header read; `table` parses the records."""

    def __init__(self, data: bytes, where: str, dialect: Dialect | None = None) -> None:
        given = dialect or Dialect()
        _check_is_text(data, where)
        text, encoding = decoded(data, where, given.encoding)
        note = _NOTE_TO_EXCEL.match(text)
        told = None
        if note is not None:
            told, text = note[1].decode(), text[note.end() :]
        _check_is_written(text, where)
        delimiter = given.delimiter or told or detected_delimiter(text, where, given.decimal)
        self._where = where
        self._delimiter = delimiter
        decimal = "." if delimiter == "," else given.decimal
        self._dialect = Dialect(delimiter, decimal, encoding)
        self.columns, begin = _header(text, delimiter, where)
        _check_names(self.columns, where)
        self._header_height = text.count(b"\n", 0, begin) + (note is not None)
        self._records = text[begin : _end_of_records(text, begin, len(self.columns))]

    @property
    def dialect(self) -> Dialect:
        """How the file is written; the decimal mark is known once records have been read."""
        if self._dialect.decimal is None:
            self.table()
        return self._dialect

    def table(
        self, *, as_text: Collection[str] = (), columns: Collection[str] | None = None
    ) -> pl.DataFrame:
        """Parse the records into numbers where all entries of a column are numbers.

        The columns of `as_text` come as they are written, character by character. Only the
        `columns` are parsed, in the order of the file; all records are checked all the same.
        """
        n_records = self._count_records()
        wanted = [j for j, name in enumerate(self.columns) if columns is None or name in columns]
        table = self._parsed(wanted)
        if table.shape != (n_records, len(wanted)):
            raise DataError(
                f"{self._where} is not well-formed CSV: its quotes or line ends are irregular."
            )
        texts = [
            column.alias(self.columns[j])
            for j, column in zip(wanted, table.get_columns(), strict=True)
        ]
        del table
        return pl.DataFrame(self._with_numbers(texts, as_text))

    def _parsed(self, wanted: Sequence[int]) -> pl.DataFrame:
        # The names in the file may be such as polars reads in its own way.
        plain = [f"column_{j}" for j in range(1, len(self.columns) + 1)]
        try:
            return pl.read_csv(
                self._records,
                has_header=False,
                schema=dict.fromkeys(plain, pl.String),
                columns=[plain[j] for j in wanted],
                separator=self._delimiter,
            )
        except Exception:  # a library's message quotes values
            return pl.DataFrame()

    def _with_numbers(self, texts: list[pl.Series], as_text: Collection[str]) -> list[pl.Series]:
        decimal = self._dialect.decimal
        if decimal is not None:
            for j, column in enumerate(texts):
                if column.name not in as_text:
                    texts[j] = as_numbers(column, decimal)
            return texts
        read, decimal = with_decimal(
            [column for column in texts if column.name not in as_text],
            [column for column in texts if column.name in as_text],
            self._delimiter,
            self._where,
        )
        self._dialect = replace(self._dialect, decimal=decimal)
        numbers = iter(read)
        return [column if column.name in as_text else next(numbers) for column in texts]

    def _count_records(self) -> int:
        """Count the records, if all are as wide as the header."""
        width = len(self.columns)
        n_records = count_regular_records(self._records, self._delimiter, width)
        if n_records is None:
            n_records = self._count_one_by_one()
        if n_records == 0:
            raise DataError(f"{self._where} has a header but no records.")
        return n_records

    def _count_one_by_one(self) -> int:
        width = len(self.columns)
        n_rows = 0
        with _judging(self._where):
            reader = csv.reader(utf8_lines(self._records), strict=True, delimiter=self._delimiter)
            for row in reader:
                if len(row) != width and (row or width > 1):
                    line = self._header_height + reader.line_num
                    fields = "1 field" if len(row) == 1 else f"{len(row)} fields"
                    got = fields if row else "nothing"
                    signs = DELIMITERS.get(self._delimiter, "delimiters")
                    raise DataError(
                        f"line {line} of {self._where} holds {got} where the header names {width}. "
                        f"Repair or remove it; fields with {signs} need double quotes."
                    )
                n_rows += 1
        return n_rows


def _end_of_records(text: bytes, begin: int, width: int) -> int:
    """Return where the last record ends: blank lines behind it are no records.

    With one column a blank line is a record whose value is missing.
    """
    end = len(text)
    if width > 1:
        while end > begin and text[end - 1] in b"\r\n":
            end -= 1
    return end


@contextmanager
def _judging(where: str) -> Iterator[None]:
    """Word what the csv module has to say, without what it quotes."""
    try:
        with long_fields():
            yield
    except csv.Error:
        raise DataError(
            f"{where} is not well-formed CSV: a double quote is not closed or not doubled."
        ) from None


def _remembering(lines: Iterable[str], seen: list[str]) -> Iterator[str]:
    for line in lines:
        seen.append(line)
        yield line


def _header(text: bytes, delimiter: str, where: str) -> tuple[tuple[str, ...], int]:
    """Return the names of the columns, and where the records begin."""
    lines: list[str] = []
    with _judging(where):
        # A name in quotes may hold line ends.
        rows = csv.reader(_remembering(utf8_lines(text), lines), strict=True, delimiter=delimiter)
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


def _check_is_written(text: bytes, where: str) -> None:
    if not re.search(rb"\S", text):
        raise DataError(f"{where} is empty.")
    if b"\0" in text:
        _refuse_kind(where, "binary, not text", "Export it as CSV in UTF-8")


def _refuse_kind(where: str, kind: str, remedy: str) -> NoReturn:
    raise DataError(f"{where} should be CSV; its content is {kind}. {remedy}.")


def _check_names(names: tuple[str, ...], where: str) -> None:
    if all(_is_number(name) for name in names):
        # Not quoted: without a header these are the values of a record.
        raise DataError(
            f"the first line of {where} should name the columns; it holds numbers only. Add a "
            "header line first."
        )
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        listing = ", ".join(repr(name) for name in twice)
        raise DataError(f"{where} names a column twice: {listing}. Rename the columns first.")
    if not all(name.strip() for name in names):
        position = next(j for j, name in enumerate(names, start=1) if not name.strip())
        raise DataError(f"column {position} of {where} has no name. Name or remove it first.")


def _is_number(name: str) -> bool:
    try:
        return math.isfinite(float(name.replace(",", ".")))
    except ValueError:
        return False


def write_delimited(table: pl.DataFrame, stream: BinaryIO, dialect: Dialect | None = None) -> None:
    """Write the table as CSV; what a dialect leaves open is a comma, a point and UTF-8."""
    dialect = dialect or Dialect()
    delimiter = dialect.delimiter or ","
    encoding = codecs.lookup(dialect.encoding or "utf-8").name
    # A name such as "^.*$" is a pattern to polars, also where its column is named by its number.
    plain = table.rename({name: f"c{j}" for j, name in enumerate(table.columns)})
    ready = plain.select(_as_written(name, plain, dialect) for name in plain.columns)
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
            f"the encoding {encoding} lacks characters of the table. Give another, such as utf-8 "
            "(--encoding, or encoding= in Python)."
        ) from None


def _as_written(name: str, table: pl.DataFrame, dialect: Dialect) -> pl.Expr:
    column, dtype = pl.col(name), table.schema[name]
    if dialect.decimal == "," and (dtype.is_float() or dtype.is_decimal()):
        return column.cast(pl.String).str.replace(".", ",", literal=True)
    if dialect.delimiter not in (None, *DELIMITERS) and dtype.is_temporal():
        return column.cast(pl.String)  # quoted where it holds the delimiter, as dates are not
    return column
