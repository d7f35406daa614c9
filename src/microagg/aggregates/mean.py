"""The mean of every group, in the type of the column: what microaggregation releases by default."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.errors import DataError
from microagg.kernels.groups import summarise

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
    return _float_means(values, labels)


def _float_means(values: NDArray[Any], labels: Labels) -> NDArray[Any]:
    column = np.array(values, dtype=np.float64).reshape(-1, 1)
    shrunk = bool(np.abs(column).max(initial=0.0) > _LARGE)
    if shrunk:
        column = np.ldexp(column, -_SHRINK)
    means = _group_means(column, labels)
    if shrunk:
        means = np.ldexp(means, _SHRINK)
    # Adding zero turns -0.0 into 0.0: equal numbers must not be told apart by their sign.
    released: NDArray[Any] = means.astype(values.dtype) + values.dtype.type(0.0)
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
        means = _group_means(column, labels)
    except DataError:
        raise _too_far_apart(name) from None
    released: NDArray[Any] = means.astype(values.dtype) + values.dtype.type(offset)
    return released


def _group_means(column: NDArray[Any], labels: Labels) -> NDArray[Any]:
    groups = summarise(column, labels)
    means: NDArray[Any] = groups.centers[groups.labels, 0]
    return means


def _too_far_apart(name: str) -> DataError:
    return DataError(
        f"the whole numbers of {name!r} are too far apart to be averaged exactly in 64 bits. "
        "Divide the column, or convert it to floats."
    )
