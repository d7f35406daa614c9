"""Every record satisfies the constraints, counted on the finished values."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg.constraints.grammar import Constraint
from microagg.core.errors import DataError
from microagg.core.words import counted
from microagg.requirements.base import Evidence

if TYPE_CHECKING:  # a plan has requirements, and loads quickly
    import polars as pl
    from numpy.typing import NDArray

_PER_SECOND = 10**6
_MICROSECONDS = {
    word: seconds * _PER_SECOND
    for word, seconds in (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))
}


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
class ConstrainedColumns:
    """The requirement that every record satisfies linear constraints.

    `forms` says how dates are written in columns of text, and `resolutions` in what unit numbers
    count that are added to times. `largest` is the largest number of a column of which only a part
    is judged: sums are as exact as that.
    """

    constraints: tuple[Constraint, ...]
    forms: Mapping[str, str] = field(default_factory=dict)
    resolutions: Mapping[str, str] = field(default_factory=dict)
    largest: Mapping[str, float] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that occur in constraints, which must be numbers or dates."""
        names = (name for constraint in self.constraints for name in constraint.coefficients)
        return tuple(dict.fromkeys(names))

    def judge(self, evidence: Evidence) -> Violations:
        """Count the records that violate each constraint."""
        from microagg.constraints.violations import count_violations, largest_size

        series = {name: self._column(evidence.table.get_column(name)) for name in self.columns}
        columns = {name: _numbers(column) for name, column in series.items()}
        largest = {
            name: max(largest_size(numbers), self.largest.get(name, 0.0))
            for name, numbers in columns.items()
        }
        found: dict[str, int] = {}
        for constraint in self.constraints:
            times = [name for name in constraint.coefficients if series[name].dtype.is_temporal()]
            if times or constraint.dates or constraint.seconds:
                terms = {name: columns[name] for name in constraint.coefficients}
                in_one_unit, terms = self._in_microseconds(constraint, terms, times)
                found |= count_violations([in_one_unit], terms)
            else:
                found |= count_violations([constraint], columns, largest)
        return Violations(found)

    def _column(self, column: "pl.Series") -> "pl.Series":
        """Return a column, its dates as such if they are text."""
        form = self.forms.get(column.name, "").replace("%-", "%")
        if not form:
            return column
        if "%M" in form:
            read = column.alias("").str.to_datetime(form, time_unit="us", strict=False)
        else:
            read = column.alias("").str.to_date(form, strict=False)
        if read.null_count() > column.null_count():
            raise DataError(
                f"not all texts in {column.name!r} are dates of the same form, so a "
                "constraint cannot be checked. Correct them, or leave the constraint out."
            )
        return read.alias(column.name)

    def _in_microseconds(
        self, constraint: Constraint, columns: "dict[str, NDArray[Any]]", times: list[str]
    ) -> "tuple[Constraint, dict[str, NDArray[Any]]]":
        """Return a constraint on dates, with all of its terms in microseconds since 1970.

        Numbers count days, unless a resolution is stated.
        """
        if sum((constraint.coefficients[name] for name in times), constraint.dates):
            raise DataError(
                f"constraint {constraint.text!r}: dates are compared with dates, not with numbers. "
                "Correct it, or leave it out."
            )
        unit = Fraction(1)
        if constraint.bound or len(times) < len(constraint.coefficients):
            unit = Fraction(self._unit(constraint, columns, times))
        own = {
            name: numbers if name in times else _whole(numbers) for name, numbers in columns.items()
        }
        coefficients = {
            name: factor if name in times else factor * unit
            for name, factor in constraint.coefficients.items()
        }
        bound = constraint.bound * unit - constraint.seconds * _PER_SECOND
        return replace(constraint, coefficients=coefficients, bound=bound), own

    def _unit(
        self, constraint: Constraint, columns: "dict[str, NDArray[Any]]", times: list[str]
    ) -> int:
        stated = {self.resolutions.get(name) for name in times}
        if len(stated) == 1 and (resolution := stated.pop()) in _MICROSECONDS:
            return _MICROSECONDS[str(resolution)]
        day = _MICROSECONDS["day"]
        if any((columns[name] % day).any() for name in times):
            raise DataError(
                f"constraint {constraint.text!r}: numbers beside times may be days, hours or "
                "minutes. Give the plan of the release, which states the resolution."
            )
        return day


def _whole(numbers: "NDArray[Any]") -> "NDArray[Any]":
    """Return floats that are all whole as whole numbers, so that sums with dates are exact."""
    if numbers.dtype.kind == "f" and (np.rint(numbers) == numbers).all():
        return numbers.astype(np.int64)
    return numbers


def _numbers(column: "pl.Series") -> "NDArray[Any]":
    """Return numbers as they are, and dates in microseconds since 1970."""
    if column.dtype.is_temporal():
        import polars as pl

        clocks = column if column.dtype == pl.Date else column.dt.replace_time_zone(None)
        column = clocks.cast(pl.Datetime("us")).to_physical().alias(column.name)
    numbers = column.to_numpy()
    if column.null_count() or (numbers.dtype.kind == "f" and np.isnan(numbers).any()):
        raise DataError(
            f"values are missing in {column.name!r}, which cannot satisfy a constraint. Leave the "
            "constraint out."
        )
    return numbers
