"""IL of the released values themselves, overall and column by column."""

from dataclasses import dataclass

import numpy as np

from microagg.measures.utility.information_loss import Errors
from microagg.tables.encoding import encode_pair
from microagg.tables.pairs import Pair


@dataclass(frozen=True)
class ColumnLoss:
    """100 * SSE / SST in per cent, of all columns together and of each of them.

    None where the original does not vary but the release does: no share can be given. Such columns
    are not part of the whole.
    """

    information_loss: float | None
    sse: float
    sst: float
    columns: dict[str, float | None]


def column_loss(pair: Pair) -> ColumnLoss:
    """Return what the released values lost, in per cent of the spread of the original.

    With x a record of the original and z what was released of it, in `Pair.spaces`,

        IL = 100 * sum |x - z|^2 / sum |x - mean of all x|^2

    and for a column the same in its own axes. No groups are needed, so that rounding, medians,
    modes, noise and suppressed values count as well; where means of groups are released, as they
    are, it is the IL of the groups. Exact, O(n d). Source: Domingo-Ferrer and Mateo-Sanz (2002).

    >>> import polars as pl
    >>> from microagg.tables.pairs import open_pair
    >>> before = pl.DataFrame({"x": [0.0, 1.0, 10.0, 11.0]})
    >>> after = pl.DataFrame({"x": [0.5, 0.5, 10.5, 10.5]})
    >>> round(column_loss(open_pair(before, after)).information_loss, 6)
    0.990099
    """
    errors = {}
    for column in pair.columns.values():
        # One column at a time: all of them side by side may be many times the table.
        X, Z = encode_pair([(column.before, column.after, column.is_scaled)])
        sse = float(np.square(X - Z).sum())
        errors[column.name] = Errors(sse, float(np.square(X - X.mean(axis=0)).sum()))
    shared = {
        name: None if errors[name].sst == 0.0 and column.is_changed else errors[name]
        for name, column in pair.columns.items()
    }
    known = [error for error in shared.values() if error is not None]
    total = Errors(sum(error.sse for error in known), sum(error.sst for error in known))
    return ColumnLoss(
        total.information_loss if known else None,
        total.sse,
        total.sst,
        {name: None if e is None else e.information_loss for name, e in shared.items()},
    )
