"""t-closeness: a sensitive column is distributed in every combination as in the whole table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from microagg.requirements.base import About, Context, Evidence, GroupFacts
from microagg.requirements.found import GroupFinding, Wording

if TYPE_CHECKING:  # a plan has requirements, and loads quickly
    import polars as pl

    from microagg.core.arrays import Floats, Rows
    from microagg.requirements.coded import GroupRule


@dataclass(frozen=True, slots=True)
class TCloseness:
    """The requirement that the distribution in every combination is at most t from that of all.

    It is the earth mover's distance: between neighbouring values in their order 1 / (m - 1) of m
    values, or 1 between any two values without an order. `ordered` is None if only the column
    says: numbers and times have an order, text has none but the one in `order`. A missing value is
    a value, the last.
    """

    name: ClassVar[str] = "t-closeness"
    about: ClassVar[About] = About.ORDERED_VALUES
    column: str
    t: float
    ordered: bool | None = None
    order: Sequence[Any] | None = None

    @classmethod
    def of(cls, column: str, asked: float, context: Context, /) -> Self:
        """Return the requirement for t; the plan may say in which order values are."""
        return cls(column, asked, context.ordered, context.order)

    @property
    def wording(self) -> Wording:
        """The requirement in words; once it is known, they say how distances are measured."""
        how = {True: " by rank", False: " as categories", None: ""}[self.ordered]
        return Wording(
            name=self.name,
            column=self.column,
            asked=(
                f"{self.column!r} at most {self.t:g} from its distribution in the whole table{how}"
            ),
            kept=(
                f"in every combination, {self.column!r} is at most {self.t:g} from its "
                f"distribution in the whole table{how}"
            ),
            broken=f"{self.column!r} is more than {self.t:g} from its overall distribution in",
            most=True,
        )

    def judge(self, evidence: Evidence) -> GroupFinding:
        """Compare the distribution in every combination with that in the whole table."""
        from microagg.requirements.observed import classes_of, codes_of, values

        own = evidence.table.get_column(self.column)
        overall = evidence.overall.get(self.column)
        # Side by side, so that values are read alike: text may be numbers.
        column = values(own if overall is None else _both(own, overall.values), evidence)
        ordered = self.ordered
        if ordered is None:
            ordered = column.dtype.is_numeric() or column.dtype.is_temporal()
        if self.order is not None:
            column = _placed(column, self.order)
        labels, sizes = classes_of(evidence)
        codes = codes_of(column)
        weights = None if overall is None else np.append(np.zeros(len(own)), overall.counts)
        counts = np.bincount(codes, weights=weights).astype(np.intp)
        distances = (_ordered if ordered else _equal)(labels, codes[: len(own)], sizes, counts)
        return GroupFinding.of(self.wording, distances, sizes, self.t)

    def rule(self, facts: GroupFacts) -> "GroupRule | None":
        """Return the rule for groups; None if any distribution will do."""
        from microagg.requirements.coded import GroupRule

        if self.t >= 1.0:
            return None
        codes, ordered = facts.codes(self.column)
        closeness = GroupRule.ordered_closeness if ordered else GroupRule.equal_closeness
        return closeness(codes, self.t, facts.overall(self.column))


def _both(one: "pl.Series", other: "pl.Series") -> "pl.Series":
    return one.clone().append(other)


def _placed(column: "pl.Series", order: Sequence[Any]) -> "pl.Series":
    """Return the place of every value in an order; null if it is missing."""
    import polars as pl

    entries = pl.Series([str(entry).strip() for entry in order], dtype=pl.String)
    if column.dtype.is_numeric():
        column, entries = (one.cast(pl.Float64, strict=False) for one in (column, entries))
    else:
        column = column.cast(pl.String).str.strip_chars()
    places = pl.DataFrame({"value": entries, "place": range(len(order))})
    shown = column.to_frame("value")
    return shown.join(places, on="value", how="left", maintain_order="left").get_column("place")


def _equal(labels: "Rows", codes: "Rows", sizes: "Rows", counts: "Rows") -> "Floats":
    """Return half the sum of absolute differences between the shares of every value.

    `counts` are those of the values in the whole table.
    """
    overall = counts / counts.sum()
    pairs, counts = np.unique(np.stack((labels, codes)), axis=1, return_counts=True)
    own, shares = counts / sizes[pairs[0]], overall[pairs[1]]
    # A value that a class does not have differs by its share in the whole table.
    differences = np.abs(own - shares) - shares
    distances = (1.0 + np.bincount(pairs[0], weights=differences)) / 2.0
    return np.maximum(distances.astype(np.float64), 0.0)


def _ordered(labels: "Rows", codes: "Rows", sizes: "Rows", counts: "Rows") -> "Floats":
    """Return the mean absolute difference between cumulative shares, over all values but the last.

    Between two values that follow each other in a class its cumulative share is the same, so that
    sums over the cumulative shares of the whole table, before and after the point where these
    pass it, are enough.
    """
    last = len(counts) - 1  # of the values 0 to `last`
    if last == 0:
        return np.zeros(len(sizes))
    overall = (counts.cumsum() / counts.sum())[:-1]
    sums = np.concatenate(([0.0], overall.cumsum()))
    by_class = np.lexsort((codes, labels))
    of, value = labels[by_class], codes[by_class]
    begins = np.concatenate(([0], sizes.cumsum()[:-1]))
    share = (np.arange(len(of)) - begins[of] + 1) / sizes[of]
    low = value
    high = np.append(value[1:], last)
    high[np.append(begins[1:], len(of)) - 1] = last  # of the largest value of every class
    passed = np.clip(np.searchsorted(overall, share), low, high)
    between = share * (passed - low) - (sums[passed] - sums[low])
    between += (sums[high] - sums[passed]) - share * (high - passed)
    totals = np.bincount(of, weights=between)
    totals += sums[value[begins]]  # up to the smallest value of a class, its own share is 0
    distances: Floats = totals / last
    return distances
