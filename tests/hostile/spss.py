"""A plain reader of SPSS files (.sav, .zsav), as no other library than pyreadstat reads them.

It knows what the trial needs: numbers, dates, text of up to 255 bytes and long names, uncompressed,
compressed by bytes, or compressed once more by zlib. Layout: the file format in the manual of PSPP.
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

HEADER = 176
SYSTEM_MISSING = -1.7976931348623157e308
DATES = (20, 23, 24, 38, 39)
DATETIMES = (22, 41)
FIRST_DAY = datetime(1582, 10, 14)


@dataclass
class Variable:
    """A column of the file: its text has a width, and `cells` of eight bytes."""

    name: str
    width: int
    format: int
    cells: int = 1


class Dictionary:
    """What stands before the records: the variables, and where the records begin."""

    def __init__(self, raw: bytes) -> None:
        self.raw, self.at = raw, HEADER
        self.variables: list[Variable] = []
        self.encoding = "utf-8"
        readers = {2: self._variable, 3: self._labels, 4: self._labelled, 6: self._notes}
        readers[7] = self._extension
        while (kind := self._whole()) != 999:
            readers[kind]()
        self._whole()

    def _whole(self) -> int:
        self.at += 4
        return int(struct.unpack_from("<i", self.raw, self.at - 4)[0])

    def _variable(self) -> None:
        width, has_label, n_missing, printed, _ = (self._whole() for _ in range(5))
        name = self.raw[self.at : self.at + 8].decode("ascii", "replace").rstrip()
        self.at += 8
        if has_label:
            self.at += -(-self._whole() // 4) * 4
        self.at += 8 * abs(n_missing)
        if width == -1:
            self.variables[-1].cells += 1
        else:
            self.variables.append(Variable(name, width, printed >> 16 & 255))

    def _labels(self) -> None:
        for _ in range(self._whole()):
            length = self.raw[self.at + 8]
            self.at += 8 + -(-(length + 1) // 8) * 8

    def _labelled(self) -> None:
        self.at += 4 * self._whole()

    def _notes(self) -> None:
        self.at += 80 * self._whole()

    def _extension(self) -> None:
        kind, size, count = (self._whole() for _ in range(3))
        content = self.raw[self.at : self.at + size * count]
        self.at += size * count
        if kind == 13:
            pairs = [pair.split("=", 1) for pair in content.decode().split("\t") if pair]
            long = {short.upper(): name for short, name in pairs}
            for variable in self.variables:
                variable.name = long.get(variable.name.upper(), variable.name)
        elif kind == 14 and content.strip():
            raise ValueError("text of more than 255 bytes")


def read_spss(path: Path) -> dict[str, list[Any]]:
    """Return the columns of a file as plain values."""
    raw = path.read_bytes()
    compression, n_records = struct.unpack_from("<i", raw, 72)[0], struct.unpack_from("<i", raw, 80)
    found = Dictionary(raw)
    content = raw[found.at :]
    if compression == 2:
        content = _inflated(raw, found.at)
    bias = struct.unpack_from("<d", raw, 84)[0]
    cells = _expanded(content, bias) if compression else _in_eights(content)
    columns: dict[str, list[Any]] = {variable.name: [] for variable in found.variables}
    for _ in range(n_records[0]):
        for variable in found.variables:
            own = b"".join(next(cells) for _ in range(variable.cells))
            columns[variable.name].append(_value(own, variable, found.encoding))
    if next(cells, None) is not None:
        raise ValueError("there are more records than the header says")
    return columns


def _in_eights(content: bytes) -> Iterator[bytes]:
    for at in range(0, len(content), 8):
        yield content[at : at + 8]


def _expanded(content: bytes, bias: float) -> Iterator[bytes]:
    at = 0
    while at + 8 <= len(content):
        codes, at = content[at : at + 8], at + 8
        for code in codes:
            if code == 252:
                return
            if code == 253:
                yield content[at : at + 8]
                at += 8
            elif code == 254:
                yield b" " * 8
            elif code == 255:
                yield struct.pack("<d", SYSTEM_MISSING)
            elif code:
                yield struct.pack("<d", code - bias)


def _inflated(raw: bytes, at: int) -> bytes:
    _, trailer, _ = struct.unpack_from("<qqq", raw, at)
    n_blocks = struct.unpack_from("<i", raw, trailer + 20)[0]
    found = []
    for block in range(n_blocks):
        _, begins, _, size = struct.unpack_from("<qqii", raw, trailer + 24 + 24 * block)
        found.append(zlib.decompress(raw[begins : begins + size]))
    return b"".join(found)


def _value(own: bytes, variable: Variable, encoding: str) -> Any:
    if variable.width:
        return own[: variable.width].decode(encoding).rstrip(" ") or None
    number = float(struct.unpack("<d", own)[0])
    if number == SYSTEM_MISSING:
        return None
    if variable.format in (*DATES, *DATETIMES):
        at = FIRST_DAY + timedelta(seconds=number)
        return at.date() if variable.format in DATES else at
    return number
