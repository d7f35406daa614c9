"""Quasi-identifiers -> the matrix in which records are compared."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.errors import DataError
from microagg.tables.frames import Frame, column_values
from microagg.validation import check_choice, check_matrix

SCALES = ("standardise", "none")


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
    for j, values in enumerate(columns.values()):
        matrix[:, j] = standardised(values) if scale == "standardise" else values
    if scale == "none":
        _check_unscaled(matrix, list(columns))
    return matrix


def standardised(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return (values - mean) / standard deviation, or zeros where all values are equal."""
    if values.min() == values.max():
        return np.zeros(len(values))
    centred, _, _ = _centred(values)
    centred /= _deviation(centred)
    return centred


class Scaling(NamedTuple):
    """How the columns of the matrix become those of the table again: matrix * units + offsets.

    The unit of a column whose values are all equal is 0.
    """

    offsets: NDArray[np.float64]
    units: NDArray[np.float64]


def scaling(columns: Mapping[str, NDArray[Any]], *, scale: str) -> Scaling:
    """Return how `encode` scales these columns."""
    if scale == "none":
        return Scaling(np.zeros(len(columns)), np.ones(len(columns)))
    each = [_mean_and_deviation(values) for values in columns.values()]
    offsets, units = np.array(each).T
    return Scaling(offsets, units)


def _mean_and_deviation(values: NDArray[Any]) -> tuple[float, float]:
    if values.min() == values.max():
        return float(values[0]), 0.0
    centred, mean, exponent = _centred(values)
    return float(mean), float(np.ldexp(_deviation(centred), exponent))


def _deviation(centred: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.square(centred).sum() / (len(centred) - 1)))


def _centred(values: NDArray[Any]) -> tuple[NDArray[np.float64], float, int]:
    """Return (values - mean) / 2**exponent, so that squares do not overflow, and these two."""
    if values.dtype.kind in "iu":
        # Differences wrap round to the right result for every integer type.
        low, exponent = int(values.min()), 0
        centred = np.subtract(values.astype(np.uint64), np.uint64(low % 2**64)).astype(np.float64)
    else:
        low, exponent = 0, int(np.frexp(np.abs(values.astype(np.float64)).max())[1])
        centred = np.ldexp(values.astype(np.float64), -exponent)
    mean = centred.mean()
    centred -= mean
    # Twice: the mean of numbers with a large common offset is itself rounded.
    rest = centred.mean()
    centred -= rest
    return centred, float(low + np.ldexp(mean + rest, exponent)), exponent


def _check_unscaled(matrix: NDArray[np.float64], names: Sequence[str]) -> None:
    """Refuse what no method takes, in words of the table: the column instead of the matrix."""
    try:
        check_matrix(matrix)
    except DataError:
        widest = names[int(np.abs(matrix).max(axis=0).argmax())]
        raise DataError(
            f"the numbers of {widest!r} are too large or too small to compare with the scale "
            "'none'. Use the scale 'standardise', or change the unit of the column."
        ) from None
