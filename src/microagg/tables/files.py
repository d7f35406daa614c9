"""Files in and out: .csv, .csv.gz and .parquet by suffix, `-` for standard input and output."""

import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

import polars as pl

from microagg.errors import DataError, ParameterError
from microagg.tables.atomic import atomic_write
from microagg.tables.delimited import DelimitedText
from microagg.validation import did_you_mean

STANDARD = "-"

Result = TypeVar("Result")


class Format(StrEnum):
    """What a file holds, as its suffix says."""

    CSV = ".csv"
    CSV_GZ = ".csv.gz"
    PARQUET = ".parquet"


def format_of(path: str) -> Format:
    """Return the format that the path's suffix names; standard input and output are CSV."""
    if path == STANDARD:
        return Format.CSV
    for format_ in (Format.CSV_GZ, Format.CSV, Format.PARQUET):
        if path.lower().endswith(format_):
            return format_
    raise ParameterError(
        f"files must end in .csv, .csv.gz or .parquet (or be - for standard input and output); "
        f"got {path!r}."
    )


def protected_name(path: str) -> str:
    """Return the name beside the input that a protected file gets by default."""
    if path == STANDARD:
        return STANDARD
    suffix = format_of(path)
    return f"{path[: -len(suffix)]}-protected{path[-len(suffix) :]}"


class TableFile:
    """An input file, opened and recognised: `columns` are known, `table` reads the records."""

    def __init__(self, path: str) -> None:
        format_ = format_of(path)
        where = "standard input" if path == STANDARD else repr(path)
        data = sys.stdin.buffer.read() if path == STANDARD else _bytes_of(Path(path))
        self._source: DelimitedText | _Parquet
        if format_ is Format.PARQUET:
            self._source = _Parquet(data, where)
        else:
            text = _decompressed(data, where) if format_ is Format.CSV_GZ else data
            self._source = DelimitedText(text, where)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return self._source.columns

    def table(self, *, as_text: Collection[str] = ()) -> pl.DataFrame:
        """Read the records; of a text file, the columns of `as_text` come just as written."""
        return self._source.table(as_text=as_text)


class _Parquet:
    def __init__(self, data: bytes, where: str) -> None:
        if not data:
            raise DataError(f"{where} is empty.")
        self._data = data
        self._where = where
        if not (data.startswith(b"PAR1") and data.endswith(b"PAR1")):
            raise DataError(f"{where} should be Parquet; its content is something else.")
        self.columns = tuple(self._read(pl.read_parquet_schema))

    def table(self, *, as_text: Collection[str]) -> pl.DataFrame:  # noqa: ARG002
        table = self._read(pl.read_parquet)
        if table.is_empty():
            raise DataError(f"{self._where} has columns but no records.")
        return table

    def _read(self, reader: Callable[[io.BytesIO], Result]) -> Result:
        try:
            return reader(io.BytesIO(self._data))
        except (Exception, pl.exceptions.PanicException):  # a library's message may quote values
            raise DataError(f"{self._where} is a damaged Parquet file.") from None


def check_readable(path: Path) -> None:
    """Refuse an input that is not there or cannot be opened."""
    with _reading(path), path.open("rb"):
        pass


def _bytes_of(path: Path) -> bytes:
    with _reading(path):
        return path.read_bytes()


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except IsADirectoryError:
        raise ParameterError(f"the input {str(path)!r} is a folder. Name a file in it.") from None
    except FileNotFoundError:
        siblings: list[str] = []
        with suppress(OSError):
            siblings = os.listdir(path.parent)
        raise ParameterError(
            f"the input {str(path)!r} does not exist.{did_you_mean(path.name, siblings)}"
        ) from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ParameterError(f"the input {str(path)!r} cannot be read: {reason}.") from None


def _decompressed(data: bytes, where: str) -> bytes:
    if not data:
        raise DataError(f"{where} is empty.")
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error):
        raise DataError(
            f"{where} should be compressed with gzip; its content is something else or damaged."
        ) from None


def check_fits(table: pl.DataFrame, path: str) -> None:
    """Refuse columns that the output's format cannot hold, before any long work."""
    if format_of(path) is Format.PARQUET:
        return
    nested = [
        repr(name)
        for name, dtype in table.schema.items()
        if dtype.is_nested() or dtype in (pl.Binary, pl.Object)
    ]
    if nested:
        raise ParameterError(
            f"CSV cannot hold lists, structures or binary values, as in {', '.join(nested)}. "
            "Write to .parquet, or drop these columns as identifiers."
        )


def write_table(table: pl.DataFrame, path: str, *, force: bool = False) -> None:
    """Write the table in the format of the path's suffix, whole or not at all."""
    format_ = format_of(path)
    check_fits(table, path)
    if path == STANDARD:
        _write_standard(table.write_csv().encode())
        return
    with atomic_write(Path(path), force=force) as stream:
        try:
            _write_to(stream, table, format_)
        except pl.exceptions.PolarsError:  # how polars reports a full disk
            raise OSError from None


def _write_standard(data: bytes) -> None:
    rest = memoryview(data)
    try:
        # With PYTHONUNBUFFERED set, one call may write a part only.
        while rest:
            rest = rest[sys.stdout.buffer.write(rest) :]
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise ParameterError(f"standard output cannot be written: {error.strerror}.") from None


def _write_to(stream: BinaryIO, table: pl.DataFrame, format_: Format) -> None:
    if format_ is Format.PARQUET:
        table.write_parquet(stream)
    elif format_ is Format.CSV:
        table.write_csv(stream)
    else:
        # No name and no time inside: the same table gives the same bytes.
        with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed:
            table.write_csv(cast(BinaryIO, packed))
