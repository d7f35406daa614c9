"""Parquet and Arrow files: only the selected columns are read from disk."""

from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import TypeVar

import polars as pl
from polars.selectors import by_name

from microagg.core.errors import DataError
from microagg.files.arrow_sizes import arrow_sizes
from microagg.files.dialect import Dialect
from microagg.files.panics import without_panic_lines
from microagg.files.parquet_sizes import parquet_sizes
from microagg.files.reading import InputFile, select_columns
from microagg.files.room import need_room_to_read
from microagg.files.writing import WriteOptions

Result = TypeVar("Result")


class _ColumnarReader:
    """What Parquet and Arrow files share: a magic number at both ends, and typed columns."""

    dialect = None
    annotations = None
    kind: str
    magic: bytes

    def __init__(self, source: InputFile, _dialect: Dialect | None = None) -> None:
        self._source = source
        self._check_magic()
        self.columns: tuple[str, ...] = tuple(self._guarded(self._read_names))

    @property
    def sha256(self) -> str | None:
        """SHA-256 of the file, from a pass over it that must find it as it was when opened."""
        return self._source.sha256

    def table(
        self,
        *,
        as_text: Collection[str] = (),  # noqa: ARG002 (types stay as they are)
        columns: Collection[str] | None = None,
    ) -> pl.DataFrame:
        """Read the records of the selected columns (default: all), in file order."""
        names = select_columns(self.columns, columns, self._source.where)
        self._guarded(lambda: self._check_expansion(names))
        table = self._guarded(lambda: self._read_table(names))
        self._source.check_unchanged()
        if table.is_empty():
            raise DataError(f"{self._source.where} has columns but no records.")
        return table

    def _read_names(self) -> list[str]:
        raise NotImplementedError  # abstract

    def _read_table(self, names: list[str]) -> pl.DataFrame:
        raise NotImplementedError  # abstract

    def _sizes(self, names: list[str]) -> Iterable[int]:
        raise NotImplementedError  # abstract

    def _check_expansion(self, names: list[str]) -> None:
        """Refuse what expands to too much, by the figures in the file."""
        n_bytes = 0
        for size in self._sizes(names):
            n_bytes += max(size, 0)
            self._source.check_expansion(n_bytes)
        need_room_to_read(n_bytes)

    def _check_magic(self) -> None:
        where = self._source.where
        with self._source.path.open("rb") as stream:
            first = stream.read(len(self.magic))
            if not first:
                raise DataError(f"{where} is empty.")
            stream.seek(-len(first), 2)
            last = stream.read()
        if self.kind == "Arrow" and first.startswith(b"FEA1"):
            raise DataError(f"{where} is a Feather file of version 1. Save it as version 2 first.")
        if not first == last == self.magic:
            raise DataError(f"{where} should be {self.kind}; it holds something else.")

    def _guarded(self, read: Callable[[], Result]) -> Result:
        try:
            with without_panic_lines():
                return read()
        except (DataError, MemoryError):
            raise
        except (Exception, pl.exceptions.PanicException):  # the message may quote values
            raise DataError(f"{self._source.where} is a damaged {self.kind} file.") from None


class ParquetReader(_ColumnarReader):
    """A Parquet file; `table` reads the records."""

    kind = "Parquet"
    magic = b"PAR1"

    def _read_names(self) -> list[str]:
        return self._scan().collect_schema().names()

    def _read_table(self, names: list[str]) -> pl.DataFrame:
        return self._scan().select(by_name(*names)).collect()

    def _sizes(self, names: list[str]) -> Iterable[int]:
        return parquet_sizes(self._source.path, set(names))

    def _scan(self) -> pl.LazyFrame:
        # Neither a pattern nor a set of folders, whatever characters the name holds.
        path = self._source.path.absolute()
        return pl.scan_parquet(path, glob=False, hive_partitioning=False)


class ArrowReader(_ColumnarReader):
    """An Arrow IPC file, also known as Feather version 2; `table` reads the records."""

    kind = "Arrow"
    magic = b"ARROW1"

    def _read_names(self) -> list[str]:
        with self._source.path.open("rb") as stream:
            return list(pl.read_ipc_schema(stream))

    def _read_table(self, names: list[str]) -> pl.DataFrame:
        # A stream and places, because polars would take a path, or a name, for a pattern.
        places = [self.columns.index(name) for name in names]
        with self._source.path.open("rb") as stream:
            return pl.read_ipc(stream, columns=places)

    def _sizes(self, names: list[str]) -> Iterable[int]:  # noqa: ARG002 (batches hold all columns)
        return arrow_sizes(self._source.path)


def write_parquet(table: pl.DataFrame, path: Path, _options: WriteOptions) -> None:
    """Write the table as Parquet."""
    with path.open("wb") as stream:
        table.write_parquet(stream)


def write_arrow(table: pl.DataFrame, path: Path, options: WriteOptions) -> None:
    """Write the table as an Arrow IPC file with types that every reader of Arrow knows."""
    with path.open("wb") as stream:
        table.write_ipc(
            stream,
            # Other writers compress Feather files this way.
            compression="lz4" if options.suffix == ".feather" else "uncompressed",
            compat_level=pl.CompatLevel.oldest(),
        )
