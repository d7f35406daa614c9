"""Files in and out: .csv, .csv.gz and .parquet by suffix, `-` for standard input and output."""

import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

import polars as pl

from microagg.errors import DataError, ParameterError
from microagg.tables.atomic import atomic_write
from microagg.tables.delimited import STANDARD_INPUT, DelimitedText

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
        where = STANDARD_INPUT if path == STANDARD else repr(path)
        data = _standard_bytes() if path == STANDARD else _bytes_of(Path(path))
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


def _standard_bytes() -> bytes:
    if sys.stdin is None:
        raise ParameterError("standard input is closed. Pipe a table into it, or name a file.")
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        raise ParameterError(f"standard input cannot be read: {error.strerror}.") from None


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
        raise ParameterError(
            f"the input {str(path)!r} does not exist.{_nearly_named(path)}"
        ) from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ParameterError(f"the input {str(path)!r} cannot be read: {reason}.") from None


def _nearly_named(path: Path) -> str:
    """Return a hint with the file whose name is a slip away; suffixes are no likeness."""
    stems: dict[str, str] = {}
    with suppress(OSError):
        siblings = (Path(name) for name in sorted(os.listdir(path.parent)))
        stems = {file.stem: file.name for file in siblings if file.suffix == path.suffix}
    close = get_close_matches(path.stem, stems, n=1, cutoff=0.8)
    return f" Did you mean {stems[close[0]]!r}?" if close else ""


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
    unfit = [
        repr(name)
        for name, dtype in table.schema.items()
        # Types that a library adds, such as the periods of pandas, come as extensions.
        if dtype.is_nested() or dtype in (pl.Binary, pl.Object) or hasattr(dtype, "ext_name")
    ]
    if unfit:
        raise ParameterError(
            "CSV holds text, numbers, dates and times only, no lists, structures, binary values or "
            f"periods as in {', '.join(unfit)}. Convert these columns, drop them as identifiers, "
            "or write to .parquet."
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
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            # Also how polars reports a full disk; its message may quote values.
            raise OSError from None


def _write_standard(data: bytes) -> None:
    rest = memoryview(data)
    # With PYTHONUNBUFFERED set, one call may write a part only.
    while rest:
        rest = rest[sys.stdout.buffer.write(rest) :]
    sys.stdout.buffer.flush()


def _write_to(stream: BinaryIO, table: pl.DataFrame, format_: Format) -> None:
    if format_ is Format.PARQUET:
        table.write_parquet(stream)
    elif format_ is Format.CSV:
        table.write_csv(stream)
    else:
        # No name and no time inside: the same table gives the same bytes.
        with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed:
            table.write_csv(cast(BinaryIO, packed))
