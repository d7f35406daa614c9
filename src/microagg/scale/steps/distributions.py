"""How often each value of a column is in the whole dataset, for what is compared with that."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from microagg.core.errors import DataError
from microagg.plans.columns import keywords_about
from microagg.requirements.base import About, Distribution
from microagg.tables.polars_columns import as_polars

# Different values of a column that every task can hold.
MOST_VALUES = 1_000_000
_VALUE, _COUNT = "value", "count"


class Counted:
    """The different values of a column, as they are stored, and how often each is there."""

    def __init__(self, name: str, table: pa.Table) -> None:
        self.name, self.table = name, table
        if table.num_rows > MOST_VALUES:
            (keyword,) = keywords_about(About.ORDERED_VALUES)
            raise DataError(
                f"{keyword} compares every group with all values of {name!r} in the dataset, and "
                f"there are more than {MOST_VALUES:,} different ones. Round or coarsen it first, "
                "or leave the requirement out."
            )

    @classmethod
    def of(cls, name: str, column: Any) -> "Counted":
        """Count the values of a part."""
        ones = pa.array(np.ones(len(column), dtype=np.int64))
        return cls(name, _added_up(pa.table([column, ones], names=[_VALUE, _COUNT])))

    def merge(self, other: "Counted") -> "Counted":
        """Return the counts of both parts."""
        return Counted(self.name, _added_up(pa.concat_tables([self.table, other.table])))

    @property
    def distribution(self) -> Distribution:
        """The values and counts as requirements take them."""
        counts = self.table[_COUNT].to_numpy().astype(np.intp)
        return Distribution(as_polars(self.table[_VALUE]), counts)


def _added_up(table: pa.Table) -> pa.Table:
    found = table.group_by(_VALUE, use_threads=False).aggregate([(_COUNT, "sum")])
    return pa.table([found[_VALUE], found[f"{_COUNT}_sum"]], names=[_VALUE, _COUNT])


def merge_all(one: Mapping[str, Counted], other: Mapping[str, Counted]) -> dict[str, Counted]:
    """Return the counts of all columns in both parts."""
    return {name: own.merge(other[name]) for name, own in one.items()}
