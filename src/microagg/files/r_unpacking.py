"""What R stores in short: compressed files, and vectors that are only described (extra `r`).

Both are expanded here, within the limit of the file.
"""

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO, cast

import numpy as np
import rdata.parser as parser
from rdata.parser import RObject, RObjectInfo, RObjectType

from microagg.core.errors import DataError
from microagg.files.expansion import unpacked
from microagg.files.r_vectors import chars_of
from microagg.files.reading import InputFile

Expanded = tuple[RObjectInfo, Any]
Constructor = Callable[[RObject], Expanded]

_OPENERS: dict[bytes, Callable[[io.BytesIO], Any]] = {
    b"\x1f\x8b": lambda data: gzip.GzipFile(fileobj=data),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
_N_BYTES = {b"compact_intseq": 4, b"compact_realseq": 8}


def not_r(where: str) -> DataError:
    """Return the error for a file that is damaged, or not of R."""
    return DataError(f"{where} should be an R file; it holds something else or is damaged.")


def unpacked_file(data: bytes, source: InputFile) -> bytes:
    """Return the content of a file that R may have compressed, once."""
    opener = _opener(data)
    if opener is None:
        return data
    try:
        with opener(io.BytesIO(data)) as stream:
            content = unpacked(cast(BinaryIO, stream), source.check_expansion)
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
        raise error if isinstance(error, DataError) else not_r(source.where) from None
    if _opener(content) is not None:  # rdata would go on unpacking, without a limit
        raise not_r(source.where)
    return content


def _opener(data: bytes) -> Callable[[io.BytesIO], Any] | None:
    return next((opener for magic, opener in _OPENERS.items() if data.startswith(magic)), None)


def constructors(source: InputFile) -> dict[bytes, Constructor]:
    """Return what expands the vectors that a file only describes.

    rdata misses the end of a sequence that descends, and takes missing numbers for text.
    """
    known: dict[bytes, Constructor] = {
        **parser.DEFAULT_ALTREP_MAP,
        b"compact_intseq": _sequence,
        b"deferred_string": _deferred,
    }
    n_expanded = 0

    def within_limit(expand: Constructor, n_bytes: int) -> Constructor:
        def expand_within_limit(state: RObject) -> Expanded:
            nonlocal n_expanded
            n_expanded += int(state.value[0]) * n_bytes
            source.check_expansion(n_expanded)
            return expand(state)

        return expand_within_limit

    for name, n_bytes in _N_BYTES.items():
        known[name] = within_limit(known[name], n_bytes)
    return known


def _sequence(state: RObject) -> Expanded:
    """Expand a sequence such as 1:n or n:1, which R stores as its length, start and step."""
    n, start, step = (int(number) for number in state.value)
    info = RObjectInfo(RObjectType.INT, False, False, False, 0, 0)
    return info, (start + step * np.arange(n)).astype(np.int32)


def _deferred(state: RObject) -> Expanded:
    """Expand numbers that R was about to write as text; a missing one has no text."""
    info, texts = parser.DEFAULT_ALTREP_MAP[b"deferred_string"](state)
    numbers = state.value[0].value
    absent = np.ma.getmaskarray(np.ma.asarray(numbers)) | np.isnan(np.ma.getdata(numbers))
    return info, chars_of(texts, absent.tolist())
