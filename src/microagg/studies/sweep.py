"""sweep(): what a table loses at every k of a range, and must lose at least, in one run."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from microagg.bounds.choices import AUTO, FAST, NONE, TIGHT
from microagg.constraints.system import System
from microagg.core.arrays import Rows
from microagg.core.errors import ParameterError
from microagg.core.progress import ProgressCallback, reporting_to
from microagg.core.registry import DEFAULT, find
from microagg.core.validation import (
    SeedLike,
    check_choice,
    check_jobs,
    check_k,
    check_ks,
    check_matrix,
    check_seed,
)
from microagg.measures.utility.information_loss import Errors, squared_errors
from microagg.partitions.auto import EFFORTS, Auto
from microagg.plans.arguments import alone_with_plan, other_than_defaults, plan_of
from microagg.plans.fields import DEFAULT_EFFORT
from microagg.plans.manifest_facts import Promise
from microagg.plans.options import options_of
from microagg.plans.plan import Plan
from microagg.plans.signatures import with_options
from microagg.release.categories import CategoryChoice
from microagg.release.constrained import systems_of
from microagg.release.grouping import Groups, errors_of, too_many_categories
from microagg.release.protect import StudyOptions
from microagg.release.records import Records, open_records
from microagg.release.released import aggregate, loss_of
from microagg.release.required import rules_for, with_types_of_values
from microagg.release.source import Source
from microagg.release.suitability import bound_for, warn_of_violations
from microagg.studies.setting import StudySetting, lacking_categories
from microagg.studies.sweep_parts import RowsOfStrata, Study, sweep_parts
from microagg.studies.sweep_result import Sweep, SweepRow
from microagg.tables.frames import open_frame

if TYPE_CHECKING:
    from microagg.requirements.coded import GroupRule

EFFORT = "fast"
BOUNDS = (FAST, TIGHT, NONE)
_LARGEST_BY_DEFAULT = 20
# Options of a plan that change a release, but no figure of a sweep.
_UNUSED = tuple(
    option.keyword
    for option in options_of(Plan)
    if "sweep" not in option.studies and option.keyword not in ("k", "effort", "bound", "digits")
)


@alone_with_plan("effort", "bound")
@with_options
def sweep(
    table: Any,
    ks: int | Iterable[int] | None = None,
    *,
    effort: str | None = None,
    bound: str | None = None,
    random_state: SeedLike = None,
    plan: Plan | str | PathLike[str] | None = None,
    n_jobs: int | None = -1,
    progress: bool | ProgressCallback = False,
    **options: Unpack[StudyOptions],
) -> Sweep:
    """Return the loss at every k of a range, a bound below it, and the groups, in one run.

    The grouping loss never falls from one k to the next: groups of k + 1 or more are groups of k or
    more. So larger ks come first, and each smaller one starts with the groups of the one before,
    those of 2k or more split, or with the initial groups of `Auto`, whichever are better. From
    there it searches like `Auto`, but less. The bound never falls either: what bounds all groups of
    k or more bounds those of k + 1 or more. Neighbours are found once, for all searches and bounds.
    Only if small strata are merged can both fall, where a larger k merges more of them. The
    information loss is that of the values that these groups release.

    One column is grouped optimally at every k, unless there are weights. The work is fixed by
    `effort`, n and the ks, so that the rows of a seed are the same on any number of threads. Strata
    and blocks are swept side by side. Memory O(n (d + k)) for the largest k, and the labels of
    every k.

    Parameters
    ----------
    table : DataFrame of pandas, polars or pyarrow, treated as by `protect`; or a matrix of records
        by columns, which is used as it is and takes no options of tables
    ks : each k to group by; repetitions count once. By default 2 to 20, or to the number of
        records, of the smallest stratum if there are strata, if there are fewer.
    **options : options of `protect`, with the same meaning and defaults; for DataFrames only
    effort : "fast", "balanced" or "best", as for `Auto`. By default "fast", unless the plan has
        another than its own default, "balanced".
    bound : "fast" or "tight" for that bound of `lower_bound` at every k, "none" for none. A tight
        one takes up to ten minutes for each k; Ctrl-C keeps the best bounds so far. By default
        "fast", or "none" if the plan says so or there are weights, which no bound takes into
        account.
    random_state : seed of the search
    plan : a `Plan` that describes the table; of its options, only `effort` and `bound` may be given
        with it. Its k does not count, and the result names other options that have no effect.
    n_jobs : threads to use; -1 for all cores
    progress : True for a bar where standard error is a terminal, or a function that is called
        with (task, done, total)

    Examples
    --------
    >>> X = [[0.0, 0.0], [9.0, 1.0], [1.0, 0.0], [8.0, 1.0], [5.0, 1.0], [6.0, 1.0]]
    >>> for row in sweep(X, [2, 3], random_state=0):
    ...     print(row.k, row.n_groups, round(row.information_loss, 2), row.labels.tolist())
    2 3 2.2 [0, 1, 0, 1, 2, 2]
    3 2 28.36 [0, 1, 0, 1, 0, 1]
    """
    work = Work.of(effort, bound, n_jobs)
    asked = None if ks is None else check_ks(ks)
    if _is_table(table):
        chosen = plan_of({**options, "random_state": random_state, "k": 1}, plan)
        with reporting_to(progress):
            return sweep_source(Source.of(table), asked, chosen, work)
    if isinstance(table, (str, PathLike, Mapping)):
        open_frame(table)  # says why not, and what to do
    _refuse_options_of_tables(options, plan)
    chosen = plan_of({"k": 1, "random_state": random_state})
    matrix = check_matrix(table)
    wanted = _checked_ks(asked, len(matrix))
    everyone = [np.arange(len(matrix))]
    with reporting_to(progress):
        return _sweep(
            Study(
                [matrix],
                dict.fromkeys(wanted, everyone),
                None,
                lambda labels: squared_errors(matrix, labels[0]),
            ),
            replace(work, effort=work.effort or EFFORT, bound=work.bound or FAST),
            check_seed(chosen.random_state),
        )


@dataclass(frozen=True)
class Work:
    """How much work to do, and on how many threads; None is left to the plan.

    `why_no_bound` says why there is none, unless nobody asked for one.
    """

    effort: str | None
    bound: str | None
    n_jobs: int
    why_no_bound: str = ""

    @classmethod
    def of(cls, effort: str | None, bound: str | None, n_jobs: int | None) -> "Work":
        """Return the work that these options ask for."""
        if effort is not None:
            check_choice("effort", effort, EFFORTS)
        if bound is not None:
            check_choice("bound", bound, BOUNDS)
        return cls(effort, bound, check_jobs(n_jobs))

    def within(self, plan: Plan, records: Records) -> "Work":
        """Return the work with what the plan says where nothing else was said."""
        effort = EFFORT if plan.effort == DEFAULT_EFFORT else plan.effort
        asked = self.bound or (NONE if plan.bound == NONE else AUTO)
        bound, why_none = bound_for(asked, records), ""
        if bound == NONE and asked != NONE:
            why_none = "no bound takes weights into account"
        elif bound != NONE:
            why_none = too_many_categories(records, most=0)
        return replace(
            self,
            effort=self.effort or effort,
            bound=NONE if bound == NONE or why_none else FAST if bound == AUTO else bound,
            why_no_bound=why_none,
        )

    def unused(self, plan: Plan, records: Records) -> tuple[str, ...]:
        """Return the options of a plan that a sweep has no use for."""
        said = [name for name in plan.as_dict() if name in _UNUSED]
        without_effect = lacking_categories(records)
        said += [name for name, is_so in without_effect.items() if is_so and name in plan.as_dict()]
        is_weighted = records.weights is not None
        if self.bound is None and (plan.bound == TIGHT or (plan.bound == FAST and is_weighted)):
            said.append("bound")
        return tuple(said)


def _refuse_options_of_tables(
    arguments: Mapping[str, Any], plan: Plan | str | PathLike[str] | None
) -> None:
    if said := [*(("the plan",) if plan is not None else ()), *other_than_defaults(arguments)]:
        raise ParameterError(
            "roles, types and other options of tables are for DataFrames; a matrix is taken as it "
            f"is. Leave {said[0]} out, or give a DataFrame."
        )


def _is_table(table: object) -> bool:
    return hasattr(table, "columns") or hasattr(table, "column_names")


def _checked_ks(asked: Sequence[int] | None, n_records: int) -> list[int]:
    ks = asked or range(2, max(3, min(_LARGEST_BY_DEFAULT, n_records) + 1))
    return sorted(check_k(k, n_records=n_records) for k in ks)


def sweep_source(source: Source, ks: Sequence[int] | None, plan: Plan, work: Work) -> Sweep:
    """Sweep over a table as a plan describes it."""
    wanted = _checked_ks(ks, len(source.frame))
    plan = with_types_of_values(plan, source)
    records = open_records(source, plan, largest_k=wanted[-1])
    if ks is None:
        wanted = _up_to_smallest_stratum(wanted, records, plan.small_strata)
    systems = systems_of(plan.constraints, records)
    warn_of_violations(systems, records)
    study = Study(
        [block.X for block in records.blocks],
        _rows_of_strata(records, wanted, plan.small_strata),
        records.weights,
        partial(errors_of, records),
        {k: _rules(plan, records, k) for k in wanted},
    )
    here = work.within(plan, records)
    found = _sweep(study, here, check_seed(plan.random_state))
    return replace(
        found,
        rows=tuple(_with_released(row, records, systems, plan) for row in found),
        why_no_bound=here.why_no_bound,
        setting=StudySetting.of(records, plan, work.unused(plan, records)),
        like=source.frame,
    )


def _rules(plan: Plan, records: Records, k: int) -> "Sequence[GroupRule]":
    """Return the rules that groups must meet at one k."""
    return rules_for(plan.replace(k=k), records.stratified_for(k, plan.small_strata))


def _up_to_smallest_stratum(ks: list[int], records: Records, small: str) -> list[int]:
    """Return the ks for which every stratum is large enough, or the least if none is."""
    together = small == "merge" or not records.strata_columns
    strata = None if together else records.stratified_for(0, "error").strata
    smallest = min(
        len(rows) if records.units is None else _n_units(records.units[rows])
        for rows in ([np.arange(len(records.frame))] if strata is None else strata.rows())
    )
    return [k for k in ks if k <= smallest] or ks[:1]


def _n_units(units: Rows) -> int:
    return len(np.unique(units[units >= 0]))


def _rows_of_strata(records: Records, ks: Sequence[int], small: str) -> dict[int, RowsOfStrata]:
    """Return the records of every stratum at every k."""
    last: RowsOfStrata = [np.arange(len(records.frame))]
    if not records.strata_columns:
        return dict.fromkeys(ks, last)
    found: dict[int, RowsOfStrata] = {}
    for k in ks[::-1]:
        strata = records.stratified_for(k, small).strata
        assert strata is not None
        if small == "error":  # all ks have those of the largest
            return dict.fromkeys(ks, strata.rows())
        rows = strata.rows()
        if len(rows) != len(last):  # those of a larger k are made of those of a smaller one
            last = rows
        found[k] = last
    return {k: found[k] for k in ks}


def _sweep(study: Study, work: Work, seed: int) -> Sweep:
    assert work.effort is not None
    assert work.bound is not None
    return sweep_parts(study, effort=work.effort, bound=work.bound, n_jobs=work.n_jobs, seed=seed)


def _with_released(
    row: SweepRow, records: Records, systems: Sequence[System | None], plan: Plan
) -> SweepRow:
    """Return the row with what the released values lose, and what constraints add."""
    columns = row.labels.reshape(len(row.labels), -1).T
    labels = tuple(np.ascontiguousarray(own) for own in columns)
    errors = errors_of(records, labels)
    groups = Groups(
        find(DEFAULT), Auto(k=row.k), labels, (), errors, Promise.K_ANONYMITY, seed=None
    )
    released = aggregate(records, groups, systems, CategoryChoice.of(plan))
    added = None
    if released.constrained is not None:
        added = Errors(released.constrained.added, errors.sst).information_loss
    return replace(
        row,
        information_loss=loss_of(records, released).information_loss,
        added_by_constraints=added,
    )
