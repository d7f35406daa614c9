"""At least k records behind every released combination: k-anonymity.

The check knows nothing about groups or labels. A class is the set of records with the same values
in the given columns; a missing value is a value like any other.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from microagg.core.words import counted
from microagg.requirements.base import Evidence


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
    def verdict(self) -> str:
        """What every combination stands for, or how many records stand alone or nearly so."""
        if self.k == 1:
            return "k = 1 asks for no protection, so any table satisfies it"
        if self.satisfied:
            return f"every combination stands for at least {counted(self.k, 'record')}"
        if self.k > self.n_records:
            return f"k is {self.k:,}, and the table has only {counted(self.n_records, 'record')}"
        show = "shows" if self.records_below == 1 else "show"
        return (
            f"{self.records_below:,} of {counted(self.n_records, 'record')} {show} a combination "
            f"that fewer than {self.k:,} share"
        )

    @property
    def records_below(self) -> int:
        """How many records are in classes of fewer than k."""
        return sum(size * count for size, count in self.below.items())

    def rows(self) -> list[tuple[str, str]]:
        """Return how many combinations there are, the rarest, and the records below k."""
        records, least = counted(self.n_records, "record"), counted(self.smallest, "record")
        return [
            ("combinations", f"{self.count:,} in {records}"),
            ("rarest", f"stands for {least}: the table satisfies k up to {self.smallest:,}"),
            ("below k", f"{self.records_below:,} of {records}"),
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return all counts as plain values."""
        return {
            "requirement": "k records",
            "k": self.k,
            "smallest_class": self.smallest,
            "n_classes": self.count,
            "n_records": self.n_records,
            "classes_below_k": {str(size): count for size, count in self.below.items()},
            "records_below_k": self.records_below,
        }


@dataclass(frozen=True, slots=True)
class KRecords:
    """The requirement that every class holds at least k records."""

    k: int

    def judge(self, evidence: Evidence) -> Classes:
        """Count the records behind every combination."""
        shown = evidence.combinations()
        sizes = shown.group_by(shown.columns).len(name="size").get_column("size").to_numpy()
        found, counts = np.unique(sizes[sizes < self.k], return_counts=True)
        return Classes(
            k=self.k,
            n_records=len(shown),
            smallest=int(sizes.min()),
            count=len(sizes),
            below=dict(zip(found.tolist(), counts.tolist(), strict=True)),
        )
