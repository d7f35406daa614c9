"""Quasi-identifiers -> the matrix in which records are compared.

Every column, whatever its type, adds a variance of its weight, but for robust units and those of
the table itself: numbers are scaled, a nominal column becomes one axis for each of its values. So a
nominal column counts as much as a numeric one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microagg.aggregates.released import Missing
from microagg.aggregates.values import Values
from microagg.errors import DataError
from microagg.tables.columns import Column, ColumnType
from microagg.tables.scaling import SCALES, UNSCALED
from microagg.validation import check_choice, check_matrix

Floats = NDArray[np.float64]

# Nominal columns of more values get as many axes, on which values are nearly equally far apart.
_MOST_AXES = 32


def encode(
    columns: Sequence[Column],
    *,
    scale: str,
    missing: Missing = Missing.VALUE,
    weights: Floats | None = None,
) -> Floats:
    """Return the matrix of the columns, side by side.

    A missing value stands apart from all others; where it is to be imputed, in the middle of its
    column. With `scale="none"` numbers are taken as they are, and unequal values of a nominal
    column are at a distance of 1. `weights` are those of the records.
    """
    check_choice("scale", scale, SCALES)
    encoded = [_encoded(column, scale, missing, weights) for column in columns]
    matrix = np.empty((len(columns[0].values.numbers), sum(one.width for one in encoded)))
    at = 0
    for one in encoded:
        one.fill(matrix[:, at : at + one.width])
        at += one.width
    if scale == UNSCALED:
        _check_unscaled(matrix, columns)
    return matrix


@dataclass(frozen=True, eq=False)
class _Encoded:
    """A column as points; where there are few of them, `rows` says which one a record has."""

    points: Floats
    rows: NDArray[np.intp] | None = None

    @property
    def width(self) -> int:
        return int(self.points.shape[1])

    def times(self, factor: float) -> "_Encoded":
        return _Encoded(self.points * factor, self.rows)

    def fill(self, out: Floats) -> None:
        """Write the point of every record; axis by axis, as all at once would be held twice."""
        for axis, values in zip(out.T, self.points.T, strict=True):
            axis[:] = values if self.rows is None else values[self.rows]


def _encoded(column: Column, scale: str, missing: Missing, weights: Floats | None) -> _Encoded:
    values = column.values
    if not len(values.present):
        return _Encoded(np.zeros((len(values.numbers), 1)))
    if column.type in (ColumnType.NOMINAL, ColumnType.BOOLEAN):
        encoded = _apart(column, scale, missing, weights)
    else:
        encoded = _Encoded(_scaled(values, scale, missing, weights))
    return encoded.times(float(np.sqrt(column.weight)))


def _scaled(values: Values, scale: str, missing: Missing, weights: Floats | None) -> Floats:
    """Return the scaled numbers; where some are missing, these in the middle, and whether."""
    if values.missing is None:
        return SCALES[scale](values.numbers, weights)[:, None]
    own = None if weights is None else weights[~values.missing]
    scaled = np.zeros(len(values.numbers))
    scaled[~values.missing] = SCALES[scale](values.present, own)
    middle = np.average(scaled[~values.missing], weights=own)
    scaled[values.missing] = middle
    if missing is Missing.IMPUTE:
        return scaled[:, None]
    apart = values.missing.astype(np.float64)
    if scale != UNSCALED:
        # So that both together have a variance of 1; robust units promise none.
        left = 1.0 - _variance(scaled, weights)
        share = np.average(values.missing, weights=weights)
        apart *= np.sqrt(max(left, share) / _variance(apart, weights))
    return np.column_stack((scaled, apart))


def _apart(column: Column, scale: str, missing: Missing, weights: Floats | None) -> _Encoded:
    """Return a nominal column as points that are equally far apart, one for each value."""
    values = column.values
    codes = values.numbers
    if values.missing is not None:
        codes = np.where(values.missing, column.n_categories, codes)  # comes last
    occurring, first_rows = np.unique(codes, return_inverse=True)
    rows = first_rows.reshape(-1)
    is_imputed = values.missing is not None and missing is Missing.IMPUTE
    points = _points(len(occurring) - is_imputed)
    counts = np.bincount(rows, weights=weights)[: len(points)]
    middle = np.average(points, axis=0, weights=counts)
    if scale != UNSCALED:
        n = int(np.count_nonzero(rows < len(points)))
        squares = np.square(points - middle).sum(axis=1)
        spread = np.average(squares, weights=counts) * n / max(1, n - 1)
        factor = 1.0 / np.sqrt(spread) if spread > 0.0 else 0.0
        points, middle = points * factor, middle * factor
    return _Encoded(np.vstack((points, middle)) if is_imputed else points, rows)


def _points(count: int) -> Floats:
    """Return points at a distance of 1 from each other; of many, at about that distance."""
    if count <= 2:
        return np.arange(count, dtype=np.float64)[:, None]
    if count <= _MOST_AXES:
        points: Floats = np.eye(count)
    else:
        signs = np.random.default_rng(0).choice((-1.0, 1.0), size=(count, _MOST_AXES))
        points = signs / np.sqrt(_MOST_AXES)
    points *= np.sqrt(0.5)
    return points


def _variance(axis: Floats, weights: Floats | None) -> float:
    """Return the variance (ddof = 1)."""
    n = len(axis)
    squares = np.square(axis - np.average(axis, weights=weights))
    return float(np.average(squares, weights=weights) * n / max(1, n - 1))


def _check_unscaled(matrix: Floats, columns: Sequence[Column]) -> None:
    """Refuse what no method takes, in words of the table: the column instead of the matrix."""
    try:
        check_matrix(matrix)
    except DataError:
        largest = [
            float(np.abs(column.values.present.astype(np.float64)).max(initial=0.0))
            for column in columns
        ]
        widest = columns[int(np.argmax(largest))].name
        raise DataError(
            f"the numbers of {widest!r} are too large or too small to compare with the scale "
            "'none'. Use the scale 'standardise', or change the unit of the column."
        ) from None
