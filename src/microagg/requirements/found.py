"""The result of judging a requirement on the records behind every combination."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, isinf
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from microagg.core.arrays import Floats, Rows

# Sums of shares round; a figure that misses what was asked for by less than this meets it.
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """A requirement in words.

    `kept` is what holds, `broken` the start of what does not, before "3 of 200 combinations".
    `needs` is what is not published and must be known to check it. `most` says that figures above
    what was asked for fail, not those below; `sign` follows a figure.
    """

    name: str
    column: str
    asked: str
    kept: str
    broken: str
    needs: str = ""
    most: bool = False
    sign: str = ""


@dataclass(frozen=True, slots=True)
class GroupFinding:
    """How many combinations fail a requirement, and the figure of the one farthest from it.

    `worst` is None if it cannot be known without what is not published.
    """

    wording: Wording
    worst: float | None = None
    n_failing: int = 0
    n_combinations: int = 0
    records_failing: int = 0

    @classmethod
    def of(cls, wording: Wording, figures: "Floats", sizes: "Rows", limit: float) -> "GroupFinding":
        """Return the finding for the figure and the number of records of every combination."""
        margin = TOLERANCE * max(1.0, abs(limit))
        meets = figures <= limit + margin if wording.most else figures >= limit - margin
        fails = ~meets  # and so does NaN
        return cls(
            wording,
            float(figures.max() if wording.most else figures.min()),
            int(fails.sum()),
            len(figures),
            int(sizes[fails].sum()),
        )

    @classmethod
    def together(cls, findings: "Sequence[GroupFinding]") -> "GroupFinding":
        """Return what was found of one requirement in all blocks."""
        said, each = findings[0].wording, [own.worst for own in findings if own.worst is not None]
        return cls(
            said,
            (max if said.most else min)(each) if len(each) == len(findings) else None,
            sum(own.n_failing for own in findings),
            sum(own.n_combinations for own in findings),
            sum(own.records_failing for own in findings),
        )

    @property
    def satisfied(self) -> bool | None:
        """Whether every combination meets the requirement; None if that cannot be checked."""
        return None if self.worst is None else not self.n_failing

    @property
    def complaint(self) -> str:
        """How many combinations of the finished table fail, or what it takes to know."""
        return f"in the finished table, {self.verdict}" if self.n_failing else self.verdict

    @property
    def verdict(self) -> str:
        """What holds, or how many combinations fail, or what cannot be checked and why."""
        said = self.wording
        if self.worst is None:
            return said.asked
        if not self.n_failing:
            return said.kept
        return f"{said.broken} {self.n_failing:,} of {self.n_combinations:,} combinations"

    @property
    def nearest(self) -> str:
        """What could be asked for instead, so that all combinations meet it."""
        assert self.worst is not None
        if self.wording.most:
            return f"{rounded(self.worst, ceil)} or more"
        return f"{rounded(self.worst, floor)} or less"

    def rows(self) -> list[tuple[str, str]]:
        """Return what was asked for and what was found, in one line."""
        said = self.wording
        if self.worst is None:
            return [(said.name, f"{said.asked}: not checkable, as {said.needs} is not published")]
        found = f"{rounded(self.worst, round)}{said.sign} at worst"
        if self.n_failing:
            found += f"; {self.n_failing:,} of {self.n_combinations:,} combinations fail"
        return [(said.name, f"{said.asked}: {found}")]

    def as_dict(self) -> dict[str, Any]:
        """Return all counts as plain values."""
        worst = self.worst if self.worst is None or not isinf(self.worst) else None
        return {
            "requirement": self.wording.name,
            "column": self.wording.column,
            "asked": self.wording.asked,
            "checkable": self.worst is not None,
            "worst": worst,
            "combinations_failing": self.n_failing,
            "records_failing": self.records_failing,
        }


def rounded(figure: float, rounding: Callable[[float], float]) -> str:
    """Return a figure with at most four decimals.

    >>> rounded(3.0, floor), rounded(0.12341, ceil), rounded(float("inf"), floor)
    ('3', '0.1235', 'any number')
    """
    if isinf(figure):
        return "any number"
    near = round(figure, 9)  # a sum of shares may end just beside a round number
    return f"{rounding(near * 1e4) / 1e4:.4f}".rstrip("0").rstrip(".")
