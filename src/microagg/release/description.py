"""Last stage: the manifest, which records what was done without any record's values."""

from collections import Counter
from typing import TYPE_CHECKING, cast

import numpy as np

from microagg.bounds.choice import Bound
from microagg.core.estimator import Estimator
from microagg.measures.utility.information_loss import Errors
from microagg.plans.manifest import Manifest
from microagg.plans.manifest_facts import (
    CategoryFacts,
    ColumnFacts,
    CombinationFacts,
    ConstraintFacts,
    DrawFacts,
    FileFacts,
    HybridFacts,
    MarginFacts,
    MissingFacts,
    StrataFacts,
    UnitFacts,
)
from microagg.plans.plan import Plan
from microagg.release.constrained import Constrained
from microagg.release.facts import (
    bound_facts,
    column_facts,
    constraint_facts,
    missing_facts,
    request_facts,
    result_facts,
    strata_facts,
    unit_facts,
)
from microagg.release.grouping import Groups, n_expecting_fewer
from microagg.release.records import Records
from microagg.release.released import Released, loss_of
from microagg.release.verification import Verified
from microagg.requirements.hybrid import MovedMoments
from microagg.tables.decimals import is_coarse

if TYPE_CHECKING:
    from microagg.fuzzy.base import FuzzyMicroaggregator


def describe(
    plan: Plan,
    records: Records,
    groups: Groups,
    released: Released,
    verified: Verified,
    bound: Bound,
    *,
    command: str,
    seconds: float,
) -> Manifest:
    """Return the manifest; `plan` includes the seed that was used."""
    source, roles, errors = records.source, records.roles, groups.errors
    return Manifest(
        **request_facts(
            plan,
            roles,
            groups.seed,
            source=FileFacts(file=source.file, sha256=source.sha256),
            command=command,
            identifiers=records.named_identifiers,
            dropped=(*source.not_read, *roles.unpublished),
            key=verified.key,
        ),
        **result_facts(
            groups.method,
            groups.estimator,
            Counter(groups.sizes.tolist()),
            loss_of(records, released),
            errors,
            verified,
            n_records=len(records.frame),
        ),
        **bound_facts(bound, errors),
        columns=_columns(records),
        promise=groups.promise,
        interrupted=groups.interrupted,
        timed_out=groups.timed_out,
        constraints=_constraints(released.constrained, errors),
        missing_values=_missing(records, released),
        markers={name: n for name, n in source.markers.items() if name in records.columns},
        strata_found=_strata(records),
        blocks=tuple(block.names for block in records.blocks),
        new_combinations=_combinations(released),
        categories=_categories(plan, records, released),
        draw=_draw(groups.estimator) if groups.method.draws else None,
        hybrid=_hybrid(released, verified.moved),
        units=_units(records, verified),
        verified=groups.promise.is_verified,
        seconds=seconds,
    )


def _units(records: Records, verified: Verified) -> UnitFacts | None:
    if records.units is None or records.roles.unit is None:
        return None
    return unit_facts(
        records.roles.unit,
        verified,
        count=len(np.unique(records.units[records.units >= 0])),
        records_without=int(np.count_nonzero(records.units < 0)),
    )


def _columns(records: Records) -> dict[str, ColumnFacts]:
    return {
        name: column_facts(
            column,
            column.aggregate,
            column.weight,
            column.values.n_missing,
            why=records.judged[name].why,
            digits=column.digits.released,
            coarse=is_coarse(column),
        )
        for name, column in records.columns.items()
    }


def _constraints(found: Constrained | None, errors: Errors) -> ConstraintFacts | None:
    if found is None:
        return None
    return constraint_facts(
        found.violations,
        moved=sum(block.moved for block in found.satisfied),
        unproved=sum(block.unproved for block in found.satisfied),
        excess=max((block.excess for block in found.satisfied), default=0.0),
        added=found.added,
        errors=errors,
    )


def _hybrid(released: Released, moved: MovedMoments | None) -> HybridFacts | None:
    """Say how far rounding moved hybrid records."""
    if moved is None:
        return None
    return HybridFacts(
        rounded=tuple(n for n, own in released.values.items() if own.numbers.dtype.kind in "iu"),
        group_mean_moved=moved.mean,
        group_covariance_moved=moved.covariance,
        table_mean_moved=moved.table_mean,
        table_covariance_moved=moved.table_covariance,
    )


def _missing(records: Records, released: Released) -> MissingFacts | None:
    after = {name: values.n_missing for name, values in released.values.items()}
    return missing_facts(records.missing, records.n_missing, after)


def _strata(records: Records) -> StrataFacts | None:
    if records.strata is None:
        return None
    sizes = np.bincount(records.strata.of_record)
    return strata_facts(records.roles.strata, sizes, records.strata.n_merged)


def _combinations(released: Released) -> CombinationFacts | None:
    found = released.new_combinations
    if found is None:
        return None
    return CombinationFacts(combinations=found.combinations, records=found.records)


def _categories(plan: Plan, records: Records, released: Released) -> CategoryFacts | None:
    """Say how categories were chosen; None if no column has any."""
    found = released.categories
    is_categorical = any(column.type.is_categorical for column in records.columns.values())
    if found is None or not is_categorical:
        return None
    margins = found.margins(records.weight_unit)
    return CategoryFacts(
        valid_combinations=plan.valid_combinations,
        incomplete_groups=found.incomplete_groups,
        margins=None
        if margins is None
        else MarginFacts(
            deviation=margins.deviation,
            least_loss_deviation=margins.least_loss_deviation,
            lower_bound=margins.lower_bound,
            extra_loss=100.0 * margins.extra_loss,
        ),
    )


def _draw(fitted: Estimator) -> DrawFacts:
    """Say how many records each centre expected and got."""
    estimator = cast("FuzzyMicroaggregator", fitted)
    names = ("m1", "m2", "lambda1", "lambda2")
    return DrawFacts(
        n_centers=len(estimator.expected_sizes_),
        expected_sizes=tuple(estimator.expected_sizes_.tolist()),
        realised_sizes=tuple(int(size) for size in estimator.sizes_),
        n_expected_below_k=n_expecting_fewer(estimator),
        n_realised_below_k=int(estimator.n_below_k_),
        fuzziness={
            name: float(getattr(estimator, f"{name}_"))
            for name in names
            if hasattr(estimator, f"{name}_")
        },
        doubt=float(estimator.doubt_),
    )
