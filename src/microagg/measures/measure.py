"""How safe a protected table is, and what it is still good for."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from microagg.core.errors import ParameterError
from microagg.core.progress import report
from microagg.core.words import did_you_mean
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
from microagg.measures.wording import FigureRow, Sample, as_html, as_text, stated
from microagg.tables.pairs import Pair
from microagg.tables.roles import IS_IT_A_HEADER, may_be_record

# Figures whose rows say by themselves which records were attacked.
_SAY_THEMSELVES = ("linkage", "probabilistic", "informed")


def _plain(measures: Any) -> dict[str, Any]:
    """Return the fields as plain values; a sample only where there is one."""
    found = asdict(measures)
    sample = found.pop("sample")
    return found if sample is None else {**found, "sample": sample._asdict()}


@dataclass(frozen=True, eq=False)
class Risk:
    """Who could still be identified, or found out about.

    `units` is None if nothing says whom records are about, `individual` if records have no
    weights. `sample` says which figures come from a sample, for a dataset of more than 100,000
    records.
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
    sample: Sample | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as plain values, ready for json.dumps."""
        return _plain(self)

    def rows(self) -> list[FigureRow]:
        """Return the main figures in words."""
        each = [
            ("classes", risk_words.class_rows(self.classes)),
            ("units", risk_words.unit_class_rows(self.units)),
            ("individual", risk_words.individual_rows(self.individual)),
            ("linkage", risk_words.linkage_rows(self.linkage, self.classes.smallest)),
            ("units", risk_words.unit_linkage_rows(self.units)),
            ("probabilistic", [risk_words.probabilistic_row(self.probabilistic)]),
            ("informed", risk_words.informed_rows(self.informed)),
            ("intervals", risk_words.nearness_rows(self.intervals, self.drisk)),
            ("attributes", risk_words.attribute_rows(self.attributes)),
        ]
        return [
            row
            for name, rows in each
            for row in (rows if name in _SAY_THEMSELVES else stated(rows, self.sample, name))
        ]

    def notes(self) -> list[str]:
        """Return the warnings to show first."""
        return list(risk_words.attribute_notes(self.shared_values()))

    def shared_values(self) -> list[risk_words.SharedValue]:
        """Return the sensitive columns whose value follows from being in some group."""
        return risk_words.shared_values(self.attributes, self.classes.n_classes)

    def __repr__(self) -> str:
        return as_text("Risk", self.rows())

    def _repr_html_(self) -> str:
        return as_html("Risk", self.rows())


@dataclass(frozen=True, eq=False)
class Utility:
    """What the data are still good for.

    `units` is None if nothing says whom records are about. `sample` says which figures come from a
    sample of a dataset, if it has more than 100,000 records.
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
    sample: Sample | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as plain values, ready for json.dumps."""
        return _plain(self)

    def rows(self) -> list[FigureRow]:
        """Return the main figures in words."""
        each = {
            "loss": utility_words.loss_rows(self.loss),
            "units": utility_words.unit_loss_rows(self.units),
            "il1s": utility_words.il1s_rows(self.il1s),
            "eigenvalues": utility_words.eigenvalue_rows(self.eigenvalues),
            "moments": utility_words.moment_rows(self.moments),
            "associations": utility_words.association_rows(self.associations),
            "distributions": utility_words.distribution_rows(self.distributions),
            "total_variation": utility_words.category_rows(self.distributions),
            "propensity": utility_words.propensity_rows(self.propensity),
            "model": utility_words.model_rows(self.model),
        }
        return [row for name, rows in each.items() for row in stated(rows, self.sample, name)]

    def __repr__(self) -> str:
        return as_text("Utility", self.rows())

    def _repr_html_(self) -> str:
        return as_html("Utility", self.rows())


def from_sample(measures: type[Risk | Utility], of_all: Iterable[str]) -> tuple[str, ...]:
    """Return the figures that come from a sample: all but those that are `of_all` records.

    >>> from_sample(Utility, ("loss", "units", "il1s", "eigenvalues", "moments", "associations"))
    ('distributions', 'propensity', 'model')
    """
    those = {*of_all, "sample"}
    return tuple(own.name for own in fields(measures) if own.name not in those)


# All groups of rows of `Utility`, for a sample that all of them come from.
UTILITY_FIELDS = (*from_sample(Utility, ()), "total_variation")


def measure_risk(
    pair: Pair,
    *,
    seed: int = 0,
    is_drawn: bool = False,
    known: Mapping[str, Any] | None = None,
    sample: Sample | None = None,
) -> Risk:
    """Try every attack; `is_drawn` says that records drew their values (`fcm`, `efcm`).

    What is `known` of all records is taken as it is, where these are a `sample` of them.
    """
    drawn = tuple(pair.columns) if is_drawn else ()
    makers: dict[str, Callable[[], Any]] = {
        "classes": lambda: class_sizes(pair),
        "linkage": lambda: distance_linkage(pair, seed=seed),
        "probabilistic": lambda: probabilistic(pair, seed=seed),
        "informed": lambda: informed(pair, drawn=drawn, seed=seed),
        "intervals": lambda: interval_disclosure(pair),
        "drisk": lambda: drisk(pair),
        "attributes": lambda: attribute_disclosure(pair),
        "units": lambda: unit_risk(pair, seed=seed),
        "individual": lambda: individual_risk(pair),
    }
    return Risk(**_measured(makers, known), sample=sample)


def _measured(
    makers: Mapping[str, Callable[[], Any]], known: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return what is known, and measure the rest."""
    given = known or {}
    return {name: given[name] if name in given else make() for name, make in makers.items()}


def _choose(name: str, known: Sequence[str]) -> str:
    if may_be_record(known):
        return f" {IS_IT_A_HEADER}"
    return did_you_mean(name, known) or f" Choose one of {', '.join(map(repr, known))}."


def measure_utility(
    pair: Pair,
    *,
    target: str | None = None,
    seed: int = 0,
    known: Mapping[str, Any] | None = None,
    sample: Sample | None = None,
) -> Utility:
    """Measure every loss; with a `target`, models of it as well.

    What is `known` of all records is taken as it is, where these are a `sample` of them.
    """
    columns = (*pair.columns, *pair.sensitive)
    if target is not None and target not in columns:
        raise ParameterError(
            f"the target {target!r} is not among the measured columns.{_choose(target, columns)}"
        )
    report("measuring utility", 0, 2)
    makers: dict[str, Callable[[], Any]] = {
        "loss": lambda: column_loss(pair),
        "il1s": lambda: il1s(pair),
        "eigenvalues": lambda: eigenvalues(pair),
        "moments": lambda: moments(pair),
        "associations": lambda: associations(pair),
        "distributions": lambda: distributions(pair),
        "propensity": lambda: propensity(pair, seed=seed),
        "units": lambda: unit_loss(pair),
    }
    found = _measured(makers, known)
    report("measuring utility", 1, 2)
    model = None if target is None else models(pair, target, seed=seed)
    report("measuring utility", 2, 2)
    return Utility(**found, model=model, sample=sample)
