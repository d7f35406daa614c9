"""How many decimals a column of numbers is released with: as asked, or as many as it has."""

from typing import NamedTuple

import numpy as np

from microagg.aggregates.digits import ALL, EVERY_DIGIT, Digits
from microagg.core.decimals import decimals_of
from microagg.core.errors import ParameterError
from microagg.tables.columns import Column
from microagg.tables.frames import Frame, dtype_of
from microagg.tables.typed import FLOATS

# Rounding to steps of more than this share of a standard deviation is felt: it adds a hundredth of
# the variance.
_COARSE = 0.35


class Known(NamedTuple):
    """The decimals of a column that is not here as a whole: the most that any part of it has."""

    decimals: int | None


def digits_of(
    column: Column, asked: int | str | None, of_all: str | None, known: Known | None = None
) -> Digits:
    """Return the decimals of a column and those to release; `of_all` is what all columns release.

    Missing values do not count. Only numbers have decimals: dates are released at their resolution.
    """
    if not column.type.is_number:
        return EVERY_DIGIT
    numbers = column.values.present
    if numbers.dtype.kind in "iu":
        if asked == ALL or (isinstance(asked, int) and asked > 0):
            raise ParameterError(
                f"column {column.name!r} has whole numbers, which stay whole: its digits must be 0 "
                f"or less, such as -3 for thousands; got {asked!r}. Leave them out, or convert the "
                "column to floats."
            )
        return Digits(0, asked if isinstance(asked, int) else 0)
    wanted = of_all if asked is None else asked
    if wanted == ALL:
        return EVERY_DIGIT
    own = decimals_of(numbers) if known is None else known.decimals
    return Digits(own, wanted if isinstance(wanted, int) else own)


def is_decimal(frame: Frame, name: str, asked: int | str) -> bool:
    """Whether decimals are asked for, of a column of floats: they may all be whole."""
    return (asked == ALL or (isinstance(asked, int) and asked > 0)) and (
        dtype_of(frame, name) in FLOATS
    )


def is_coarse(column: Column) -> bool:
    """Whether the released decimals are coarse beside the spread of the numbers.

    Whole numbers are released as such anyway, unless they are rounded to tens or more.
    """
    numbers, released = column.values.present, column.digits.released
    if released is None or not column.digits.rounds(numbers.dtype) or not len(numbers):
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        spread = float(np.std(numbers.astype(np.float64)))
    return is_coarse_beside(spread, released)


def is_coarse_beside(spread: float, released: int) -> bool:
    """Whether this many decimals are coarse beside a standard deviation."""
    return bool(0.0 < spread * _COARSE < 10.0**-released)
