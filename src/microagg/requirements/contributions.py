"""The p per cent rule and (n, k) dominance: no total of a group gives a contribution away."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from microagg.core.errors import ParameterError
from microagg.core.validation import check_count, check_number
from microagg.requirements.base import About, Context, Evidence, GroupFacts
from microagg.requirements.found import GroupFinding, Wording

if TYPE_CHECKING:  # a plan has requirements, and loads quickly
    from microagg.core.arrays import Floats, Rows
    from microagg.requirements.coded import GroupRule


def as_dominance(given: object) -> tuple[int, float]:
    """Return n and a share in per cent.

    >>> as_dominance("2:85"), as_dominance([1, 60.0])
    ((2, 85.0), (1, 60.0))
    """
    parts = given.split(":") if isinstance(given, str) else given
    if not isinstance(parts, (list, tuple)) or len(parts) != 2:
        raise ParameterError(
            "dominance must be a number of contributors and a share in per cent, such as 2:85, or "
            f"(2, 85) in Python; got {given!r}."
        )
    count, share = (_number(part) for part in parts)
    return (
        check_count("the number of contributors of dominance", count),
        check_number("the share of dominance", share, low=0.0, high=100.0),
    )


def _number(part: object) -> object:
    if not isinstance(part, str):
        return part
    for kind in (int, float):
        try:
            return kind(part)
        except ValueError:
            continue
    return part


@dataclass(frozen=True, slots=True)
class PPercent:
    """The requirement that nobody can estimate the largest contribution within p per cent.

    The second largest contributor knows the total and their own amount. Contributors are units,
    where there is a column of them, or else records; records without a unit are one contributor.
    """

    name: ClassVar[str] = "p per cent"
    about: ClassVar[About] = About.CONTRIBUTIONS
    column: str
    p: float
    unit: str | None = None
    weights: str | None = None

    @classmethod
    def of(cls, column: str, asked: float, context: Context, /) -> Self:
        """Return the requirement for p; contributors and their weights are those of the plan."""
        return cls(column, asked, context.unit, context.weights)

    @property
    def wording(self) -> Wording:
        """The requirement in words."""
        return Wording(
            name=self.name,
            column=self.column,
            asked=f"no contribution to {self.column!r} known within {self.p:g} %",
            kept=f"no contribution to {self.column!r} can be estimated within {self.p:g} %",
            broken=f"the largest contribution to {self.column!r} is known within {self.p:g} % in",
            needs=_needs(self.column, self.unit),
            sign=" %",
        )

    def judge(self, evidence: Evidence) -> GroupFinding:
        """Compare the largest contribution with what the two largest leave of every total."""
        if not _is_at_hand(evidence, self.column, self.unit):
            return GroupFinding(self.wording)
        found = _Contributions.to(self.column, self.unit, self.weights, evidence)
        largest = found.totals(end=1)
        rest = found.totals(first=2)
        figures = np.full(len(largest), np.inf)
        with np.errstate(invalid="ignore"):  # vector units also divide what is left out
            np.divide(100.0 * rest, largest, out=figures, where=largest > 0.0)
        return GroupFinding.of(self.wording, figures, found.sizes, self.p)

    def rule(self, facts: GroupFacts) -> "GroupRule | None":
        """Return the rule for groups; None for p = 0, which any group meets."""
        from microagg.requirements.coded import GroupRule

        if self.p == 0.0:
            return None
        contributors = None if self.unit is None else facts.units()
        return GroupRule.p_percent(facts.amounts(self.column), self.p, contributors)


@dataclass(frozen=True, slots=True)
class Dominance:
    """The requirement that the n largest contributors make up at most `share` per cent."""

    name: ClassVar[str] = "dominance"
    about: ClassVar[About] = About.CONTRIBUTIONS
    column: str
    n: int
    share: float
    unit: str | None = None
    weights: str | None = None

    @classmethod
    def of(cls, column: str, asked: tuple[int, float], context: Context, /) -> Self:
        """Return the requirement; contributors and their weights are those of the plan."""
        return cls(column, *asked, context.unit, context.weights)

    @property
    def wording(self) -> Wording:
        """The requirement in words."""
        largest = "largest contributor" if self.n == 1 else f"{self.n} largest contributors"
        makes = "makes" if self.n == 1 else "make"
        return Wording(
            name=self.name,
            column=self.column,
            asked=f"the {largest} at most {self.share:g} % of {self.column!r}",
            kept=(
                f"the {largest} {makes} up at most {self.share:g} % of {self.column!r} in every "
                "combination"
            ),
            broken=f"the {largest} {makes} up more than {self.share:g} % of {self.column!r} in",
            needs=_needs(self.column, self.unit),
            sign=" %",
            most=True,
        )

    def judge(self, evidence: Evidence) -> GroupFinding:
        """Compare the n largest contributions with every total."""
        if not _is_at_hand(evidence, self.column, self.unit):
            return GroupFinding(self.wording)
        found = _Contributions.to(self.column, self.unit, self.weights, evidence)
        total, figures = found.totals(), np.zeros(len(found.sizes))
        np.divide(100.0 * found.totals(end=self.n), total, out=figures, where=total > 0.0)
        return GroupFinding.of(self.wording, figures, found.sizes, self.share)

    def rule(self, facts: GroupFacts) -> "GroupRule | None":
        """Return the rule for groups; None if everything may be of one contributor."""
        from microagg.requirements.coded import GroupRule

        if self.share == 100.0:
            return None
        contributors = None if self.unit is None else facts.units()
        return GroupRule.dominance(facts.amounts(self.column), self.n, self.share, contributors)


def _needs(column: str, unit: str | None) -> str:
    original = f"the original {column!r}"
    return original if unit is None else f"{original} by {unit!r}"


def _is_at_hand(evidence: Evidence, column: str, unit: str | None) -> bool:
    known = () if evidence.unpublished is None else evidence.unpublished.columns
    return column in known and (unit is None or unit in known)


def _near_one(labels: "Rows", *factors: "Floats") -> "Floats":
    """Return products of factors, for each label in a unit in which the largest is nearly 1.

    Only their ratios count. Sums do not overflow then, and the smallest numbers that floats hold
    are not lost, whatever other labels have. The units are powers of two: no digit changes.

    >>> _near_one(np.array([0, 0, 1, 1]), np.array([5e-324, 1e-323, 1e300, 0.0])).round(2).tolist()
    [0.25, 0.5, 0.75, 0.0]
    """
    products, exponents = np.ones(len(labels)), np.zeros(len(labels), dtype=np.intp)
    for factor in factors:
        near, exponent = np.frexp(factor)
        products *= near
        exponents += exponent
    is_any = products > 0.0
    largest = np.full(int(labels.max(initial=0)) + 1, np.iinfo(np.intp).min)
    np.maximum.at(largest, labels[is_any], exponents[is_any])
    scaled = np.zeros(len(labels))
    apart = exponents[is_any] - largest[labels[is_any]]
    scaled[is_any] = np.ldexp(products[is_any], np.maximum(apart, -2000))  # nothing but zero below
    return scaled


@dataclass(frozen=True, slots=True)
class _Contributions:
    """All contributions: the combination and amount of each, and its place from the largest."""

    of: "Rows"
    amounts: "Floats"
    places: "Rows"
    sizes: "Rows"

    @classmethod
    def to(
        cls, column: str, unit: str | None, weights: str | None, evidence: Evidence
    ) -> "_Contributions":
        import polars as pl

        from microagg.requirements.observed import classes_of, units, values

        assert evidence.unpublished is not None
        labels, sizes = classes_of(evidence)
        numbers = values(evidence.unpublished.get_column(column), evidence)
        factors = [numbers.cast(pl.Float64).abs().fill_null(0.0).to_numpy()]
        if weights is not None:
            own = values(evidence.table.get_column(weights), evidence).cast(pl.Float64)
            factors.append(own.to_numpy())
        table = pl.DataFrame({"of": labels, "amount": _near_one(labels, *factors)})
        if unit is not None:
            owners = units(evidence.unpublished.get_column(unit)).alias("unit")
            table = table.with_columns(owners).group_by("of", "unit").agg(pl.col("amount").sum())
        table = table.sort("of", "amount", descending=[False, True])
        of = table.get_column("of").to_numpy()
        begins = np.concatenate(([0], np.bincount(of).cumsum()[:-1]))
        return cls(
            of, table.get_column("amount").to_numpy(), np.arange(len(of)) - begins[of], sizes
        )

    def totals(self, *, first: int = 0, end: int | None = None) -> "Floats":
        """Return the total of every combination, or of its contributions at some places."""
        counted = self.places >= first
        if end is not None:
            counted &= self.places < end
        of, amounts = self.of[counted], self.amounts[counted]
        totals = np.bincount(of, weights=amounts, minlength=len(self.sizes))
        return totals.astype(np.float64)
