"""Rounding half away from zero, and exact removal of large offsets."""

import numpy as np

from microagg.core.arrays import Floats


def half_away_from_zero(values: Floats) -> Floats:
    """Return the nearest whole numbers; halves are rounded away from zero.

    >>> half_away_from_zero(np.array([0.5, -1.5, 0.49999999999999994])).tolist()
    [1.0, -2.0, 0.0]
    """
    below = np.trunc(values)
    rounded: Floats = below + np.where(np.abs(values - below) >= 0.5, np.sign(values), 0.0)
    return rounded


def without_offset(X: Floats) -> Floats:
    """Subtract from each column its value nearest to zero, if that is exact.

    Floats of one sign within a factor of two have an exact difference (Sterbenz), so differences
    between records, and hence all ties, are unchanged; but the mean of a column such as 1e9,
    1e9 + 1, ... regains the digits that the offset took.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    if ((low <= 0) & (high >= 0)).all():
        return X
    offset = np.where((low > 0) & (high <= 2 * low), low, 0.0)
    offset = np.where((high < 0) & (low >= 2 * high), high, offset)
    return X - offset if offset.any() else X
