"""Sizes in bytes, as people write them: 8GB, 1.5 MiB."""

import re
from numbers import Integral

from microagg.core.errors import ParameterError

_UNITS = ("bytes", "KB", "MB", "GB", "TB")
_SIZE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)\s*(?:([KMGT])(I?)B?|B|BYTES)?", re.IGNORECASE)


def bytes_in(size: object, what: str = "a size") -> int:
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
    elif isinstance(size, Integral) and not isinstance(size, bool):
        n_bytes = int(size)
    if n_bytes < 1:
        raise ParameterError(
            f"{what} must be a size such as 8GB or 500MB; got {_shortened(size)!r}."
        )
    return n_bytes


def as_size(n_bytes: int) -> str:
    """Write a number of bytes for people; it is rounded down.

    >>> as_size(4_000_000_000), as_size(1_572_864), as_size(999)
    ('4 GB', '1.57 MB', '999 bytes')
    """
    power = min((len(str(n_bytes)) - 1) // 3, len(_UNITS) - 1)
    hundredths = n_bytes * 100 // 1000**power
    return f"{hundredths / 100:,.10g} {_UNITS[power]}"


def _shortened(size: object) -> object:
    return f"{size[:20]}…" if isinstance(size, str) and len(size) > 40 else size
