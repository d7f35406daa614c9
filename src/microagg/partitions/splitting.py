"""Split groups that are too large."""

import numpy as np

from microagg.core.arrays import Floats, Labels
from microagg.core.progress import report
from microagg.partitions.base import Partitioner
from microagg.partitions.mdav import MDAV


def split_large(X: Floats, labels: Labels, k: int, method: type[Partitioner] = MDAV) -> Labels:
    """Return the labels with every group of 2k or more records split by `method`.

    Splitting a group never raises the squared error. Labels are from 0 to n-1, before and after.
    """
    sizes = np.bincount(labels)
    order = labels.argsort(kind="stable")
    ends = sizes.cumsum()
    split = labels.copy()
    n_groups = len(sizes)
    for group in np.flatnonzero(sizes >= 2 * k):
        rows = order[ends[group] - sizes[group] : ends[group]]
        parts = method(k=k)._group(X[rows], k)  # the checks of `fit` were made on all of X
        split[rows] = np.where(parts == 0, group, n_groups + parts - 1)
        n_groups += int(parts.max())
        report("splitting", int(ends[group]), len(X))
    return split
