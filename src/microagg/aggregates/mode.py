"""The most frequent value of every group: for values without an order."""

import numpy as np

from microagg.aggregates.values import SAME_SHARE
from microagg.core.arrays import Floats, Labels, Wholes


def group_modes(codes: Wholes, labels: Labels, weights: Floats | None = None) -> Wholes:
    """Return the code that most records of each group have; ties go to the lower code.

    No label is left out. A record of weight 2 counts twice.

    >>> group_modes(np.array([3, 1, 3, 2, 1]), np.array([0, 0, 0, 1, 1])).tolist()
    [3, 1]
    """
    n_codes = int(codes.max()) + 1
    pairs, place = np.unique(labels.astype(np.int64) * n_codes + codes, return_inverse=True)
    counts = np.bincount(place.reshape(-1), weights=weights)
    group, code = np.divmod(pairs, n_codes)
    if weights is not None:  # sums of weights are rounded, but ties must stay ties
        counts = np.rint(counts / np.bincount(labels, weights=weights)[group] / SAME_SHARE)
    # The first of each group in this order is its mode.
    order = np.lexsort((code, -counts, group))
    first = np.flatnonzero(np.diff(group[order], prepend=-1))
    modes: Wholes = code[order[first]]
    return modes
