"""l-diversity: at least l values of a sensitive column behind every combination."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from microagg.core.errors import ParameterError
from microagg.core.validation import check_count, check_number
from microagg.core.words import counted
from microagg.requirements.base import About, Context, Evidence, GroupFacts
from microagg.requirements.found import GroupFinding, Wording

if TYPE_CHECKING:
    from microagg.core.arrays import Floats
    from microagg.requirements.coded import GroupRule

_ENTROPY = re.compile(r"entropy:\s*(\S+)")


def as_diversity(given: object) -> int | str:
    """Return l as it is written in a plan: a whole number, or "entropy:3".

    >>> as_diversity(3), as_diversity("entropy:2.50")
    (3, 'entropy:2.5')
    """
    if not isinstance(given, str):
        return check_count("l_diversity", given)
    found = _ENTROPY.fullmatch(given.strip())
    if found is None:
        raise ParameterError(
            "l_diversity must be a whole number of values such as 3, or entropy:3 for the entropy "
            f"of that many equally frequent values; got {given!r}."
        )
    try:
        number: float | str = float(found[1])
    except ValueError:
        number = found[1]
    return f"entropy:{check_number('entropy l_diversity', number, low=1.0):.15g}"


@dataclass(frozen=True, slots=True)
class LDiversity:
    """The requirement that the records of every combination have `least` values of a column.

    With `entropy`, they are as diverse as that many equally frequent values. A missing value is a
    value.
    """

    name: ClassVar[str] = "l-diversity"
    entropy_name: ClassVar[str] = "entropy l-diversity"
    about: ClassVar[About] = About.VALUES
    column: str
    least: float
    entropy: bool = False

    @classmethod
    def of(cls, column: str, asked: int | str, _: Context, /) -> Self:
        """Return the requirement for l as it is written in a plan."""
        if isinstance(asked, str):
            return cls(column, float(asked.partition(":")[2]), entropy=True)
        return cls(column, asked)

    @property
    def wording(self) -> Wording:
        """The requirement in words."""
        if self.entropy:
            like = f"{self.least:g} equally frequent values"
            return Wording(
                name=self.entropy_name,
                column=self.column,
                asked=f"{self.column!r} as diverse as {like}",
                kept=f"{self.column!r} is as diverse as {like} in every combination",
                broken=f"{self.column!r} is less diverse than {like} in",
            )
        values = counted(int(self.least), "value")
        return Wording(
            name=self.name,
            column=self.column,
            asked=f"at least {values} of {self.column!r}",
            kept=f"every combination has at least {values} of {self.column!r}",
            broken=f"there are fewer than {values} of {self.column!r} in",
        )

    def judge(self, evidence: Evidence) -> GroupFinding:
        """Count the values behind every combination."""
        from microagg.requirements.observed import classes_of, codes_of, values

        column = evidence.table.get_column(self.column)
        labels, sizes = classes_of(evidence)
        codes = codes_of(values(column, evidence))
        pairs, counts = np.unique(np.stack((labels, codes)), axis=1, return_counts=True)
        if self.entropy:
            figures = _perplexity(pairs[0], counts / sizes[pairs[0]], len(sizes))
        else:
            figures = np.bincount(pairs[0], minlength=len(sizes)).astype(np.float64)
        return GroupFinding.of(self.wording, figures, sizes, self.least)

    def rule(self, facts: GroupFacts) -> "GroupRule | None":
        """Return the rule for groups; None if one value is enough."""
        from microagg.requirements.coded import GroupRule

        if self.least <= 1:
            return None
        codes, _ = facts.codes(self.column)
        if self.entropy:
            return GroupRule.entropy(codes, self.least)
        return GroupRule.distinct(codes, int(self.least))


def _perplexity(labels: "np.ndarray", shares: "Floats", n_classes: int) -> "Floats":
    """Return how many equally frequent values have the entropy of each class."""
    entropy = np.bincount(labels, weights=-shares * np.log(shares), minlength=n_classes)
    return np.exp(entropy)
