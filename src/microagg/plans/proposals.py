"""Constraints that a table already satisfies, as proposals for its plan."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.constraints.grammar import quoted_column
from microagg.constraints.orders import Order, find_orders, implied_orders
from microagg.constraints.totals import Total, find_totals
from microagg.tables.columns import Column, ColumnOptions, ColumnType
from microagg.tables.frames import Frame
from microagg.tables.typed import open_column

_KINDS = (
    (ColumnType.INTEGER, ColumnType.CONTINUOUS),
    (ColumnType.DATE,),
    (ColumnType.DATETIME,),
)
# More would hide those that matter.
_MOST = 30


@dataclass(frozen=True)
class Proposal:
    """A constraint, and in how many of the records that have all of its columns it fails.

    `n_gaps` are the records in which a value of these columns is missing.
    """

    text: str
    failing: int
    n_records: int
    n_gaps: int = 0

    @property
    def comment(self) -> str:
        """In how many records it holds."""
        records = f"{self.n_records:,} records{' without gaps' if self.n_gaps else ''}"
        if not self.failing:
            return f"holds in all {records}"
        return f"holds in all but {self.failing:,} of {records}"


def propose_constraints(
    frame: Frame, types: Mapping[str, ColumnType], dates: str | None = None
) -> list[Proposal]:
    """Return totals and order relations that hold in all records, or all but a few.

    `types` are those of the columns to look at; only numbers and dates are used.
    """
    opened = {}
    for name, kind in types.items():
        if any(kind in kinds for kinds in _KINDS):
            column = open_column(frame, name, ColumnOptions(kind, dates=dates))
            if _varies(column):
                opened[name] = column
    columns = {name: _numbers(column) for name, column in opened.items()}
    missing = {
        name: column.values.missing
        for name, column in opened.items()
        if column.values.missing is not None and column.values.missing.any()
    }
    summed = {n: v for n, v in columns.items() if opened[n].type is not ColumnType.DATETIME}
    days = {name for name in summed if opened[name].type is ColumnType.DATE}
    totals = [total for total in find_totals(summed, missing) if _adds_up(total, days)]
    found = [Proposal(_total_text(own), own.failing, own.n_records) for own in totals]
    implied = implied_orders(totals, columns, missing)
    for kinds in _KINDS:
        own = {name: values for name, values in columns.items() if opened[name].type in kinds}
        if len(own) > 1:
            orders = find_orders(
                _without_copies(own, totals),
                missing,
                implied=implied,
                are_dates=ColumnType.INTEGER not in kinds,
            )
            found += [Proposal(_order_text(each), each.failing, each.n_records) for each in orders]
    return [replace(own, n_gaps=len(frame) - own.n_records) for own in found[:_MOST]]


def _numbers(column: Column) -> NDArray[Any]:
    """Return the numbers of a column; times in their own unit, so that any two compare."""
    numbers = column.values.numbers
    if column.type is not ColumnType.DATETIME:
        return numbers
    return (
        (numbers * column.step)
        .astype(f"datetime64[{column.unit}]")
        .astype("datetime64[us]")
        .astype(np.int64)
    )


def _varies(column: Column) -> bool:
    present = column.values.present
    return bool(len(present) and np.isfinite(present).all() and (present != present[0]).any())


def _adds_up(total: Total, days: set[str]) -> bool:
    """Whether days are added to dates, not dates to dates."""
    return sum(sign for name, sign in total.signs.items() if name in days) == 0


def _without_copies(
    columns: Mapping[str, NDArray[Any]], totals: list[Total]
) -> dict[str, NDArray[Any]]:
    """Return the columns without those that equal another one."""
    copies = {list(own.signs)[1] for own in totals if len(own.signs) == 2 and own.bound == 0.0}
    return {name: values for name, values in columns.items() if name not in copies}


def _total_text(total: Total) -> str:
    """Write a total with its parts on the left: 'net + tax = gross'."""
    sides: dict[int, list[str]] = {1: [], -1: []}
    for name, sign in total.signs.items():
        sides[sign].append(quoted_column(name))
    if total.bound:
        # All columns on the side with most of them, so that little is subtracted.
        lead = 1 if len(sides[1]) >= len(sides[-1]) else -1
        text = " - ".join((" + ".join(sides[lead]), *sides[-lead]))
        return f"{text} = {lead * total.bound:.12g}"
    left, right = sorted(sides.values(), key=len, reverse=True)
    return f"{' + '.join(left)} = {' + '.join(right)}"


def _order_text(order: Order) -> str:
    return f"{quoted_column(order.low)} <= {quoted_column(order.high)}"
