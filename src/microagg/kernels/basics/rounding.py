"""Whole numbers from others: halves go away from zero, everywhere."""

import numpy as np
from numpy.typing import NDArray


def half_away_from_zero(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the nearest whole numbers; of two, the one farther from zero.

    >>> half_away_from_zero(np.array([0.5, -1.5, 0.49999999999999994])).tolist()
    [1.0, -2.0, 0.0]
    """
    below = np.trunc(values)
    rounded: NDArray[np.float64] = below + np.where(
        np.abs(values - below) >= 0.5, np.sign(values), 0.0
    )
    return rounded
