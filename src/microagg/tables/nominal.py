"""Points for the values of a nominal column, all equally far apart."""

import numpy as np

from microagg.core.arrays import Floats

# With more values than this, distances are only nearly equal, on this many axes: groups are
# searched for in fewer dimensions, and evaluated by exact distances.
MOST_AXES = 64


def equidistant_points(count: int) -> Floats:
    """Return points at a distance of 1 from each other; if there are many, at about that."""
    if count <= 2:
        return np.arange(count, dtype=np.float64)[:, None]
    if count <= MOST_AXES:
        return indicator_points(count)
    signs = np.random.default_rng(0).choice((-1.0, 1.0), size=(count, MOST_AXES))
    points: Floats = signs * np.sqrt(0.5 / MOST_AXES)
    return points


def indicator_points(count: int) -> Floats:
    """Return points at a distance of 1 from each other, with an axis for each."""
    points: Floats = np.eye(count) * np.sqrt(0.5)
    return points
