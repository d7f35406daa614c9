"""A column of keys holds each number from 1 to n once, and not in order.

Whether they were drawn at random, the column does not show.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from microagg.requirements.base import Evidence

if TYPE_CHECKING:
    import polars as pl


# Of more records than this, random keys are hardly ever in order.
FEW = 8


@dataclass(frozen=True, slots=True)
class Keys:
    """Whether a column holds each whole number from 1 to the number of records once.

    If it does, `order` says whether they ascend or descend, unless there are just a few.
    """

    column: str
    n_records: int
    is_permutation: bool
    order: str = ""

    @property
    def satisfied(self) -> bool:
        """Whether the numbers can be random keys."""
        return self.is_permutation and not self.order

    @property
    def complaint(self) -> str:
        """What the column holds."""
        return f"the column of keys {self.verdict}"

    @property
    def verdict(self) -> str:
        """Which column holds keys, and whether they can be random."""
        if self.satisfied:
            return f"{self.column!r} holds keys from 1 to {self.n_records:,}"
        if self.order:
            return (
                f"{self.column!r} holds the numbers from 1 to {self.n_records:,} in {self.order} "
                "order, as serial numbers in the original order would be, so it may identify "
                "records"
            )
        return (
            f"{self.column!r} does not hold each number from 1 to {self.n_records:,} once, as "
            "random keys do, so it may identify records"
        )

    def rows(self) -> list[tuple[str, str]]:
        """Return the column of keys, and whether they are what they should be."""
        order = f", in {self.order} order" if self.order else ""
        found = f"each from 1 to {self.n_records:,} once{order}"
        return [("keys", f"{self.column}: {found if self.is_permutation else 'not random keys'}")]

    def as_dict(self) -> dict[str, Any]:
        """Return which column was checked."""
        return {"requirement": "random keys", "column": self.column}


@dataclass(frozen=True, slots=True)
class RandomKeys:
    """The requirement that a column holds the numbers from 1 to n, and not in order."""

    column: str

    def judge(self, evidence: Evidence) -> Keys:
        """Look for every number from 1 to n, and at their order."""
        keys = _as_numbers(evidence.table.get_column(self.column))
        n = len(keys)
        if keys.sort().to_list() != list(range(1, n + 1)):
            return Keys(self.column, n, is_permutation=False)
        orders = {1.0: "ascending", float(n): "descending"} if n > FEW else {}
        is_sorted = keys.is_sorted(descending=keys[0] != 1.0)
        return Keys(self.column, n, True, orders.get(keys[0], "") if is_sorted else "")


def _as_numbers(column: "pl.Series") -> "pl.Series":
    """Return numbers, also those of a text file; anything else is missing."""
    import polars as pl

    if column.dtype.is_numeric() or column.dtype == pl.String:
        return column.cast(pl.Float64, strict=False)
    return pl.Series([None] * len(column), dtype=pl.Float64)
