"""Large common offsets, removed without rounding."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


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
