"""The most frequent value of every group: for values without an order."""

from microagg.aggregates.candidates import Categories, candidates_of
from microagg.aggregates.medoid import medoids
from microagg.core.arrays import Floats, Labels, Wholes


def group_modes(codes: Wholes, labels: Labels, weights: Floats | None = None) -> Wholes:
    """Return the code that most records of each group have; no label is left out.

    A record of weight 2 counts twice. Of several codes, it is the one that the groups so far
    release too rarely, as `medoids` says.

    >>> import numpy as np
    >>> group_modes(np.array([3, 1, 3, 2, 1]), np.array([0, 0, 0, 1, 1])).tolist()
    [3, 1]
    """
    found = candidates_of([Categories(codes)], labels, weights)
    modes: Wholes = codes[found.rows[medoids(found)]]
    return modes
