"""compare(): what each method would lose on a table, and how long it takes; nothing is released."""

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from microagg.bounds.choices import NONE
from microagg.constraints.system import System
from microagg.core.errors import GuaranteeError, MicroaggError, ParameterError
from microagg.core.parallel import side_by_side
from microagg.core.progress import ProgressCallback, report, reporting_to, without_reports
from microagg.core.registry import ALL, DEFAULT, Method, find_all, method_names
from microagg.core.validation import SeedLike, check_jobs, check_ks, check_seed
from microagg.kernels.neighbours.blocks import ONE_BLOCK
from microagg.measures.risk.linkage import distance_linkage
from microagg.measures.utility.column_loss import column_loss
from microagg.measures.utility.information_loss import Errors
from microagg.plans.agreement import METHOD_FIELDS
from microagg.plans.arguments import alone_with_plan, plan_of
from microagg.plans.fields import DEFAULT_EFFORT
from microagg.plans.options import options_of
from microagg.plans.plan import Plan
from microagg.plans.signatures import with_options
from microagg.release.categories import CategoryChoice
from microagg.release.constrained import systems_of
from microagg.release.grouping import Groups, estimator_of, group
from microagg.release.parts import fit_under
from microagg.release.protect import StudyOptions
from microagg.release.records import Records, open_records
from microagg.release.released import aggregate
from microagg.release.required import rules_for, with_types_of_values
from microagg.release.source import Source
from microagg.release.suitability import check_method, warn_of_violations
from microagg.studies.comparison import Comparison, Row, marked
from microagg.studies.setting import StudySetting, lacking_categories
from microagg.tables.pairs import Original, original_of

if TYPE_CHECKING:
    from microagg.requirements.coded import GroupRule

# What is compiled depends on the types of the data, not on the number of records, except that more
# than fit one block are sorted into boxes first.
_FEW, _MANY = 50, ONE_BLOCK + 100
_WARM_UP_K, _WARM_UP_STARTS = 3, 2


@alone_with_plan()
@with_options
def compare(
    table: Any,
    ks: int | Iterable[int] | None = None,
    methods: str | Iterable[str] = ALL,
    *,
    random_state: SeedLike = None,
    effort: str = "balanced",
    plan: Plan | str | PathLike[str] | None = None,
    n_jobs: int | None = -1,
    progress: bool | ProgressCallback = False,
    **options: Unpack[StudyOptions],
) -> Comparison:
    """Return what each method would lose at each k, and the time it takes.

    Nothing is released. Methods run in parallel; if one fails, or a stratum is too small for a k,
    the row says why, and the others continue. Roles, types, strata, weights, blocks, constraints
    and information loss are those of `protect`.

    Parameters
    ----------
    table : DataFrame of pandas, polars or pyarrow
    ks : one k or several; repetitions count once. By default the k of the plan.
    methods : registered names in a list or separated by commas, see `microagg.methods()`, or "all":
        every method that suits the table; methods for one column are left out if there are several,
        and so are those whose records draw their values, or that need an option not given
    **options : options of `protect`, with the same meaning and defaults
    random_state : the seed of all methods that use randomness; None draws one
    effort : how hard "auto" searches: "fast", "balanced" or "best"
    plan : a `Plan` that says all of this; no other of its options may be given with it. Its
        method options go to its method; the result names options that have no effect.
    n_jobs : number of parallel runs; -1 for as many as there are cores, 1 for times that no other
        run affects
    progress : True for a bar where standard error is a terminal, or a function that is called
        with (task, done, total)

    Returns
    -------
    A `Comparison`: a sequence of rows, one for each method and k, in the order asked for. It prints
    as a table, and its `table` is a DataFrame of the same kind as the input.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [34, 36, 61, 62], "height": [1.7, 1.8, 1.6, 1.6]})
    >>> found = compare(people, [2, 4], ["mdav", "cbfs"])
    >>> [(row.method, row.k, row.n_groups) for row in found]
    [('mdav', 2, 2), ('mdav', 4, 1), ('cbfs', 2, 2), ('cbfs', 4, 1)]
    """
    asked = None if ks is None else check_ks(ks)
    if asked is None and plan is None:
        raise ParameterError("ks, the values of k to compare, are missing. Give them, or a plan.")
    arguments = {**options, "random_state": random_state, "effort": effort}
    chosen = plan_of({**arguments, "k": None if asked is None else asked[0]}, plan)
    contest = Contest.of(methods, chosen, n_jobs, effort_given=plan is None)
    listener = reporting_to(progress)
    with listener:
        return run_comparison(Source.of(table), asked or [chosen.k], contest)


@dataclass(frozen=True)
class Contest:
    """The methods to compare, the plan they share, and the number of parallel runs.

    `named` are the methods that were asked for by name, not by "all". The plan has no method;
    `own` has that of the plan that was given, with its options.
    """

    named: tuple[str, ...]
    methods: tuple[Method, ...]
    plan: Plan
    own: Plan
    n_jobs: int

    @classmethod
    def of(
        cls,
        methods: str | Iterable[str],
        plan: Plan,
        n_jobs: int | None,
        *,
        own: Plan | None = None,
        effort_given: bool = True,
    ) -> "Contest":
        """Return the contest, after the checks that need no data.

        `own` has the method and its options, if they are not in the plan.
        An effort that was given for these methods needs one that takes it; the effort of a plan
        that describes more than this comparison does not.
        """
        names = method_names(methods)
        wanted = tuple(find_all(names))
        is_used = plan.effort == DEFAULT_EFFORT or any("effort" in m.options for m in wanted)
        if effort_given and not is_used:
            raise ParameterError(
                "effort (--effort) is for 'auto', which is not among the methods. Leave it out."
            )
        shared = plan.replace(method=DEFAULT, method_options={}, strict_k=False)
        return cls(tuple(names), wanted, shared, own or plan, check_jobs(n_jobs))

    def unused(
        self, compared: Sequence[Method], records: Records, *, uses_randomness: bool
    ) -> tuple[str, ...]:
        """Return the options of the plan that are for releases, or for other methods or columns."""
        is_compared = self.own.method in {method.name for method in compared}
        without_effect = {
            "k": False,
            "digits": False,
            "method": not is_compared,
            "method_options": not is_compared,
            "random_state": not uses_randomness,
            "effort": not any("effort" in method.options for method in compared),
            "bound": self.plan.bound != NONE,
            "strict_k": not any(method.draws for method in compared),
            **lacking_categories(records),
        }
        said = {*self.plan.as_dict(), *(n for n in self.own.as_dict() if n in METHOD_FIELDS)}
        return tuple(
            option.keyword
            for option in options_of(Plan)
            if option.keyword in said
            and without_effect.get(option.keyword, "compare" not in option.studies)
        )


def run_comparison(source: Source, ks: Sequence[int], contest: Contest) -> Comparison:
    """Compare methods on a table."""
    plan = with_types_of_values(contest.plan, source)
    wanted = contest.methods
    seed = check_seed(plan.random_state)
    # Methods for numbers alone say what whole numbers are, as the method of a release does.
    only_numbers = all(method.draws or method.single_column for method in wanted)
    judging = plan.replace(method=wanted[0].name) if only_numbers else plan
    records = open_records(source, judging, largest_k=max(ks))
    systems = systems_of(plan.constraints, records)
    warn_of_violations(systems, records)
    is_wide = any(block.X.shape[1] > 1 for block in records.blocks)
    unfit = [
        method
        for method in wanted
        if method.draws
        or (method.single_column and is_wide)
        or (method.needs and not plan.asks_for(method.needs))
    ]
    left_out = [method for method in unfit if method.name not in contest.named]
    served = [method for method in wanted if method not in left_out]
    runs = [(method, k) for method in served for k in ks]
    workers = min(contest.n_jobs, len(runs))
    # Parallel runs take one core each.
    original = original_of(
        records.frame, records.columns, records.strata_columns, weights=records.table_weights
    )
    n_jobs = 1 if workers > 1 else contest.n_jobs
    trial = _Trial(records, original, systems, plan, contest.own, seed, n_jobs)
    costs = _warm_up(trial, served)
    results = _run_all(trial, runs, workers, costs)
    failures = [code for _, code in results if code]
    uses_randomness = any(
        estimator_of(trial.plan_for(method, k)).uses_randomness()
        for (method, k), (row, _) in zip(runs, results, strict=True)
        if row.error is None
    )
    unused = contest.unused(served, records, uses_randomness=uses_randomness)
    return Comparison(
        rows=tuple(marked([row for row, _ in results])),
        like=source.frame,
        setting=StudySetting.of(records, plan, unused),
        seed=seed if uses_randomness else None,
        left_out=tuple(method.name for method in left_out),
        drawn=tuple(method.name for method in left_out if method.draws),
        exit_code=failures[0] if len(failures) == len(results) else 0,
    )


@dataclass(frozen=True, slots=True)
class _Trial:
    """What all runs have in common."""

    records: Records
    original: Original  # what its measures need is computed once
    systems: Sequence[System | None]
    plan: Plan
    own: Plan
    seed: int
    n_jobs: int

    def plan_for(self, method: Method, k: int, **options: Any) -> Plan:
        """Return the plan of one run; `options` are for methods that have them."""
        own = self.own.method_options if method.name == self.own.method else {}
        wanted = {"n_jobs": self.n_jobs, **options}
        return self.plan.replace(
            k=k,
            method=method.name,
            method_options={n: v for n, v in wanted.items() if n in method.options} | own,
            random_state=self.seed,
            effort=self.plan.effort if "effort" in method.options else DEFAULT_EFFORT,
            strict_k=self.own.strict_k and method.draws,
            time_budget=None,
            bound="none",
            hybrid=False,
            keep_key=False,
            shuffle=False,
        )

    def run(self, method: Method, k: int) -> Row:
        """Group the records and measure the groups."""
        plan = self.plan_for(method, k)
        records = self.records.stratified_for(k, plan.small_strata)
        check_method(method, records)
        rules = rules_for(plan, records)
        began = time.perf_counter()
        groups = group(records, plan, self.systems, rules)
        seconds = time.perf_counter() - began
        if groups.interrupted:
            raise KeyboardInterrupt  # meant for all runs, not for one search among many
        _check_sizes(groups, k)
        released = aggregate(records, groups, self.systems, CategoryChoice.of(plan))
        pair = self.original.with_released(released.shown(records))
        loss = column_loss(pair).information_loss
        linked = distance_linkage(pair, candidates=(1,), seed=self.seed, n_jobs=self.n_jobs)
        added = None if released.constrained is None else released.constrained.added
        return Row(
            method=method.name,
            k=k,
            information_loss=loss,
            grouping_loss=groups.errors.information_loss,
            sse=groups.errors.sse,
            added_by_constraints=None if added is None else _in_per_cent(added, groups),
            linkage=100.0 * linked.linked[1],
            linkage_error=100.0 * linked.standard_errors[1],
            guarantees_k=groups.hold_k,
            n_groups=len(groups.sizes),
            min_group=int(groups.sizes.min()),
            max_group=int(groups.sizes.max()),
            seconds=seconds,
            seed=groups.seed,
        )


def _in_per_cent(added: float, groups: Groups) -> float:
    return Errors(added, groups.errors.sst).information_loss


def _check_sizes(groups: Groups, k: int) -> None:
    sizes = groups.sizes
    if not groups.method.draws and (small := int(np.count_nonzero(sizes < k))):
        raise GuaranteeError(
            f"{small} of {len(sizes)} groups hold fewer than k records. This is a bug in the "
            "method: please report it."
        )


def _warm_up(trial: _Trial, methods: Sequence[Method]) -> dict[str, float]:
    """Compile every method, so that no time includes it; return the seconds that each took.

    Done before the runs: only one thread can compile at a time, and compiling cannot be
    interrupted.
    """
    X = trial.records.blocks[0].X
    size = _FEW if len(X) <= ONE_BLOCK else _MANY
    rows = np.arange(len(X))[:: max(1, len(X) // size)][:size]
    spread_out = np.ascontiguousarray(X[rows])
    rules: list[GroupRule] = []
    with suppress(MicroaggError):  # the runs will say why
        rules += rules_for(trial.plan.replace(k=1), trial.records)
    costs: dict[str, float] = {}
    for done, method in enumerate(methods):
        report("preparing", done, len(methods))
        began = time.perf_counter()
        with without_reports(), suppress(Exception):  # its own run will report the error
            k = min(_WARM_UP_K, len(spread_out))
            few = trial.plan_for(method, k, n_starts=_WARM_UP_STARTS)
            if "effort" in method.options:
                few = few.replace(effort="fast")
            fit_under(estimator_of(few), spread_out, [rule.within(rows) for rule in rules])
        n_starts = getattr(method.load()(), "n_starts", _WARM_UP_STARTS)
        costs[method.name] = (time.perf_counter() - began) * n_starts / _WARM_UP_STARTS
    report("preparing", len(methods), len(methods))
    return costs


def _run_all(
    trial: _Trial, runs: Sequence[tuple[Method, int]], n_jobs: int, costs: Mapping[str, float]
) -> list[tuple[Row, int]]:
    """Return the row and exit code of every run, in order; expensive methods start first."""
    costliest_first = sorted(range(len(runs)), key=lambda i: -costs[runs[i][0].name])
    report("comparing", 0, len(runs))
    results = side_by_side(
        partial(_attempt, trial),
        [runs[place] for place in costliest_first],
        n_jobs=n_jobs,
        task="comparing",
        needs_threads=True,  # the records know how to decode columns: functions are not sent
    )
    in_order = dict(zip(costliest_first, results, strict=True))
    return [in_order[place] for place in range(len(runs))]


def _attempt(trial: _Trial, run: tuple[Method, int]) -> tuple[Row, int]:
    """Return the row of one run and the exit code it deserves; a failure is a row as well."""
    method, k = run
    try:
        return trial.run(method, k), 0
    except MicroaggError as error:
        reason, code = str(error), error.exit_code
    except MemoryError:
        reason, code = "there is not enough memory for this method.", MicroaggError.exit_code
    except Exception as error:  # its message may quote values
        kind = type(error).__name__
        reason = f"unexpected {kind}. This is a bug in the method: please report it."
        code = MicroaggError.exit_code
    return Row(method=method.name, k=k, error=reason), code
