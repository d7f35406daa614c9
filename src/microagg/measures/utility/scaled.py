"""The columns of a pair on which differences mean something, in units of the original."""

from dataclasses import dataclass

import numpy as np

from microagg.aggregates.values import Values
from microagg.core.arrays import Floats, Mask
from microagg.tables.encoding import encode_pair
from microagg.tables.pairs import Pair, PairedColumn
from microagg.tables.scaling import Scaling, scaling


@dataclass(frozen=True, eq=False)
class ScaledColumn:
    """A column before and after, as (x - mean) / sd of the original (ddof = 1).

    Where a value is missing the number is 0 and the mask of what is there is false. A column that
    is constant in the original, or not there at all, has no unit: all its numbers are 0.
    """

    name: str
    before: Floats
    after: Floats
    is_there_before: Mask
    is_there_after: Mask
    scaling: Scaling

    @property
    def is_constant(self) -> bool:
        """Whether the original has no deviation to measure by."""
        return self.scaling.unit == 0.0

    @property
    def is_there(self) -> Mask:
        """Which records have a value on both sides."""
        return self.is_there_before & self.is_there_after


def scaled_columns(pair: Pair) -> list[ScaledColumn]:
    """Return the numbers, dates and ordered categories among the quasi-identifiers."""
    return [scaled(column) for column in pair.columns.values() if column.is_scaled]


def scaled(column: PairedColumn) -> ScaledColumn:
    """Return both sides of a column in units of the original's deviation."""
    before, after = encode_pair([(column.before, column.after, True)])
    present = column.before.present
    return ScaledColumn(
        column.name,
        before[:, 0].copy(),
        after[:, 0].copy(),
        is_there(column.before),
        is_there(column.after),
        scaling(present) if len(present) else Scaling(0.0, 0.0),
    )


def is_there(values: Values) -> Mask:
    """Return which of the values are not missing."""
    if values.missing is None:
        return np.ones(len(values.numbers), dtype=np.bool_)
    return ~values.missing


def share_missing(values: Values) -> float:
    """Return the share of records whose value is missing."""
    return values.n_missing / len(values.numbers)
