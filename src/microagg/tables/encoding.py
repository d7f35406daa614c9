"""Quasi-identifiers -> the matrix in which records are compared.

Every column, whatever its type, adds a variance of its weight, but for robust units and those of
the table itself: numbers are scaled, a nominal column becomes one axis for each of its values. So a
nominal column counts as much as a numeric one.
"""

from collections.abc import Sequence

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
    matrix = np.hstack([_encoded(column, scale, missing, weights) for column in columns])
    if scale == UNSCALED:
        _check_unscaled(matrix, columns)
    return np.ascontiguousarray(matrix)


def _encoded(column: Column, scale: str, missing: Missing, weights: Floats | None) -> Floats:
    values = column.values
    if not len(values.present):
        axes = np.zeros((len(values.numbers), 1))
    elif column.type in (ColumnType.NOMINAL, ColumnType.BOOLEAN):
        axes = _axes(column, scale, missing, weights)
    else:
        axes = _scaled(values, scale, missing, weights)
    weighted: Floats = axes * np.sqrt(column.weight)
    return weighted


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
        left = 1.0 - _variance(scaled[:, None], weights)
        share = np.average(values.missing, weights=weights)
        apart *= np.sqrt(max(left, share) / _variance(apart[:, None], weights))
    return np.column_stack((scaled, apart))


def _axes(column: Column, scale: str, missing: Missing, weights: Floats | None) -> Floats:
    """Return a nominal column on axes where all values are equally far apart."""
    values = column.values
    codes = values.numbers
    if values.missing is not None:
        codes = np.where(values.missing, column.n_categories, codes)
    occurring, codes = np.unique(codes, return_inverse=True)
    points = _points(len(occurring))
    axes = points[codes.reshape(-1)]
    if values.missing is not None and missing is Missing.IMPUTE:
        own = None if weights is None else weights[~values.missing]
        axes[values.missing] = np.average(axes[~values.missing], axis=0, weights=own)
    if scale == UNSCALED:
        return axes
    spread = _variance(axes, weights)
    if values.missing is not None and missing is Missing.IMPUTE:
        spread = _variance(axes[~values.missing], own)
    return axes / np.sqrt(spread) if spread > 0.0 else np.zeros_like(axes)


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


def _variance(axes: Floats, weights: Floats | None) -> float:
    """Return the sum of the variances of all axes (ddof = 1)."""
    n = len(axes)
    centred = axes - np.average(axes, axis=0, weights=weights)
    squares = np.square(centred).sum(axis=1)
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
