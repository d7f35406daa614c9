"""Information loss of the released values, overall and by column."""

from dataclasses import dataclass

import numpy as np

from microagg.measures.utility.information_loss import Errors
from microagg.tables.pairs import Pair, PairedColumn


@dataclass(frozen=True)
class ColumnLoss:
    """100 * SSE / SST in per cent, of all columns together and of each.

    None where the original does not vary but the release does. Such columns do not count towards
    the total.
    """

    information_loss: float | None
    sse: float
    sst: float
    columns: dict[str, float | None]


def column_loss(pair: Pair) -> ColumnLoss:
    """Return the share of the original's variation that is lost in the released values.

    With x a record of the original and z its released record, as points in the space of comparison,

        IL = 100 * sum |x - z|^2 / sum |x - mean of all x|^2

    and for a column the same on its own axes. No groups are needed, so rounding, medians, modes,
    noise and suppressed values count as well; where unrounded group means are released, it is the
    IL of the groups. Exact, O(n d). Source: Domingo-Ferrer and Mateo-Sanz (2002).

    >>> import polars as pl
    >>> from microagg.tables.matching import open_pair
    >>> before = pl.DataFrame({"x": [0.0, 1.0, 10.0, 11.0]})
    >>> after = pl.DataFrame({"x": [0.5, 0.5, 10.5, 10.5]})
    >>> round(column_loss(open_pair(before, after)).information_loss, 6)
    0.990099
    """
    errors = {name: _errors(column) for name, column in pair.columns.items()}
    known = [error for error in errors.values() if error is not None]
    total = Errors(sum(error.sse for error in known), sum(error.sst for error in known))
    return ColumnLoss(
        total.information_loss if known else None,
        total.sse,
        total.sst,
        {name: None if e is None else e.information_loss for name, e in errors.items()},
    )


def _errors(column: PairedColumn) -> Errors | None:
    """Add up the errors of a column, one axis at a time: together they may dwarf the table."""
    sse = sst = 0.0
    for before, after in zip(column.before_axes(), column.after_axes(), strict=True):
        sse += float(np.square(before - after).sum())
        sst += float(np.square(before - before.mean()).sum())
    return None if sst == 0.0 and column.is_changed else Errors(sse, sst)
