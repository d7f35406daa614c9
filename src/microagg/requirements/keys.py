"""A column of keys tells nothing about a record: it holds each number from 1 to n once."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from microagg.requirements.base import Evidence

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Keys:
    """Whether a column holds each whole number from 1 to the number of records once."""

    column: str
    n_records: int
    satisfied: bool

    @property
    def complaint(self) -> str:
        """What the column holds."""
        return f"the column of keys {self.verdict}"

    @property
    def verdict(self) -> str:
        """Which column holds keys, and whether they can be random."""
        if self.satisfied:
            return f"{self.column!r} holds keys from 1 to {self.n_records:,}"
        return (
            f"{self.column!r} does not hold each number from 1 to {self.n_records:,} once, as "
            "random keys do, so it may identify records"
        )

    def rows(self) -> list[tuple[str, str]]:
        """Return the column of keys, and whether they are what they should be."""
        found = f"each from 1 to {self.n_records:,} once" if self.satisfied else "not random keys"
        return [("keys", f"{self.column}: {found}")]

    def as_dict(self) -> dict[str, Any]:
        """Return which column was checked."""
        return {"requirement": "random keys", "column": self.column}


@dataclass(frozen=True, slots=True)
class RandomKeys:
    """The requirement that a column holds the numbers from 1 to n, in any order."""

    column: str

    def judge(self, evidence: Evidence) -> Keys:
        """Look for every number from 1 to n."""
        keys = evidence.table.get_column(self.column)
        return Keys(self.column, len(keys), _are_first_numbers(keys))


def _are_first_numbers(column: "pl.Series") -> bool:
    import polars as pl

    if not (column.dtype.is_numeric() or column.dtype == pl.String):
        return False
    numbers = column.cast(pl.Float64, strict=False).sort().to_list()
    return numbers == list(range(1, len(column) + 1))
