"""What verify() answers: the findings of all judges, put together."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from microagg.core.tabulate import html_table, text_table
from microagg.core.words import listed_names
from microagg.release.verification import smallest_classes
from microagg.requirements.base import Finding
from microagg.requirements.constraints import Violations
from microagg.requirements.records import Classes


@dataclass(frozen=True, repr=False)
class Verification:
    """Whether a table satisfies what was asked for; true if it does.

    `columns` were checked, in `blocks` if k is for each block on its own. `findings` are the
    results of all requirements, for each block or for all columns together; `classes` is that of
    the block with the smallest classes. `on_table` are the results of what concerns no combination,
    such as constraints. `manifest` is the file that defined what to check, if there was one.

    Examples
    --------
    >>> import microagg
    >>> import polars as pl
    >>> found = microagg.verify(pl.DataFrame({"age": [35, 35, 61, 61, 61]}), k=3)
    >>> bool(found), found.largest_k
    (False, 2)
    >>> found.verdict.startswith("No: ")
    True
    """

    findings: tuple[tuple[Finding, ...], ...]
    columns: tuple[str, ...]
    blocks: tuple[tuple[str, ...], ...] = ()
    on_table: tuple[Finding, ...] = ()
    manifest: str | None = None

    @property
    def classes(self) -> Classes:
        """The classes of records with the same values."""
        return smallest_classes(found for block in self.findings for found in block)

    @property
    def satisfied(self) -> bool:
        """Whether all requirements are met; what cannot be checked is not."""
        return all(found.satisfied is True for _, found in self._all())

    @property
    def violations(self) -> dict[str, int]:
        """How many records violate each constraint."""
        each = [found.counts for found in self.on_table if isinstance(found, Violations)]
        return {text: count for counts in each for text, count in counts.items()}

    @property
    def largest_k(self) -> int:
        """The largest k that the table satisfies."""
        return self.classes.smallest

    @property
    def verdict(self) -> str:
        """Yes or no, and why, in one line."""
        broken = "; ".join(self._verdicts(satisfied=False))
        unknown = "; ".join(self._verdicts(satisfied=None))
        if unknown:
            unknown = f"Cannot be checked without the original (--original): {unknown}"
            rest = f"{unknown}. The rest holds{self._kept()}"
            return f"No: {broken}. {unknown}" if broken else rest
        return f"No: {broken}" if broken else f"Yes{self._kept()}"

    def _kept(self) -> str:
        """Return what holds."""
        each = (*(found for block in self.findings for found in block), *self.on_table)
        kept = "; ".join(dict.fromkeys(found.verdict for found in each if found.satisfied))
        return f", in each block: {kept}" if self.blocks else f": {kept}"

    def _verdicts(self, *, satisfied: bool | None) -> Iterator[str]:
        """Return the verdicts of the findings with this answer."""
        for where, found in self._all():
            if found.satisfied is satisfied:
                yield f"{where}{found.verdict}"

    def _all(self) -> Iterator[tuple[str, Finding]]:
        """Return all findings, each with the block that it is about, for a sentence."""
        for at, block in enumerate(self.findings):
            where = f"in block {at + 1} ({listed_names(self.blocks[at])}), " if self.blocks else ""
            yield from ((where, found) for found in block)
        yield from (("", found) for found in self.on_table)

    def __bool__(self) -> bool:
        return self.satisfied

    def __str__(self) -> str:
        return f"{self.verdict}\n\n{text_table((), self.rows())}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table((), self.rows(), title=self.verdict)

    def rows(self) -> list[tuple[str, str]]:
        """Return what was checked and found, as text."""
        rows = [("checked", listed_names(self.columns))]
        if self.manifest:
            rows.append(("read from", self.manifest))
        for at, block in enumerate(self.findings):
            if self.blocks:
                rows.append((f"block {at + 1}", listed_names(self.blocks[at])))
            rows += [row for found in block for row in found.rows()]
        return rows + [row for found in self.on_table for row in found.rows()]

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as plain values, ready for json.dumps.

        Those of the block with the smallest classes come first; `checks` has those of all.
        """
        smallest = self.classes.as_dict()
        del smallest["requirement"]
        return {
            **smallest,
            "satisfied": self.satisfied,
            "verdict": self.verdict,
            "quasi_identifiers": list(self.columns),
            "blocks": [list(names) for names in self.blocks],
            "records_in_violation": self.violations,
            "manifest": self.manifest,
            "checks": [*self._checks()],
        }

    def _checks(self) -> Iterator[dict[str, Any]]:
        for names, block in zip(self.blocks or (self.columns,), self.findings, strict=True):
            for found in block:
                yield {
                    **found.as_dict(),
                    "satisfied": found.satisfied,
                    "quasi_identifiers": list(names),
                }
        for found in self.on_table:
            yield {**found.as_dict(), "satisfied": found.satisfied}
