"""What a requirement is: a condition on every released combination, and its check."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # a plan has requirements, and loads quickly
    import polars as pl


class Finding(Protocol):
    """The result of checking a finished table."""

    @property
    def satisfied(self) -> bool:
        """Whether the table meets the requirement."""
        ...

    @property
    def complaint(self) -> str:
        """What is wrong with the table, as the start of a sentence."""
        ...


class Requirement(Protocol):
    """A condition on every released combination.

    The check sees only the finished table and shares no code with what made it.
    """

    def judge(self, shown: "pl.DataFrame") -> Finding:
        """Look at what the records show in the quasi-identifiers and strata of one block."""
        ...
