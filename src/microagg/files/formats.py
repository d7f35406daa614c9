"""Files in and out, by suffix; `-` stands for standard input and output, which are CSV."""

import gzip
import hashlib
import io
import os
import sys
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, cast

import polars as pl

from microagg.core.errors import DataError, ParameterError
from microagg.files.annotations import Annotations, Family
from microagg.files.atomic import Writer, atomic_write_all
from microagg.files.columnar import ArrowFile, ParquetFile
from microagg.files.delimited import STANDARD_INPUT, DelimitedText, write_delimited
from microagg.files.dialect import Dialect
from microagg.files.statistical import FAMILIES, StatisticalFile
from microagg.files.statistical_out import check_statistical, write_statistical

STANDARD = "-"


class Format(StrEnum):
    """What a file holds, as its suffix says."""

    CSV_GZ = ".csv.gz"
    CSV = ".csv"
    PARQUET = ".parquet"
    ARROW = ".arrow"
    FEATHER = ".feather"
    IPC = ".ipc"
    SAV = ".sav"
    ZSAV = ".zsav"
    DTA = ".dta"
    SAS7BDAT = ".sas7bdat"
    XPT = ".xpt"


DELIMITED = (Format.CSV, Format.CSV_GZ)


def format_of(path: str) -> Format:
    """Return the format that the path's suffix names; standard input and output are CSV."""
    if path == STANDARD:
        return Format.CSV
    for format_ in Format:
        if path.lower().endswith(format_):
            return format_
    *suffixes, last = sorted(Format)
    raise ParameterError(
        f"files must end in {', '.join(suffixes)} or {last} (or be - for standard input and "
        f"output); got {path!r}."
    )


def protected_name(path: str) -> str:
    """Return the name beside the input that a protected file gets by default.

    SAS files cannot be written: theirs ends in .sav, a format that keeps labels.
    """
    if path == STANDARD:
        return STANDARD
    suffix = format_of(path)
    stem, own = path[: -len(suffix)], path[-len(suffix) :]
    is_sas = FAMILIES.get(suffix) is Family.SAS
    return f"{stem}-protected{Format.SAV if is_sas else own}"


class TableFile:
    """An input file, opened and recognised: `columns` are known, `table` reads the records.

    `dialect` says how a CSV file is written, as far as that is known; the rest is detected.
    """

    def __init__(self, path: str, *, dialect: Dialect | None = None) -> None:
        format_ = format_of(path)
        where = STANDARD_INPUT if path == STANDARD else repr(path)
        self._where = where
        self._source: DelimitedText | ParquetFile | ArrowFile | StatisticalFile
        if format_ in DELIMITED:
            data = _standard_bytes() if path == STANDARD else _bytes_of(Path(path))
            text = _decompressed(data, where) if format_ is Format.CSV_GZ else data
            self._source = DelimitedText(text, where, dialect)
            return
        given = dialect or Dialect()
        is_statistical = format_ in FAMILIES
        if given.delimiter or given.decimal or (given.encoding and not is_statistical):
            raise ParameterError(
                "a delimiter, a decimal mark or an encoding is for files whose text can be read "
                f"with different ones; {where} ends in {format_}."
            )
        check_readable(Path(path))
        if is_statistical:
            self._source = StatisticalFile(Path(path), where, format_, encoding=given.encoding)
        elif format_ is Format.PARQUET:
            self._source = ParquetFile(Path(path), where)
        else:
            self._source = ArrowFile(Path(path), where)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return self._source.columns

    @property
    def dialect(self) -> Dialect | None:
        """How a CSV file is written, with nothing left open; None for other formats."""
        return self._source.dialect if isinstance(self._source, DelimitedText) else None

    @property
    def annotations(self) -> Annotations | None:
        """What an SPSS, Stata or SAS file says about its columns; None for other formats.

        Once the table has been read, it also says in which columns codes were kept.
        """
        return self._source.annotations if isinstance(self._source, StatisticalFile) else None

    def table(
        self, *, as_text: Collection[str] = (), columns: Collection[str] | None = None
    ) -> pl.DataFrame:
        """Read the records; of a text file, the columns of `as_text` come just as written.

        Of an SPSS or Stata file, these columns keep user-missing codes, which are nulls elsewhere.
        Only the `columns` are loaded if they are named, in the order of the file.
        """
        if missing := [name for name in columns or () if name not in self.columns]:
            raise ParameterError(f"{self._where} has no column {missing[0]!r}.")
        if isinstance(self._source, DelimitedText | StatisticalFile):
            return self._source.table(as_text=as_text, columns=columns)
        return self._source.table(columns=columns)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


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
    format_ = format_of(path)
    if format_ in FAMILIES:
        check_statistical(table, format_)
    if format_ not in DELIMITED:
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


def write_table(
    table: pl.DataFrame,
    path: str,
    *,
    force: bool = False,
    dialect: Dialect | None = None,
    annotations: Annotations | None = None,
) -> None:
    """Write the table in the format of the path's suffix, whole or not at all.

    CSV is written in the `dialect`, such as that of the input; without one it has commas, decimal
    points and UTF-8. An SPSS or Stata file gets the `annotations`, such as those of the input, as
    far as it can hold them; other formats hold none.
    """
    if path == STANDARD:
        check_fits(table, path)
        buffer = io.BytesIO()
        write_delimited(table, buffer, dialect)
        _write_standard(buffer.getbuffer())
        return
    writer = table_writer(table, path, dialect=dialect, annotations=annotations)
    atomic_write_all({Path(path): writer}, force=force)


def table_writer(
    table: pl.DataFrame,
    path: str,
    *,
    dialect: Dialect | None = None,
    annotations: Annotations | None = None,
) -> Writer:
    """Return what writes the table in the format of the path, for `atomic_write_all`.

    Columns that the format cannot hold are refused at once.
    """
    format_ = format_of(path)
    check_fits(table, path)

    def write(target: Path) -> None:
        if format_ in FAMILIES:
            write_statistical(table, target, format_, annotations)
            return
        try:
            with target.open("wb") as stream:
                _write_to(stream, table, format_, dialect)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            # Also how polars reports a full disk; its message may quote values.
            raise OSError from None

    return write


def _write_standard(data: memoryview) -> None:
    # With PYTHONUNBUFFERED set, one call may write a part only.
    while data:
        data = data[sys.stdout.buffer.write(data) :]
    sys.stdout.buffer.flush()


def _write_to(
    stream: BinaryIO, table: pl.DataFrame, format_: Format, dialect: Dialect | None
) -> None:
    if format_ is Format.PARQUET:
        table.write_parquet(stream)
    elif format_ is Format.CSV:
        write_delimited(table, stream, dialect)
    elif format_ is Format.CSV_GZ:
        # No name and no time inside: the same table gives the same bytes.
        with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed:
            write_delimited(table, cast(BinaryIO, packed), dialect)
    else:
        # Types that any reader of Arrow knows; Feather is compressed as its other writers do it.
        table.write_ipc(
            stream,
            compression="lz4" if format_ is Format.FEATHER else "uncompressed",
            compat_level=pl.CompatLevel.oldest(),
        )
