"""Numbers in files of programs that keep all of them as floating-point numbers."""

from typing import Any

import polars as pl

# Floating-point numbers hold every whole number up to this one.
LARGEST_WHOLE = 2**53


def largest_size(column: pl.Series) -> Any:
    """Return the largest absolute value; 0 if there is none."""
    ends: list[Any] = [end for end in (column.min(), column.max()) if end is not None]
    return max((abs(end) for end in ends), default=0)
