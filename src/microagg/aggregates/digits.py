"""How many decimals released numbers have: as many as people would write."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Digits:
    """The decimals of a column: those it has, and those it is released with.

    `own` is None if its numbers take more than 15 significant digits, and `released` if every digit
    is released. -3 are thousands.
    """

    own: int | None = None
    released: int | None = None

    def rounds(self, dtype: np.dtype[Any]) -> bool:
        """Whether values in this type are rounded; whole numbers are whole anyway."""
        return self.released is not None and (dtype.kind == "f" or self.released < 0)


EVERY_DIGIT = Digits()
# What an option says for that.
ALL = "all"
