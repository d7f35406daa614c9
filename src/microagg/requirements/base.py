"""What a requirement is: a condition on every released combination, and its judge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self, runtime_checkable

if TYPE_CHECKING:  # a plan has requirements, and loads quickly
    import polars as pl

    from microagg.core.arrays import Floats, Rows
    from microagg.requirements.coded import GroupRule
    from microagg.requirements.found import GroupFinding, Wording


class Distribution(NamedTuple):
    """The different values of a column, as they are stored, and how often each is there."""

    values: "pl.Series"
    counts: "Rows"


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a judge may look at: the finished table, and the columns that are not published.

    A `combination` is what a record shows in these columns together: the quasi-identifiers of one
    block, and the strata. `table` has all published columns that polars can hold; the fields of a
    CSV file are text, as they are written, with this `decimal` mark; the texts and numbers in `na`
    mean a missing value. `unpublished` has the unit of the same records, and the original values of
    quasi-identifiers that a requirement is about; it is None where only the published table is
    available, as it may be to `verify`. If the records are a part of a dataset, `overall` has the
    distributions there of the columns that are compared with it.
    """

    table: "pl.DataFrame"
    combination: tuple[str, ...]
    unpublished: "pl.DataFrame | None" = None
    decimal: str = "."
    na: tuple[str, ...] = ()
    overall: Mapping[str, Distribution] = field(default_factory=dict)

    def combinations(self) -> "pl.DataFrame":
        """Return what every record shows, in columns named by number.

        polars takes a name such as "^a$" for a pattern.
        """
        import polars as pl

        columns = [self.table.get_column(name) for name in self.combination]
        return pl.DataFrame([column.alias(str(at)) for at, column in enumerate(columns)])


class Finding(Protocol):
    """The result of judging one combination of columns."""

    @property
    def satisfied(self) -> bool | None:
        """Whether the table meets the requirement; None if the evidence does not show it.

        A table is then not released, and `verify` does not vouch for it.
        """
        ...

    @property
    def complaint(self) -> str:
        """What is wrong with the table, or cannot be checked, as the start of a sentence."""
        ...

    @property
    def verdict(self) -> str:
        """What `verify` answers in one line, after its yes or no: what holds, or why it does not.

        If it cannot be checked, it names the requirement and says what is missing.
        """
        ...

    def rows(self) -> list[tuple[str, str]]:
        """Return what was counted, as a label and a text for each line."""
        ...

    def as_dict(self) -> dict[str, Any]:
        """Return what was counted as plain values; "requirement" is its name."""
        ...


class Requirement(Protocol):
    """A condition on every released combination.

    Its judge shares no code with what made the table.
    """

    def judge(self, evidence: Evidence) -> Finding:
        """Look at the evidence on one combination of columns."""
        ...


class GroupFacts(Protocol):
    """What the rules of a table's groups are made from."""

    def units(self) -> "Rows":
        """Return the unit of every record as a code; -1 if it has none."""
        ...

    def codes(self, column: str) -> "tuple[Rows, bool]":
        """Return the values of a column as codes, and whether these are in their order."""
        ...

    def overall(self, column: str) -> "Rows":
        """Return how often each of these codes is in the whole table."""
        ...

    def amounts(self, column: str) -> "Floats":
        """Return the numbers of a quasi-identifier; a missing one is 0."""
        ...


@runtime_checkable
class GroupRequirement(Protocol):
    """A requirement on the records of a group, besides their number: the search obeys it.

    Merging groups that meet it never breaks it, so it can be met if the records of every stratum
    meet it together.
    """

    @property
    def wording(self) -> "Wording":
        """The requirement in words."""
        ...

    def judge(self, evidence: Evidence) -> "GroupFinding":
        """Look at the evidence on one combination of columns."""
        ...

    def rule(self, facts: GroupFacts) -> "GroupRule | None":
        """Return the requirement as the methods take it; None if any group of k meets it."""
        ...


class About(Enum):
    """What a requirement on a column is about, which decides what columns it suits.

    Values are those of a sensitive column, which is published unchanged. Contributions are those
    to the totals of a quasi-identifier that is released as means: only the original has them, and
    neither what is asked nor what is found is published.
    """

    VALUES = auto()
    ORDERED_VALUES = auto()  # how far apart values are counts as well
    CONTRIBUTIONS = auto()


@dataclass(frozen=True, slots=True)
class Context:
    """What else a plan says that a requirement on a column may depend on.

    `ordered` says whether the values of the column have an order, None if the plan does not;
    `order` lists them, if it does. `unit` and `weights` are columns.
    """

    ordered: bool | None = None
    order: Sequence[Any] | None = None
    unit: str | None = None
    weights: str | None = None


class ColumnRequirement(GroupRequirement, Protocol):
    """A requirement on a column, which an option of that column asks for."""

    name: ClassVar[str]
    about: ClassVar[About]

    @classmethod
    def of(cls, column: str, asked: Any, context: Context, /) -> Self:
        """Return the requirement; `asked` is the value of the option, as it is in a plan."""
        ...
