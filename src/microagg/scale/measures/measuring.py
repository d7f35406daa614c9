"""How safe a protected dataset is, and what it is good for: from merged sums and a sample.

Up to 100,000 records the sample is the whole, and all figures are those of a table. Beyond that,
what can be added up is of all records, and the rest says that it comes from the sample.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microagg.core.errors import ParameterError
from microagg.files.dialect import Dialect
from microagg.measures.measure import measure_risk, measure_utility
from microagg.measures.measured import Measures, measures_of
from microagg.measures.sampling import MOST_RECORDS
from microagg.measures.subject import (
    KnownColumns,
    roles_of,
    with_weights_and_unit,
)
from microagg.plans.audits import refuse_shuffled
from microagg.plans.manifest import Manifest
from microagg.plans.plan import Plan
from microagg.release.release import PathName
from microagg.release.verify_request import Checks
from microagg.requirements.constraints import Violations
from microagg.requirements.found import GroupFinding
from microagg.scale.checks.constrained import violations_in
from microagg.scale.checks.verifying import check_room, judged_blocks, temporary_work
from microagg.scale.measures.pairing import Paired, open_sample
from microagg.scale.measures.whole import WholeRecords
from microagg.scale.tasks.memory import memory_limit
from microagg.scale.tasks.opened import OpenedDataset, check_same_rows, row_bytes
from microagg.scale.tasks.passes import Passes


def measure_datasets(
    original: PathName,
    protected: PathName,
    given: KnownColumns,
    plan: Plan | PathName | None,
    dialect: Dialect,
    *,
    unit: str | None,
    weights: str | None,
    target: str | None,
    seed: int,
    memory: str | int | None,
    work_dir: PathName | None,
) -> Measures:
    """Measure two folders, or files that are too large, as `microagg.measure` does."""
    began = time.perf_counter()
    if Path(original).exists() and Path(protected).exists() and Path(original).samefile(protected):
        raise ParameterError(
            "the original and the protected table must be two datasets; both are the same one."
        )
    limit = memory_limit(memory)
    with temporary_work(work_dir) as work:
        passes = Passes(work, limit)
        before: OpenedDataset = OpenedDataset.at(passes, original, dialect, "original")
        after: OpenedDataset = OpenedDataset.at(passes, protected, dialect, "released")
        check_same_rows(before.listing, after.listing)
        columns = before.listing.columns
        shown = after.listing.columns
        roles = roles_of(given, plan, shown, lambda: _beside(after))
        refuse_shuffled(is_shuffled=roles.plan is not None and roles.plan.shuffle)
        roles = roles.within(tuple(dict.fromkeys((*columns, *shown))))
        roles, unit = with_weights_and_unit(roles, weights, unit, columns, columns)
        check_room(work, 2 * after.listing.n_rows * row_bytes(after.listing, len(shown)))
        paired = Paired.of(
            before.listing,
            after.listing,
            roles,
            unit,
            (before.dialect is not None, after.dialect is not None),
            (before.decimal, after.decimal),
            MOST_RECORDS,
        )
        required = _required(before, after, roles)
        violations = _violations(after, roles)
        found = measured(passes, paired, target=target, seed=seed)
    return measures_of(
        found.pair, roles, found.risk, found.utility, required, violations, seed, began
    )


def _beside(dataset: OpenedDataset) -> tuple[Manifest, str] | None:
    found = dataset.manifest()
    return None if found is None else (found, str(dataset.manifest_path))


def _required(
    before: OpenedDataset, after: OpenedDataset, roles: KnownColumns
) -> tuple[GroupFinding, ...]:
    """Judge the dataset by what a plan asks of every combination besides k records."""
    if roles.plan is None or len(roles.plan.requirements) < 2:
        return ()
    asked = Checks.by_plan(roles.plan, after.listing.columns)
    each = judged_blocks(after, before, asked, roles.blocks)
    on_groups = zip(*(own[1:] for own in each), strict=True)
    return tuple(own for found in on_groups for own in found if isinstance(own, GroupFinding))


def _violations(after: OpenedDataset, roles: KnownColumns) -> Violations | None:
    """Count the records that violate the constraints of a plan, if it has any."""
    if roles.plan is None or not roles.plan.constraints:
        return None
    asked = Checks.by_plan(roles.plan, after.listing.columns)
    return violations_in(after, asked, after.manifest(), roles.plan.dates)


@dataclass(frozen=True, eq=False)
class Measured:
    """The sample, which may be the whole, and what was measured."""

    pair: Any
    risk: Any
    utility: Any


def measured(passes: Passes, paired: Paired, *, target: str | None, seed: int) -> Measured:
    """Measure a pair of datasets."""
    paired, pair = open_sample(passes, paired)
    is_drawn = paired.known.is_drawn
    if not paired.is_sample:
        return Measured(
            pair,
            measure_risk(pair, seed=seed, is_drawn=is_drawn),
            measure_utility(pair, target=target, seed=seed),
        )
    whole = WholeRecords.of(passes, paired, pair)
    return Measured(
        whole.pair,
        whole.risk(whole.pair, seed=seed, is_drawn=is_drawn),
        whole.utility(target=target, seed=seed),
    )
