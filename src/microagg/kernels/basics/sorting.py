"""A stable radix sort, faster than a comparison sort: least significant digits first."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Rows, SortKeys
from microagg.kernels.compile import allocating_kernel, kernel

DIGIT_BITS = 8
# Below this a comparison sort is as fast, and needs no compiling.
FEW = 20_000


def stable_sort(values: NDArray[Any]) -> tuple[NDArray[Any], Rows]:
    """Sort float64 or int64 without NaN; also return the row of each value, lower rows first.

    >>> values, order = stable_sort(np.array([3.0, -1.0, 3.0, -0.0, 0.0]))
    >>> values.tolist(), order.tolist()
    ([-1.0, 0.0, 0.0, 3.0, 3.0], [1, 3, 4, 0, 2])
    """
    values = values + 0  # a copy in which -0.0 equals 0.0
    if len(values) < FEW:
        order = np.argsort(values, kind="stable")
        return values[order], order
    real = values.dtype == np.float64
    if real and np.abs(values).max() < 2.0**53 and (np.rint(values) == values).all():
        whole, order = stable_sort(values.astype(np.int64))  # fewer digits to sort by
        return whole.astype(np.float64), order
    keys = values.view(np.uint64)
    if real:
        keys_from_bits(keys)
    lowest = np.uint64(keys.min()) if real else values.min().view(np.uint64)
    keys -= lowest
    n_digits = -(-int(keys.max()).bit_length() // DIGIT_BITS)
    order = np.arange(len(values), dtype=np.intp)
    spare_keys, spare_order = np.empty_like(keys), np.empty_like(order)
    for digit in range(n_digits):
        if sort_by_digit(keys, order, digit * DIGIT_BITS, spare_keys, spare_order):
            keys, spare_keys = spare_keys, keys
            order, spare_order = spare_order, order
    keys += lowest
    if real:
        bits_from_keys(keys)
    return keys.view(values.dtype), order


@kernel
def keys_from_bits(bits: SortKeys) -> None:
    """Turn the bits of floats into integers of the same order, in place.

    The bits of positive floats are in ascending order, those of negative ones in descending order.
    """
    top = np.uint64(1 << 63)
    for i in range(bits.shape[0]):
        bits[i] = ~bits[i] if bits[i] >= top else bits[i] | top


@kernel
def bits_from_keys(keys: SortKeys) -> None:
    """Undo `keys_from_bits`, in place."""
    top = np.uint64(1 << 63)
    for i in range(keys.shape[0]):
        keys[i] = keys[i] ^ top if keys[i] >= top else ~keys[i]


@allocating_kernel
def sort_by_digit(
    keys: SortKeys, order: Rows, shift: int, out_keys: SortKeys, out_order: Rows
) -> bool:
    """Sort stably by one digit; False, and nothing is written, if it is the same for all."""
    n_buckets = 1 << DIGIT_BITS
    mask = np.uint64(n_buckets - 1)
    by = np.uint64(shift)
    ends = np.zeros(n_buckets + 1, dtype=np.intp)
    for i in range(keys.shape[0]):
        ends[((keys[i] >> by) & mask) + np.uint64(1)] += 1
    if ends.max() == keys.shape[0]:
        return False
    for bucket in range(n_buckets):
        ends[bucket + 1] += ends[bucket]
    for i in range(keys.shape[0]):
        bucket = (keys[i] >> by) & mask
        at = ends[bucket]
        ends[bucket] = at + 1
        out_keys[at] = keys[i]
        out_order[at] = order[i]
    return True
