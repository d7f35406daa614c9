"""Risk and utility of a protected table together, and what they were measured on."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from os import PathLike
from typing import Any

import numpy as np

from microagg.core.tabulate import html_table, text_table
from microagg.core.words import counted, listed_names
from microagg.files.dialect import Dialect
from microagg.measures.measure import Risk, Utility, measure_risk, measure_utility
from microagg.measures.risk import wording as risk_words
from microagg.measures.subject import KnownColumns, open_subject
from microagg.plans.plan import Plan
from microagg.requirements.constraints import Violations
from microagg.requirements.found import GroupFinding
from microagg.tables.pairs import Pair, PairedColumn

# Shuffled records have an information loss of about 200 per cent.
_LOSS_WHEN_SHUFFLED = 120.0


@dataclass(frozen=True, eq=False)
class Measures:
    """Risk and utility of a protected table, and what they were measured on.

    `assumed` are columns that count as sensitive only because they have no role and were not
    changed; `weights` is the sensitive column that holds weights of records; `dropped` are columns
    that were left out: not in the protected table, identifiers, or random keys. `unmatched` counts
    records of the original that the protected table does not have. `unique_columns` are assumed
    columns, and weights, that are different in every record. `read_from` is the manifest that named
    the columns, if one did. `unit` is the column of the original that says whom records are about.
    `requirements` are those of the plan or the manifest on every combination besides k records,
    with what was found. `strata` are those of the plan or the manifest, and `blocks` its blocks of
    columns, within each of which k holds; a single block is none. `constraints` counts the records
    that violate each of its constraints.

    Examples
    --------
    >>> import microagg
    >>> import polars as pl
    >>> original = pl.DataFrame({"age": [34, 36, 61, 62], "ill": [True, False, True, True]})
    >>> protected = original.with_columns(age=pl.Series([35, 35, 62, 62]))
    >>> found = microagg.measure(original, protected)
    >>> found.quasi_identifiers, found.sensitive
    (('age',), ('ill',))
    >>> found.risk.classes.smallest, round(found.utility.loss.information_loss, 2)
    (2, 0.43)
    """

    risk: Risk
    utility: Utility
    n_records: int
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    assumed: tuple[str, ...]
    dropped: tuple[str, ...]
    unique_columns: tuple[str, ...]
    unmatched: int
    random_state: int
    seconds: float
    read_from: str | None = None
    weights: str | None = None
    unit: str | None = None
    requirements: tuple[GroupFinding, ...] = ()
    strata: tuple[str, ...] = ()
    blocks: tuple[tuple[str, ...], ...] = ()
    constraints: Mapping[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as plain values, ready for json.dumps."""
        loss, classes = self.utility.loss, self.risk.classes
        return {
            "information_loss": loss.information_loss,
            "sse": loss.sse,
            "sst": loss.sst,
            "n_records": self.n_records,
            "n_groups": classes.n_classes,
            "min_group": classes.smallest,
            "max_group": max(classes.classes_by_size),
            "quasi_identifiers": list(self.quasi_identifiers),
            "sensitive": list(self.sensitive),
            "strata": list(self.strata),
            "blocks": [list(block) for block in self.blocks],
            "weights": self.weights,
            "unit": self.unit,
            "assumed_sensitive": list(self.assumed),
            "dropped": list(self.dropped),
            "different_in_every_record": list(self.unique_columns),
            "unmatched": self.unmatched,
            "random_state": self.random_state,
            "seconds": self.seconds,
            "manifest": self.read_from,
            "requirements": [found.as_dict() for found in self.requirements],
            "constraints": dict(self.constraints),
            "risk": self.risk.as_dict(),
            "utility": self.utility.as_dict(),
        }

    def notes(self) -> list[str]:
        """Return the warnings to show first, signs of a mistake before others."""
        shared = [row for row in self.risk.shared_values() if row.column != self.weights]
        notes = risk_words.attribute_notes(shared)
        return [*self._signs_of_mistakes(), *self._not_met(), *notes]

    def _not_met(self) -> Iterator[str]:
        for found in self.requirements:
            if found.satisfied is False:
                yield f"A requirement is not met: {found.verdict}."
            elif found.satisfied is None:
                needs = found.wording.needs
                yield (
                    f"A requirement cannot be checked ({found.wording.asked}), because the "
                    f"original has no {needs}."
                )
        violations = Violations(dict(self.constraints))
        if not violations.satisfied:
            yield f"A constraint is violated: {violations.broken}."

    def _signs_of_mistakes(self) -> Iterator[str]:
        loss, linkage = self.utility.loss.information_loss, self.risk.linkage
        last = list(linkage.linked)[-1]
        is_guessing = linkage.linked[last] <= 2 * linkage.guessed[last]
        if loss is not None and loss > _LOSS_WHEN_SHUFFLED and is_guessing:
            yield (
                "The released records resemble the original ones no more than if they had been "
                "shuffled. Match them by a column that identifies records (--key, or key= in "
                "Python), or by the audit if microagg shuffled them (--audit, or audit=)."
            )
        if self.weights in self.unique_columns:
            yield (
                f"The weights in {self.weights!r} are published and different in every record, so "
                "anyone who knows one of them finds the record. Round them if that is possible."
            )
        others = [repr(name) for name in self.unique_columns if name != self.weights]
        if len(others) == 1:
            yield (
                f"Column {others[0]} is unchanged and different in every record, so anyone who "
                "knows its value finds the record. Name it as a quasi-identifier if that is "
                "possible."
            )
        elif others:
            yield (
                f"Columns {', '.join(others)} are unchanged and different in every record, so "
                "anyone who knows one of their values finds the record. Name them as "
                "quasi-identifiers if that is possible."
            )

    def rows(self) -> list[tuple[str, str]]:
        """Return what was measured, by name; what does not apply is left out."""
        facts = {
            "intruder knows": listed_names(self.quasi_identifiers),
            "wants to know": listed_names(self.sensitive),
            "assumed": self._assumed(),
            "strata": listed_names(self.strata) if self.strata else "",
            "blocks": self._blocks(),
            "unit": self._unit(),
            "weights": "" if self.weights is None else listed_names([self.weights]),
            "left out": listed_names(self.dropped) if self.dropped else "",
            "not released": self._not_released(),
            "read from": self.read_from or "",
        }
        required = [row for found in self.requirements for row in found.rows()]
        judged = Violations(dict(self.constraints)).rows()
        return [*((name, fact) for name, fact in facts.items() if fact), *required, *judged]

    def _assumed(self) -> str:
        if not self.assumed:
            return ""
        listed = "all of these" if self.assumed == self.sensitive else listed_names(self.assumed)
        return f"{listed} (unchanged, and not named by any option)"

    def _blocks(self) -> str:
        if not self.blocks:
            return ""
        listed = "; ".join(map(listed_names, self.blocks))
        return f"{listed} (k is for each of them; groups below share all columns)"

    def _unit(self) -> str:
        found = self.risk.units
        if found is None:
            return ""
        without = ""
        if found.records_without:
            without = f"; {counted(found.records_without, 'record')} without one"
        return f"{listed_names([found.column])}: {found.n_units:,} different{without}"

    def _not_released(self) -> str:
        return f"{counted(self.unmatched, 'record')} of the original" if self.unmatched else ""

    def __repr__(self) -> str:
        notes = [("Note:", note) for note in self.notes()]
        return "\n\n".join(
            [
                f"Measured {counted(self.n_records, 'record')}",
                text_table((), self.rows()),
                *([text_table((), notes)] if notes else []),
                repr(self.risk),
                repr(self.utility),
            ]
        )

    def _repr_html_(self) -> str:
        title = f"Measured {counted(self.n_records, 'record')}"
        notes = "".join(f"<p>Note: {escape(note)}</p>" for note in self.notes())
        about = html_table((), self.rows(), title=title)
        return f"{about}{notes}{self.risk._repr_html_()}{self.utility._repr_html_()}"


def measure_tables(
    original: Any,
    protected: Any,
    given: KnownColumns,
    plan: Plan | str | PathLike[str] | None,
    dialect: Dialect,
    *,
    key: str | None,
    audit: str | PathLike[str] | None,
    unit: str | None,
    weights: str | None,
    target: str | None,
    seed: int,
) -> Measures:
    """Measure two DataFrames or files, as `microagg.measure` does."""
    began = time.perf_counter()
    pair, known, found, violations = open_subject(
        original, protected, given, plan, dialect, key, unit, weights, audit
    )
    utility = measure_utility(pair, target=target, seed=seed)
    risk = measure_risk(pair, seed=seed, is_drawn=known.is_drawn)
    return measures_of(pair, known, risk, utility, found, violations, seed, began)


def measures_of(
    pair: Pair,
    known: KnownColumns,
    risk: Risk,
    utility: Utility,
    required: tuple[GroupFinding, ...],
    violations: Violations | None,
    seed: int,
    began: float,
) -> Measures:
    """Return all measures of a pair, and what they were measured on."""
    return Measures(
        risk,
        utility,
        pair.n_in_all,
        tuple(pair.columns),
        tuple(pair.sensitive),
        pair.assumed,
        _left_out(pair, known),
        tuple(_unique_columns(pair, known.weights)),
        pair.unmatched,
        seed,
        time.perf_counter() - began,
        known.read_from,
        known.weights,
        None if pair.units is None else pair.units.column,
        required,
        known.strata,
        _blocks(known),
        {} if violations is None else violations.counts,
    )


def _blocks(known: KnownColumns) -> tuple[tuple[str, ...], ...]:
    """Return the blocks of columns without the strata, if there are several."""
    if len(known.blocks) < 2:
        return ()
    return tuple(tuple(n for n in own if n not in known.strata) for own in known.blocks)


def _left_out(pair: Pair, known: KnownColumns) -> tuple[str, ...]:
    """Return what was not measured: what the release does not have, identifiers and keys."""
    return tuple(dict.fromkeys((*pair.dropped, *known.left_out)))


def _unique_columns(pair: Pair, weights: str | None) -> Iterator[str]:
    """Return weights, and assumed columns of text or whole numbers, that differ in every record."""
    for name, column in pair.sensitive.items():
        is_exact = column.after.numbers.dtype.kind != "f"
        if (name == weights or (name in pair.assumed and is_exact)) and _is_unique(column):
            yield name


def _is_unique(column: PairedColumn) -> bool:
    values = column.after
    if values.n_missing:
        return False
    return len(np.unique(values.numbers)) == len(values.numbers) > 1
