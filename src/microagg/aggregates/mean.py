"""The mean of every group, in the type of the column: the default of microaggregation."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.aggregates.exact import nearest_multiples, reweighted
from microagg.core.arrays import Floats, Labels
from microagg.core.errors import DataError
from microagg.core.validation import check_group_sums
from microagg.kernels.basics.group_sums import summarise
from microagg.kernels.basics.rounding import half_away_from_zero

# Sums of differences of larger floats could overflow, and products of smaller ones vanish; groups
# with such values, or with nothing but such values, are scaled down or up.
_LARGE, _SMALL = 2.0**900, 2.0**-900
_SHRINK = 100


def means_in_type(
    values: NDArray[Any], labels: Labels, weights: Floats | None = None, *, name: str
) -> NDArray[Any]:
    """Return the mean of every group in the type of the values; no label is left out.

    Never -0.0. Whole numbers are averaged exactly, also with whole weights, and rounded half away
    from zero. `name` is the column's, for the error message.

    >>> means_in_type(np.array([1, 2, 7], dtype=np.int8), np.array([0, 0, 1]), name="age")
    array([2, 7], dtype=int8)
    """
    if values.dtype.kind in "iu":
        means = _integer_means(values, labels, name)
        if weights is None:
            return means
        return nearest_multiples(reweighted(means, values, labels, weights))
    return in_type(group_means(values, labels, weights), dtype=values.dtype, name=name)


def group_means(values: NDArray[Any], labels: Labels, weights: Floats | None = None) -> Floats:
    """Return the mean of every group; no label is left out.

    A record of weight 2 counts as two.

    >>> group_means(np.array([1, 2, 7], dtype=np.int8), np.array([0, 0, 1]))
    array([1.5, 7. ])
    """
    column = np.array(values, dtype=np.float64)
    shrunk = np.full(int(labels.max()) + 1, -_SHRINK, dtype=np.intp)
    shrunk[labels[np.abs(column) >= _SMALL]] = 0
    shrunk[labels[np.abs(column) > _LARGE]] = _SHRINK
    column = np.ldexp(column, -shrunk[labels])
    groups = summarise(column[:, None], labels)
    means = np.empty(len(groups.sizes))
    means[labels] = groups.centers[
        groups.labels, 0
    ]  # `summarise` renumbers groups by their first records
    if weights is not None:
        # Starting from the unweighted mean, equal values have exactly that value as their mean.
        differences = np.bincount(labels, weights=weights * (column - means[labels]))
        means += differences / np.bincount(labels, weights=weights)
    unshrunk: Floats = np.ldexp(means, shrunk)
    return unshrunk


def in_type(points: NDArray[Any], *, dtype: np.dtype[Any], name: str) -> NDArray[Any]:
    """Return numbers in the type of a column.

    Whole numbers are rounded to the nearest, halves away from zero. A number that does not fit the
    type is refused; `name` is the column's.

    >>> in_type(np.array([1.5, 7.0]), dtype=np.dtype(np.int64), name="age")
    array([2, 7])
    """
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if points.dtype.kind == "f":
            points = half_away_from_zero(points)
        if (points < limits.min).any() or (points >= float(limits.max) + 1.0).any():
            raise does_not_fit(name, dtype)
        return points.astype(dtype)
    with np.errstate(over="ignore"):
        # Adding zero turns -0.0 into 0.0: equal numbers must look the same.
        released: NDArray[Any] = points.astype(dtype) + dtype.type(0.0)
    if not np.isfinite(released).all():
        raise does_not_fit(name, dtype)
    return released


def does_not_fit(name: str, dtype: np.dtype[Any]) -> DataError:
    """Return the error for values that are beyond the type of a column."""
    return DataError(
        f"the values to release do not fit the type of {name!r} ({dtype}). Convert the column to a "
        "wider type first."
    )


def _integer_means(values: NDArray[Any], labels: Labels, name: str) -> NDArray[Any]:
    largest = np.iinfo(np.int64).max
    offset = 0
    if values.dtype == np.uint64 and int(values.max()) > largest:
        # Shifted down; the numbers stay positive, so halves still round up.
        offset = int(values.min())
        values = values - np.uint64(offset)
        if int(values.max()) > largest:
            raise too_far_apart(name)
    column = np.array(values, dtype=np.int64).reshape(-1, 1)
    try:
        check_group_sums(column, labels)
    except DataError:
        raise too_far_apart(name) from None
    groups = summarise(column, labels)
    means = np.empty(len(groups.sizes), dtype=values.dtype)
    means[labels] = groups.centers[groups.labels, 0].astype(values.dtype)
    moved_back: NDArray[Any] = means + values.dtype.type(offset)
    return moved_back


def too_far_apart(name: str) -> DataError:
    """Return the error for whole numbers whose sums do not fit in 64 bits."""
    return DataError(
        f"the whole numbers of {name!r} are too far apart to be averaged exactly in 64 bits. "
        "Divide the column, or convert it to floats."
    )
