"""Categories as points that are equally far apart, in the space where records are compared."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microagg.aggregates.values import Values
from microagg.core.arrays import Floats
from microagg.tables.encoding import encode_pair

Codes = NDArray[np.int64]

_MISSING = -1


@dataclass(frozen=True, eq=False)
class CategoryPoints:
    """A point for each category; `codes` are sorted, and missing is a category of its own."""

    codes: Codes
    points: Floats

    @property
    def n_axes(self) -> int:
        """How many axes the space of the column has."""
        return int(self.points.shape[1])

    def axes(self, values: Values) -> Iterator[Floats]:
        """Give the coordinates of every record, one axis at a time: all of them may be many."""
        rows = np.searchsorted(self.codes, category_codes(values))
        for axis in self.points.T:
            yield axis[rows]

    def covers(self, values: Values) -> bool:
        """Whether all the values have a point."""
        return bool(np.isin(np.unique(category_codes(values)), self.codes).all())


def category_codes(values: Values) -> Codes:
    """Return the categories as whole numbers, -1 where missing."""
    codes = values.numbers.astype(np.int64)
    return codes if values.missing is None else np.where(values.missing, _MISSING, codes)


def category_points(original: Values, released: Values | None = None) -> CategoryPoints:
    """Return points for the categories of both, at which the original has a variance of 1.

    >>> found = category_points(Values(np.array([0, 0, 1, 2])))
    >>> found.codes.tolist(), found.n_axes
    ([0, 1, 2], 3)
    """
    own = category_codes(original)
    codes, rows = np.unique(own, return_inverse=True)
    counts = np.bincount(rows.reshape(-1))
    if released is not None:
        both = np.union1d(codes, category_codes(released))
        counts_of_both = np.zeros(len(both), dtype=counts.dtype)
        counts_of_both[np.searchsorted(both, codes)] = counts
        codes, counts = both, counts_of_both
    each_once = Values(codes)
    points, _ = encode_pair([(each_once, each_once, False)])
    middle = np.average(points, axis=0, weights=counts)
    squares = np.square(points - middle).sum(axis=1)
    variance = float(squares @ counts) / max(1, len(own) - 1)
    return CategoryPoints(codes, points / np.sqrt(variance) if variance > 0.0 else 0.0 * points)
