"""How much a compressed file may expand to: the limit, how it is written, and reading within it.

A few kilobytes of zeros can expand to more than any memory holds. Every reader counts, or asks the
file's own figures, before it keeps what it unpacks.
"""

import io
from collections.abc import Callable
from typing import BinaryIO

from microagg.core.errors import DataError
from microagg.core.sizes import as_size, bytes_in

# Text of this size takes several times as much memory as a table: all that a usual machine has.
DEFAULT_LIMIT = 4_000_000_000

_CHUNK = 1 << 20


def expanded_limit(size: object) -> int:
    """Return in bytes what a compressed file may expand to, given as a size such as 8GB."""
    return bytes_in(size, "what a compressed file may expand to")


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
