"""A v = b with any number of rows: the nearest point that satisfies it, in closed form."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from microagg.core.arrays import Floats
from microagg.core.errors import DataError, ParameterError

# Rows of unit length that differ by less are equal.
NEGLIGIBLE = 1e-13
# Right-hand sides that differ by more are a contradiction.
_APART = 1e-10


@dataclass(frozen=True)
class Equalities:
    """The points where `rows @ v = sides`; `steps` leads to the nearest of them.

    A point that misses the sides by r moves by `r @ steps`. Misses are always computed from the
    equalities as given, so that each holds to the last digits of its own terms, even if those of
    another are much larger.
    """

    rows: Floats
    sides: Floats
    steps: Floats

    @classmethod
    def of(cls, A: ArrayLike, b: ArrayLike) -> Self:
        """Return the equalities A v = b; redundant rows are allowed."""
        A, b = _as_floats(A, b)
        lengths, units = unit_rows(A)
        with np.errstate(over="ignore"):
            sides = np.divide(b, lengths, out=b.copy(), where=lengths > 0)
        if not np.isfinite(sides).all():
            raise too_far_away()
        point = np.linalg.pinv(units, rcond=NEGLIGIBLE) @ sides
        terms = np.abs(units) @ np.abs(point) + np.abs(sides)
        if (np.abs(units @ point - sides) > _APART * terms).any():
            raise ParameterError(
                "the constraints contradict each other: no point satisfies all equalities at "
                "once. Remove one of them."
            )
        return cls.measured(A, b, np.ones(A.shape[1]))

    @classmethod
    def measured(cls, A: Floats, b: Floats, scales: Floats) -> Self:
        """Return A v = b, where distances are measured after dividing columns by `scales`.

        A column of scale 0 does not move. Contradictions are not detected.
        """
        lengths, units = unit_rows(A * scales)
        pull = np.linalg.pinv(units, rcond=NEGLIGIBLE).T * scales
        return cls(A, b, np.divide(pull, lengths[:, None], out=pull, where=lengths[:, None] > 0))

    def project(self, points: Floats, within: Floats | float = 0.0) -> Floats:
        """Return the point nearest to each row of `points` that satisfies the equalities.

        Sides are lowered by `within`, one number for each row and equality, or one for all.
        """
        for _ in range(3):  # the first pass moves the points, the others remove rounding errors
            misses = self.sides - within - rowwise(points, self.rows)
            points = points + rowwise(misses, self.steps.T)
        return points


def too_far_away() -> DataError:
    """Return the error for equalities that hold only where distances are beyond floats."""
    return DataError(
        "the constraints hold only at points too far from the records to compare. Check the "
        "constraints and the units of the columns."
    )


def _as_floats(A: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
    expected = (
        "constraints must be a matrix A and a vector b of finite numbers, as many as A has rows"
    )
    try:
        A = np.atleast_2d(np.asarray(A, dtype=np.float64))
        b = np.atleast_1d(np.asarray(b, dtype=np.float64))
    except (TypeError, ValueError):
        raise ParameterError(f"{expected}; got something else.") from None
    finite = np.isfinite(A).all() and np.isfinite(b).all()
    if A.ndim != 2 or b.shape != A.shape[:1] or not finite:
        raise ParameterError(f"{expected}; got the shapes {A.shape} and {b.shape}.")
    return A, b


def unit_rows(A: Floats) -> tuple[Floats, Floats]:
    """Return the lengths of the rows of A, and the rows of length 1; zeros stay zeros."""
    largest = np.abs(A).max(axis=1, initial=0.0)
    safe = np.where(largest > 0, largest, 1.0)
    lengths = safe * np.sqrt(np.square(A / safe[:, None]).sum(axis=1))
    return lengths, A / np.where(lengths > 0, lengths, 1.0)[:, None]


def rowwise(points: Floats, rows: Floats) -> Floats:
    """Return `points @ rows.T`, every row summed in the same order, however many there are."""
    products: Floats = np.einsum("ij,kj->ik", points, rows)
    return products
