"""Numbers rounded half away from zero, and large offsets removed without any rounding."""

import numpy as np

from microagg.core.arrays import Floats


def half_away_from_zero(values: Floats) -> Floats:
    """Return the nearest whole numbers; of two, the one farther from zero.

    >>> half_away_from_zero(np.array([0.5, -1.5, 0.49999999999999994])).tolist()
    [1.0, -2.0, 0.0]
    """
    below = np.trunc(values)
    rounded: Floats = below + np.where(np.abs(values - below) >= 0.5, np.sign(values), 0.0)
    return rounded


def without_offset(X: Floats) -> Floats:
    """Subtract from each column its value nearest to zero, where that is exact; else leave it.

    Floats of one sign within a factor of two have an exact difference (Sterbenz), so the
    differences between records, and with them all ties, stay what they were; but the mean of a
    column such as 1e9, 1e9 + 1, ... gains the digits that the offset took.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    if ((low <= 0) & (high >= 0)).all():
        return X
    offset = np.where((low > 0) & (high <= 2 * low), low, 0.0)
    offset = np.where((high < 0) & (low >= 2 * high), high, offset)
    return X - offset if offset.any() else X
