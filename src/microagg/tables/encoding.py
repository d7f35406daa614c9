"""Quasi-identifiers -> the matrix in which records are compared."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.errors import DataError
from microagg.tables.frames import Frame, column_values
from microagg.validation import check_choice

SCALES = ("standardise", "none")

# Squares of differences between larger numbers, and sums of such squares, would not fit a float.
_LARGEST_UNSCALED = 1e150


def numeric_columns(frame: Frame, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return the columns as arrays of their own types, if every value is a finite number."""
    columns: dict[str, NDArray[Any]] = {}
    missing: dict[str, int] = {}
    infinite: dict[str, int] = {}
    for name in names:
        values = column_values(frame, name)
        absent = int(frame[name].null_count())
        if values.dtype.kind == "f":
            absent = max(absent, int(np.count_nonzero(np.isnan(values))))
            if unbounded := int(np.count_nonzero(np.isinf(values))):
                infinite[name] = unbounded
        if absent:
            missing[name] = absent
        columns[name] = values
    if missing or infinite:
        found = [
            f"{word} in {', '.join(f'{name!r} ({count})' for name, count in counts.items())}"
            for word, counts in (("missing", missing), ("infinite", infinite))
            if counts
        ]
        raise DataError(
            "quasi-identifiers must hold a finite number in every record; values are "
            f"{' and '.join(found)}. Remove or impute those records first."
        )
    return columns


def encode(columns: Mapping[str, NDArray[Any]], *, scale: str) -> NDArray[np.float64]:
    """Return one float64 column for each quasi-identifier.

    With `scale="standardise"` each has mean 0 and standard deviation 1 (ddof = 1), a constant one
    zeros; a large common offset and very large or small numbers cost no digits. With
    `scale="none"` the numbers are taken as they are.
    """
    check_choice("scale", scale, SCALES)
    first = next(iter(columns.values()))
    matrix = np.empty((len(first), len(columns)))
    for j, (name, values) in enumerate(columns.items()):
        matrix[:, j] = standardised(values) if scale == "standardise" else _unscaled(name, values)
    return matrix


def standardised(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return (values - mean) / standard deviation, or zeros where all values are equal."""
    low = values.min()
    if low == values.max():
        return np.zeros(len(values))
    centred = _relative(values, low)
    # Twice: the mean of numbers with a large common offset is itself rounded.
    centred -= centred.mean()
    centred -= centred.mean()
    deviation = np.sqrt(np.square(centred).sum() / (len(values) - 1))
    centred /= deviation
    return centred


def _relative(values: NDArray[Any], low: Any) -> NDArray[np.float64]:
    """Return the values up to an offset and a power of two, so that squares neither overflow."""
    if values.dtype.kind in "iu":
        # Differences wrap round to the right result for every integer type.
        return np.subtract(values.astype(np.uint64), np.uint64(int(low) % 2**64)).astype(np.float64)
    wide = values.astype(np.float64)
    _, exponent = np.frexp(np.abs(wide).max())
    return np.ldexp(wide, -int(exponent))


def _unscaled(name: str, values: NDArray[Any]) -> NDArray[np.float64]:
    wide = values.astype(np.float64)
    if np.abs(wide).max() > _LARGEST_UNSCALED:
        raise DataError(
            f"the numbers of {name!r} are too large to compare with scale='none'. Use "
            "scale='standardise', or divide the column."
        )
    return wide
