"""Units for the clustering: the mean is 0, and a typical distance from it is 1."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from microagg.constraints.equalities import Equalities
from microagg.core.arrays import Floats


@dataclass(frozen=True)
class Frame:
    """An origin, and one scale for all columns, so that only the unit of length changes."""

    origin: Floats
    scale: float

    @classmethod
    def of(cls, X: Floats) -> Self:
        """Return the frame in which X has mean 0 and a root mean square distance of 1 from it."""
        # Sums of equal numbers round; a constant column must keep its value.
        origin = np.clip(X.mean(axis=0), X.min(axis=0), X.max(axis=0))
        spread = math.sqrt(np.square(X - origin).sum() / len(X))
        return cls(origin, spread or 1.0)

    def into(self, X: Floats) -> Floats:
        """Convert points from the units of X to those of the frame."""
        return (X - self.origin) / self.scale

    def back(self, Z: Floats) -> Floats:
        """Convert points of the frame to the units of X."""
        return self.origin + self.scale * Z

    def equalities(self, equalities: Equalities) -> Equalities:
        """Return the same equalities for points of the frame."""
        sides = (equalities.sides - equalities.rows @ self.origin) / self.scale
        return Equalities(equalities.rows, sides, equalities.steps)
