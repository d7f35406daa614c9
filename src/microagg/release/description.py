"""Last stage: the manifest, which records what was done without any record's values."""

from collections.abc import Sized
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from microagg import __version__
from microagg.aggregates.digits import ALL
from microagg.bounds.choice import Bound
from microagg.core.estimator import Estimator
from microagg.core.registry import Guarantee
from microagg.measures.utility.information_loss import Errors
from microagg.plans.columns import names_about
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
    RequirementFacts,
    SharedFacts,
    StrataFacts,
    UnitFacts,
)
from microagg.plans.plan import Plan
from microagg.release.constrained import Constrained
from microagg.release.grouping import Groups, n_expecting_fewer
from microagg.release.records import Records
from microagg.release.released import Released, loss_of
from microagg.release.verification import Verified
from microagg.requirements.base import About
from microagg.requirements.found import GroupFinding
from microagg.requirements.hybrid import MovedMoments
from microagg.requirements.units import KUnits
from microagg.tables.columns import Column
from microagg.tables.decimals import is_coarse
from microagg.tables.frames import type_name

if TYPE_CHECKING:
    from microagg.fuzzy.base import FuzzyMicroaggregator

LIBRARIES = ("numpy", "numba", "scipy", "scikit-learn", "polars", "narwhals", "pandas", "pyarrow")
# Parameters that are not options of a method: the manifest has them elsewhere.
_ELSEWHERE = ("k", "constraints", "initial_centers", "strict_k")


def library_versions() -> dict[str, str]:
    """Return the versions of the libraries involved, if they are installed."""
    return {name: found for name in LIBRARIES if (found := _version(name)) is not None}


@cache  # each lookup takes milliseconds
def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


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
    roles, sizes, errors = records.roles, groups.sizes, groups.errors
    loss = loss_of(records, released)
    dropped = (*records.source.not_read, *roles.unpublished)
    return Manifest(
        microagg_version=__version__,
        libraries=library_versions(),
        input=FileFacts(file=records.source.file, sha256=records.source.sha256),
        plan=plan,
        command=command,
        method=groups.method.name,
        guarantee=_guarantee(groups, verified),
        options=_options(groups.estimator, len(records.frame)),
        random_state=groups.seed,
        k=plan.k,
        scale=plan.scale,
        quasi_identifiers=roles.quasi_identifiers,
        assumed_quasi_identifiers=roles.assumed,
        sensitive=roles.sensitive,
        strata=roles.strata,
        weights=roles.weights,
        unchanged=roles.unchanged,
        identifiers=records.named_identifiers,
        unit=roles.unit,
        columns=_columns(records),
        promise=groups.promise,
        interrupted=groups.interrupted,
        timed_out=groups.timed_out,
        n_records=len(records.frame),
        n_groups=len(sizes),
        min_group=int(sizes.min()),
        max_group=int(sizes.max()),
        group_sizes={
            str(size): int(count)
            for size, count in zip(*np.unique(sizes, return_counts=True), strict=True)
        },
        smallest_class=verified.classes.smallest,
        n_classes=verified.classes.count,
        information_loss=loss.information_loss,
        worst_columns=loss.worst_columns,
        grouping_loss=errors.information_loss,
        sse=errors.sse,
        sst=errors.sst,
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
        shared_values={
            own.column: SharedFacts(shared=own.shared, combinations=own.combinations)
            for own in verified.shared
        },
        categories=_categories(plan, records, released),
        draw=_draw(groups.estimator) if groups.method.draws else None,
        hybrid=_hybrid(released, verified.moved),
        key=verified.key,
        dropped=tuple(name for name in dropped if name != verified.key),
        units=_units(records, verified),
        requirements=tuple(requirement_facts(found) for found in verified.findings),
        verified=groups.promise.is_verified,
        seconds=seconds,
        created=datetime.now(UTC).replace(microsecond=0),
    )


def _guarantee(groups: Groups, verified: Verified) -> str:
    """Return what the method guarantees; requirements may need groups of any size."""
    guarantee = groups.method.guarantee
    if verified.findings and guarantee is Guarantee.K_TO_2K_MINUS_1:
        return Guarantee.AT_LEAST_K.value
    return guarantee.value


def _units(records: Records, verified: Verified) -> UnitFacts | None:
    """Say how many units there are, and how many stand behind the rarest combination."""
    if records.units is None or records.roles.unit is None:
        return None
    (behind,) = (own.worst for own in verified.findings if own.wording.name == KUnits.name)
    assert behind is not None
    return UnitFacts(
        column=records.roles.unit,
        count=len(np.unique(records.units[records.units >= 0])),
        records_without=int(np.count_nonzero(records.units < 0)),
        fewest=int(behind),
    )


def requirement_facts(found: GroupFinding) -> RequirementFacts:
    """Return what was found; a share of a total, with the total, would give a value away."""
    figures = found.as_dict()
    if found.wording.name in names_about(About.CONTRIBUTIONS):
        figures["worst"] = None
    return RequirementFacts(**figures)


def _options(estimator: Estimator, n_records: int) -> dict[str, Any]:
    """Return the options that the method used, those left at their defaults included."""
    left_out = (*_ELSEWHERE, "random_state")
    options = {
        name: value for name, value in estimator.get_params().items() if name not in left_out
    }
    return plain_options(options, n_records)


def plain_options(options: dict[str, Any], n_records: int) -> dict[str, Any]:
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


def _columns(records: Records) -> dict[str, ColumnFacts]:
    return {
        name: ColumnFacts(
            type=column.type,
            aggregate=column.aggregate,
            weight=column.weight,
            missing=column.values.n_missing,
            stored=type_name(column.stored),
            why=records.judged[name].why,
            digits=_digits(column),
            coarse=is_coarse(column),
            written=column.written,
        )
        for name, column in records.columns.items()
    }


def _digits(column: Column) -> int | str:
    """Return the decimals that numbers were rounded to; other columns have none."""
    if not column.type.is_number:
        return ""
    return ALL if column.digits.released is None else column.digits.released


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
    return StrataFacts(
        columns=records.roles.strata,
        count=int(np.count_nonzero(sizes)),
        smallest=int(sizes[sizes > 0].min()),
        merged=records.strata.n_merged,
    )


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
