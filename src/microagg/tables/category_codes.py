"""Categories as codes that are equal or not, and how far apart different ones are."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.aggregates.values import Values
from microagg.core.arrays import Categories

_MISSING = -1


def category_codes(values: Values) -> Categories:
    """Return the categories as whole numbers, -1 where missing: a category of its own."""
    codes = values.numbers.astype(np.int64)
    return codes if values.missing is None else np.where(values.missing, _MISSING, codes)


def squared_distance(counts: NDArray[Any], n_records: int) -> float:
    """Return how far apart any two categories are, squared, if their column has a variance of 1.

    Each category is an axis on which a record is at 1 or 0, in a unit that gives all axes together
    a variance of 1 (ddof = 1). `counts` are the records of each category, or their weights. The
    distance is 0 if there is one category only.

    >>> squared_distance(np.array([2, 2]), 4)
    3.0
    """
    shares = counts / counts.sum()
    spread = float(1.0 - np.square(shares).sum()) / 2.0 * n_records / max(1, n_records - 1)
    return 1.0 / spread if np.count_nonzero(counts) > 1 else 0.0
