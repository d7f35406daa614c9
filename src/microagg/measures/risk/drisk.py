"""dRisk, as in the R package sdcMicro: records that are nearly disclosed in every value."""

from collections.abc import Sequence
from dataclasses import dataclass

from microagg.core.arrays import Floats
from microagg.measures.risk.intervals import (
    Shares,
    changes,
    in_units,
    shares_within,
)
from microagg.tables.pairs import Pair, PairedColumn

WIDTHS = (0.05, 0.1)


@dataclass(frozen=True)
class DRisk:
    """Share of records with every value within p standard deviations, by p.

    Empty where there is no number, date or ordered category.
    """

    share: Shares


def drisk(pair: Pair, *, widths: Sequence[float] = WIDTHS) -> DRisk:
    """Return the share of records that are disclosed in all their values at once.

    A record with the values x before and z after is disclosed if |x_j - z_j| <= p * s_j in every
    column j, with s_j the standard deviation (ddof = 1) of the released column. Interval disclosure
    of whole records differs only in using the deviation of the original column. So a release with
    less spread has narrower intervals here.

    Nominal columns are left out; a missing value must be missing on both sides. Time O(n d).
    Source: `dRisk` of sdcMicro (Templ, Kowarik and Meindl, 2015), after Mateo-Sanz, Sebe and
    Domingo-Ferrer (2004).
    """
    _, share = shares_within(pair.scaled_columns, widths, in_released_deviations)
    return DRisk(share)


def in_released_deviations(column: PairedColumn) -> Floats:
    """Return the change of every record in standard deviations of the released column."""
    return in_units(changes(column), column.after.scaling.unit)
