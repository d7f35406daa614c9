"""Information loss with every unit counted once, whether it has one record or many."""

from dataclasses import dataclass

import numpy as np

from microagg.core.arrays import Floats
from microagg.measures.utility.information_loss import Errors
from microagg.tables.pairs import Pair, PairedColumn


@dataclass(frozen=True)
class UnitLoss:
    """100 * SSE / SST in per cent with units counted once, of all columns together and of each.

    None where the original does not vary but the release does, as in `ColumnLoss`.
    """

    information_loss: float | None
    sse: float
    sst: float
    columns: dict[str, float | None]


def unit_loss(pair: Pair) -> UnitLoss | None:
    """Return the loss with every unit counted once; None if nothing says whom records are about.

    With w = 1 / m for a record whose unit has m records, 0 for a record without a unit, x a record
    of the original and z its released record,

        IL = 100 * sum w |x - z|^2 / sum w |x - c|^2,   c = sum w x / sum w

    in the space of comparison of `column_loss`. With one record for each unit it is the same.

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
    errors = {name: _errors(column, weights) for name, column in pair.columns.items()}
    measured = [error for error in errors.values() if error is not None]
    total = Errors(sum(error.sse for error in measured), sum(error.sst for error in measured))
    return UnitLoss(
        total.information_loss if measured else None,
        total.sse,
        total.sst,
        {name: None if e is None else e.information_loss for name, e in errors.items()},
    )


def _errors(column: PairedColumn, weights: Floats) -> Errors | None:
    sse = sst = 0.0
    one = int(weights.argmax())
    for before, after in zip(column.before_axes(), column.after_axes(), strict=True):
        # Relative to one of them, so that equal values have no error at all.
        center = before[one] + float(np.average(before - before[one], weights=weights))
        sse += float(weights @ np.square(before - after))
        sst += float(weights @ np.square(before - center))
    return None if sst == 0.0 and sse > 0.0 else Errors(sse, sst)
