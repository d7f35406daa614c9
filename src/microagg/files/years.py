"""The years 1 to 9999: columnar files alone hold dates beyond them, such as damaged ones."""

import polars as pl

BEYOND = "dates beyond the years 1 to 9999"

# Days from 1970.
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
_PER_DAY = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def is_beyond(column: pl.Series) -> bool:
    """Whether a column has dates beyond these years.

    >>> is_beyond(pl.Series([None, 2_932_896]).cast(pl.Date))
    False
    >>> is_beyond(pl.Series([0, -719_163]).cast(pl.Date))
    True
    """
    dtype = column.dtype
    if dtype == pl.Date:
        per_day = 1
    elif isinstance(dtype, pl.Datetime):
        per_day = _PER_DAY[dtype.time_unit]
    else:
        return False
    numbers = column.to_physical()  # polars panics on dates far beyond
    least, most = numbers.min(), numbers.max()
    if least is None or most is None:
        return False
    return bool(least < _FIRST_DAY * per_day or most >= (_LAST_DAY + 1) * per_day)  # type: ignore[operator]
