"""At least k units behind every combination: people, households, firms, not just their records."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from microagg.core.words import counted_units
from microagg.requirements.base import Evidence, GroupFacts
from microagg.requirements.found import GroupFinding, Wording

if TYPE_CHECKING:
    from microagg.requirements.coded import GroupRule


@dataclass(frozen=True, slots=True)
class KUnits:
    """The requirement that the records of every combination belong to k units or more.

    A record without a unit counts for none.
    """

    name: ClassVar[str] = "k units"
    column: str
    k: int

    @property
    def wording(self) -> Wording:
        """The requirement in words."""
        units = counted_units(self.k, self.column)
        return Wording(
            name=self.name,
            column=self.column,
            asked=f"at least {units}",
            kept=f"every combination stands for at least {units}",
            broken=f"fewer than {units} are behind",
            needs=f"{self.column!r}",
        )

    def judge(self, evidence: Evidence) -> GroupFinding:
        """Count the units behind every combination."""
        from microagg.requirements.observed import classes_of, units

        if evidence.unpublished is None or self.column not in evidence.unpublished.columns:
            return GroupFinding(self.wording)
        labels, sizes = classes_of(evidence)
        unit = units(evidence.unpublished.get_column(self.column))
        pairs = unit.to_frame("unit").with_columns(of=labels).drop_nulls("unit").unique()
        counts = np.bincount(pairs.get_column("of").to_numpy(), minlength=len(sizes))
        return GroupFinding.of(self.wording, counts.astype(np.float64), sizes, self.k)

    def rule(self, facts: GroupFacts) -> "GroupRule | None":
        """Return the rule for groups; None if every record is of another unit."""
        from microagg.requirements.coded import GroupRule

        codes = facts.units()
        if codes.min() >= 0 and np.bincount(codes).max() == 1:
            return None
        return GroupRule.distinct(codes, self.k)
