"""What is lost by the best groups so far, for those who watch a search."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import partial
from threading import Lock

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.core.progress import current_best_listener, listening_for_best

# A matrix, and the rows of it that are grouped on their own.
PartOfMatrix = tuple[Floats, Rows]


class LossSoFar:
    """Turns the errors that searches of parts report into one loss in per cent.

    It is the loss of the records whose search has begun, in the space in which they are compared.
    """

    def __init__(self, parts: Sequence[PartOfMatrix]) -> None:
        self._parts = parts
        self._outer = current_best_listener()
        self._lock = Lock()
        self._errors: dict[int, float] = {}
        self._totals: dict[int, float] = {}

    def of_part(self, place: int) -> AbstractContextManager[None]:
        """Listen to the search of a part, on the thread that does it."""
        heard = None if self._outer is None else partial(self._hear, place)
        return listening_for_best(heard)

    def _hear(self, place: int, error: float | None) -> None:
        assert self._outer is not None
        if error is None:
            self._outer(None)
            return
        if place not in self._totals:
            self._totals[place] = _squares(*self._parts[place])
        with self._lock:
            self._errors[place] = error
            total = sum(self._totals[known] for known in self._errors)
            lost = sum(self._errors.values())
        self._outer(100.0 * lost / total if total > 0.0 else 0.0)


def _squares(matrix: Floats, rows: Rows) -> float:
    """Return the sum of squares of these rows about the mean of all."""
    return float(np.square(matrix[rows] - matrix.mean(axis=0)).sum())
