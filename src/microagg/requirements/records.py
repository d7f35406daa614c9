"""At least k records behind every released combination: k-anonymity.

The check knows nothing about groups or labels. A class is the set of records with the same values
in the given columns; a missing value is a value like any other.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:  # a plan has requirements, and loads quickly
    import polars as pl


@dataclass(frozen=True, slots=True)
class Classes:
    """The classes of a table: how many there are, the smallest, and those of fewer than k records.

    `below` is the number of classes of each size below k.
    """

    k: int
    n_records: int
    smallest: int
    count: int
    below: dict[int, int]

    @property
    def satisfied(self) -> bool:
        """Whether every class holds at least k records."""
        return self.smallest >= self.k

    @property
    def complaint(self) -> str:
        """How many records share their values with too few others."""
        return (
            f"{self.records_below} records of the finished table share their quasi-identifiers "
            f"with fewer than k={self.k} records"
        )

    @property
    def records_below(self) -> int:
        """How many records are in classes of fewer than k."""
        return sum(size * count for size, count in self.below.items())


@dataclass(frozen=True, slots=True)
class KRecords:
    """The requirement that every class holds at least k records."""

    k: int

    def judge(self, shown: "pl.DataFrame") -> Classes:
        """Count the classes over all columns of a table."""
        import polars as pl

        # Under plain names: polars takes a name such as "^a$" for a pattern.
        columns = [column.alias(str(at)) for at, column in enumerate(shown.get_columns())]
        plain = pl.DataFrame(columns)
        sizes = plain.group_by(plain.columns).len(name="size").get_column("size").to_numpy()
        found, counts = np.unique(sizes[sizes < self.k], return_counts=True)
        return Classes(
            k=self.k,
            n_records=len(shown),
            smallest=int(sizes.min()),
            count=len(sizes),
            below=dict(zip(found.tolist(), counts.tolist(), strict=True)),
        )
