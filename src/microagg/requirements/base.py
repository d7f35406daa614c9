"""What a requirement is: a condition on every released combination, and its judge."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # a plan has requirements, and loads quickly
    import polars as pl


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a judge may look at: the finished table, and the columns that are not published.

    A `combination` is what a record shows in these columns together: the quasi-identifiers of one
    block, and the strata. `table` has all published columns that polars can hold; the fields of a
    CSV file are text, as they are written. `unpublished` has the identifiers of the same records;
    it is None where they are not at hand: `verify` has the published table only, and `protect_file`
    reads identifiers just for an audit file or a random key.
    """

    table: "pl.DataFrame"
    combination: tuple[str, ...]
    unpublished: "pl.DataFrame | None" = None

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
        """Whether the table meets the requirement; None if that cannot be told from the evidence.

        A table of which it cannot be told is not released, and `verify` does not vouch for it.
        """
        ...

    @property
    def complaint(self) -> str:
        """What is wrong with the table, or cannot be checked, as the start of a sentence."""
        ...

    @property
    def verdict(self) -> str:
        """What `verify` answers in one line, after its yes or no: what holds, or why it does not.

        If it cannot be told, it names the requirement and says what is missing.
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
