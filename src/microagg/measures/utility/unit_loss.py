"""Information loss with every unit counted once, whether it has one record or many."""

from dataclasses import dataclass

import numpy as np

from microagg.measures.utility.column_loss import ColumnLoss, weighted_loss
from microagg.tables.pairs import Pair


@dataclass(frozen=True)
class UnitLoss(ColumnLoss):
    """100 * SSE / SST in per cent with units counted once, of each column and on average."""


def unit_loss(pair: Pair) -> UnitLoss | None:
    """Return the loss with every unit counted once; None if nothing says whom records are about.

    It is that of `column_loss` if a record has the weight 1 / m where its unit has m records, and 0
    where it has no unit. With one record for each unit, and no other weights, it is the same.

    >>> import polars as pl
    >>> from microagg.tables.matching import open_pair
    >>> before = pl.DataFrame({"x": [0.0, 0.0, 1.0, 4.0], "who": ["a", "a", "b", "c"]})
    >>> after = pl.DataFrame({"x": [0.0, 0.0, 2.5, 2.5]})
    >>> round(unit_loss(open_pair(before, after, unit="who")).information_loss, 6)
    51.923077
    """
    if pair.units is None:
        return None
    known = pair.units.is_known
    weights = np.zeros(pair.n_records)
    weights[known] = 1.0 / pair.units.sizes[pair.units.of_record[known]]
    return UnitLoss(**weighted_loss(pair, weights))
