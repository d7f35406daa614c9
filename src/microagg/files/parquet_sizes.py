"""What columns of a Parquet file expand to, from its own figures: nothing is unpacked.

The footer says how many values each part of a column has and how large its pages are once
unpacked; so do the pages themselves, which are asked as well, as only they are believed by those
who unpack them. A value that occurs a billion times may take a few bytes in the file, so values
count by the width of their type. The format: https://parquet.apache.org/docs/file-format/
"""

import mmap
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from pathlib import Path

_MAGIC = b"PAR1"
# Bytes that a value takes in a table, by physical type; polars refers to texts with 16.
_WIDTHS = {0: 0.125, 1: 4, 2: 8, 3: 12, 4: 4, 5: 8, 6: 16}
_FIXED_LENGTH = 7

# Types of the compact protocol of Thrift.
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_WHOLE = (4, 5, 6)
_DEEPEST = 64


def parquet_sizes(path: Path, columns: Set[str]) -> Iterator[int]:
    """Yield the number of bytes that each part of the selected columns expands to.

    A damaged file raises a ValueError or an IndexError, or yields too little: it can be read no
    further than here.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        end = len(data) - 8
        begin = end - int.from_bytes(data[end : end + 4], "little")
        if data[end + 4 :] != _MAGIC or not len(_MAGIC) <= begin <= end:
            raise ValueError
        lengths: list[int] = []
        footer = _Thrift(data[begin:end])
        for number, kind in footer.fields():
            if number == 2:
                lengths = list(_lengths(footer))
            elif number == 4:
                for _ in range(footer.n_items()):
                    yield from _row_group(footer, lengths, columns, data)
            else:
                footer.skip(kind)


class _Thrift:
    """A reader of the compact protocol of Thrift; what is not wanted must be skipped."""

    def __init__(self, data: bytes | mmap.mmap, at: int = 0) -> None:
        self.data, self.at = data, at

    def fields(self) -> Iterator[tuple[int, int]]:
        """Yield the number and the type of each field of a struct, in front of its value."""
        number = 0
        while head := self.data[self.at]:
            self.at += 1
            step = head >> 4
            number = number + step if step else self.whole()
            yield number, head & 15
        self.at += 1

    def n_items(self) -> int:
        """Return the number of items of a list, in front of them."""
        n_items = self._list_head()[0]
        if n_items > len(self.data):
            raise ValueError
        return n_items

    def whole(self) -> int:
        """Return a whole number."""
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)

    def text(self) -> bytes:
        """Return a text."""
        n = self._unsigned()
        self.at += n
        return self.data[self.at - n : self.at]

    def skip(self, kind: int, depth: int = 0) -> None:
        """Move past a value of this type."""
        if depth > _DEEPEST:
            raise ValueError
        if kind in _WHOLE:
            self._unsigned()
        elif kind == _BINARY:
            self.text()
        elif kind == _STRUCT:
            for _, own in self.fields():
                self.skip(own, depth + 1)
        elif kind in (_LIST, _SET):
            n_items, own = self._list_head()
            for _ in range(n_items):
                self._skip_item(own, depth + 1)
        elif kind == _MAP:
            n_items = self._unsigned()
            both = self._byte() if n_items else 0
            for _ in range(n_items):
                self._skip_item(both >> 4, depth + 1)
                self._skip_item(both & 15, depth + 1)
        elif kind in (_BYTE, _DOUBLE):
            self.at += 1 if kind == _BYTE else 8
        elif kind not in (_TRUE, _FALSE):  # these two are their own values
            raise ValueError

    def _skip_item(self, kind: int, depth: int) -> None:
        if kind in (_TRUE, _FALSE):  # unlike in a field, they take a byte
            self._byte()
        else:
            self.skip(kind, depth)

    def _list_head(self) -> tuple[int, int]:
        head = self._byte()
        return (self._unsigned() if head >> 4 == 15 else head >> 4), head & 15

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _unsigned(self) -> int:
        number = shift = 0
        while shift < 64:
            part = self.data[self.at]
            self.at += 1
            number |= (part & 127) << shift
            if part < 128:
                return number
            shift += 7
        raise ValueError


def _lengths(footer: _Thrift) -> Iterator[int]:
    """Yield the length of the values of each column without columns of its own, 0 if it varies."""
    for _ in range(footer.n_items()):
        length = n_children = 0
        for number, kind in footer.fields():
            if number == 2:
                length = footer.whole()
            elif number == 5:
                n_children = footer.whole()
            else:
                footer.skip(kind)
        if not n_children:
            yield length


def _row_group(
    footer: _Thrift, lengths: list[int], columns: Set[str], data: mmap.mmap
) -> Iterator[int]:
    for number, kind in footer.fields():
        if number != 1:
            footer.skip(kind)
            continue
        for j in range(footer.n_items()):
            for own, its_kind in footer.fields():
                if own != 3:
                    footer.skip(its_kind)
                    continue
                chunk = _Chunk.read(footer)
                if chunk.column in columns:
                    width = _WIDTHS.get(chunk.type, lengths[j] if j < len(lengths) else 0)
                    yield chunk.expanded(width, data)


@dataclass
class _Chunk:
    """A part of a column."""

    column: str = ""
    facts: dict[int, int] = field(default_factory=dict)

    @classmethod
    def read(cls, footer: _Thrift) -> "_Chunk":
        chunk = cls()
        for number, kind in footer.fields():
            if number == 3:
                names = [footer.text() for _ in range(footer.n_items())]
                chunk.column = names[0].decode()
            elif kind in _WHOLE:
                chunk.facts[number] = footer.whole()
            else:
                footer.skip(kind)
        return chunk

    @property
    def type(self) -> int:
        return self.facts.get(1, _FIXED_LENGTH)

    def expanded(self, width: float, data: mmap.mmap) -> int:
        """Return the number of bytes that it takes, by the footer or by its pages."""
        n_values, n_bytes = self.facts.get(5, 0), self.facts.get(6, 0)
        in_pages = bytes_in_pages = 0
        for n_own, n_own_bytes in self._pages(data):
            if n_own < 0 or n_own_bytes < 0:  # polars would take them for huge ones, and abort
                raise ValueError
            in_pages += n_own
            bytes_in_pages += n_own_bytes
        if in_pages != n_values:  # another reason for polars to abort
            raise ValueError
        return max(n_bytes, bytes_in_pages, int(n_values * width))

    def _pages(self, data: mmap.mmap) -> Iterator[tuple[int, int]]:
        """Yield the number of values and of bytes of each page."""
        at = self.facts.get(11) or self.facts.get(9, 0)
        end = min(at + self.facts.get(7, 0), len(data))
        while 0 < at < end:
            header = _Thrift(data, at)
            sizes: dict[int, int] = {}
            n_values = 0
            for number, kind in header.fields():
                if kind == _STRUCT and number in (5, 8):
                    n_values = _first(header)
                elif kind in _WHOLE:
                    sizes[number] = header.whole()
                else:
                    header.skip(kind)
            yield n_values, sizes.get(2, 0)
            at = header.at + max(sizes.get(3, 0), 0)


def _first(header: _Thrift) -> int:
    """Return the first field of a struct, and move past the struct."""
    found = 0
    for number, kind in header.fields():
        if number == 1 and kind in _WHOLE:
            found = header.whole()
        else:
            header.skip(kind)
    return found
