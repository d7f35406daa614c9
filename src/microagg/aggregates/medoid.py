"""The record nearest to the mean of its group, as its representative."""

import numpy as np

from microagg.aggregates.mean import group_means
from microagg.core.arrays import Floats, Labels, Mask
from microagg.kernels.neighbours.blocks import make_blocks, nearest_to_each


def medoids(
    X: Floats, labels: Labels, weights: Floats | None, usable: Mask | None = None
) -> Labels:
    """Return for every group the row of X that is nearest to its mean; ties go to the lower row.

    Only `usable` rows qualify; a group without any gets the nearest one from other groups.

    >>> medoids(np.array([[0.0], [1.0], [5.0], [7.0]]), np.array([0, 0, 0, 1]), None).tolist()
    [1, 3]
    """
    centers = np.column_stack([group_means(column, labels, weights) for column in X.T])
    distances = np.square(X - centers[labels]).sum(axis=1)
    rows = np.arange(len(X)) if usable is None else np.flatnonzero(usable)
    order = rows[np.lexsort((rows, distances[rows], labels[rows]))]
    found, first = np.unique(labels[order], return_index=True)
    chosen = np.full(len(centers), -1, dtype=np.intp)
    chosen[found] = order[first]
    without = np.flatnonzero(chosen < 0)
    if len(without):
        chosen[without] = _nearest(X, rows, centers[without])
    return chosen


def _nearest(X: Floats, rows: Labels, points: Floats) -> Labels:
    """Return the given row nearest to each point; of equal rows the first."""
    _, first = np.unique(X[rows], axis=0, return_index=True)
    found = np.empty(len(points), dtype=np.intp)
    nearest_to_each(make_blocks(X, np.sort(rows[first])), points, found)
    return found
