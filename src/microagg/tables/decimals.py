"""How many decimals a column of numbers is released with: as asked, or as many as it has."""

from microagg.aggregates.digits import ALL, EVERY_DIGIT, Digits
from microagg.core.decimals import decimals_of
from microagg.core.errors import ParameterError
from microagg.tables.columns import Column


def digits_of(column: Column, asked: int | str | None, of_all: str | None) -> Digits:
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
    own = decimals_of(numbers)
    return Digits(own, wanted if isinstance(wanted, int) else own)
