"""What an Arrow file expands to, from its own figures: nothing is unpacked.

Each buffer of a compressed batch of records begins with its size once unpacked. A column of nothing
but missing values takes no bytes at all, so records count as well. The format:
https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format
"""

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_MAGIC = b"ARROW1"
_CONTINUED = 0xFFFFFFFF
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3
_BLOCK, _BUFFER, _NODE = (struct.Struct(form) for form in ("<qi4xq", "<qq", "<qq"))


def arrow_sizes(path: Path) -> Iterator[int]:
    """Yield the number of bytes that each batch of records or categories expands to.

    A damaged file raises a ValueError, an IndexError or a struct.error.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        end = len(data) - len(_MAGIC) - 4
        if end < 0 or data[end + 4 :] != _MAGIC:
            raise ValueError
        begin = end - _whole(data, end, "<i")
        footer = _Table.at_root(data, begin)
        for part in (2, 3):
            for offset, n_bytes, n_body in footer.structs(part, _BLOCK):
                body = offset + n_bytes
                if not 0 <= offset <= body <= body + n_body <= len(data):
                    raise ValueError
                yield _batch(data, offset, body, n_body)


def _batch(data: mmap.mmap, begin: int, body: int, n_body: int) -> int:
    """Return the number of bytes of a message with its body."""
    # In files from before version 0.15, the size comes first.
    at = begin + (8 if _whole(data, begin, "<I") == _CONTINUED else 4)
    message = _Table.at_root(data, at)
    kind, batch = message.number(1, "<B"), message.table(2)
    if kind == _DICTIONARY_BATCH and batch is not None:
        batch = batch.table(1)
    if kind not in (_DICTIONARY_BATCH, _RECORD_BATCH) or batch is None:
        return 0
    n_bytes = n_records = batch.number(0, "<q")
    for n_values, n_null in batch.structs(1, _NODE):
        if not 0 <= n_null <= n_values:
            raise ValueError
        n_bytes = max(n_bytes, n_values // 8)
    is_compressed = batch.table(3) is not None  # otherwise, what is in the file is all there is
    n_unpacked = 0
    for offset, length in batch.structs(2, _BUFFER):
        # Polars would take these for huge ones, and abort.
        if n_records < 0 or not 0 <= offset <= offset + length <= n_body or length < 0:
            raise ValueError
        if is_compressed and length > 0:
            # -1 stands for a buffer that was not worth compressing.
            unpacked = _whole(data, body + offset, "<q")
            n_unpacked += length if unpacked < 0 else unpacked
    return max(n_bytes, n_unpacked)


class _Table:
    """A table of a flatbuffer: fields by number, each of which may be absent."""

    def __init__(self, data: mmap.mmap, at: int) -> None:
        self._data, self._at = data, at
        self._fields = at - _whole(data, at, "<i")
        self._n_bytes = _whole(data, self._fields, "<H")

    @classmethod
    def at_root(cls, data: mmap.mmap, at: int) -> "_Table":
        return cls(data, at + _whole(data, at, "<I"))

    def _place(self, field: int) -> int | None:
        entry = 4 + 2 * field
        if entry + 2 > self._n_bytes:
            return None
        offset = _whole(self._data, self._fields + entry, "<H")
        return self._at + offset if offset else None

    def number(self, field: int, form: str) -> int:
        """Return a number, 0 by default."""
        place = self._place(field)
        return 0 if place is None else _whole(self._data, place, form)

    def table(self, field: int) -> "_Table | None":
        """Return a table in this one."""
        place = self._place(field)
        return None if place is None else _Table.at_root(self._data, place)

    def structs(self, field: int, form: struct.Struct) -> Iterator[tuple[Any, ...]]:
        """Yield the structs of a vector."""
        place = self._place(field)
        if place is None:
            return
        begin = place + _whole(self._data, place, "<I")
        for j in range(_whole(self._data, begin, "<I")):
            yield form.unpack_from(self._data, begin + 4 + j * form.size)


def _whole(data: mmap.mmap, at: int, form: str) -> int:
    if at < 0:
        raise ValueError
    number: int = struct.unpack_from(form, data, at)[0]
    return number
