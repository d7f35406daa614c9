"""The mean of every group, in the type of the column: what microaggregation releases by default."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.errors import DataError
from microagg.kernels.groups import summarise
from microagg.kernels.rounding import half_away_from_zero

Labels = NDArray[np.intp]

# Sums of the differences of larger floats could overflow; they are averaged at a smaller scale.
_LARGE = 2.0**900
_SHRINK = 100


def released_means(values: NDArray[Any], labels: Labels, *, name: str) -> NDArray[Any]:
    """Return for every record the mean of its group, in the column's own type.

    Members of a group get the same bits, and never -0.0. Whole numbers are averaged exactly and
    rounded half away from zero. `name` is the column's, for the error message.

    >>> released_means(np.array([1, 2, 7], dtype=np.int8), np.array([0, 0, 1]), name="age")
    array([2, 2, 7], dtype=int8)
    """
    if values.dtype.kind in "iu":
        return _integer_means(values, labels, name)
    return released_points(group_means(values, labels), labels, like=values, name=name)


def group_means(values: NDArray[Any], labels: Labels) -> NDArray[np.float64]:
    """Return the mean of every group, one entry for each; labels are numbered from 0.

    >>> group_means(np.array([1, 2, 7], dtype=np.int8), np.array([0, 0, 1]))
    array([1.5, 7. ])
    """
    column = np.array(values, dtype=np.float64).reshape(-1, 1)
    shrunk = bool(np.abs(column).max(initial=0.0) > _LARGE)
    if shrunk:
        column = np.ldexp(column, -_SHRINK)
    groups = summarise(column, labels)
    means = np.empty(len(groups.sizes))
    means[labels] = groups.centers[groups.labels, 0]  # which numbers them by their first records
    return np.ldexp(means, _SHRINK) if shrunk else means


def released_points(
    points: NDArray[Any], labels: Labels, *, like: NDArray[Any], name: str
) -> NDArray[Any]:
    """Return for every record the point of its group, in the type of the column `like`.

    Whole numbers come from the nearest, halves away from zero. A point that the type cannot hold
    is refused; `name` is the column's.

    >>> released_points(np.array([1.5, 7.0]), np.array([1, 0]), like=np.array([1, 9]), name="age")
    array([7, 2])
    """
    dtype = like.dtype
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if points.dtype.kind == "f":
            points = half_away_from_zero(points)
        if (points < limits.min).any() or (points >= float(limits.max) + 1.0).any():
            raise DataError(
                f"the values to release do not fit the type of {name!r} ({dtype}). Convert the "
                "column to a wider type first."
            )
        return points.astype(dtype)[labels]
    # Adding zero turns -0.0 into 0.0: equal numbers must not be told apart by their sign.
    released: NDArray[Any] = (points.astype(dtype) + dtype.type(0.0))[labels]
    return released


def _integer_means(values: NDArray[Any], labels: Labels, name: str) -> NDArray[Any]:
    largest = np.iinfo(np.int64).max
    offset = 0
    if values.dtype == np.uint64 and int(values.max()) > largest:
        # Moved down as far as all numbers stay positive, so that halves still go up.
        offset = int(values.min())
        values = values - np.uint64(offset)
        if int(values.max()) > largest:
            raise _too_far_apart(name)
    column = np.array(values, dtype=np.int64).reshape(-1, 1)
    try:
        groups = summarise(column, labels)
    except DataError:
        raise _too_far_apart(name) from None
    means = groups.centers[groups.labels, 0]
    released: NDArray[Any] = means.astype(values.dtype) + values.dtype.type(offset)
    return released


def _too_far_apart(name: str) -> DataError:
    return DataError(
        f"the whole numbers of {name!r} are too far apart to be averaged exactly in 64 bits. "
        "Divide the column, or convert it to floats."
    )
