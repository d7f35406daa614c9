"""Last stage: the manifest, which records what was done without any record's values."""

from collections import Counter
from typing import TYPE_CHECKING, cast

import numpy as np

from microagg.bounds.choice import Bound
from microagg.core.estimator import Estimator
from microagg.measures.utility.information_loss import Errors
from microagg.plans.manifest import (
    CategoryFacts,
    ColumnFacts,
    CombinationFacts,
    ConstraintFacts,
    DrawFacts,
    FileFacts,
    HybridFacts,
    Manifest,
    MarginFacts,
    MissingFacts,
    StrataFacts,
    UnitFacts,
)
from microagg.plans.plan import Plan
from microagg.release.constrained import Constrained
from microagg.release.facts import digits_of, request_facts, result_facts, strata_facts, unit_facts
from microagg.release.grouping import Groups, n_expecting_fewer
from microagg.release.records import Records
from microagg.release.released import Released, loss_of
from microagg.release.verification import Verified
from microagg.requirements.hybrid import MovedMoments
from microagg.tables.decimals import is_coarse
from microagg.tables.frames import type_name

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
    roles, errors = records.roles, groups.errors
    dropped = (*records.source.not_read, *roles.unpublished)
    return Manifest(
        **request_facts(plan, roles, groups.seed),
        **result_facts(
            groups.method,
            groups.estimator,
            Counter(groups.sizes.tolist()),
            loss_of(records, released),
            errors,
            verified,
            n_records=len(records.frame),
        ),
        input=FileFacts(file=records.source.file, sha256=records.source.sha256),
        command=command,
        identifiers=records.named_identifiers,
        columns=_columns(records),
        promise=groups.promise,
        interrupted=groups.interrupted,
        timed_out=groups.timed_out,
        bound=bound.tightness,
        lower_bound=(None if bound.sse is None else Errors(bound.sse, errors.sst).information_loss),
        gap=bound.gap(errors.sse),
        proved_optimal=bound.proves_optimal(errors.sse),
        why_no_bound=bound.why_none,
        constraints=_constraints(released.constrained, errors),
        missing_values=_missing(records, released),
        markers={name: n for name, n in records.source.markers.items() if name in records.columns},
        strata_found=_strata(records),
        blocks=tuple(block.names for block in records.blocks),
        new_combinations=_combinations(released),
        categories=_categories(plan, records, released),
        draw=_draw(groups.estimator) if groups.method.draws else None,
        hybrid=_hybrid(released, verified.moved),
        key=verified.key,
        dropped=tuple(name for name in dropped if name != verified.key),
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
        name: ColumnFacts(
            type=column.type,
            aggregate=column.aggregate,
            weight=column.weight,
            missing=column.values.n_missing,
            stored=type_name(column.stored),
            why=records.judged[name].why,
            digits=digits_of(column.type, column.digits.released),
            coarse=is_coarse(column),
            written=column.written,
        )
        for name, column in records.columns.items()
    }


def _constraints(found: Constrained | None, errors: Errors) -> ConstraintFacts | None:
    if found is None:
        return None
    return ConstraintFacts(
        records_in_violation=found.violations,
        groups_moved=sum(block.moved for block in found.satisfied),
        groups_not_proved_nearest=sum(block.unproved for block in found.satisfied),
        farther_than_nearest_by_at_most=max(
            (block.excess for block in found.satisfied), default=0.0
        ),
        added_information_loss=Errors(found.added, errors.sst).information_loss,
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
    before = records.n_missing
    if not before:
        return None
    after = {name: released.values[name].n_missing for name in before}
    return MissingFacts(treatment=records.missing, before=before, after=after)


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
