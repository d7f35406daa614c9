"""CSV text -> table: checked whole before a library parses it, so that no message quotes a value.

Raggedness, names, quotes and encoding are judged with Python's csv module; polars then parses the
columns. The two must agree on the number of records.
"""

import csv
import io
import math
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import NoReturn

import polars as pl

from microagg.errors import DataError

STANDARD_INPUT = "standard input"

_BOM = b"\xef\xbb\xbf"
_FOREIGN = {
    b"PAR1": ("Parquet", "Name it .parquet"),
    b"\x1f\x8b": ("gzip", "Name it .csv.gz"),
    b"PK\x03\x04": ("a zip archive or an Excel workbook", "Export it as CSV"),
    b"\xff\xfe": ("UTF-16 text", "Save it as UTF-8"),
    b"\xfe\xff": ("UTF-16 text", "Save it as UTF-8"),
}
# What stands for a stream has no name to change.
_PIPED = {"Parquet": "Name a .parquet file instead", "gzip": "Pipe it through gunzip"}

# The csv module refuses longer fields than it is told; a record may hold a whole text.
_LONGEST_FIELD = 2**31 - 1

# Codes such as postcodes: as numbers they would lose their zeros.
LEADING_ZERO = r"^\s*[+-]?0[0-9]"


class DelimitedText:
    """The bytes of a comma-separated file with its header read; `table` parses the records."""

    def __init__(self, data: bytes, where: str) -> None:
        _check_is_text(data, where)
        self._where = where
        self._data = data.removeprefix(_BOM)
        self.columns, self._body = _header(self._data, where)
        _check_names(self.columns, where)

    def table(self, *, as_text: Collection[str]) -> pl.DataFrame:
        """Parse the records into numbers where all entries of a column are numbers.

        The columns of `as_text` come as they are written, character by character.
        """
        # The file's own header may hold quotes and names that polars reads in its own way.
        plain = [f"c{j}" for j in range(len(self.columns))]
        data = b"".join((",".join(plain).encode(), b"\n", self._records()))
        n_records = self._count_records(data)
        try:
            table = pl.read_csv(data, infer_schema=False)
        except Exception:  # a library's message quotes values
            table = pl.DataFrame()
        if table.shape != (n_records, len(plain)):
            raise DataError(
                f"{self._where} is not well-formed CSV: its quotes or line ends are irregular."
            )
        return pl.DataFrame(
            [
                (column if name in as_text else _as_numbers(column)).alias(name)
                for column, name in zip(table.get_columns(), self.columns, strict=True)
            ]
        )

    def _records(self) -> memoryview:
        """Return what follows the header, without blank lines at the end.

        With one column a blank line is a record whose value is missing.
        """
        end = len(self._data)
        if len(self.columns) > 1:
            while end > self._body and self._data[end - 1] in b"\r\n":
                end -= 1
        return memoryview(self._data)[self._body : end]

    def _count_records(self, data: bytes) -> int:
        """Count the records of `data`, which has a header of one line, if all are as wide."""
        width = len(self.columns)
        n_rows = 0
        with _judging(self._where):
            reader = csv.reader(_text(data), strict=True)
            for row in reader:
                if len(row) != width and (row or width > 1):
                    line = self._data[: self._body].count(b"\n") + reader.line_num - 1
                    fields = "1 field" if len(row) == 1 else f"{len(row)} fields"
                    got = fields if row else "nothing"
                    raise DataError(
                        f"line {line} of {self._where} holds {got} where the header names {width}. "
                        "Repair or remove it; fields with commas need double quotes."
                    )
                n_rows += 1
        if n_rows < 2:
            raise DataError(f"{self._where} has a header but no records.")
        return n_rows - 1


def _text(data: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")


@contextmanager
def _judging(where: str) -> Iterator[None]:
    """Word what the csv module and the decoder have to say, without what they quote."""
    longest = csv.field_size_limit(_LONGEST_FIELD)
    try:
        yield
    except UnicodeDecodeError:
        raise DataError(f"{where} is not UTF-8 text. Save it as UTF-8 first.") from None
    except csv.Error:
        raise DataError(
            f"{where} is not well-formed CSV: a double quote is not closed or not doubled."
        ) from None
    finally:
        csv.field_size_limit(longest)


def _remembering(lines: Iterable[str], seen: list[str]) -> Iterator[str]:
    for line in lines:
        seen.append(line)
        yield line


def _header(data: bytes, where: str) -> tuple[tuple[str, ...], int]:
    """Return the names of the columns, and where the records begin."""
    lines: list[str] = []
    with _judging(where):
        # A name in quotes may hold line ends.
        names = next(csv.reader(_remembering(_text(data), lines), strict=True))
    if not names:
        raise DataError(f"the first line of {where} should name the columns; it is blank.")
    if len(names) == 1:
        for separator, word in ((";", "semicolons"), ("\t", "tabs"), ("|", "bars")):
            if separator in names[0]:
                raise DataError(
                    f"{where} seems to be separated by {word}; commas are expected. Export it "
                    "with commas (and decimal points) first."
                )
    return tuple(names), len("".join(lines).encode())


def _check_is_text(data: bytes, where: str) -> None:
    if not re.search(rb"\S", data.removeprefix(_BOM)):
        raise DataError(f"{where} is empty.")
    for magic, (kind, remedy) in _FOREIGN.items():
        if data.startswith(magic):
            piped = where == STANDARD_INPUT
            _refuse_kind(where, kind, _PIPED.get(kind, remedy) if piped else remedy)
    if b"\0" in data:
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
        return math.isfinite(float(name))
    except ValueError:
        return False


def _as_numbers(column: pl.Series) -> pl.Series:
    """Return the entries as numbers if every one is a number, the column as it is otherwise.

    An entry with a leading zero is a code, not a number.
    The rule does not depend on how a version of polars guesses types, and takes half the time.
    """
    if column.str.contains(LEADING_ZERO).any():
        return column
    if (numbers := _cast(column)) is None:
        entries = column.str.strip_chars()
        numbers = _cast(entries.set(entries == "", None))
    return column if numbers is None else numbers


def _cast(entries: pl.Series) -> pl.Series | None:
    if entries.null_count() == len(entries):
        return None
    for dtype in (pl.Int64, pl.UInt64, pl.Float64):
        if dtype == pl.Float64 and entries.str.contains(r"^[+-]?[0-9]+$").all():
            return None  # whole numbers beyond 64 bits: not to be rounded behind anybody's back
        numbers = entries.cast(dtype, strict=False)
        if numbers.null_count() == entries.null_count():
            return numbers
    return None
