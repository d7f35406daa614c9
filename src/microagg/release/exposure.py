"""What a table gives away about units although they are not published."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from microagg.core.errors import DataError
from microagg.release.records import Records
from microagg.tables.frames import polars_column

# Of the pairs of neighbouring records, this share must be of one unit, and this many times what
# chance makes of it, for the order to link records.
_MANY, _TIMES = 0.05, 5.0
# Of the units, this share must each have a value of their own for a column to name units.
_NEARLY_ALL = 0.95


def order_links_units(records: Records) -> bool:
    """Whether records of one unit follow each other, so that their order links them."""
    units = records.units
    if units is None or len(units) < 2:
        return False
    known = units[units >= 0]
    if not len(known):
        return False
    shares = np.bincount(known) / len(units)
    by_chance = float(np.square(shares).sum())
    found = float(np.mean((units[1:] == units[:-1]) & (units[1:] >= 0)))
    return found > _MANY and found > _TIMES * by_chance


def columns_that_name_units(records: Records) -> Iterator[str]:
    """Return published columns in which nearly every unit has a value that no other unit has."""
    units = records.units
    if units is None or units.max(initial=-1) < 1:
        return
    n_units = len(np.unique(units[units >= 0]))
    for name in records.roles.unchanged:
        if name not in records.frame.columns:
            continue
        try:
            values = polars_column(records.frame[name])
        except DataError:  # of types that cannot be compared
            continue
        if values.dtype.is_nested():
            continue
        pairs = pl.DataFrame({"unit": units, "value": values}).filter(pl.col("unit") >= 0)
        own = (
            pairs.drop_nulls("value")
            .group_by("value")
            .agg(pl.col("unit").n_unique().alias("n"), pl.col("unit").first())
            .filter(pl.col("n") == 1)
        )
        if own.get_column("unit").n_unique() >= _NEARLY_ALL * n_units:
            yield name
