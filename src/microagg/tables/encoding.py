"""Quasi-identifiers -> the matrix in which records are compared.

Every column, whatever its type, adds a variance of its weight, but for robust units and those of
the table itself: numbers are scaled, a nominal column becomes one axis for each of its values. So a
nominal column counts as much as a numeric one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.aggregates.released import Missing
from microagg.aggregates.values import Values
from microagg.core.arrays import Floats
from microagg.core.errors import DataError
from microagg.core.validation import check_choice, check_matrix
from microagg.tables.columns import Column, ColumnType
from microagg.tables.scaling import SCALES, UNSCALED, Scaling, scaling

# Nominal columns of more values get as many axes, on which values are nearly equally far apart.
_MOST_AXES = 32
# Squares of larger numbers, and sums of these, would overflow.
_FARTHEST = 1e150


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
    matrix = _side_by_side(encoded, len(columns[0].values.numbers))
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


def _side_by_side(columns: Sequence[_Encoded], n_records: int) -> Floats:
    matrix = np.empty((n_records, sum(column.width for column in columns)))
    at = 0
    for column in columns:
        column.fill(matrix[:, at : at + column.width])
        at += column.width
    return matrix


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
        codes = np.where(values.missing, len(column.categories), codes)  # comes last
    occurring, first_rows = np.unique(codes, return_inverse=True)
    rows = first_rows.reshape(-1)
    is_imputed = values.missing is not None and missing is Missing.IMPUTE
    points = _points(len(occurring) - is_imputed)
    counts = np.bincount(rows, weights=weights)[: len(points)]
    middle = np.average(points, axis=0, weights=counts)
    if scale != UNSCALED:
        n = int(np.count_nonzero(rows < len(points)))
        factor = _to_unit_variance(points, counts, n)
        points, middle = points * factor, middle * factor
    return _Encoded(np.vstack((points, middle)) if is_imputed else points, rows)


def encode_pair(columns: Sequence[tuple[Values, Values, bool]]) -> tuple[Floats, Floats]:
    """Return the matrices of a table and of another version of it, in one space.

    Of each column come the values of both, and whether these are numbers or else categories. The
    first table has a variance of 1 in each of them. A missing number is as far from every other as
    two records are on average, a missing category is one more.
    """
    encoded = [
        _numbers_of(before, after) if is_number else _codes_of(before, after)
        for before, after, is_number in columns
    ]
    n = len(columns[0][0].numbers)
    before, after = zip(*encoded, strict=True)
    return _side_by_side(before, n), _side_by_side(after, n)


def _numbers_of(before: Values, after: Values) -> tuple[_Encoded, _Encoded]:
    before, after = near_zero(before, after)
    offset, unit = scaling(before.present) if len(before.present) else Scaling(0.0, 0.0)
    is_incomplete = before.missing is not None or after.missing is not None
    sides = []
    for values in (before, after):
        axis = np.zeros(len(values.numbers))
        if unit > 0.0:
            with np.errstate(over="ignore"):  # other values may be far beyond tiny deviations
                axis = (values.numbers.astype(np.float64) - offset) / unit
            axis = np.clip(axis, -_FARTHEST, _FARTHEST)
        gone = np.zeros(len(axis), dtype=np.bool_) if values.missing is None else values.missing
        axis[gone] = 0.0
        apart = [np.sqrt(2.0) * gone] if is_incomplete else []
        sides.append(_Encoded(np.column_stack([axis, *apart])))
    return sides[0], sides[1]


def near_zero(before: Values, after: Values) -> tuple[Values, Values]:
    """Return whole numbers less the smallest of both: floats hold the digits of what is left."""
    sides = (before, after)
    if any(side.numbers.dtype.kind not in "iu" for side in sides):
        return before, after
    present = [side.present for side in sides if len(side.present)]
    if not present:
        return before, after
    least = min(int(numbers.min()) for numbers in present)
    if max(int(numbers.max()) for numbers in present) - least >= 2**63:
        return before, after
    first, second = (Values(_less(side.numbers, least), side.missing) for side in sides)
    return first, second


def _less(numbers: NDArray[Any], least: int) -> NDArray[np.int64]:
    # All of it wraps round to the right result for every integer type.
    return (numbers.astype(np.uint64) - np.uint64(least % 2**64)).astype(np.int64)


def _codes_of(before: Values, after: Values) -> tuple[_Encoded, _Encoded]:
    codes = [
        side.numbers.astype(np.int64)
        if side.missing is None
        else np.where(side.missing, -1, side.numbers)
        for side in (before, after)
    ]
    occurring, rows = np.unique(np.concatenate(codes), return_inverse=True)
    rows = rows.reshape(-1)
    points, n = _points(len(occurring)), len(codes[0])
    points *= _to_unit_variance(points, np.bincount(rows[:n], minlength=len(points)), n)
    return _Encoded(points, rows[:n]), _Encoded(points, rows[n:])


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


def _to_unit_variance(points: Floats, counts: NDArray[Any], n_records: int) -> float:
    """Return the factor that gives points with these weights a variance of 1 (ddof = 1)."""
    middle = np.average(points, axis=0, weights=counts)
    squares = np.square(points - middle).sum(axis=1)
    spread = np.average(squares, weights=counts) * n_records / max(1, n_records - 1)
    return float(1.0 / np.sqrt(spread)) if spread > 0.0 else 0.0


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
