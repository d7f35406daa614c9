"""Weights of records: how many of the population each stands for."""

import numpy as np

from microagg.core.arrays import Floats
from microagg.core.errors import DataError
from microagg.tables.frames import Frame, dtype_of, type_name
from microagg.tables.typed import code_numbers, is_number

# Largest ratio between weights of records, and the largest weight; the smallest is one over it.
_LARGEST_RATIO, _LARGEST_WEIGHT = 1e9, 1e100


def record_weights(frame: Frame, name: str) -> Floats:
    """Return the weights in a column, all of them finite and above 0."""
    if not is_number(frame, name):
        got = type_name(dtype_of(frame, name))
        raise DataError(f"the weights in {name!r} must be numbers; got {got}.")
    weights = code_numbers(frame, name).numbers.astype(np.float64)
    usable = np.isfinite(weights) & (weights > 0.0)  # missing weights are 0
    if bad := int(np.count_nonzero(~usable)):
        raise DataError(
            f"the weights in {name!r} must be finite numbers above 0; {bad} of {len(weights)} are "
            "not, or are missing. Correct or remove those records first."
        )
    if weights.min() * _LARGEST_RATIO < weights.max():
        raise DataError(
            f"the weights in {name!r} differ by a factor of more than {_LARGEST_RATIO:g}, so "
            "that small ones would be lost in sums. Correct them first."
        )
    if not 1.0 / _LARGEST_WEIGHT <= weights.max() <= _LARGEST_WEIGHT:
        raise DataError(
            f"the weights in {name!r} must be from {1.0 / _LARGEST_WEIGHT:g} to "
            f"{_LARGEST_WEIGHT:g}; the largest is not. Multiply all of them by a constant first."
        )
    return weights
