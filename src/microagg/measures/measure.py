"""measure(): how safe a protected table is and what it is still good for."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from microagg.core.errors import ParameterError
from microagg.core.progress import ProgressCallback, heard_by, report
from microagg.core.validation import SeedLike, check_seed, did_you_mean
from microagg.measures.risk.attributes import AttributeDisclosure, attribute_disclosure
from microagg.measures.risk.classes import ClassSizes, class_sizes
from microagg.measures.risk.drisk import DRisk, drisk
from microagg.measures.risk.informed import InformedLinkage, informed
from microagg.measures.risk.intervals import IntervalDisclosure, interval_disclosure
from microagg.measures.risk.linkage import DistanceLinkage, distance_linkage
from microagg.measures.risk.probabilistic import ProbabilisticLinkage, probabilistic
from microagg.measures.utility.column_loss import ColumnLoss, column_loss
from microagg.measures.utility.distributions import Distributions, distributions
from microagg.measures.utility.eigenvalues import Eigenvalues, eigenvalues
from microagg.measures.utility.il1s import IL1s, il1s
from microagg.measures.utility.models import ModelComparison, models
from microagg.measures.utility.moments import Moments, moments
from microagg.measures.utility.propensity import Propensity, propensity
from microagg.plans.plan import as_records
from microagg.tables.matching import open_pair
from microagg.tables.pairs import Pair, PairedColumn
from microagg.tables.roles import Names


@dataclass(frozen=True, eq=False)
class Risk:
    """Who could still be found, or found out about; docs/risk.md defines every figure."""

    classes: ClassSizes
    linkage: DistanceLinkage
    probabilistic: ProbabilisticLinkage
    informed: InformedLinkage
    intervals: IntervalDisclosure
    drisk: DRisk
    attributes: AttributeDisclosure

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as plain values, ready for json.dumps."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Utility:
    """What the data are still good for; docs/utility.md defines every figure."""

    loss: ColumnLoss
    il1s: IL1s
    eigenvalues: Eigenvalues
    moments: Moments
    distributions: Distributions
    propensity: Propensity
    model: ModelComparison | None

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as plain values, ready for json.dumps."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Measures:
    """Risk and utility of a protected table, and what they were measured on.

    `assumed` are columns that count as sensitive only because nobody named them and nothing in them
    was changed; `dropped` are columns that the protected table does not have or that hold random
    keys, `unmatched` counts records of the original that it does not have. `telling` are assumed
    columns that are different in every record.
    """

    risk: Risk
    utility: Utility
    n_records: int
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    assumed: tuple[str, ...]
    dropped: tuple[str, ...]
    telling: tuple[str, ...]
    unmatched: int
    random_state: int
    seconds: float

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
            "assumed_sensitive": list(self.assumed),
            "dropped": list(self.dropped),
            "different_in_every_record": list(self.telling),
            "unmatched": self.unmatched,
            "random_state": self.random_state,
            "seconds": self.seconds,
            "risk": self.risk.as_dict(),
            "utility": self.utility.as_dict(),
        }


def measure(
    original: Any,
    protected: Any,
    *,
    key: str | None = None,
    quasi_identifiers: Names = None,
    identifiers: Names = (),
    sensitive: Names = (),
    columns: Mapping[str, Any] | None = None,
    target: str | None = None,
    random_state: SeedLike = 0,
    progress: bool | ProgressCallback = False,
) -> Measures:
    """Return how safe a protected table is and what it is still good for, whoever made it.

    Both tables have the same records in the same order, or a key that tells which is which.

    Parameters
    ----------
    original, protected : DataFrames of pandas, polars or pyarrow
    key : a column by which records are matched; it may have dropped records, and is not measured
    quasi_identifiers : columns that an intruder may know; by default all that were changed
    identifiers : columns to leave out
    sensitive : columns that an intruder wants to know; columns without a role that were not changed
        count as sensitive, too
    columns : what is said of single columns, by name, as in `protect`: "type", "order"
    target : a column that models predict: once trained on the protected table, once on the original
    random_state : the seed of samples, which are drawn above 100,000 records only, and of the folds
        of models
    progress : True for a bar where standard error is a terminal, or a function that is called
        with (task, done, total)

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
    if any("role" in said for said in (columns or {}).values() if isinstance(said, Mapping)):
        raise ParameterError(
            "roles are given as quasi_identifiers, identifiers and sensitive; columns say what "
            "columns are. Remove the role."
        )
    wishes = as_records(columns, "value")["wishes"]
    seed = check_seed(random_state)
    listener = heard_by(progress)
    pair = open_pair(
        original,
        protected,
        key=key,
        quasi_identifiers=quasi_identifiers,
        identifiers=identifiers,
        sensitive=sensitive,
        wishes=wishes,
    )
    with listener:
        utility = measure_utility(pair, target=target, seed=seed)
        risk = measure_risk(pair, seed=seed)
    return Measures(
        risk,
        utility,
        pair.n_records,
        tuple(pair.columns),
        tuple(pair.sensitive),
        pair.assumed,
        pair.dropped,
        tuple(name for name in pair.assumed if _tells_records_apart(pair.sensitive[name])),
        pair.unmatched,
        seed,
        time.perf_counter() - began,
    )


def _tells_records_apart(column: PairedColumn) -> bool:
    """Whether a column of text or whole numbers is different in every record."""
    values = column.after
    if values.numbers.dtype.kind == "f" or values.n_missing:
        return False
    return len(np.unique(values.numbers)) == len(values.numbers) > 1


def measure_risk(pair: Pair, *, seed: int = 0, is_drawn: bool = False) -> Risk:
    """Try every attack; `is_drawn` says that records drew what they got (`fcm`, `efcm`)."""
    drawn = tuple(pair.columns) if is_drawn else ()
    return Risk(
        classes=class_sizes(pair),
        linkage=distance_linkage(pair, seed=seed),
        probabilistic=probabilistic(pair, seed=seed),
        informed=informed(pair, drawn=drawn, seed=seed),
        intervals=interval_disclosure(pair),
        drisk=drisk(pair),
        attributes=attribute_disclosure(pair),
    )


def _choose(known: Sequence[str]) -> str:
    return f" Choose one of {', '.join(map(repr, known))}."


def measure_utility(pair: Pair, *, target: str | None = None, seed: int = 0) -> Utility:
    """Measure every loss; with a `target`, models of it as well."""
    known = (*pair.columns, *pair.sensitive)
    if target is not None and target not in known:
        raise ParameterError(
            f"the target {target!r} is no column that is measured."
            f"{did_you_mean(target, known) or _choose(known)}"
        )
    report("measuring utility", 0, 2)
    found = {
        "loss": column_loss(pair),
        "il1s": il1s(pair),
        "eigenvalues": eigenvalues(pair),
        "moments": moments(pair),
        "distributions": distributions(pair),
        "propensity": propensity(pair, seed=seed),
    }
    report("measuring utility", 1, 2)
    model = None if target is None else models(pair, target, seed=seed)
    report("measuring utility", 2, 2)
    return Utility(**found, model=model)  # type: ignore[arg-type]
