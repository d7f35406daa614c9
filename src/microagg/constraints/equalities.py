"""A v = b, however many rows: the nearest point that satisfies all of them, in closed form."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.errors import ParameterError

Floats = NDArray[np.float64]

# Rows of unit length that differ by less are one; right sides that differ by more contradict.
_NEGLIGIBLE = 1e-10


@dataclass(frozen=True)
class Equalities:
    """The points where `normals @ v = offsets`; the normals are orthonormal."""

    normals: Floats
    offsets: Floats

    @classmethod
    def of(cls, A: ArrayLike, b: ArrayLike) -> Self:
        """Return the equalities A v = b; rows that follow from others are tolerated."""
        A = np.atleast_2d(np.asarray(A, dtype=np.float64))
        b = np.atleast_1d(np.asarray(b, dtype=np.float64))
        if (
            A.ndim != 2
            or b.shape != A.shape[:1]
            or not (np.isfinite(A).all() and np.isfinite(b).all())
        ):
            raise ParameterError(
                "constraints must be a matrix A and a vector b of finite numbers, as many as A "
                f"has rows; got the shapes {A.shape} and {b.shape}."
            )
        lengths = np.sqrt(np.square(A).sum(axis=1, keepdims=True))
        empty = lengths[:, 0] == 0
        left, weights, normals = np.linalg.svd(
            np.divide(A, lengths, out=np.zeros_like(A), where=lengths > 0), full_matrices=False
        )
        rank = int(np.count_nonzero(weights > _NEGLIGIBLE))
        sides = np.divide(b, lengths[:, 0], out=b.copy(), where=~empty)
        explained = left[:, :rank].T @ sides
        apart = np.abs(sides - left[:, :rank] @ explained)
        if (apart > _NEGLIGIBLE * np.abs(sides).max(initial=0.0)).any():
            raise ParameterError(
                "the constraints contradict each other: no point satisfies all equalities at "
                "once. Remove one of them."
            )
        return cls(normals[:rank], explained / weights[:rank])

    def project(self, points: Floats) -> Floats:
        """Return the point nearest to each row of `points` that satisfies the equalities."""
        for _ in range(2):  # the second time removes what rounding left
            points = points - (points @ self.normals.T - self.offsets) @ self.normals
        return points
