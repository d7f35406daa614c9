"""The manifest of a protected dataset, from what its regions and judges found."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from microagg.bounds.choice import Bound
from microagg.core.arrays import Hashes, Rows
from microagg.core.registry import find
from microagg.measures.utility.information_loss import Errors
from microagg.plans.manifest import Manifest
from microagg.plans.manifest_facts import (
    CategoryFacts,
    ColumnFacts,
    CombinationFacts,
    ConstraintFacts,
    DatasetFacts,
    DatasetFile,
    FileFacts,
    MissingFacts,
    Promise,
    StrataFacts,
    UnitFacts,
)
from microagg.plans.plan import Plan
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
from microagg.release.grouping import estimator_of
from microagg.scale.checks.checking import Checked
from microagg.scale.steps.fitted import Fitted
from microagg.scale.steps.losses import Lost, grouping_errors, released_loss
from microagg.scale.steps.regions import ReleasedFacts
from microagg.scale.steps.statistics import Statistics
from microagg.scale.steps.types import Facts
from microagg.scale.steps.writing import Written
from microagg.scale.storage.hashing import sha256_of_files
from microagg.tables.columns import AGGREGATES
from microagg.tables.decimals import is_coarse_beside
from microagg.tables.statistics import NumberStatistics

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, eq=False)
class Done:
    """All that was found in a run, for its manifest."""

    fitted: Fitted
    facts: Facts
    statistics: Statistics
    released: ReleasedFacts
    checked: Checked
    written: Sequence[Written]
    inputs: Sequence[str]  # SHA-256 of the input files
    regions: tuple[int, ...]
    n_units: int
    target: str
    command: Callable[[Plan], str]
    seconds: float


def add_up(each: Iterable[ReleasedFacts]) -> ReleasedFacts:
    """Return what the regions released together, added up in their order."""
    sizes: dict[int, int] = {}
    missing: dict[str, int] = {}
    violations: dict[str, int] = {}
    lost: Lost | None = None
    moved = unproved = incomplete = of_one_weight = 0
    excess = added = 0.0
    before, after = [], []
    for own in each:
        _add(sizes, own.sizes)
        _add(missing, own.missing)
        _add(violations, own.violations)
        lost = own.lost if lost is None else lost.merge(own.lost)
        moved, unproved = moved + own.groups_moved, unproved + own.groups_unproved
        excess, added = max(excess, own.excess), added + own.added
        incomplete += own.incomplete_groups
        of_one_weight += own.groups_of_one_weight
        if own.combinations_before is not None and own.combinations_after is not None:
            before.append(own.combinations_before)
            after.append(own.combinations_after)
    assert lost is not None
    known = np.unique(np.concatenate(before)) if before else None
    shown = _counted_together(after) if after else None
    return ReleasedFacts(
        sizes,
        lost,
        missing,
        violations,
        moved,
        unproved,
        excess,
        added,
        incomplete,
        of_one_weight,
        known,
        shown,
    )


def _counted_together(each: Sequence[tuple[Hashes, Rows]]) -> tuple[Hashes, Rows]:
    """Return the codes that any part has, and how many records of all parts have each."""
    codes, places = np.unique(np.concatenate([codes for codes, _ in each]), return_inverse=True)
    counts = np.concatenate([counts for _, counts in each])
    return codes, np.bincount(places.reshape(-1), weights=counts).astype(np.intp)


def _add(totals: dict[Key, int], counts: Mapping[Key, int]) -> None:
    for key, count in counts.items():
        totals[key] = totals.get(key, 0) + count


def describe(done: Done) -> Manifest:
    """Return the manifest."""
    fitted, setting = done.fitted, done.fitted.setting
    plan, roles = setting.plan, setting.roles
    errors = grouping_errors(
        done.released.lost, done.statistics, fitted.weight_unit, fitted.encoding
    )
    loss = released_loss(done.released.lost, done.statistics, fitted.weight_unit, fitted.encoding)
    estimator = estimator_of(plan)
    seed = setting.seed if estimator.uses_randomness() else None
    used = plan.replace(random_state=seed)
    listing = setting.listing
    return Manifest(
        **request_facts(
            used,
            roles,
            seed,
            source=FileFacts(file=listing.root.name, sha256=_together(done, done.inputs)),
            command=done.command(used),
            identifiers=roles.identifiers,
            dropped=setting.dropped,
            key=setting.key,
        ),
        **result_facts(
            find(plan.method),
            estimator,
            done.released.sizes,
            loss,
            errors,
            done.checked,
            n_records=listing.n_rows,
        ),
        **bound_facts(Bound(why_none="it would take the whole dataset at once"), errors),
        columns=_columns(done),
        promise=Promise.NOTHING if plan.k == 1 else Promise.K_ANONYMITY,
        interrupted=False,
        timed_out=False,
        constraints=_constraints(plan, done.released, errors),
        missing_values=_missing(done),
        markers=dict(done.facts.markers),
        strata_found=_strata(done),
        blocks=(roles.quasi_identifiers,),
        new_combinations=_combinations(done.released),
        categories=_categories(done),
        draw=None,
        units=_units(done),
        verified=plan.k > 1,
        seconds=done.seconds,
        output=FileFacts(
            file=done.target, sha256=_together(done, [own.sha256 for own in done.written])
        ),
        dataset=_dataset(done),
    )


def _dataset(done: Done) -> DatasetFacts:
    setting = done.fitted.setting
    listing = setting.listing
    return DatasetFacts(
        format=listing.kind,
        region_size=setting.region_size,
        regions=done.regions,
        in_folders=listing.in_folders,
        files=tuple(
            DatasetFile(
                name=file.name,
                records=own.n_rows,
                input_sha256=digest,
                output_sha256=own.sha256,
            )
            for file, own, digest in zip(listing.files, done.written, done.inputs, strict=True)
        ),
    )


def _together(done: Done, digests: Sequence[str]) -> str:
    listing = done.fitted.setting.listing
    return sha256_of_files(listing.root, [file.name for file in listing.files], digests)


def _columns(done: Done) -> dict[str, ColumnFacts]:
    fitted, found = done.fitted, {}
    for name, own in done.statistics.columns.items():
        kind = own.type.type
        options = fitted.setting.options_of(name, fitted.judged)
        digits = fitted.digits[name].released
        aggregates = AGGREGATES[kind]
        present = own.present
        coarse = False
        if isinstance(present, NumberStatistics) and kind.is_number and digits is not None:
            n = present.moments.n
            spread = present.moments.scaling.unit * float(np.sqrt((n - 1) / n))
            is_float = own.type.stored.startswith("Float") and kind != "integer"
            coarse = (is_float or digits < 0) and is_coarse_beside(spread, digits)
        found[name] = column_facts(
            own.type,
            next(iter(aggregates.values()))
            if options.aggregate is None
            else aggregates[options.aggregate],
            own.weight,
            own.n_missing,
            why=fitted.judged[name].why,
            digits=digits,
            coarse=coarse,
        )
    return found


def _constraints(plan: Plan, found: ReleasedFacts, errors: Errors) -> ConstraintFacts | None:
    if not plan.constraints:
        return None
    return constraint_facts(
        found.violations,
        moved=found.groups_moved,
        unproved=found.groups_unproved,
        excess=found.excess,
        added=found.added,
        errors=errors,
    )


def _missing(done: Done) -> MissingFacts | None:
    before = {name: own.n_missing for name, own in done.statistics.columns.items()}
    return missing_facts(done.fitted.setting.plan.missing, before, done.released.missing)


def _strata(done: Done) -> StrataFacts | None:
    strata = done.fitted.strata
    if strata is None:
        return None
    return strata_facts(done.fitted.setting.roles.strata, strata.sizes, strata.n_merged)


def _combinations(found: ReleasedFacts) -> CombinationFacts | None:
    if found.combinations_before is None or found.combinations_after is None:
        return None
    codes, counts = found.combinations_after
    is_new = ~np.isin(codes, found.combinations_before)
    return CombinationFacts(
        combinations=int(np.count_nonzero(is_new)), records=int(counts[is_new].sum())
    )


def _categories(done: Done) -> CategoryFacts | None:
    if not any(own.type.is_categorical for own in done.fitted.types.values()):
        return None
    return CategoryFacts(
        valid_combinations=done.fitted.setting.plan.valid_combinations,
        incomplete_groups=done.released.incomplete_groups,
    )


def _units(done: Done) -> UnitFacts | None:
    unit = done.fitted.setting.roles.unit
    if unit is None:
        return None
    return unit_facts(
        unit,
        done.checked,
        count=done.n_units,
        records_without=done.fitted.setting.listing.n_rows - done.facts.n_with_unit,
    )
