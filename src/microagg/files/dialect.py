"""Delimiter, decimal mark and encoding of a CSV file, given or detected; the sheet of a workbook.

An ambiguous file is never guessed at: the error names the option that settles the question.
"""

import codecs
import csv
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice

import numpy as np

from microagg.core.errors import DataError, ParameterError
from microagg.files.expansion import expanded_limit

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}

_UTF8_MARK = codecs.BOM_UTF8
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CHUNK = 1 << 20
# Bytes that form one character in UTF-8. Read as Windows-1252, a pair may be a capital letter and a
# quotation mark; the other sequences hardly ever occur.
_PAIR = re.compile(rb"[\xc4-\xdf][\x80-\xbf]")
_UNMISTAKABLE = re.compile(
    rb"[\xc2\xc3][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_HIGH = re.compile(rb"[\x80-\xff]")
_CONTROLS = bytes({*range(32), 127} - {*b"\t\n\r"})
_NAME_ENCODING = "Name its encoding (--encoding, or encoding= in Python), or save it as UTF-8."

# The csv module limits the length of a field; ours may hold whole documents.
_LONGEST_FIELD = 2**31 - 1
# Records that decide the delimiter; the others are checked against it later.
_N_SAMPLED = 100


@dataclass(frozen=True)
class Dialect:
    """Delimiter, decimal mark and encoding of a CSV file; None means "detect it".

    `na` are texts that are missing values wherever they stand, besides the usual markers among
    numbers and dates. `sheet` is the one to read of an Excel workbook, or the data frame of an R
    file; None means "the only one". `max_expanded` is what a compressed file of any format may
    expand to, in bytes or as in "8GB"; None means the usual limit.

    >>> Dialect(delimiter=";", decimal=",").delimiter
    ';'
    """

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    na: tuple[str, ...] = ()
    sheet: str | None = None
    max_expanded: int | str | None = None

    def __post_init__(self) -> None:
        if self.delimiter is not None and not _is_delimiter(self.delimiter):
            raise ParameterError(
                "the delimiter must be a comma, a semicolon, a tab, a bar or another single ASCII "
                "character other than a letter, digit, quote, point, plus or minus; got "
                f"{self.delimiter!r}."
            )
        if self.decimal not in (None, ".", ","):
            raise ParameterError(
                f"the decimal mark must be a point or a comma; got {self.decimal!r}."
            )
        if self.decimal == "," == self.delimiter:
            raise ParameterError(
                "the comma cannot be both the delimiter and the decimal mark. Choose another "
                "delimiter."
            )
        if self.encoding is not None and not _is_text_encoding(self.encoding):
            raise ParameterError(
                "the encoding must be one that Python knows, such as utf-8, utf-16, cp1252 or "
                f"latin-1; got {self.encoding!r}."
            )
        if self.sheet is not None and not (isinstance(self.sheet, str) and self.sheet):
            raise ParameterError(f"the sheet must be given by its name; got {self.sheet!r}.")
        if self.max_expanded is not None:
            expanded_limit(self.max_expanded)


def _is_delimiter(sign: object) -> bool:
    if sign == "\t":
        return True
    return (
        isinstance(sign, str)
        and len(sign) == 1
        and sign.isascii()
        and sign.isprintable()
        and not sign.isalnum()
        and sign not in "\"'.+-"
    )


def _is_text_encoding(name: object) -> bool:
    try:
        "a".encode(name)  # type: ignore[arg-type]
    except (LookupError, TypeError, ValueError):
        return False
    return True


def decoded(data: bytes, where: str, encoding: str | None) -> tuple[bytes, str]:
    """Return the text as UTF-8 without a byte order mark, and the name of its encoding.

    Unless the `encoding` is given, a byte order mark decides. Text without one is UTF-8 if it is
    valid UTF-8, and otherwise Windows-1252 if all its bytes are valid there.
    """
    if encoding is not None:
        return _decoded_as_given(data, where, codecs.lookup(encoding).name)
    if data.startswith(_UTF16_MARKS):
        return _decoded_as_given(data, where, "utf-16")
    if _is_utf8(data):
        name = "utf-8-sig" if data.startswith(_UTF8_MARK) else "utf-8"
        return data.removeprefix(_UTF8_MARK), name
    return _decoded_as_windows(data, where), "cp1252"


def _decoded_as_given(data: bytes, where: str, name: str) -> tuple[bytes, str]:
    try:
        text = data.decode(name).encode()
    except (UnicodeError, ValueError):  # the message quotes bytes
        raise DataError(f"{where} is not text in the encoding {name}. {_NAME_ENCODING}") from None
    if text.startswith(_UTF8_MARK):
        # The codec left the mark in the text; the output gets one too.
        marked = {"utf-8": "utf-8-sig", "utf-16-le": "utf-16", "utf-16-be": "utf-16"}
        return text.removeprefix(_UTF8_MARK), marked.get(name, name)
    return text, name


def _decoded_as_windows(data: bytes, where: str) -> bytes:
    if _looks_like_damaged_utf8(data):
        raise DataError(
            f"{where} is UTF-8 in some places but not in others: it is damaged or in another "
            f"encoding. {_NAME_ENCODING}"
        )
    try:
        if len(data.translate(None, _CONTROLS)) == len(data):
            return data.decode("cp1252").encode()
    except UnicodeError:
        pass
    raise DataError(f"{where} is neither UTF-8 nor Windows-1252 text. {_NAME_ENCODING}")


def _looks_like_damaged_utf8(data: bytes) -> bool:
    around = _around_high_bytes(data)
    if data.startswith(_UTF8_MARK) or _UNMISTAKABLE.search(around):
        return True
    n_paired = 2 * sum(1 for _ in _PAIR.finditer(around))
    return 3 * n_paired > 2 * sum(1 for _ in _HIGH.finditer(around))


def _around_high_bytes(data: bytes) -> bytes:
    """Return the bytes beyond ASCII, each with the byte after it: all the patterns look at."""
    parts = []
    for start in range(0, len(data), _CHUNK):
        chunk = np.frombuffer(data[start : start + _CHUNK], np.uint8)
        kept = chunk >= 0x80
        kept[1:] |= kept[:-1].copy()
        kept[0] = True  # it may follow such a byte of the previous chunk
        parts.append(chunk[kept].tobytes())
    return b"".join(parts)


def _is_utf8(data: bytes) -> bool:
    # In chunks: a str of everything may take four times the memory.
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(data)
    try:
        for start in range(0, len(data), _CHUNK):
            decoder.decode(view[start : start + _CHUNK])
        decoder.decode(b"", True)
    except UnicodeDecodeError:
        return False
    return True


def detected_delimiter(
    text: bytes, where: str, decimal: str | None, likely: str | None = None
) -> str:
    """Return the delimiter that gives the header and the first records the same number of fields.

    If several do, it is the one that the name of the file makes `likely`, if that is among them.
    If no delimiter splits the header, the file has one column, and it is the likely one or the
    first candidate. A known decimal mark is not a candidate.
    """
    signs = sorted((sign for sign in DELIMITERS if sign != decimal), key=lambda own: own != likely)
    widths = {sign: widths for sign in signs if (widths := _widths(text, sign))}
    splitting = [sign for sign in widths if widths[sign][0] > 1]
    even = [sign for sign in splitting if len(set(widths[sign])) == 1]
    # If none is even, the file is ragged, which is reported later if the delimiter is clear.
    found = even or splitting or signs[:1]
    if len(found) > 1 and found[0] != likely:
        words = " or ".join(DELIMITERS[sign] for sign in found)
        raise DataError(
            f"{where} could be separated by {words}. Name the delimiter (--delimiter, or "
            "delimiter= in Python)."
        )
    return found[0]


def _widths(text: bytes, delimiter: str) -> list[int]:
    """Return the number of fields in the header and the first records; [] if quotes rule it out."""
    rows = csv.reader(utf8_lines(text), strict=True, delimiter=delimiter)
    widths: list[int] = []
    with long_fields():
        try:
            for row in islice(rows, _N_SAMPLED + 1):
                widths.append(len(row))
        except csv.Error:
            # The header alone decides whether this can be the delimiter at all.
            return [*widths, 0] if widths else []
    while len(widths) > 1 and widths[-1] == 0:
        widths.pop()
    return widths


def utf8_lines(text: bytes) -> io.TextIOWrapper:
    """Return the text as lines for the csv module."""
    return io.TextIOWrapper(io.BytesIO(text), encoding="utf-8", newline="")


@contextmanager
def long_fields() -> Iterator[None]:
    """Lift the csv module's limit on the length of a field."""
    longest = csv.field_size_limit(_LONGEST_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(longest)
