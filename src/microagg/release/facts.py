"""What the manifests of tables and of datasets have in common."""

from collections.abc import Mapping, Sized
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol

import numpy as np

from microagg import __version__
from microagg.aggregates.choices import Aggregate, Missing
from microagg.aggregates.digits import ALL
from microagg.bounds.choice import Bound
from microagg.core.arrays import Labels
from microagg.core.estimator import Estimator
from microagg.core.registry import Guarantee, Method
from microagg.measures.utility.column_loss import ColumnLoss
from microagg.measures.utility.information_loss import Errors
from microagg.plans.columns import names_about
from microagg.plans.manifest_facts import (
    ColumnFacts,
    ConstraintFacts,
    FileFacts,
    MissingFacts,
    RequirementFacts,
    SharedFacts,
    StrataFacts,
    UnitFacts,
)
from microagg.plans.plan import Plan
from microagg.requirements.base import About
from microagg.requirements.found import GroupFinding
from microagg.requirements.records import Classes
from microagg.requirements.shared import SharedValues
from microagg.requirements.units import KUnits
from microagg.tables.columns import Column, ColumnType
from microagg.tables.fitted_types import FittedType
from microagg.tables.frames import type_name
from microagg.tables.roles import Roles

LIBRARIES = ("numpy", "numba", "scipy", "scikit-learn", "polars", "narwhals", "pandas", "pyarrow")
# Parameters that are not options of a method: the manifest has them elsewhere.
_ELSEWHERE = ("k", "constraints", "initial_centers", "strict_k", "random_state")


class Judged(Protocol):
    """What judges found in what is to be released."""

    @property
    def classes(self) -> Classes:
        """The records that share a combination."""

    @property
    def findings(self) -> tuple[GroupFinding, ...]:
        """Those of the requirements on groups."""

    @property
    def shared(self) -> tuple[SharedValues, ...]:
        """In how many combinations all records have one value of a sensitive column."""


def library_versions() -> dict[str, str]:
    """Return the versions of the libraries involved, if they are installed."""
    return {name: found for name in LIBRARIES if (found := _version(name)) is not None}


@cache  # each lookup takes milliseconds
def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def request_facts(
    plan: Plan,
    roles: Roles,
    seed: int | None,
    *,
    source: FileFacts,
    command: str,
    identifiers: tuple[str, ...],
    dropped: tuple[str, ...],
    key: str | None,
) -> dict[str, Any]:
    """Return what was asked of which columns, and when; the plan has the seed that was used."""
    return {
        "microagg_version": __version__,
        "libraries": library_versions(),
        "created": datetime.now(UTC).replace(microsecond=0),
        "plan": plan,
        "input": source,
        "command": command,
        "random_state": seed,
        "k": plan.k,
        "scale": plan.scale,
        "quasi_identifiers": roles.quasi_identifiers,
        "assumed_quasi_identifiers": roles.assumed,
        "sensitive": roles.sensitive,
        "strata": roles.strata,
        "weights": roles.weights,
        "unchanged": roles.unchanged,
        "unit": roles.unit,
        "identifiers": identifiers,
        "key": key,
        "dropped": tuple(name for name in dropped if name != key),
    }


def result_facts(
    method: Method,
    estimator: Estimator,
    sizes: Mapping[int, int],
    loss: ColumnLoss,
    errors: Errors,
    judged: Judged,
    *,
    n_records: int,
) -> dict[str, Any]:
    """Return how groups were found, how many there are of each size, and what they lose."""
    sizes = dict(sorted(sizes.items()))
    guarantee = method.guarantee
    if judged.findings and guarantee is Guarantee.K_TO_2K_MINUS_1:
        guarantee = Guarantee.AT_LEAST_K  # requirements may need groups of any size
    return {
        "method": method.name,
        "guarantee": guarantee.value,
        "options": options_of(estimator, n_records),
        "n_records": n_records,
        "n_groups": sum(sizes.values()),
        "min_group": min(sizes),
        "max_group": max(sizes),
        "group_sizes": {str(size): count for size, count in sizes.items()},
        "information_loss": loss.information_loss,
        "worst_columns": loss.worst_columns,
        "grouping_loss": errors.information_loss,
        "sse": errors.sse,
        "sst": errors.sst,
        "smallest_class": judged.classes.smallest,
        "n_classes": judged.classes.count,
        "shared_values": {
            own.column: SharedFacts(shared=own.shared, combinations=own.combinations)
            for own in judged.shared
        },
        "requirements": tuple(_requirement(own) for own in judged.findings),
    }


def bound_facts(bound: Bound, errors: Errors) -> dict[str, Any]:
    """Return how far from the least possible the groups are, or why that is not known."""
    least = None if bound.sse is None else Errors(bound.sse, errors.sst).information_loss
    return {
        "bound": bound.tightness,
        "lower_bound": least,
        "gap": bound.gap(errors.sse),
        "proved_optimal": bound.proves_optimal(errors.sse),
        "why_no_bound": bound.why_none,
    }


def _requirement(finding: GroupFinding) -> RequirementFacts:
    """Return what was found; a share of a total, with the total, would give a value away."""
    figures = finding.as_dict()
    if finding.wording.name in names_about(About.CONTRIBUTIONS):
        figures["worst"] = None
    return RequirementFacts(**figures)


def options_of(estimator: Estimator, n_records: int) -> dict[str, Any]:
    """Return the options that the method used, those left at their defaults included."""
    used = estimator.get_params().items()
    return plain_options({name: own for name, own in used if name not in _ELSEWHERE}, n_records)


def plain_options(options: Mapping[str, Any], n_records: int) -> dict[str, Any]:
    """Return options as plain values for JSON; of arrays and other objects, only their kind."""
    return {name: _plain(value, n_records) for name, value in options.items()}


def _plain(value: object, n_records: int) -> object:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    if not isinstance(value, Sized) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return type(value).__name__
    if len(value) == n_records:
        return f"labels of {n_records:,} records"
    if isinstance(value, (list, tuple)) and all(isinstance(entry, str) for entry in value):
        return list(value)
    return f"{len(value):,} values"


def column_facts(
    column: Column | FittedType,
    aggregate: Aggregate,
    weight: float,
    n_missing: int,
    *,
    why: str,
    digits: int | None,
    coarse: bool,
) -> ColumnFacts:
    """Say how a column was treated; `digits` are the decimals that it is released with."""
    return ColumnFacts(
        type=column.type,
        aggregate=aggregate,
        weight=weight,
        missing=n_missing,
        stored=type_name(column.stored),
        why=why,
        digits=_digits(column.type, digits),
        coarse=coarse,
        written=column.written,
    )


def _digits(kind: ColumnType, digits: int | None) -> int | str:
    """Return the decimals that numbers were rounded to; other columns have none."""
    if not kind.is_number:
        return ""
    return ALL if digits is None else digits


def constraint_facts(
    violations: dict[str, int],
    *,
    moved: int,
    unproved: int,
    excess: float,
    added: float,
    errors: Errors,
) -> ConstraintFacts:
    """Say what it took to satisfy constraints; `added` is what it adds to the squared error."""
    return ConstraintFacts(
        records_in_violation=violations,
        groups_moved=moved,
        groups_not_proved_nearest=unproved,
        farther_than_nearest_by_at_most=excess,
        added_information_loss=Errors(added, errors.sst).information_loss,
    )


def missing_facts(
    treatment: Missing, before: Mapping[str, int], after: Mapping[str, int]
) -> MissingFacts | None:
    """Say how many missing values columns have before and after; None if there are none before."""
    before = {name: count for name, count in before.items() if count}
    if not before:
        return None
    return MissingFacts(
        treatment=treatment, before=before, after={name: after[name] for name in before}
    )


def strata_facts(columns: tuple[str, ...], sizes: Labels, n_merged: int) -> StrataFacts:
    """Say how many strata there are and how small the smallest is; merged ones are empty."""
    return StrataFacts(
        columns=columns,
        count=int(np.count_nonzero(sizes)),
        smallest=int(sizes[sizes > 0].min()),
        merged=n_merged,
    )


def unit_facts(column: str, judged: Judged, *, count: int, records_without: int) -> UnitFacts:
    """Say how many units there are, and how many stand behind the rarest combination."""
    (behind,) = (own.worst for own in judged.findings if own.wording.name == KUnits.name)
    assert behind is not None
    return UnitFacts(
        column=column, count=count, records_without=records_without, fewest=int(behind)
    )
