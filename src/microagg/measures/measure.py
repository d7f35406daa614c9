"""measure(): how safe a protected table is and what it is still good for."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from os import PathLike
from typing import Any

import numpy as np

from microagg.core.errors import ParameterError
from microagg.core.progress import ProgressCallback, report, reporting_to
from microagg.core.tabulate import html_table, text_table
from microagg.core.validation import SeedLike, check_seed, did_you_mean
from microagg.core.words import counted
from microagg.files.dialect import Dialect
from microagg.measures.risk import wording as risk_words
from microagg.measures.risk.attributes import AttributeDisclosure, attribute_disclosure
from microagg.measures.risk.classes import ClassSizes, class_sizes
from microagg.measures.risk.drisk import DRisk, drisk
from microagg.measures.risk.individual import IndividualRisk, individual_risk
from microagg.measures.risk.informed import InformedLinkage, informed
from microagg.measures.risk.intervals import IntervalDisclosure, interval_disclosure
from microagg.measures.risk.linkage import DistanceLinkage, distance_linkage
from microagg.measures.risk.probabilistic import ProbabilisticLinkage, probabilistic
from microagg.measures.risk.units import UnitRisk, unit_risk
from microagg.measures.subject import KnownColumns, open_subject
from microagg.measures.utility import wording as utility_words
from microagg.measures.utility.associations import Associations, associations
from microagg.measures.utility.column_loss import ColumnLoss, column_loss
from microagg.measures.utility.distributions import Distributions, distributions
from microagg.measures.utility.eigenvalues import Eigenvalues, eigenvalues
from microagg.measures.utility.il1s import IL1s, il1s
from microagg.measures.utility.models import ModelComparison, models
from microagg.measures.utility.moments import Moments, moments
from microagg.measures.utility.propensity import Propensity, propensity
from microagg.measures.utility.unit_loss import UnitLoss, unit_loss
from microagg.measures.wording import FigureRow, as_html, as_text
from microagg.plans.plan import Plan
from microagg.requirements.found import GroupFinding
from microagg.tables.pairs import Pair, PairedColumn
from microagg.tables.roles import Names

# Shuffled records have an information loss of about 200 per cent.
_LOSS_WHEN_SHUFFLED = 120.0


@dataclass(frozen=True, eq=False)
class Risk:
    """Who could still be identified, or found out about; docs/risk.md defines every figure.

    `units` is None if nothing says whom records are about, `individual` if records have no weights.
    """

    classes: ClassSizes
    linkage: DistanceLinkage
    probabilistic: ProbabilisticLinkage
    informed: InformedLinkage
    intervals: IntervalDisclosure
    drisk: DRisk
    attributes: AttributeDisclosure
    units: UnitRisk | None = None
    individual: IndividualRisk | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as plain values, ready for json.dumps."""
        return asdict(self)

    def rows(self) -> list[FigureRow]:
        """Return the main figures in words."""
        return [
            *risk_words.class_rows(self.classes),
            *risk_words.unit_class_rows(self.units),
            *risk_words.individual_rows(self.individual),
            *risk_words.linkage_rows(self.linkage, self.classes.smallest),
            *risk_words.unit_linkage_rows(self.units),
            risk_words.probabilistic_row(self.probabilistic),
            *risk_words.informed_rows(self.informed),
            *risk_words.nearness_rows(self.intervals, self.drisk),
            *risk_words.attribute_rows(self.attributes),
        ]

    def notes(self) -> list[str]:
        """Return what nobody should overlook."""
        return list(risk_words.attribute_notes(self.shared_values()))

    def shared_values(self) -> list[risk_words.SharedValue]:
        """Return the sensitive columns of which being in some group tells the value."""
        return risk_words.shared_values(self.attributes, self.classes.n_classes)

    def __repr__(self) -> str:
        return as_text("Risk", self.rows())

    def _repr_html_(self) -> str:
        return as_html("Risk", self.rows())


@dataclass(frozen=True, eq=False)
class Utility:
    """What the data are still good for; docs/utility.md defines every figure.

    `units` is None if nothing says whom records are about.
    """

    loss: ColumnLoss
    il1s: IL1s
    eigenvalues: Eigenvalues
    moments: Moments
    associations: Associations
    distributions: Distributions
    propensity: Propensity
    model: ModelComparison | None
    units: UnitLoss | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as plain values, ready for json.dumps."""
        return asdict(self)

    def rows(self) -> list[FigureRow]:
        """Return the main figures in words."""
        return [
            *utility_words.loss_rows(self.loss),
            *utility_words.unit_loss_rows(self.units),
            *utility_words.sdcmicro_rows(self.il1s, self.eigenvalues),
            *utility_words.moment_rows(self.moments),
            *utility_words.association_rows(self.associations),
            *utility_words.distribution_rows(self.distributions),
            *utility_words.propensity_rows(self.propensity),
            *utility_words.model_rows(self.model),
        ]

    def __repr__(self) -> str:
        return as_text("Utility", self.rows())

    def _repr_html_(self) -> str:
        return as_html("Utility", self.rows())


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
    with what was found.
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
            "risk": self.risk.as_dict(),
            "utility": self.utility.as_dict(),
        }

    def notes(self) -> list[str]:
        """Return what nobody should overlook: signs of a mistake first."""
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
                    f"It cannot be told whether a requirement is met ({found.wording.asked}), "
                    f"because the original has no {needs}."
                )

    def _signs_of_mistakes(self) -> Iterator[str]:
        loss, linkage = self.utility.loss.information_loss, self.risk.linkage
        last = list(linkage.linked)[-1]
        is_guessing = linkage.linked[last] <= 2 * linkage.guessed[last]
        if loss is not None and loss > _LOSS_WHEN_SHUFFLED and is_guessing:
            yield (
                "The released records resemble the original ones no more than if they had been "
                "shuffled. Match them by a column that identifies records (--key, or key= in "
                "Python)."
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

    def _facts(self) -> list[tuple[str, str]]:
        """Return what was measured, by name; what does not apply is left out."""
        facts = {
            "quasi-identifiers": ", ".join(self.quasi_identifiers),
            "sensitive": ", ".join(self.sensitive),
            "unit": self.unit or "",
            "weights": self.weights or "",
            "assumed sensitive": ", ".join(self.assumed),
            "left out": ", ".join(self.dropped),
            "not released": counted(self.unmatched, "record") if self.unmatched else "",
            "read from": self.read_from or "",
        }
        required = [row for found in self.requirements for row in found.rows()]
        return [*((name, fact) for name, fact in facts.items() if fact), *required]

    def __repr__(self) -> str:
        notes = [("Note:", note) for note in self.notes()]
        return "\n\n".join(
            [
                f"Measured {counted(self.n_records, 'record')}",
                text_table((), self._facts()),
                *([text_table((), notes)] if notes else []),
                repr(self.risk),
                repr(self.utility),
            ]
        )

    def _repr_html_(self) -> str:
        title = f"Measured {counted(self.n_records, 'record')}"
        notes = "".join(f"<p>Note: {escape(note)}</p>" for note in self.notes())
        about = html_table((), self._facts(), title=title)
        return f"{about}{notes}{self.risk._repr_html_()}{self.utility._repr_html_()}"


def measure(
    original: Any,
    protected: Any,
    *,
    key: str | None = None,
    quasi_identifiers: Names = None,
    identifiers: Names = (),
    sensitive: Names = (),
    unit: str | None = None,
    weights: str | None = None,
    columns: Mapping[str, Any] | None = None,
    target: str | None = None,
    random_state: SeedLike = 0,
    plan: Plan | str | PathLike[str] | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    max_expanded: int | str | None = None,
    progress: bool | ProgressCallback = False,
) -> Measures:
    """Return how safe a protected table is and what it is still good for, whatever made it.

    Both tables have the same records in the same order, or a key to match them by. Print the result
    to read it.

    Parameters
    ----------
    original, protected : DataFrames of pandas, polars or pyarrow, or paths of files. Unless columns
        or a plan are given, the manifest that lies beside a protected file says which columns are
        which.
    key : column to match records by; the protected table may have fewer records then. It is not
        measured
    quasi_identifiers : columns that an intruder may know; by default all that were changed
    identifiers : columns to leave out
    sensitive : columns that an intruder wants to know; unchanged columns without a role count as
        sensitive, too
    unit : column of the original that says whom a record is about, such as a patient or a firm;
        figures are then given for units as well. By default that of the plan or the manifest;
        "rows" if every record is about somebody else
    weights : column of the original with sampling weights, how many of the population each record
        stands for: figures of columns are then weighted, and the risk in the population is
        estimated. By default that of the plan or the manifest
    columns : options for single columns, by name, as in `protect`: "type", "order" and "weight",
        which counts in the information loss; others are refused
    target : column to predict with models trained on the protected table and on the original
    random_state : seed of the samples, which are drawn only above 100,000 records, and of the folds
        of the models
    plan : the `Plan` of the release, or the path of a plan file, that says which columns are which;
        columns named beside it are refused
    delimiter, decimal, encoding : how CSV files are written; detected where not given
    sheet : the sheet of Excel workbooks, or the data frame in R files; by default the only one
    max_expanded : what a compressed file of any format may expand to, in bytes or as in "8GB"; by
        default 4 GB
    progress : True for a progress bar where standard error is a terminal, or a function that is
        called with (task, done, total)

    Examples
    --------
    >>> import polars as pl
    >>> from microagg import protect
    >>> people = pl.DataFrame({"age": [34, 36, 61, 62], "height": [1.7, 1.8, 1.6, 1.6]})
    >>> found = measure(people, protect(people, k=2).table)
    >>> found.risk.linkage.linked[1]
    0.5
    """
    began = time.perf_counter()
    given = KnownColumns.given(quasi_identifiers, identifiers, sensitive, columns)
    seed, listener = check_seed(random_state), reporting_to(progress)
    dialect = Dialect(delimiter, decimal, encoding, sheet=sheet, max_expanded=max_expanded)
    pair, known, found = open_subject(original, protected, given, plan, dialect, key, unit, weights)
    with listener:
        utility = measure_utility(pair, target=target, seed=seed)
        risk = measure_risk(pair, seed=seed, is_drawn=known.is_drawn)
    return Measures(
        risk,
        utility,
        pair.n_records,
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
        found,
    )


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


def measure_risk(pair: Pair, *, seed: int = 0, is_drawn: bool = False) -> Risk:
    """Try every attack; `is_drawn` says that records drew their values (`fcm`, `efcm`)."""
    drawn = tuple(pair.columns) if is_drawn else ()
    return Risk(
        classes=class_sizes(pair),
        linkage=distance_linkage(pair, seed=seed),
        probabilistic=probabilistic(pair, seed=seed),
        informed=informed(pair, drawn=drawn, seed=seed),
        intervals=interval_disclosure(pair),
        drisk=drisk(pair),
        attributes=attribute_disclosure(pair),
        units=unit_risk(pair, seed=seed),
        individual=individual_risk(pair),
    )


def _choose(known: Sequence[str]) -> str:
    return f" Choose one of {', '.join(map(repr, known))}."


def measure_utility(pair: Pair, *, target: str | None = None, seed: int = 0) -> Utility:
    """Measure every loss; with a `target`, models of it as well."""
    known = (*pair.columns, *pair.sensitive)
    if target is not None and target not in known:
        raise ParameterError(
            f"the target {target!r} is not among the measured columns."
            f"{did_you_mean(target, known) or _choose(known)}"
        )
    report("measuring utility", 0, 2)
    found = {
        "loss": column_loss(pair),
        "il1s": il1s(pair),
        "eigenvalues": eigenvalues(pair),
        "moments": moments(pair),
        "associations": associations(pair),
        "distributions": distributions(pair),
        "propensity": propensity(pair, seed=seed),
        "units": unit_loss(pair),
    }
    report("measuring utility", 1, 2)
    model = None if target is None else models(pair, target, seed=seed)
    report("measuring utility", 2, 2)
    return Utility(**found, model=model)  # type: ignore[arg-type]
