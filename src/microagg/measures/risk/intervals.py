"""Interval disclosure: original values within a narrow interval around the released ones."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.aggregates.values import Values
from microagg.core.arrays import Floats
from microagg.core.validation import check_number
from microagg.tables.pairs import Pair, PairedColumn

WIDTHS = (0.01, 0.05, 0.1)

# Rank differences are multiples of a half; p * n may be rounded to just below one.
_SAME_RANK = 1.0 + 1e-12

Shares = dict[float, float]


@dataclass(frozen=True)
class IntervalDisclosure:
    """Shares of records whose original value lies within the interval, by the width p.

    `by_deviation` and `by_rank` are for single columns, `every_by_deviation` and `every_by_rank`
    for all these columns at once (empty where there are none).
    """

    by_deviation: dict[str, Shares]
    by_rank: dict[str, Shares]
    every_by_deviation: Shares
    every_by_rank: Shares


def interval_disclosure(pair: Pair, *, widths: Sequence[float] = WIDTHS) -> IntervalDisclosure:
    """Return how often a released value discloses the original one within a small interval.

    With x the original number, date or ordered category and z the released one, x is disclosed

    - by deviation if |x - z| <= p * s, with s the standard deviation (ddof = 1) of the original
      column;
    - by rank if |r(x) - r(z)| <= p * n, with n original values, and r(v) the number of them below
      v plus half the number equal to v.

    A missing value is disclosed if it was released as missing, and a value released as missing is
    not. Nominal columns are left out. Time O(n log n) for each column. Source: Mateo-Sanz, Sebe and
    Domingo-Ferrer (2004).
    """
    columns = pair.scaled_columns
    by_deviation, every_by_deviation = shares_within(columns, widths, in_deviations)
    by_rank, every_by_rank = shares_within(columns, widths, in_ranks)
    return IntervalDisclosure(by_deviation, by_rank, every_by_deviation, every_by_rank)


def shares_within(
    columns: Sequence[PairedColumn],
    widths: Sequence[float],
    measure: Callable[[PairedColumn], Floats],
) -> tuple[dict[str, Shares], Shares]:
    """Return the share of records changed by at most each width: by column, and in all at once.

    `measure` gives the change of every record in the units of the widths.
    """
    if not columns:
        return {}, {}
    checked = [check_number("widths", width, low=0.0) for width in widths]
    largest = np.zeros(len(columns[0].before.numbers))
    single = {}
    for column in columns:
        changes = measure(column)
        single[column.name] = _shares(changes, checked)
        np.maximum(largest, changes, out=largest)
    return single, _shares(largest, checked)


def _shares(changes: Floats, widths: Sequence[float]) -> Shares:
    return {width: float((changes <= width).mean()) for width in widths}


def in_deviations(column: PairedColumn) -> Floats:
    """Return the change of every record in standard deviations of the original column."""
    return in_units(changes(column), column.before.scaling.unit)


def in_ranks(column: PairedColumn) -> Floats:
    """Return the change of every record in ranks, as a share of the number of original values."""
    ordered = column.before.ordered
    moved = np.abs(_ranks(ordered, column.before) - _ranks(ordered, column.after))
    return _with_missing(column, moved / (_SAME_RANK * max(1, len(ordered))))


def _ranks(ordered: NDArray[Any], values: Values) -> Floats:
    """Return the number of `ordered` below each value plus half the number equal to it.

    Looking values up in sorted order makes good use of the cache: several times faster.
    """
    different, rows = np.unique(values.numbers, return_inverse=True)
    below = np.searchsorted(ordered, different)
    up_to = np.searchsorted(ordered, different, side="right")
    return np.asarray((below + up_to) / 2.0)[rows.reshape(-1)]


def changes(column: PairedColumn) -> Floats:
    """Return |x - z| of every record: 0 if both are missing, infinity if one is."""
    before, after = (v.numbers.astype(np.float64) for v in (column.before, column.after))
    return _with_missing(column, np.abs(before - after))


def in_units(changes: Floats, unit: float) -> Floats:
    """Return changes in a unit; if that is 0, any change is outside every interval."""
    if unit > 0.0:
        with np.errstate(over="ignore"):  # infinity, too, is outside every interval
            return changes / unit
    return np.where(changes == 0.0, 0.0, np.inf)


def _with_missing(column: PairedColumn, changes: Floats) -> Floats:
    before, after = column.before, column.after
    if before.missing is None and after.missing is None:
        return changes
    changes[before.is_present != after.is_present] = np.inf
    changes[~before.is_present & ~after.is_present] = 0.0
    return changes
