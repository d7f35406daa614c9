"""A fingerprint of a table, the same for equal tables of the same kind."""

import hashlib
from typing import Any

import polars as pl

from microagg.core.errors import DataError
from microagg.tables.frames import Frame, polars_column


class _Sink:
    """A file that hashes what is written to it and keeps nothing."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.hash.update(data)
        return len(data)

    def flush(self) -> None:
        pass


def table_digest(frame: Frame) -> str | None:
    """Return the SHA-256 of the columns, their names and types; None if no file could hold them."""
    total = hashlib.sha256()
    for name in frame.columns:
        sink: Any = _Sink()
        try:
            column = polars_column(frame.get_column(name))
            # Separately, as anything may be stored under a null.
            there, missing = column.drop_nulls().to_frame(), column.is_null().to_frame()
            for part in (there, missing):
                part.rechunk().write_ipc(sink, compression="uncompressed")
        except (DataError, pl.exceptions.PolarsError):
            return None
        total.update(f"{len(name)} {name} {column.dtype}".encode("utf-8", "surrogatepass"))
        total.update(sink.hash.digest())
    return total.hexdigest()
