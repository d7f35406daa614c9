"""Sums over the records of each group."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.errors import DataError
from microagg.kernels.compile import kernel

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


@kernel
def number_by_first_record(labels: Rows, out_labels: Rows) -> int:
    """Number the groups by their first record; labels lie in 0..n-1. Returns how many there are."""
    number = np.full(labels.shape[0], -1, dtype=np.intp)
    n_groups = 0
    for i in range(labels.shape[0]):
        if number[labels[i]] < 0:
            number[labels[i]] = n_groups
            n_groups += 1
        out_labels[i] = number[labels[i]]
    return n_groups


@kernel
def group_means(X: Floats, labels: Rows, out_means: Floats, out_sizes: Rows) -> None:
    """Mean and size of every group; a group of equal values gets exactly that value.

    Sums are taken relative to each group's first record, so that a large common offset costs no
    digits. `out_*` must come zeroed.
    """
    n, d = X.shape
    first = np.full(out_sizes.shape[0], -1, dtype=np.intp)
    for i in range(n):
        g = labels[i]
        if first[g] < 0:
            first[g] = i
        out_sizes[g] += 1
        for j in range(d):
            out_means[g, j] += X[i, j] - X[first[g], j]
    for g in range(out_sizes.shape[0]):
        for j in range(d):
            out_means[g, j] = X[first[g], j] + out_means[g, j] / out_sizes[g]


@kernel
def squared_error(X: Any, labels: Rows, centers: Any) -> float:
    """Sum of squared distances to the own group's centre, compensated (Neumaier)."""
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


@kernel
def integer_group_means(
    X: NDArray[np.int64], labels: Rows, out_means: NDArray[np.int64], out_sizes: Rows
) -> bool:
    """Mean of every group rounded half away from zero, in integers; False if a sum overflows.

    Sums are taken relative to each group's first record: only the spread within a group has to
    fit, not the values. `out_*` must come zeroed.
    """
    n, d = X.shape
    limit = 2.0**62
    first = np.full(out_sizes.shape[0], -1, dtype=np.intp)
    for i in range(n):
        g = labels[i]
        if first[g] < 0:
            first[g] = i
        out_sizes[g] += 1
        for j in range(d):
            gap = np.float64(X[i, j]) - np.float64(X[first[g], j])
            if abs(gap) >= limit or abs(np.float64(out_means[g, j]) + gap) >= limit:
                return False
            out_means[g, j] += X[i, j] - X[first[g], j]
    for g in range(out_sizes.shape[0]):
        size = out_sizes[g]
        for j in range(d):
            base = X[first[g], j]
            whole = out_means[g, j] // size
            part = out_means[g, j] - whole * size
            floor = base + whole
            # Half away from zero is up for a positive mean and down for a negative one.
            up = 2 * part > size or (2 * part == size and floor >= 0)
            out_means[g, j] = floor + 1 if up else floor
    return True


def group_centers(X: NDArray[Any], labels: Rows, n_groups: int) -> tuple[NDArray[Any], Rows]:
    """Means and sizes of the groups 0..n_groups-1; rounded half away from zero for integers."""
    centers = np.zeros((n_groups, X.shape[1]), dtype=X.dtype)
    sizes = np.zeros(n_groups, dtype=np.intp)
    if X.dtype == np.int64:
        if not integer_group_means(X, labels, centers, sizes):
            raise DataError(
                "the sums of a group do not fit 64-bit integers. Rescale the numbers, or use "
                "integer=False."
            )
    else:
        group_means(X, labels, centers, sizes)
    return centers, sizes
