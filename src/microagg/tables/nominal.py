"""Points for the values of a nominal column, all equally far apart."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Floats

# With more values than this, distances are only nearly equal, on this many axes.
_MOST_AXES = 32


def equidistant_points(count: int) -> Floats:
    """Return points at a distance of 1 from each other; if there are many, at about that."""
    if count <= 2:
        return np.arange(count, dtype=np.float64)[:, None]
    if count <= _MOST_AXES:
        points: Floats = np.eye(count)
    else:
        signs = np.random.default_rng(0).choice((-1.0, 1.0), size=(count, _MOST_AXES))
        points = signs / np.sqrt(_MOST_AXES)
    points *= np.sqrt(0.5)
    return points


def to_unit_variance(points: Floats, counts: NDArray[Any], n_records: int) -> float:
    """Return the factor that gives points with these weights a variance of 1 (ddof = 1)."""
    middle = np.average(points, axis=0, weights=counts)
    squares = np.square(points - middle).sum(axis=1)
    spread = np.average(squares, weights=counts) * n_records / max(1, n_records - 1)
    return float(1.0 / np.sqrt(spread)) if spread > 0.0 else 0.0
