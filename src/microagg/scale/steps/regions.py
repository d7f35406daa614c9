"""The task of a region: group its records, or regroup them, and at last release them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa

from microagg.constraints.system import System
from microagg.core.arrays import Hashes, Labels, Rows
from microagg.core.registry import find
from microagg.kernels.basics.group_sums import summarise
from microagg.measures.utility.information_loss import Errors
from microagg.plans.manifest_facts import Promise
from microagg.plans.plan import Plan
from microagg.release.categories import CategoryChoice
from microagg.release.constrained import systems_of
from microagg.release.exposure import n_groups_of_one_weight
from microagg.release.grouping import Groups, estimator_of, group
from microagg.release.records import Records
from microagg.release.released import Released, aggregate
from microagg.release.required import rules_for, unmet
from microagg.scale.sources.listing import FILE_ROWS
from microagg.scale.steps.fitted import Fitted
from microagg.scale.steps.layout import Layout
from microagg.scale.steps.losses import Lost, lost_in
from microagg.scale.steps.searching import searched
from microagg.scale.steps.statistics import with_missing
from microagg.scale.storage.hashing import hashed_rows
from microagg.scale.storage.shuffle import OURS, ROW, Slices, Sources, row_numbers, write_sorted
from microagg.scale.storage.work import WorkFolder
from microagg.scale.tasks.setting import DatasetSetting
from microagg.tables.moments import Moments

GROUP = f"{OURS}group"


@dataclass(frozen=True, eq=False)
class Round:
    """A round of all regions; each task reads the rows of some regions and groups them.

    `regions` are those of each task: one, unless some were joined because one of them alone cannot
    meet the requirements. `is_last` if the groups are released.
    """

    name: str  # of the pass
    number: int  # of the layout, from 1
    regions: tuple[tuple[int, ...], ...]
    sources: Sources
    is_last: bool
    moments: Mapping[str, Moments]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of a region: nothing if its records alone cannot meet the requirements."""

    slices: Slices | None = None
    n_records: int = 0
    released: "ReleasedFacts | None" = None
    is_infeasible: bool = False


@dataclass(frozen=True, eq=False)
class ReleasedFacts:
    """What the manifest says of the released groups of a region."""

    sizes: dict[int, int]  # how many groups have each size
    lost: Lost
    missing: dict[str, int]
    violations: dict[str, int]
    groups_moved: int
    groups_unproved: int
    excess: float
    added: float
    incomplete_groups: int
    groups_of_one_weight: int
    combinations_before: Hashes | None
    combinations_after: tuple[Hashes, Rows] | None


def work_on_region(work: WorkFolder, name: str, number: int) -> Outcome:
    """Task: group the records of a region, or regroup them, and pass them on or release them."""
    setting, fitted = DatasetSetting.of(work), Fitted.of(work)
    this: Round = work.facts(name)
    table = this.sources.read(work, this.regions[number])
    if table is None:
        return Outcome()
    records = fitted.open(table)
    plan = setting.plan.replace(random_state=_seed(setting.seed, this.number, this.regions[number]))
    layout = Layout.of(work, this.number)
    may_be_joined = this.number == 1 and not layout.is_whole(this.regions[number])
    if may_be_joined and not _is_feasible(plan, records):
        return Outcome(is_infeasible=True)
    groups = _groups(plan, records, table, this.number, layout)
    path = work.place(name, number, "arrow")
    if this.is_last:
        return _release(work, setting, records, groups, table, path, this.moments)
    labels = groups.labels[0]
    first = np.full(int(labels.max()) + 1, -1, dtype=np.intp)
    rows = row_numbers(table)
    first[labels[::-1]] = np.arange(len(labels))[::-1]
    centers = summarise(records.X, labels).centers
    strata = _strata(records)
    following = Layout.of(work, this.number + 1).route(centers, strata[first], rows[first])
    passed = table.drop_columns([GROUP]) if GROUP in table.column_names else table
    # The number of a group's first row is nobody else's.
    passed = passed.append_column(GROUP, pa.array(rows[first][labels]))
    slices = write_sorted(work, path, passed, following[labels])
    return Outcome(slices, len(rows))


def _seed(seed: int, number: int, regions: Sequence[int]) -> int:
    found = np.random.SeedSequence([seed, number, regions[0]]).generate_state(1)
    return int(found[0])


def _is_feasible(plan: Plan, records: Records) -> bool:
    return len(records.frame) >= plan.k and unmet(plan, records) is None


def _strata(records: Records) -> Labels:
    if records.strata is None:
        return np.zeros(len(records.frame), dtype=np.intp)
    return records.strata.of_record


def _groups(plan: Plan, records: Records, table: pa.Table, number: int, layout: Layout) -> Groups:
    """Return the groups of records in a round: the first ones, or better ones than before."""
    rules = rules_for(plan, records)
    labels = None
    if GROUP in table.column_names:
        raw = np.unique(table.column(GROUP).to_numpy(), return_inverse=True)[1].reshape(-1)
        labels = summarise(np.zeros((len(raw), 1)), raw.astype(np.intp)).labels
    if _holds_whole_strata(layout, records):
        if labels is None:
            found = group(records, plan, (), rules)
            if found.interrupted:  # here the best groups so far are not a result
                raise KeyboardInterrupt
            return found
    else:
        labels = searched(plan, records.X, rules, number, labels)
    no_errors = Errors(0.0, 0.0)  # they are added up elsewhere
    promise, seed = Promise.K_ANONYMITY, plan.random_state
    return Groups(find(plan.method), estimator_of(plan), (labels,), (), no_errors, promise, seed)


def _holds_whole_strata(layout: Layout, records: Records) -> bool:
    """Whether strata were not cut: they are grouped as a whole, in the first round."""
    return bool((layout.shared[np.unique(_strata(records))] >= 0).all())


def _release(
    work: WorkFolder,
    setting: DatasetSetting,
    records: Records,
    groups: Groups,
    table: pa.Table,
    path: Path,
    moments: Mapping[str, Moments],
) -> Outcome:
    plan = setting.plan
    systems: Sequence[System | None] = systems_of(plan.constraints, records)
    released = aggregate(records, groups, systems, CategoryChoice.of(plan))
    columns = {
        name: column.decode(released.values[name]) for name, column in records.columns.items()
    }
    if records.strata is not None:
        for name, values in records.strata.released.items():
            columns[name] = records.strata_columns[name].decode(values)
    rows = row_numbers(table)
    out = pa.table({**columns, ROW: pa.array(rows)})
    slices = write_sorted(work, path, out, parts_of_rows(setting, rows))
    return Outcome(slices, len(rows), _facts(records, groups, released, moments))


def parts_of_rows(setting: DatasetSetting, rows: Rows) -> Rows:
    """Return the part of the dataset that each row is in."""
    firsts = [part.file * FILE_ROWS + part.first for part in setting.listing.parts if part.n_rows]
    numbers = [at for at, part in enumerate(setting.listing.parts) if part.n_rows]
    places = np.searchsorted(np.array(firsts), rows, side="right") - 1
    return np.array(numbers, dtype=np.intp)[places]


def _facts(
    records: Records, groups: Groups, released: Released, moments: Mapping[str, Moments]
) -> ReleasedFacts:
    labels = groups.labels[0]
    sizes, counts = np.unique(np.bincount(labels), return_counts=True)
    constrained = released.constrained
    satisfied = () if constrained is None else constrained.satisfied
    categorical = [name for name, own in records.columns.items() if own.type.is_categorical]
    before = after = None
    if len(categorical) > 1:
        before = np.unique(_hashed(records, categorical, None))
        after = np.unique(_hashed(records, categorical, released), return_counts=True)
    return ReleasedFacts(
        dict(zip(sizes.tolist(), counts.tolist(), strict=True)),
        lost_in(records, labels, released.values, moments),
        {name: own.n_missing for name, own in released.values.items()},
        {} if constrained is None else constrained.violations,
        sum(own.moved for own in satisfied),
        sum(own.unproved for own in satisfied),
        max((own.excess for own in satisfied), default=0.0),
        0.0 if constrained is None else constrained.added,
        0 if released.categories is None else released.categories.incomplete_groups,
        n_groups_of_one_weight(records, groups),
        before,
        after,
    )


def _hashed(records: Records, names: Sequence[str], released: Released | None) -> Hashes:
    """Return a number for every combination of categories, before or after the release."""
    columns = []
    for name in names:
        values = records.columns[name].values if released is None else released.values[name]
        columns.append(pl.Series(with_missing(values.numbers, values.missing)))
    return hashed_rows(columns)


def joined_regions(
    layout: Layout, tried: Sequence[tuple[int, ...]], failed: Sequence[int]
) -> tuple[list[tuple[int, ...]], list[int]]:
    """Return larger sets of regions in place of those that failed, and which tasks they replace.

    Each is the smallest set below one node of the tree that holds more than what failed.
    """
    families = [tuple(own) for own in layout.families()]
    larger: set[tuple[int, ...]] = set()
    for at in failed:
        own = set(tried[at])
        larger.add(next(family for family in families if own < set(family)))
    top = [own for own in larger if not any(set(own) < set(other) for other in larger)]
    replaced = [
        at for at, own in enumerate(tried) if any(set(own) <= set(family) for family in top)
    ]
    return sorted(top), replaced
