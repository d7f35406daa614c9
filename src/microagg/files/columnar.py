"""Parquet and Arrow files: only the columns that are wanted leave the disk."""

from collections.abc import Callable, Collection
from pathlib import Path
from typing import TypeVar

import polars as pl
from polars.selectors import by_name

from microagg.core.errors import DataError

Result = TypeVar("Result")


class ParquetFile:
    """A Parquet file on disk, recognised; `table` reads the records."""

    def __init__(self, path: Path, where: str) -> None:
        self._path = path
        self._where = where
        _check_magic(path, where, b"PAR1", "Parquet")
        self.columns = tuple(self._read(lambda: self._lazy().collect_schema().names()))

    def table(self, *, columns: Collection[str] | None = None) -> pl.DataFrame:
        """Read the records of the `columns`, in the order of the file."""
        names = _wanted(self.columns, columns)
        return _checked(
            self._read(lambda: self._lazy().select(by_name(*names)).collect()), self._where
        )

    def _lazy(self) -> pl.LazyFrame:
        # Absolute, and neither a pattern nor a set of folders: the name is just a name.
        return pl.scan_parquet(self._path.absolute(), glob=False, hive_partitioning=False)

    def _read(self, reader: Callable[[], Result]) -> Result:
        return _undamaged(reader, self._where, "Parquet")


class ArrowFile:
    """An Arrow file (IPC, also known as Feather), recognised; `table` reads the records."""

    def __init__(self, path: Path, where: str) -> None:
        self._path = path
        self._where = where
        _check_magic(path, where, b"ARROW1", "Arrow")
        self.columns = tuple(_undamaged(self._names, where, "Arrow"))

    def table(self, *, columns: Collection[str] | None = None) -> pl.DataFrame:
        """Read the records of the `columns`, in the order of the file."""
        names = _wanted(self.columns, columns)

        def read() -> pl.DataFrame:
            # Given a path, polars takes it for a pattern.
            with self._path.open("rb") as stream:
                return pl.read_ipc(stream, columns=names)

        return _checked(_undamaged(read, self._where, "Arrow"), self._where)

    def _names(self) -> list[str]:
        with self._path.open("rb") as stream:
            return list(pl.read_ipc_schema(stream))


def _wanted(names: tuple[str, ...], columns: Collection[str] | None) -> list[str]:
    return [name for name in names if columns is None or name in columns]


def _check_magic(path: Path, where: str, magic: bytes, kind: str) -> None:
    with path.open("rb") as stream:
        first = stream.read(len(magic))
        if not first:
            raise DataError(f"{where} is empty.")
        stream.seek(-len(first), 2)
        last = stream.read()
    if kind == "Arrow" and first.startswith(b"FEA1"):
        raise DataError(f"{where} is Feather of version 1. Save it as version 2 first.")
    if not first == last == magic:
        raise DataError(f"{where} should be {kind}; its content is something else.")


def _undamaged(reader: Callable[[], Result], where: str, kind: str) -> Result:
    try:
        return reader()
    except (Exception, pl.exceptions.PanicException):  # a library's message may quote values
        raise DataError(f"{where} is a damaged {kind} file.") from None


def _checked(table: pl.DataFrame, where: str) -> pl.DataFrame:
    if table.is_empty():
        raise DataError(f"{where} has columns but no records.")
    return table
