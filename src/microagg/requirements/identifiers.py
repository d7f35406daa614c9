"""No identifier is left in the table, counted by the names of its columns."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from microagg.core.words import listed_names


@dataclass(frozen=True, slots=True)
class Remaining:
    """The identifiers that should have been removed, and those that are still in the table."""

    identifiers: tuple[str, ...]
    left: tuple[str, ...]

    @property
    def satisfied(self) -> bool:
        """Whether all have been removed."""
        return not self.left

    @property
    def complaint(self) -> str:
        """Which identifiers are left."""
        return self.verdict

    @property
    def verdict(self) -> str:
        """Which identifiers are left, if any."""
        if self.satisfied:
            return "no identifier that was named is in the table"
        return "; ".join(f"identifier {name!r} is still in the table" for name in self.left)

    def rows(self) -> list[tuple[str, str]]:
        """Return the identifiers that are left, if any."""
        names = self.left or self.identifiers
        return [("identifiers", f"{'still there' if self.left else 'gone'}: {listed_names(names)}")]

    def as_dict(self) -> dict[str, Any]:
        """Return the identifiers as plain values."""
        return {
            "requirement": "no identifiers",
            "identifiers": list(self.identifiers),
            "still_in_the_table": list(self.left),
        }


@dataclass(frozen=True, slots=True)
class NoIdentifiers:
    """The requirement that a table has none of these columns, whatever they hold."""

    identifiers: tuple[str, ...]

    def judge(self, columns: Collection[str]) -> Remaining:
        """Look for them among the names of a table's columns."""
        left = tuple(name for name in self.identifiers if name in columns)
        return Remaining(self.identifiers, left)
