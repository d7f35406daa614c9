"""The numbers of one column, of which some may be missing."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.core.arrays import Mask, Rows

# Shares of a group's weight that differ by less are equal up to rounding.
SAME_SHARE = 1e-9


@dataclass(frozen=True, eq=False)
class Values:
    """A number for every record, or for every group, of one column.

    Categories are stored as their positions among all of them, dates as whole units of time.
    Where `missing` is true, the number is 0 and has no meaning; None means that nothing is missing.
    """

    numbers: NDArray[Any]
    missing: Mask | None = None

    @classmethod
    def of(cls, numbers: NDArray[Any], missing: Mask) -> "Values":
        """Return the numbers, with 0 where they are missing."""
        if not missing.any():
            return cls(numbers)
        return cls(np.where(missing, numbers.dtype.type(0), numbers), missing)

    @property
    def n_missing(self) -> int:
        """How many are missing."""
        return 0 if self.missing is None else int(np.count_nonzero(self.missing))

    @property
    def present(self) -> NDArray[Any]:
        """Those that are not missing."""
        return self.numbers if self.missing is None else self.numbers[~self.missing]

    def take(self, places: Rows) -> "Values":
        """Return the entries at these places."""
        missing = None if self.missing is None else self.missing[places]
        return Values(self.numbers[places], missing)
