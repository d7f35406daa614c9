"""protect(): from a table to a release, stage by stage."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from os import PathLike
from typing import Any, TypedDict

import numpy as np
import polars as pl

from microagg.bounds.choices import AUTO
from microagg.core.progress import ProgressCallback, reporting_to
from microagg.core.registry import DEFAULT, find
from microagg.core.validation import SeedLike, check_seed
from microagg.plans.arguments import alone_with_plan, plan_of
from microagg.plans.columns import RequirementOptions, RoleOptions
from microagg.plans.commands import python_call
from microagg.plans.plan import Plan
from microagg.release.categories import CategoryChoice
from microagg.release.cautions import warn_afterwards, warn_beforehand
from microagg.release.constrained import systems_of
from microagg.release.description import describe
from microagg.release.facts import plain_options
from microagg.release.grouping import Groups, bound_of, group
from microagg.release.origin import Origin
from microagg.release.records import Records, open_records
from microagg.release.release import Release
from microagg.release.released import Released, aggregate, synthesise
from microagg.release.required import rules_for, with_types_of_values
from microagg.release.source import Source
from microagg.release.suitability import (
    bound_for,
    check_hybrid,
    check_method,
    warn_of_violations,
)
from microagg.release.verification import Verified, finish
from microagg.tables.frames import open_frame, polars_column
from microagg.tables.roles import Names
from microagg.tables.used_categories import with_all_of


class CommonOptions(TypedDict, total=False):
    """Options of `protect` that `compare`, `sweep` and `Microaggregator` take as well."""

    columns: Mapping[str, Any] | None
    constraints: Iterable[str] | str | None
    scale: str
    missing: str
    na: Iterable[str | float]
    dates: str | None
    valid_combinations: bool
    keep_margins: bool


class StudyOptions(RoleOptions, RequirementOptions, CommonOptions, total=False):
    """Options of `protect` that `compare` and `sweep` take as well."""

    unit: str | None
    small_strata: str
    blocks: Iterable[Iterable[str]]


class TransformerOptions(CommonOptions, total=False):
    """Options of `protect` that `Microaggregator` takes as well."""

    method: str
    method_options: Mapping[str, Any] | None
    strict_k: bool
    digits: Mapping[str, int | str] | str | None
    effort: str
    time_budget: float | None
    bound: str


class DatasetOptions(StudyOptions, TransformerOptions, total=False):
    """Options of `protect` that `protect_dataset` takes as well."""

    keep_key: bool
    hybrid: bool
    shuffle: bool


@alone_with_plan()
def protect(
    table: Any,
    k: int | None = None,
    *,
    quasi_identifiers: Names = None,
    identifiers: Names = (),
    sensitive: Names = (),
    publish: Names = (),
    unit: str | None = None,
    drop: Names = (),
    columns: Mapping[str, Any] | None = None,
    l_diversity: Mapping[str, int | str] | None = None,
    t_closeness: Mapping[str, float] | None = None,
    p_percent: Mapping[str, float] | None = None,
    dominance: Mapping[str, tuple[int, float] | str] | None = None,
    method: str = DEFAULT,
    method_options: Mapping[str, Any] | None = None,
    constraints: Iterable[str] | str | None = (),
    strict_k: bool = False,
    scale: str = "standardise",
    missing: str = "error",
    na: Iterable[str | float] = (),
    digits: Mapping[str, int | str] | str | None = None,
    dates: str | None = None,
    strata: Names = None,
    small_strata: str = "error",
    weights: str | None = None,
    blocks: Iterable[Iterable[str]] = (),
    valid_combinations: bool = True,
    keep_margins: bool = False,
    hybrid: bool = False,
    keep_key: bool = False,
    shuffle: bool = False,
    random_state: SeedLike = None,
    effort: str = "balanced",
    time_budget: float | None = None,
    bound: str = AUTO,
    plan: Plan | str | PathLike[str] | None = None,
    progress: bool | ProgressCallback = False,
) -> Release:
    """Release a table in which every combination of quasi-identifiers stands for k records or more.

    Records are grouped by their quasi-identifiers, at least k to a group, and every record gets
    its group's mean (rounded to the decimals of the column, halves away from zero) or median, and
    the categories of one of the group's records. The finished table is checked before it is
    returned; `table` itself is not changed. Only `blocks`, `hybrid`, and the methods "fcm" and
    "efcm", whose records draw their values, guarantee less.

    Parameters
    ----------
    table : DataFrame of pandas, polars or pyarrow
    k : Least number of records behind a released combination. 1 protects nobody, and a
        `PrivacyWarning` says so. Required, unless a plan gives it.
    quasi_identifiers : Columns to protect. Columns of numbers without a role are protected as
        well. They may contain numbers, text, categories, booleans or dates. The manifest lists
        those without a role as assumed.
    identifiers : Columns to drop that name somebody, such as names and numbers of people. If a
        value of one is in several records, `unit` must say whom k should count.
    sensitive : Columns to publish unchanged that an intruder wants to know, such as a diagnosis.
    publish : Columns to publish unchanged that are not sensitive.
    unit : Column that says whom a record is about. It is dropped, and k counts units. 'rows': every
        record is about a different person. Such as "patient" in a table of visits, or
        "household". Records without a unit are not counted.
    drop : Columns to drop that name nobody.
    columns : What each column is, by name. A mapping with "role", "type" ("continuous", "integer",
        "ordinal", "nominal", "boolean", "date", "datetime"), "order" (the values of an ordinal
        column, lowest first), "aggregate" ("mean", "median", "mode"), "resolution" of dates
        ("year", "quarter", "month", "day", "hour", "minute", "second"), "digits", "weight" in
        comparisons, and the requirements below.
    l_diversity : Least number of values of a sensitive column in every group, or entropy:L. By
        column, as in {"diagnosis": 3}; "entropy:3" asks for the entropy of three equally frequent
        values. A missing value is a value.
    t_closeness : How far a sensitive column in a group may be from the whole table, from 0 to 1.
        By column: the earth mover's distance, by rank for numbers, times and ordered categories,
        otherwise with equal distances. A "type" and "order" in `columns` say what the values are.
    p_percent : How far off, in per cent, any estimate of a contribution to a group's total must
        be. By column, for quasi-identifiers that are released as means; contributors are units,
        where there are units.
    dominance : Largest share of a group's total that its N largest contributors may have, in per
        cent. By column, as in {"turnover": (2, 85)}, for quasi-identifiers that are released as
        means.
    method : How records are grouped; see 'microagg methods'. In Python, `microagg.methods()` lists
        them. "auto" loses least.
    method_options : Options of the method. A mapping of those that are not arguments here.
    constraints : What every released record satisfies, such as "net + tax = gross". Each group
        gets the nearest values that do; integers stay integers, and the manifest says how many
        records violated which constraint.
    strict_k : Merge drawn groups until each holds k records (fcm, efcm).
    scale : How numbers are compared: standardise, robust, rank, log or none. In units of their
        standard deviation, in a unit that outliers do not change, by their ranks, by their order of
        magnitude, or as they are.
    missing : Missing values: error refuses them, value keeps them as a value, impute fills them
        in. With "value", whole groups release a missing value or none of them does; with "impute",
        it is replaced by its group's aggregate.
    na : Texts and numbers that mean a missing value. Among numbers and dates, NA and the like
        always do.
        In text of other kinds NA may be a value, and counts as missing only if it is given here.
        Columns that are published unchanged keep them.
    digits : Decimals of a column's released numbers, -3 for thousands, or all for every digit.
        Without it, as many as the column has. By column, as in {"income": 0}, or "all". A column
        whose numbers take more than 15 significant digits is not rounded; whole numbers stay whole.
    dates : Order of day and month in dates such as 01/02/2024: us (month first) or eu (day first).
    strata : Columns to group within: only records with the same values share a group. They are
        published.
    small_strata : Strata of fewer than k records: error refuses them, merge joins them with others.
        The smallest come first; each joins the stratum with the nearest mean and gets its
        values.
    weights : Column of record weights, published unchanged. Means, medians, most frequent values
        and the loss take them into account.
    blocks : Columns to group on their own; k then holds within each block only. A list of lists;
        the remaining columns are one more block. A `PrivacyWarning` says what that means.
    valid_combinations : Release in each group the categories of one of its records: no new
        combinations. It is the record that loses least. False lets each group release the median
        or most frequent value of each column on its own.
    keep_margins : Choose categories so that their totals stay nearly as they were, at little extra
        loss. The categories lose at most a tenth more; totals are weighted if records are.
    hybrid : Release synthetic records with the means and covariances of groups. Not k-anonymous.
        For those who need variances and correlations rather than k-anonymity, and a
        `PrivacyWarning` says so. All quasi-identifiers are numbers without missing values, and k is
        at least 2d + 1 for d of them (in a block). Equalities among constraints are kept; whole
        numbers are rounded, and the manifest says how far that moved means and covariances.
    keep_key : Replace the table's first identifier by a random key instead of dropping it.
    shuffle : Release the records in random order. Their order may show which of them belong
        together, or who they are. It comes from the operating system, not from the seed, so that
        nobody can undo it; only `Release.order` and the audit say which record is where.
    random_state : Seed of a method that uses randomness, and of hybrid records. A whole number
        below 2**32; the same seed gives the same groups and records. None draws one. The manifest
        records it, or None if nothing uses randomness.
    effort : How hard auto searches: fast, balanced, best. "fast" takes about a second for a
        thousand records, "balanced" ten times as long, "best" eight times as long again.
    time_budget : Seconds for the search of auto, icsm and reporder, and for a tight bound. The best
        groups so far are released then, and depend on the machine. Without it, a tight bound has
        600.
    bound : Proof of how close to optimal the groups are: fast, tight (takes minutes), none, or
        auto. "tight" is for up to some ten thousand records. "auto" is fast wherever that takes
        less time than grouping: up to 50,000 records with the method "auto", 10,000 with other
        methods or a time_budget, and any number in one column; it is none with weights.
    plan : a `Plan` that says all of this, such as `Plan.read("plan.toml")`, or the path of a plan
        file; no other option may be given with it, not even at its default. To change some of it,
        give `plan.replace(k=10)`.
    progress : True for a bar where standard error is a terminal, or a function that is called
        with (task, done, total)

    Ctrl-C while "auto" searches ends only the search: the release has the best groups so far, its
    manifest is marked as interrupted, and there is an `InterruptedSearchWarning`. Ctrl-C while a
    bound is computed ends that: a tight bound is the best so far, a fast one is left out, with a
    warning. A second Ctrl-C ends `protect`.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [34, 36, 61, 62], "height": [171, 175, 162, 160]})
    >>> release = protect(people, k=2)
    >>> release.table["age"].to_list()
    [35, 35, 62, 62]
    >>> release.information_loss < 10
    True
    """
    arguments = {
        name: value for name, value in locals().items() if name not in ("table", "plan", "progress")
    }
    chosen, listener = plan_of(arguments, plan), reporting_to(progress)
    return make_release(Source.of(table), chosen, listener=listener)


def make_release(
    source: Source,
    plan: Plan,
    *,
    command: Callable[[Plan], str] = python_call,
    listener: AbstractContextManager[None] = nullcontext(),  # noqa: B008
) -> Release:
    """Return the release of a table; `command` and `listener` are those of `go_through`."""
    return go_through(source, plan, command=command, listener=listener).release


@dataclass(frozen=True, eq=False)
class Stages:
    """A release, and the stages that it went through, for those who need more than the table."""

    records: Records
    groups: Groups
    release: Release

    @property
    def with_all_categories(self) -> Any:
        """The released table, whose types list all categories of the original."""
        return with_all_of(self.records.frame.to_native(), self.release.table)


def go_through(
    source: Source,
    plan: Plan,
    *,
    command: Callable[[Plan], str] = python_call,
    listener: AbstractContextManager[None] = nullcontext(),  # noqa: B008
) -> Stages:
    """Take a table through all stages; long work is done within `listener`.

    `command` returns the command or call that repeats the release of a plan.
    """
    began = time.perf_counter()
    plan = with_types_of_values(plan, source)
    if plan.hybrid:  # whatever the method, random numbers make the records
        plan = plan.replace(random_state=check_seed(plan.random_state))
    records = open_records(source, plan)
    check_method(find(plan.method), records)
    rules = rules_for(plan, records)
    bound = bound_for(plan.bound, records)
    systems = systems_of(plan.constraints, records)
    check_hybrid(plan, records, systems)
    warn_beforehand(plan, records)
    warn_of_violations(systems, records)
    with listener:
        groups = group(records, plan, systems, rules)
        if plan.hybrid:
            released = synthesise(records, groups, systems)
        else:
            released = aggregate(records, groups, systems, CategoryChoice.of(plan))
        proof = bound_of(bound, plan, records, groups)
    warn_afterwards(plan, records, groups)
    verified = finish(plan, records, groups, released)
    used = plan.replace(
        random_state=groups.seed,
        method_options=plain_options(plan.method_options, len(records.frame)),
    )
    manifest = describe(
        used,
        records,
        groups,
        released,
        verified,
        proof,
        command=command(used),
        seconds=time.perf_counter() - began,
    )
    origin = _origin(records, released, verified)
    release = Release(verified.table, groups.labels_as_array(verified.order), manifest, origin)
    return Stages(records, groups, release)


def _origin(records: Records, released: Released, verified: Verified) -> Origin:
    """Return what the release keeps of its input; the matrix is not part of it."""
    return Origin(
        released.pair_of(records),
        tuple(_identifiers(verified)),
        records.source.dialect,
        records.source.annotations,
        records.source.sheet,
        verified.order,
    )


def _identifiers(verified: Verified) -> Iterator[pl.Series]:
    """Return the identifiers of the records, and their random keys."""
    if verified.identifiers is not None:
        yield from verified.identifiers.get_columns()
    if verified.key is not None:
        keys = polars_column(open_frame(verified.table)[verified.key]).alias("key")
        yield keys if verified.order is None else keys.gather(np.argsort(verified.order))
