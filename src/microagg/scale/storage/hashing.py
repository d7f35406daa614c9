"""Numbers that look random but depend on nothing except what they are made from.

The same on every machine and in every version of every library, unlike the hashes of most of them.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from microagg.core.arrays import Hashes
from microagg.scale.storage.urls import Place

_MISSING = np.uint64(0x9E3779B97F4A7C15)


def mixed(numbers: NDArray[Any], seed: int = 0) -> Hashes:
    """Return the numbers scrambled by the finaliser of SplitMix64 (Steele, Lea and Flood, 2014).

    >>> mixed(np.array([1, 2])).tolist()
    [10451216379200822465, 10905525725756348110]
    """
    with np.errstate(over="ignore"):
        z = numbers.astype(np.int64).view(np.uint64) + np.uint64(seed) * _MISSING + _MISSING
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed_up: Hashes = z ^ (z >> np.uint64(31))
    return mixed_up


def hashed(column: pl.Series) -> Hashes:
    """Return a number for every value, equal for equal values; a missing one has its own.

    Zero has no sign, and NaN is one value.
    """
    dtype, n = column.dtype, len(column)
    absent = column.is_null().to_numpy()
    if dtype.is_float():
        floats = column.cast(pl.Float64).fill_null(0.0).to_numpy() + 0.0
        bits = np.where(np.isnan(floats), np.nan, floats).view(np.int64)
        found = mixed(bits)
    elif dtype.is_integer() or dtype == pl.Boolean or dtype.is_temporal():
        whole = column.to_physical() if dtype.is_temporal() else column
        if dtype == pl.UInt64:
            whole = whole.reinterpret(signed=True)
        found = mixed(whole.cast(pl.Int64).fill_null(0).to_numpy())
    else:
        found = _of_texts(column)
    return np.where(absent, _MISSING, found) if n else np.zeros(0, dtype=np.uint64)


def _of_texts(column: pl.Series) -> Hashes:
    text = column.bin.encode("hex") if column.dtype == pl.Binary else column.cast(pl.String)
    codes = text.rank("dense").cast(pl.Int64).fill_null(0).to_numpy()
    different = text.unique().sort(nulls_last=False).drop_nulls().to_list()
    own = [int.from_bytes(hashlib.blake2b(t.encode(), digest_size=8).digest()) for t in different]
    found: Hashes = np.array([0, *own], dtype=np.uint64)[codes]
    return found


def can_be_hashed(kind: pa.DataType) -> bool:
    """Whether polars has values of a type of Arrow, and they are single ones.

    >>> can_be_hashed(pa.decimal128(9, 2)), can_be_hashed(pa.decimal256(60, 2))
    (True, False)
    """
    is_plain = not (pa.types.is_nested(kind) or pa.types.is_union(kind))
    return is_plain and not (pa.types.is_interval(kind) or pa.types.is_decimal256(kind))


def hashed_rows(columns: list[pl.Series]) -> Hashes:
    """Return a number for every combination of values in these columns."""
    found = hashed(columns[0])
    for column in columns[1:]:
        found = mixed((found.view(np.int64)), 1) ^ hashed(column)
    return mixed(found.view(np.int64), 2)


def sha256_of_files(root: Place, names: Sequence[str], digests: Sequence[str]) -> str:
    """Return one SHA-256 for all files: that of the only one, or of the list of all in a folder."""
    if len(digests) == 1 and not root.is_dir():
        return digests[0]
    lines = (f"{digest}  {name}\n" for digest, name in zip(digests, names, strict=True))
    return hashlib.sha256("".join(lines).encode()).hexdigest()
