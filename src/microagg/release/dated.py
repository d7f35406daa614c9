"""Constraints between dates, in the whole numbers that stand for them.

Dates count days, times the steps of their resolution, all from 1970. So a constraint on dates is
one on whole numbers, once all of its terms are in the same unit: dates are compared with dates,
and numbers are added in days, or in the resolution that is stated for times.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from microagg.constraints.component import LARGEST_WHOLE
from microagg.constraints.grammar import Constraint
from microagg.core.errors import DataError, ParameterError
from microagg.core.words import listed_names
from microagg.tables.columns import Column, ColumnType
from microagg.tables.dates import CALENDAR_UNITS, PER_SECOND, SECONDS, first_moments, in_periods

_TIMES = (ColumnType.DATE, ColumnType.DATETIME)
_DAY = Fraction(SECONDS["day"])


def in_steps(constraint: Constraint, columns: Mapping[str, Column]) -> Constraint:
    """Return a constraint on dates in the steps of their columns; any other as it is."""
    named = {name: columns[name] for name in constraint.coefficients if name in columns}
    times = {name: column for name, column in named.items() if column.type in _TIMES}
    if not times:
        if constraint.dates or constraint.seconds:
            raise _refused(
                constraint,
                f"a date is compared with {listed_names([*constraint.coefficients])}, which is not "
                "a date. State its type, or put spaces around a minus",
            )
        return constraint
    _check_compared(constraint, times)
    for column in times.values():
        _check_exact(column)
    numbers = [name for name in constraint.coefficients if name not in times]
    if any(column.unit in CALENDAR_UNITS for column in times.values()):
        return _in_periods(constraint, times, numbers)
    unit = _unit_of_numbers(constraint, times) if numbers or constraint.bound else _DAY
    factors = {name: _seconds(column) / unit for name, column in times.items()}
    return replace(
        constraint,
        coefficients={
            name: own * factors.get(name, 1) for name, own in constraint.coefficients.items()
        },
        bound=constraint.bound - constraint.seconds / unit,
        dates=Fraction(0),
        seconds=Fraction(0),
    )


def _check_compared(constraint: Constraint, times: Mapping[str, Column]) -> None:
    """Refuse what does not compare dates with dates of the same kind."""
    if sum((constraint.coefficients[name] for name in times), constraint.dates):
        raise _refused(
            constraint,
            f"dates ({listed_names([*times])}) are compared with dates, not with numbers. Write "
            "'admitted <= discharged', 'admitted + stay = discharged' or 'born >= 1900-01-31'",
        )
    zones = {re.sub(r".*time_zone='([^']*)'.*", r"\1", column.stored) for column in times.values()}
    if len(zones) > 1 and any("time_zone='" in column.stored for column in times.values()):
        raise _refused(
            constraint,
            f"the times in {listed_names([*times])} are of different zones. Convert them",
        )
    periods = {(c.unit, c.step) if c.unit in CALENDAR_UNITS else None for c in times.values()}
    has_dates = any(column.type is ColumnType.DATE for column in times.values())
    if len(periods) > 1 or (has_dates and any(map(_has_times, times.values()))):
        raise _refused(
            constraint,
            f"{listed_names([*times])} are dates of different resolutions. Give them the same "
            "(--resolution NAME=day, or 'resolution' in Python)",
        )


def _has_times(column: Column) -> bool:
    return column.unit not in CALENDAR_UNITS and bool(_seconds(column) % _DAY)


def _check_exact(column: Column) -> None:
    numbers = column.values.present
    if len(numbers) and np.abs(numbers).max() > LARGEST_WHOLE:
        raise DataError(
            f"the times in {column.name!r} are too fine for a constraint. Give them a resolution "
            f"(--resolution {column.name}=second, or 'resolution' in Python)."
        )


def _unit_of_numbers(constraint: Constraint, times: Mapping[str, Column]) -> Fraction:
    """Return the seconds in the unit of numbers that are added to dates."""
    if not any(map(_has_times, times.values())):
        return _DAY
    stated = {column.resolution for column in times.values()}
    if len(stated) > 1 or None in stated:
        raise _refused(
            constraint,
            f"{listed_names([*times])} have times, and numbers beside them may be days, hours or "
            "minutes. State the same resolution for all of them (--resolution NAME=hour, or "
            "'resolution' in Python)",
        )
    return Fraction(SECONDS[str(stated.pop())])


def _in_periods(
    constraint: Constraint, times: Mapping[str, Column], numbers: list[str]
) -> Constraint:
    """Return a constraint on months, quarters or years: two columns, or one and a date."""
    is_pair = len(times) + bool(constraint.dates) == 2 and not (
        len(times) == 2 and constraint.seconds
    )
    if numbers or constraint.bound or not is_pair:
        raise _refused(
            constraint,
            f"{listed_names([*times])} are months, quarters or years, which are only compared with "
            "each other or with a date. Use the resolution day, or compare two of them",
        )
    if len(times) == 2:
        return constraint
    (column,) = times.values()
    moment = constraint.seconds / constraint.dates
    at = in_periods(np.array([int(moment)]), "s", column.unit, column.step)
    begins = int(first_moments(at, column.unit, column.step, "s")[0])
    period = Fraction(int(at[0])) + (0 if begins == moment else Fraction(1, 2))
    return replace(
        constraint,
        bound=-constraint.dates * period,
        dates=Fraction(0),
        seconds=Fraction(0),
    )


def _seconds(column: Column) -> Fraction:
    """Return the length of a step of a column of dates."""
    return _DAY if column.unit == "D" else Fraction(column.step, PER_SECOND[column.unit])


def _refused(constraint: Constraint, why: str) -> ParameterError:
    return ParameterError(f"constraint {constraint.text!r}: {why}.")
