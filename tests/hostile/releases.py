"""Releases of tables in memory: whatever comes in, a right release or a refusal comes out."""

import json
import warnings
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa

from microagg import protect, verify
from microagg.core.errors import MicroaggError
from tests.hostile.cases import RELEASED, VALUE_MARK, Case, Finding, expect, one_in
from tests.hostile.columns import NUMBERS, QI, SENSITIVE, WEIGHT
from tests.hostile.judges import (
    Asked,
    judge_closeness,
    judge_contributions,
    judge_diversity,
    judge_groups,
    judge_k,
    judge_key,
    judge_loss,
    judge_published,
    judge_range,
    judge_shape,
    judge_totals,
    judge_units,
)
from tests.hostile.judges_of_files import judge_quiet, judge_sentence
from tests.hostile.requests import request_for, wrong_fields
from tests.hostile.tables import Table, any_table, is_zoned, plain_columns


def run(case: Case, _folder: Path) -> str:
    """Protect one table, and judge what comes out."""
    chance = case.chance
    table = any_table(chance)
    request = request_for(chance, table)
    native = table.build()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            release = protect(native, **request)
        except MicroaggError as error:
            judge_refusal(table, error)
            return f"refused {error.exit_code}"
    expect(not wrong_fields(request), f"a wrong value of {wrong_fields(request)} was accepted")
    judge_warnings(table, heard)
    judge_release(table, request, native, release)
    if one_in(chance, 4):
        _judge_verdict(table, request, release)
    if one_in(chance, 10) and request.get("random_state") is not None:
        _judge_repeated(table, request, release)
    return RELEASED


def judge_refusal(table: Table, error: MicroaggError) -> None:
    """A refusal is one sentence or two, of the right type, that quotes no record."""
    judge_sentence(str(error))
    judge_quiet("the message", str(error), table.owners)
    expect(VALUE_MARK not in str(error), "the message quotes a record")
    expect(error.exit_code in (2, 3, 4), f"a refusal with exit code {error.exit_code}")


def judge_warnings(table: Table, heard: list[warnings.WarningMessage]) -> None:
    """Warnings quote no record, and none is a slip of the package's own arithmetic."""
    for each in heard:
        judge_quiet("a warning", str(each.message), table.owners)
        expect(VALUE_MARK not in str(each.message), "a warning quotes a record")
        slip = issubclass(each.category, (RuntimeWarning, DeprecationWarning, FutureWarning))
        if slip and "microagg" in each.filename:
            raise Finding(f"{each.category.__name__} in {each.filename}:{each.lineno}")


def judge_release(table: Table, request: dict[str, Any], native: Any, release: Any) -> None:
    """Let every judge see a release."""
    asked = Asked.of(table, request)
    before, after = plain_columns(native), plain_columns(release.table)
    expect(before == plain_columns(table.build()), "the table that came in was changed")
    order = release.order.tolist()
    expect(sorted(order) == list(range(table.n)), "some records are lost")
    expect(request.get("shuffle") or order == sorted(order), "records are in another order")
    before = {name: [own[at] for at in order] for name, own in before.items()}
    expect(isinstance(native, type(release.table)), "another kind of table came back")
    # Without some of its values, a column of numpy's whole numbers cannot stay one.
    judge_types(native, release.table, asked, but=_with_entries(table, request))
    judge_shape(asked, before, after)
    judge_published(asked, before, after)
    fewest = judge_k(asked, after)
    judge_units(asked, before, after)
    judge_diversity(asked, after)
    judge_key(asked, after)
    for name, said in (request.get("columns") or {}).items():
        judged = "p_percent" in said or "dominance" in said
        if judged and not request.get("na") and not _has_tiny(before[name]):
            judge_contributions(asked, before, after, name, said)
        if "t_closeness" in said and table[name].kind == "text":
            for shown in asked.shown:
                judge_closeness(after, shown, name, said["t_closeness"])
    facts = release.manifest.as_dict()
    rounded = all(
        isinstance(facts["columns"][name].get("digits", 0), int)
        and facts["columns"][name]["stored"].lower() != "float32"
        for total in asked.totals
        for name in total.terms
    )
    if asked.keeps_k or not request.get("hybrid"):
        judge_totals(asked, after, slack=0.0 if rounded else 1e-6)
    labels = release.labels.reshape(table.n, -1).T.tolist()
    if asked.keeps_k:
        judge_groups(asked, labels, after)
        _judge_ranges(table, request, asked, labels, facts, before, after)
    nominal = _nominal(table, request, facts, before, after)
    if nominal is not None:
        judge_loss(facts["information_loss"], before, after, nominal)
    judge_facts(table, asked, facts, fewest)


def judge_types(native: Any, released: Any, asked: Asked, but: Sequence[str]) -> None:
    """Columns keep their types, except that no category without a record is listed."""
    for name in asked.published:
        if name == asked.key or name in but:
            continue
        if isinstance(native, (pd.DataFrame, pl.DataFrame)):
            was, own = native[name].dtype, released[name].dtype
        else:
            was, own = native.schema.field(name).type, released.schema.field(name).type
        if isinstance(was, pd.CategoricalDtype):
            own_held = set(released[name].dropna())
            expect(own.categories.name is None, "the name of categories is kept")
            expect(set(own.categories) == own_held, f"{name!r} lists what no record holds")
        elif isinstance(was, pl.Enum):
            own_held = set(released[name].drop_nulls())
            expect(set(own.categories) == own_held, f"{name!r} lists what no record holds")
        else:
            expect(own == was, f"{name!r} came as {was} and left as {own}")
    if isinstance(released, pa.Table):
        metadata = [released.schema.metadata, *(own.metadata for own in released.schema)]
        expect("Zq" not in str(metadata), "metadata are kept")
    if isinstance(released, pd.DataFrame):
        expect(list(released.index) == list(range(len(released))), "row numbers are kept")
        expect("Zq" not in f"{released.attrs}{released.columns.name}", "attributes are kept")
        expect(not hasattr(released, "owner") or not released.owner, "attributes are kept")


def _with_entries(table: Table, request: dict[str, Any]) -> list[str]:
    """Return the columns that may have lost values which the request says are missing."""
    return [c.name for c in table.columns if request.get("na") and c.kind in NUMBERS]


def judge_facts(table: Table, asked: Asked, facts: dict[str, Any], fewest: int) -> None:
    """The manifest is plain JSON, tells the right counts and quotes no record."""
    text = json.dumps(facts, allow_nan=False, ensure_ascii=False)
    judge_quiet("the manifest", text, table.owners)
    # The order of a sensitive column that t-closeness is about is part of the plan.
    ordered = [c for c in table.columns if c.role == SENSITIVE and c.ordered]
    expect(VALUE_MARK not in text or ordered, "the manifest quotes a record")
    expect("never" not in text, "the manifest lists a category that no record has")
    expect(facts["n_records"] == table.n, "the manifest counts other records")
    if asked.keeps_k and asked.k > 1:
        expect(facts["smallest_class"] == fewest, "the manifest counts other combinations")
        expect(facts["verified"], "a release is not verified")


def _judge_ranges(
    table: Table,
    request: dict[str, Any],
    asked: Asked,
    labels: list[list[int]],
    facts: dict[str, Any],
    before: dict[str, list[Any]],
    after: dict[str, list[Any]],
) -> None:
    if asked.totals or request.get("na") or request.get("method") in ("fcm", "efcm"):
        return
    for own, block in zip(labels, asked.blocks, strict=True):
        for name in block:
            if table[name].kind not in NUMBERS or facts["columns"][name]["type"] == "ordinal":
                continue
            digits = facts["columns"][name].get("digits", 0)
            step = Fraction(10) ** -digits if isinstance(digits, int) else Fraction(0)
            judge_range(before, after, name, own, step=step)


def _nominal(
    table: Table,
    request: dict[str, Any],
    facts: dict[str, Any],
    before: dict[str, list[Any]],
    after: dict[str, list[Any]],
) -> dict[str, bool] | None:
    """Return which columns are nominal; None where the loss takes more than plain lines."""
    found = {}
    for name in table.named(QI):
        column, kind = table[name], facts["columns"][name]["type"]
        gaps = _has_tiny(before[name]) or any(
            value is None for value in (*before[name], *after[name])
        )
        said = (request.get("columns") or {}).get(name, {})
        if gaps or kind == "ordinal" or "weight" in said or is_zoned(column):
            return None
        if column.kind == "date text" or request.get("na"):
            return None
        found[name] = kind in ("nominal", "boolean")
    return None if table.named(WEIGHT) else found


def _has_tiny(values: Sequence[Any]) -> bool:
    """Whether there are numbers whose squares, or shares of a large one, are 0 to a computer."""
    return any(isinstance(value, float) and 0 < abs(value) < 1e-150 for value in values)


def _judge_verdict(table: Table, request: dict[str, Any], release: Any) -> None:
    """`verify` agrees, on the released table alone."""
    plan = release.manifest.plan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = verify(release.table, plan=plan)
    hidden = any(r in str(request.get("columns")) for r in ("p_percent", "dominance", "'unit'"))
    if Asked.of(table, request).keeps_k and not hidden:
        expect(found.satisfied, f"verify says no to a release: {found.as_dict()['verdict']}")


def _judge_repeated(table: Table, request: dict[str, Any], release: Any) -> None:
    """The same request and seed give the same release."""
    if request.get("time_budget") is not None:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = protect(table.build(), **request)
    expect(_groups(again) == _groups(release), "the same seed gives other groups")


def _groups(release: Any) -> list[set[frozenset[int]]]:
    """Return the groups of every block, as sets of the original rows."""
    found = []
    for labels in release.labels.reshape(len(release.order), -1).T:
        members = (release.order[labels == group] for group in range(labels.max() + 1))
        found.append({frozenset(rows.tolist()) for rows in members})
    return found
