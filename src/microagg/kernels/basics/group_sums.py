"""Sums over the records of each group."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Floats, Rows, Wholes
from microagg.kernels.compile import allocating_kernel, kernel


class GroupSums(NamedTuple):
    """A partition with sizes, centres and error; groups are numbered by their first record."""

    labels: Rows
    sizes: Rows
    centers: NDArray[Any]
    sse: float


def summarise(X: NDArray[Any], raw_labels: Rows) -> GroupSums:
    """Number the groups by their first record and summarise them; raw labels are from 0 to n-1.

    The centre of a group is its mean, for int64 rounded half away from zero; the error is about the
    centres. Sums of int64 must fit: check them with `microagg.core.validation.check_group_sums`.
    """
    n, d = X.shape
    labels, first = np.empty(n, dtype=np.intp), np.empty(n, dtype=np.intp)
    n_groups = number_by_first_record(raw_labels, int(raw_labels.max()) + 1, labels, first)
    tally = np.zeros((n_groups, 2 + 2 * d), dtype=X.dtype)
    tally_groups(X, labels, first, tally)
    centers = np.empty((n_groups, d), dtype=X.dtype)
    if X.dtype == np.int64:
        rounded_centers(tally, centers)
        sse = squared_error(X, labels, centers)
    else:
        sse = mean_centers(tally, centers)
    return GroupSums(labels, tally[:, 0].astype(np.intp), centers, sse)


@allocating_kernel
def number_by_first_record(raw_labels: Rows, n_raw: int, out_labels: Rows, out_first: Rows) -> int:
    """Number the groups 0, 1, ... by their first records, which `out_first` lists.

    Returns how many there are. Whether a group was seen is stored in bytes, apart from its number,
    so that it stays in the cache if there are millions of groups in random order.
    """
    seen = np.zeros(n_raw, dtype=np.uint8)
    number = np.empty(n_raw, dtype=np.int32)
    n_groups = 0
    for i in range(raw_labels.shape[0]):
        g = raw_labels[i]
        if seen[g] == 0:
            seen[g] = 1
            number[g] = n_groups
            out_first[n_groups] = i
            n_groups += 1
        out_labels[i] = number[g]
    return n_groups


@kernel
def tally_groups(X: Any, labels: Rows, first: Rows, out_tally: Any) -> None:
    """Sums and squares of every group relative to its first record.

    A row of the tally, zero at first, is: size, squares, first record, sums; they are stored
    together because the groups of a large table come in random order. Relative to a member of the
    group, neither a common offset nor other groups cost digits, and a group of equal records sums
    to exactly zero. The squares of integers may wrap around; they are not used.
    """
    n, d = X.shape
    for g in range(out_tally.shape[0]):
        for j in range(d):
            out_tally[g, 2 + j] = X[first[g], j]
    for i in range(n):
        g = labels[i]
        out_tally[g, 0] += 1
        for j in range(d):
            gap = X[i, j] - out_tally[g, 2 + j]
            out_tally[g, 1] += gap * gap
            out_tally[g, 2 + d + j] += gap


@kernel
def mean_centers(tally: Floats, out_centers: Floats) -> float:
    """Compute the mean of every group; return the total squared error, by compensated summation."""
    d = out_centers.shape[1]
    total = 0.0
    lost = 0.0
    for g in range(tally.shape[0]):
        error = tally[g, 1]
        for j in range(d):
            mean = tally[g, 2 + d + j] / tally[g, 0]
            error -= tally[g, 2 + d + j] * mean
            out_centers[g, j] = tally[g, 2 + j] + mean
        error = max(error, 0.0)
        new = total + error
        lost += (total - new) + error if total >= error else (error - new) + total
        total = new
    return total + lost


@kernel
def rounded_centers(tally: Wholes, out_centers: Wholes) -> None:
    """Mean of every group rounded half away from zero, all in integers."""
    d = out_centers.shape[1]
    for g in range(tally.shape[0]):
        size = tally[g, 0]
        for j in range(d):
            below = tally[g, 2 + d + j] // size
            rest = tally[g, 2 + d + j] - below * size
            floor = tally[g, 2 + j] + below
            # Half away from zero is up for a positive mean and down for a negative one.
            up = 2 * rest > size or (2 * rest == size and floor >= 0)
            out_centers[g, j] = floor + 1 if up else floor


@kernel
def squared_error(X: Any, labels: Rows, centers: Any) -> float:
    """Sum of squared distances between records and their centres, by compensated summation."""
    total = 0.0
    lost = 0.0
    for i in range(X.shape[0]):
        term = 0.0
        for j in range(X.shape[1]):
            gap = np.float64(X[i, j] - centers[labels[i], j])
            term += gap * gap
        new = total + term
        lost += (total - new) + term if total >= term else (term - new) + total
        total = new
    return total + lost
