"""What a requirement is: a demand on every released combination, and its judge."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # a plan has requirements, and loads quickly
    import polars as pl


class Finding(Protocol):
    """What a judge found on a finished table."""

    @property
    def satisfied(self) -> bool:
        """Whether the table keeps what is required."""
        ...

    @property
    def complaint(self) -> str:
        """What is wrong with the table, as the beginning of a sentence."""
        ...


class Requirement(Protocol):
    """A demand on every released combination.

    Its judge sees the finished table only and shares no code with whatever made it.
    """

    def judge(self, shown: "pl.DataFrame") -> Finding:
        """Look at what the records show in the quasi-identifiers and strata of one block."""
        ...
