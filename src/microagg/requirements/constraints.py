"""Every record satisfies the constraints, counted on the finished values."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg.constraints.grammar import Constraint
from microagg.core.errors import DataError
from microagg.core.words import counted
from microagg.requirements.base import Evidence

if TYPE_CHECKING:  # a plan has requirements, and loads quickly
    import polars as pl
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Violations:
    """How many records violate each constraint, by its text."""

    counts: dict[str, int]

    @property
    def broken(self) -> str:
        """The violated constraints, each with its number of records."""
        listed = (f"{text} ({counted(n, 'record')})" for text, n in self.counts.items() if n)
        return "; ".join(listed)

    @property
    def satisfied(self) -> bool:
        """Whether no record violates a constraint."""
        return not any(self.counts.values())

    @property
    def complaint(self) -> str:
        """Which constraints are violated."""
        return f"a constraint is violated in the finished table: {self.broken}"

    @property
    def verdict(self) -> str:
        """Which constraints are violated, if any."""
        if self.satisfied:
            return "every record satisfies the constraints"
        return f"a constraint is violated: {self.broken}"

    def rows(self) -> list[tuple[str, str]]:
        """Return every constraint, and whether it is satisfied."""
        return [
            ("violated" if n else "satisfied", f"{text} ({counted(n, 'record')})" if n else text)
            for text, n in self.counts.items()
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        return {"requirement": "constraints", "records_in_violation": dict(self.counts)}


@dataclass(frozen=True, slots=True)
class Constrained:
    """The requirement that every record satisfies linear constraints."""

    constraints: tuple[Constraint, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that occur in constraints, which must be numbers."""
        names = (name for constraint in self.constraints for name in constraint.coefficients)
        return tuple(dict.fromkeys(names))

    def judge(self, evidence: Evidence) -> Violations:
        """Count the records that violate each constraint."""
        from microagg.constraints.violations import count_violations, largest_size

        columns = {name: _numbers(evidence.table.get_column(name)) for name in self.columns}
        largest = {name: largest_size(numbers) for name, numbers in columns.items()}
        return Violations(count_violations(self.constraints, columns, largest))


def _numbers(column: "pl.Series") -> "NDArray[Any]":
    numbers = column.to_numpy()
    if column.null_count() or (numbers.dtype.kind == "f" and np.isnan(numbers).any()):
        raise DataError(
            f"values are missing in {column.name!r}, which cannot satisfy a constraint. Leave the "
            "constraint out."
        )
    return numbers
