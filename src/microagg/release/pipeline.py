"""From a table and a plan to a table that is safe to publish, with all there is to say of it."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from microagg import __version__
from microagg.bounds.choice import Bound
from microagg.constraints.grammar import Constraint
from microagg.constraints.system import System, check_exact
from microagg.core.errors import InterruptedSearchWarning, ParameterError, PrivacyWarning, warn
from microagg.core.registry import Method, find
from microagg.files.annotations import Annotations
from microagg.files.dialect import Dialect
from microagg.plans.manifest import Promise
from microagg.plans.plan import Plan
from microagg.release.facts import (
    bound_facts,
    column_facts,
    combination_facts,
    constraint_facts,
    draw_facts,
    group_facts,
    missing_facts,
    plain,
    request_facts,
    strata_facts,
)
from microagg.release.grouping import bound_of
from microagg.release.records import Block, Records, open_records
from microagg.release.released import (
    Outcome,
    group_and_aggregate,
    n_expecting_fewer,
)
from microagg.release.request import (
    check_bound,
    check_constrained,
    check_constraints,
    check_drawable,
    check_request,
    check_single_column,
)
from microagg.release.saving import library_versions
from microagg.release.verification import Classes, count_classes, require_k
from microagg.tables.digest import table_digest
from microagg.tables.frames import (
    dtype_of,
    index_names,
    open_frame,
    polars_column,
    with_released,
)
from microagg.tables.keys import random_keys
from microagg.tables.pairs import Pair, released_pair
from microagg.tables.typed import INTEGERS

Labels = NDArray[np.intp]


@dataclass(frozen=True)
class Source:
    """Where a table comes from; what is left open is that of a table in memory.

    `dialect` and `annotations` are those of the file, for the output to be like it; `not_read` are
    its identifiers that nobody needs; `command` words what repeats the release of a plan.
    """

    file: str | None = None
    sha256: str | None = None
    dialect: Dialect | None = None
    annotations: Annotations | None = None
    not_read: tuple[str, ...] = ()
    command: Callable[[Plan], str] | None = None


@dataclass(frozen=True, eq=False)
class Origin:
    """What a release keeps of the table that came in, for its own files and for measuring it.

    `pair` opens the records before and after; it is called when somebody measures.
    """

    pair: Callable[[], Pair]
    identifiers: tuple[pl.Series, ...]
    dialect: Dialect | None
    annotations: Annotations | None


@dataclass(frozen=True, eq=False)
class Made:
    """A released table, the groups behind it, what was done, and what its own files need."""

    table: Any
    labels: Labels
    manifest: dict[str, Any]
    origin: Origin


def run(
    table: Any, plan: Plan, source: Source | None, listener: AbstractContextManager[Any]
) -> Made:
    """Do what the plan says; long work happens within `listener`."""
    began = time.perf_counter()
    source = source or Source()
    estimator = check_request(
        plan.method,
        plan.k,
        method_options=plan.options,
        scale=plan.scale,
        random_state=plan.seed,
        strict_k=plan.strict_k,
        effort=plan.effort,
        time_budget=plan.time_budget,
        bound=plan.bound,
    )
    asked = check_constraints(plan.constraints)
    records = open_records(
        table,
        [plan.k],
        column_options=plan.column_options(),
        scale=plan.scale,
        missing=plan.missing,
        blocks=plan.blocks,
        small_strata=plan.small_strata,
        **_roles(plan, source),
    )
    method = find(plan.method)
    check_single_column(method, records)
    check_drawable(method, records, scale=plan.scale)
    bound = check_bound(plan.bound, records)
    systems = _systems(asked, records)
    if plan.small_strata != "error" and records.strata is None:
        raise ParameterError(
            "small_strata (--small-strata) is for strata, and there are none. Leave it out."
        )
    _warn_beforehand(plan, records)
    with listener:
        outcome = group_and_aggregate(
            method,
            estimator,
            records,
            systems,
            scale=plan.scale,
            valid_combinations=plan.valid_combinations,
        )
        proof = _proof(bound, method, records, outcome, plan)
    _warn_afterwards(plan, estimator, outcome)
    plan = plan.with_seed(estimator.random_state if estimator.has_chance() else None)
    if source.file is None and source.sha256 is None:
        source = replace(source, sha256=table_digest(records.frame))
    return _finished(plan, method, estimator, records, outcome, proof, source, began=began)


def _roles(plan: Plan, source: Source) -> dict[str, Any]:
    roles = plan.roles()
    read = [name for name in roles["identifiers"] if name not in source.not_read]
    return {**roles, "identifiers": read}


def _warn_beforehand(plan: Plan, records: Records) -> None:
    if plan.k == 1:
        warn(
            "k = 1 protects nobody: every record may stand alone with its own values; use k = 2 "
            "or more.",
            PrivacyWarning,
        )
    for name in _unique_columns(records):
        warn(
            f"column {name!r} is published unchanged, and its value is different in every record: "
            "it may tell who a record is. Drop it as an identifier unless that is meant.",
            PrivacyWarning,
        )
    if len(records.blocks) > 1:
        warn(
            f"the quasi-identifiers are grouped in {len(records.blocks)} blocks: k = {plan.k} "
            "holds within each of them, not for all together. Somebody who knows values from "
            "several blocks can tell records apart.",
            PrivacyWarning,
        )


def _unique_columns(records: Records) -> Iterator[str]:
    """Return columns of text or whole numbers that are published and differ in every record."""
    frame = records.frame
    for name in records.roles.sensitive:
        told_apart = name in frame.columns and dtype_of(frame, name) in (nw.String, *INTEGERS)
        if told_apart and frame[name].n_unique() == len(frame) > 1:
            yield name


def _warn_afterwards(plan: Plan, estimator: Any, outcome: Outcome) -> None:
    if outcome.grouped.interrupted:
        warn(
            "interrupted: these are the best groups so far, not those of the whole search.",
            InterruptedSearchWarning,
        )
    if outcome.promise == Promise.NOTHING and plan.k > 1:
        warn(
            f"{plan.method!r} draws and keeps no k: {n_expecting_fewer(estimator)} of its centres "
            f"expect fewer than {plan.k} records; use strict_k (--strict-k) for groups of k or "
            "more.",
            PrivacyWarning,
        )


def _proof(bound: str, method: Method, records: Records, outcome: Outcome, plan: Plan) -> Bound:
    """Return what no groups of k lose less than, if that is asked for and not interrupted."""
    if outcome.promise not in (Promise.K_ANONYMITY, Promise.BLOCKWISE):
        return Bound()  # groups of fewer than k may lose less than any of k
    try:
        return bound_of(bound, method, records, outcome.grouped, k=plan.k, budget=plan.time_budget)
    except KeyboardInterrupt:
        warn(
            "interrupted while a bound was sought: the groups are complete, and there is no bound.",
            InterruptedSearchWarning,
        )
        return Bound()


def _finished(
    plan: Plan,
    method: Method,
    estimator: Any,
    records: Records,
    outcome: Outcome,
    bound: Bound,
    source: Source,
    *,
    began: float,
) -> Made:
    """Put the released values into the table, check it, and say what was done."""
    table, key = _released_table(plan, records, outcome)
    classes = _checked(table, plan.k, records, outcome)
    roles = records.roles
    identifiers = [*source.not_read, *roles.identifiers]
    shown = plan.with_options(
        {name: plain(value, len(records.frame)) for name, value in plan.options.items()}
    )
    manifest = {
        "microagg_version": __version__,
        "libraries": library_versions(),
        "input": {"file": source.file, "sha256": source.sha256},
        "plan": shown.model_dump(mode="json", exclude_defaults=True),
        "command": (source.command or _call)(shown),
        **request_facts(method, estimator, plan.scale, roles, n_records=len(records.frame)),
        "identifiers": identifiers,
        "columns": column_facts(records),
        "promise": outcome.promise,
        "interrupted": outcome.grouped.interrupted,
        "timed_out": outcome.grouped.timed_out,
        **group_facts(outcome.grouped, outcome.errors, classes),
        **bound_facts(bound, outcome.errors),
        "constraints": constraint_facts(outcome),
        "missing_values": missing_facts(records, outcome),
        "strata_found": strata_facts(records),
        "blocks": [list(block.names) for block in records.blocks],
        "new_combinations": combination_facts(outcome),
        "draw": draw_facts(estimator) if method.draws else None,
        "key": key,
        "dropped": [name for name in identifiers if name != key],
        "verified": outcome.promise in (Promise.K_ANONYMITY, Promise.BLOCKWISE),
        "seconds": time.perf_counter() - began,
    }
    labels = outcome.labels
    labels.flags.writeable = False
    origin = Origin(
        _pair_of(records, outcome, source.dialect),
        tuple(_identifiers(records, table, key)),
        source.dialect,
        source.annotations,
    )
    return Made(table, labels, manifest, origin)


def _pair_of(records: Records, outcome: Outcome, dialect: Dialect | None) -> Callable[[], Pair]:
    """Return how to open the records before and after, without keeping the matrix for that."""
    strata = {}
    if records.strata is not None:
        strata = {
            name: (coded, records.strata.released[name])
            for name, coded in records.strata_columns.items()
        }
    return partial(
        released_pair,
        records.frame,
        records.columns,
        outcome.released,
        strata,
        records.roles.sensitive,
        None if dialect is None else dialect.decimal,
    )


def _call(plan: Plan) -> str:
    """Word the call that repeats a release of a table in memory."""
    arguments = plan.model_dump(mode="json", exclude_defaults=True)
    renamed = {"options": "method_options", "seed": "random_state"}
    named = [f"{renamed.get(name, name)}={value!r}" for name, value in arguments.items()]
    return f"microagg.protect(table, {', '.join(named)})"


def _identifiers(records: Records, table: Any, key: str | None) -> Iterator[pl.Series]:
    """Return what tells who a record is, and its random key."""
    levels = index_names(records.frame)
    for name in records.roles.identifiers:
        if name in levels:
            values = records.frame.to_native().index.get_level_values(name)
            yield pl.Series(name, [str(value) for value in values])
        else:
            yield polars_column(records.frame[name])
    if key is not None:
        yield polars_column(open_frame(table)[key]).alias("key")


def _released_table(plan: Plan, records: Records, outcome: Outcome) -> tuple[Any, str | None]:
    """Return the finished table, and the name of its column of random keys, if it has one."""
    released = {
        name: column.decode(outcome.released[name]) for name, column in records.columns.items()
    }
    if records.strata is not None:
        for name, values in records.strata.released.items():
            released[name] = records.strata_columns[name].decode(values)
    dropped, key = list(records.roles.identifiers), None
    if plan.keep_key:
        key, *dropped = _key_column(plan, dropped)
        released[key] = random_keys(records.frame, key)
    return with_released(records.frame, released, dropped=dropped), key


def _key_column(plan: Plan, identifiers: Sequence[str]) -> list[str]:
    """Return the identifiers, that which becomes a key first."""
    if not identifiers:
        raise ParameterError(
            "there is no identifier to replace by a random key (--keep-key). Name one, or leave it "
            "out."
        )
    first = next(name for name in plan.columns if name in identifiers)
    return [first, *(name for name in identifiers if name != first)]


def _checked(table: Any, k: int, records: Records, outcome: Outcome) -> Classes:
    """Count on the finished table what was promised of it."""
    frame = open_frame(table)
    promised = outcome.promise in (Promise.K_ANONYMITY, Promise.BLOCKWISE)
    check = require_k if promised else count_classes
    strata = records.roles.strata
    each = [check(frame, (*block.names, *strata), k=k) for block in records.blocks]
    return min(each, key=lambda classes: classes.smallest)


def _systems(constraints: Sequence[Constraint], records: Records) -> list[System | None]:
    """Return the constraints on the columns of every block, None where there are none."""
    of_block: list[list[Constraint]] = [[] for _ in records.blocks]
    for constraint in constraints:
        columns = constraint.coefficients.keys()
        shared = (at for at, block in enumerate(records.blocks) if columns & {*block.names})
        of_block[next(shared, 0)].append(constraint)
    return [
        _system(own, records, block) if own else None
        for own, block in zip(of_block, records.blocks, strict=True)
    ]


def _system(constraints: Sequence[Constraint], records: Records, block: Block) -> System:
    others = _other_columns(records)
    others |= {name: "in another block" for name in records.columns if name not in block.names}
    columns = {
        name: records.columns[name]
        for name in block.names
        if any(name in constraint.coefficients for constraint in constraints)
    }
    check_constrained(columns, records)
    limits = {}
    for name, column in columns.items():
        numbers = column.values.numbers
        if numbers.dtype.kind in "iu":
            check_exact(name, numbers)
            limits[name] = (int(np.iinfo(numbers.dtype).min), int(np.iinfo(numbers.dtype).max))
    return System.of(constraints, block.names, integers=limits, other_columns=others)


def _other_columns(records: Records) -> dict[str, str]:
    roles = records.roles
    others = dict.fromkeys(roles.identifiers, "an identifier")
    others |= dict.fromkeys(roles.sensitive, "sensitive")
    others |= dict.fromkeys(roles.strata, "a stratum")
    return others | ({} if roles.weights is None else {roles.weights: "a weight"})
