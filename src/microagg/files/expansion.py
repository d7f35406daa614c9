"""How much a compressed file may expand to: the limit, how it is written, and reading within it.

A few kilobytes of zeros can expand to more than any memory holds. Every reader counts, or asks the
file's own figures, before it keeps what it unpacks.
"""

import io
import re
from collections.abc import Callable
from typing import BinaryIO

from microagg.core.errors import DataError, ParameterError

# Text of this size takes several times as much memory as a table: all that a usual machine has.
DEFAULT_LIMIT = 4_000_000_000

_UNITS = ("bytes", "KB", "MB", "GB", "TB")
_SIZE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)\s*(?:([KMGT])(I?)B?|B|BYTES)?", re.IGNORECASE)
_CHUNK = 1 << 20


def bytes_in(size: object) -> int:
    """Return the number of bytes that a size says: a whole number of them, or with a unit.

    >>> bytes_in("8GB"), bytes_in("1.5 MiB"), bytes_in(1000)
    (8000000000, 1572864, 1000)
    """
    found = _SIZE.fullmatch(size.strip()) if isinstance(size, str) else None
    n_bytes = 0
    if found is not None:
        number, unit, is_binary = found[1], (found[2] or "").upper(), bool(found[3])
        power = " KMGT".index(unit or " ")
        n_bytes = int(float(number) * (1024 if is_binary else 1000) ** power)
    elif isinstance(size, int) and not isinstance(size, bool):
        n_bytes = size
    if n_bytes < 1:
        raise ParameterError(
            "what a compressed file may expand to must be a size such as 8GB or 500MB; got "
            f"{_shortened(size)!r}."
        )
    return n_bytes


def _shortened(size: object) -> object:
    return f"{size[:20]}…" if isinstance(size, str) and len(size) > 40 else size


def as_size(n_bytes: int) -> str:
    """Write a number of bytes for people; it is rounded down.

    >>> as_size(4_000_000_000), as_size(1_572_864), as_size(999)
    ('4 GB', '1.57 MB', '999 bytes')
    """
    power = min((len(str(n_bytes)) - 1) // 3, len(_UNITS) - 1)
    hundredths = n_bytes * 100 // 1000**power
    return f"{hundredths / 100:,.10g} {_UNITS[power]}"


def too_large(limit: int, where: str) -> DataError:
    """Return the error for a file that expands to more bytes than the limit."""
    return DataError(
        f"{where} is compressed and expands to more than {as_size(limit)}. If you trust it, raise "
        "the limit, as in --max-expanded 8GB (max_expanded= in Python)."
    )


def unpacked(stream: BinaryIO, check: Callable[[int], None]) -> bytes:
    """Return what a compressed stream expands to; `check` ends the reading at too many bytes."""
    kept = io.BytesIO()
    while chunk := stream.read(_CHUNK):
        kept.write(chunk)
        check(kept.tell())
    return kept.getvalue()
