"""What a release promises, counted and computed in the plainest way there is.

Nothing here uses the package's own arithmetic: sums are exact fractions, groups are loops.
"""

import csv
import datetime
import hashlib
import json
import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from tests.properties.whole_tables import (
    IDENTIFIER,
    QI,
    SECRETS,
    SENSITIVE,
    STRATUM,
    UNITS,
    WEIGHT,
    Case,
    Drawn,
)

_SECONDS = {"day": 86_400, "hour": 3_600, "minute": 60, "second": 1}


# ---- reading tables


def plain(table: Any, name: str) -> list[Any]:
    """Return a column as plain values; times are whole units, None is missing, NaN stays."""
    native = table[name]
    if isinstance(native, pl.Series):
        native = native.alias("")  # polars takes a name such as "^a$" for a pattern
        if native.dtype.is_temporal():
            return native.to_physical().to_list()
        return native.to_list()
    if isinstance(native, pd.Series):
        return _plain_pandas(native)
    return _plain_arrow(native)


def _plain_arrow(native: Any) -> list[Any]:
    if pa.types.is_timestamp(native.type):
        return native.cast(pa.int64()).to_pylist()
    if pa.types.is_date32(native.type):
        return native.cast(pa.int32()).to_pylist()
    return native.to_pylist()


def _plain_pandas(native: pd.Series) -> list[Any]:
    if isinstance(native.dtype, pd.ArrowDtype):
        return _plain_arrow(pa.chunked_array(native.array.__arrow_array__()))
    if isinstance(native.dtype, pd.DatetimeTZDtype):
        native = native.dt.tz_convert("UTC").dt.tz_localize(None)
    if native.dtype.kind == "M":
        stamps = native.to_numpy().view("int64").tolist()
    else:
        stamps = native.tolist()
    days = [v.toordinal() - 719_163 if isinstance(v, datetime.date) else v for v in stamps]
    return [None if gone else v for v, gone in zip(days, native.isna(), strict=True)]


def key(value: Any) -> Any:
    """Return what tells a shown value from others: -0.0 is not 0.0, and NaN is not nothing."""
    return ("float", repr(value)) if isinstance(value, float) else value


def is_there(value: Any) -> bool:
    return value is not None and value == value


def same(before: Sequence[Any], after: Sequence[Any]) -> bool:
    return list(map(key, before)) == list(map(key, after))


# ---- the promises


def check_release(case: Case, table: Any, release: Any) -> None:
    """Check everything that a finished release promises."""
    check_shape(case, table, release.table)
    check_untouched(case, table)
    before = {c.name: plain(table, c.name) for c in case.columns}
    after = {c: plain(release.table, c) for c in names_of(release.table)}
    for column in case.columns:
        if column.role in (SENSITIVE, WEIGHT):
            assert same(before[column.name], after[column.name]), "a column was to stay"
    check_k(case, release, after)
    check_strata(case, before, after)
    check_groups(case, release, before, after)
    check_manifest(release)


def names_of(table: Any) -> list[str]:
    return list(getattr(table, "column_names", None) or table.columns)


def check_shape(case: Case, table: Any, released: Any) -> None:
    """The same kind of table, columns, types and index."""
    assert type(released) is type(table)
    gone = [c.name for c in case.columns if c.role == IDENTIFIER]
    key_column = case.arguments()["identifiers"][0] if case.request["keep_key"] else None
    kept = [c.name for c in case.columns if c.name not in gone or c.name == key_column]
    assert names_of(released) == kept
    for name in kept:
        if name == key_column:
            assert sorted(plain(released, name)) == list(range(1, case.n + 1))
        elif case.backend == "pyarrow":
            assert released.schema.field(name).type == table.schema.field(name).type
        else:
            assert released[name].dtype == table[name].dtype
    if case.backend == "pandas" and (case.index_name is None or case.n % 2 == 0):
        pd.testing.assert_index_equal(released.index, table.index)


def check_untouched(case: Case, table: Any) -> None:
    fresh = case.table()
    if case.backend == "pandas":
        pd.testing.assert_frame_equal(table, fresh)
    else:
        assert all(same(plain(table, c.name), plain(fresh, c.name)) for c in case.columns)
        assert table.schema == fresh.schema


def blocks_of(case: Case) -> list[list[str]]:
    inside = [c.name for c in case.columns if c.role == QI]
    (first,) = case.request["blocks"] or (tuple(inside),)
    parts = [[c for c in inside if c in first], [c for c in inside if c not in first]]
    return [part for part in parts if part]


def shown_of(case: Case) -> list[list[str]]:
    strata = [c.name for c in case.columns if c.role == STRATUM]
    return [[*block, *strata] for block in blocks_of(case)]


def check_k(case: Case, release: Any, after: dict[str, list[Any]]) -> None:
    """At least k records show what a record shows; missing values are values."""
    smallest, facts = [], release.manifest
    for shown in shown_of(case):
        rows = zip(*(map(key, after[name]) for name in shown), strict=True)
        counts = Counter(rows)
        assert min(counts.values()) >= case.request["k"], "fewer than k share a combination"
        smallest.append((min(counts.values()), len(counts)))
    assert facts["smallest_class"] == min(smallest)[0]
    assert facts["n_classes"] in [count for least, count in smallest if least == min(smallest)[0]]


def check_strata(case: Case, before: dict[str, list[Any]], after: dict[str, list[Any]]) -> None:
    """Strata are as they were, but for small ones, which take on the values of others."""
    strata = [c.name for c in case.columns if c.role == STRATUM]
    if not strata:
        return
    old = list(zip(*([_unsigned(v) for v in before[c]] for c in strata), strict=True))
    new = list(zip(*([_unsigned(v) for v in after[c]] for c in strata), strict=True))
    sizes = Counter(old)
    for was, now in zip(old, new, strict=True):
        assert now in sizes
        assert was == now or sizes[was] < case.request["k"]


def _unsigned(value: Any) -> Any:
    """Return a value of a stratum; as such, zeros are equal, and so is all that is missing."""
    return value if is_there(value) else None


def check_groups(
    case: Case, release: Any, before: dict[str, list[Any]], after: dict[str, list[Any]]
) -> None:
    """Every group releases one value of each column, and it is the right one."""
    labels = release.labels.reshape(case.n, -1).T.tolist()
    facts = release.manifest
    sizes = [count for own in labels for count in Counter(own).values()]
    assert facts["n_groups"] == len(sizes)
    assert (facts["min_group"], facts["max_group"]) == (min(sizes), max(sizes))
    assert facts["group_sizes"] == {str(s): c for s, c in sorted(Counter(sizes).items())}
    weights = next((before[c.name] for c in case.columns if c.role == WEIGHT), [1] * case.n)
    exact = [Fraction(weight) for weight in weights]
    columns = {c.name: c for c in case.columns}
    for own, block in zip(labels, blocks_of(case), strict=True):
        assert list(dict.fromkeys(own)) == list(range(max(own) + 1)), "numbered by first records"
        members = [[i for i in range(case.n) if own[i] == g] for g in range(max(own) + 1)]
        for name in block:
            for rows in members:
                assert len({key(after[name][i]) for i in rows}) == 1
                if case.request["method"] != "fcm":
                    check_value(case, columns[name], rows, before[name], after[name], exact)
        if case.request["valid_combinations"]:
            check_combinations([columns[c] for c in block], case, members, before, after)
    check_constraints(case, after)
    if case.request["method"] != "fcm" and case.request["scale"] == "standardise":
        check_loss(case, release, labels, before, exact)


def measure(column: Drawn) -> str:
    """Return how a column is aggregated: mean, median, lower median or mode."""
    said = column.said
    if "type" in said and said["type"] != "integer":
        default = "lower median" if said["type"] == "ordinal" else "mode"
    elif column.storage == "ordered":
        default = "lower median"
    else:
        default = "mode" if column.kind in ("bool", "text", "category") else "mean"
    wished = said.get("aggregate", default)
    return default if wished == "median" and default == "lower median" else wished


def check_value(
    case: Case,
    column: Drawn,
    rows: list[int],
    before: list[Any],
    after: list[Any],
    weights: list[Fraction],
) -> None:
    """The value that a group releases of one column."""
    value = after[rows[0]]
    there = [i for i in rows if is_there(before[i])]
    gone = sum(weights[i] for i in rows) - sum(weights[i] for i in there)
    how = measure(column)
    constrained = any(column.name in terms for terms, _, _ in case.constraints)
    if case.request["valid_combinations"] and how in ("mode", "lower median"):
        return  # its record is another matter
    if not there and case.request["missing"] == "impute":
        there = [i for i in range(case.n) if is_there(before[i])]
    elif case.request["missing"] != "impute":
        balance = 2 * gone - sum(weights[i] for i in rows)
        assert is_there(value) == (balance <= 0), "missing only where more are than not"
        if not is_there(value):
            return
    assert is_there(value)
    if constrained:
        return
    own = [weights[i] for i in there]
    values = [before[i] for i in there]
    if how == "mode":
        tally: dict[Any, Fraction] = {}
        for v, w in zip(values, own, strict=True):
            tally[v] = tally.get(v, Fraction(0)) + w
        assert value in tally
        assert tally[value] == max(tally.values())
    elif how == "lower median":
        assert value in values
        place = places_of(case, column, before)
        below = sum((w for v, w in zip(values, own, strict=True) if place[v] < place[value]), 0)
        up_to = sum((w for v, w in zip(values, own, strict=True) if place[v] <= place[value]), 0)
        assert below * 2 < sum(own) <= up_to * 2
    else:
        check_number(column, how, value, units_of(column, values, before), own)


def units_of(column: Drawn, values: list[Any], all_values: list[Any]) -> tuple[list[Any], int]:
    """Return times as whole numbers of what they are rounded to, and how much that is."""
    if column.kind != "datetime":
        return values, 1
    steps = {word: seconds * UNITS[column.unit] for word, seconds in _SECONDS.items()}
    there = [v for v in all_values if is_there(v)]
    unit = next((step for step in steps.values() if not any(v % step for v in there)), 1)
    if "resolution" in column.said:
        unit = steps[column.said["resolution"]]
    return [v if unit == 1 else (v + unit // 2) // unit for v in values], unit


def check_number(
    column: Drawn, how: str, value: Any, counted: tuple[list[Any], int], weights: list[Fraction]
) -> None:
    values, unit = counted
    whole = column.kind in ("int", "date", "datetime") or column.said.get("type") == "integer"
    assert unit == 1 or value % unit == 0
    got = Fraction(value) / unit
    exact = [Fraction(v) for v in values]
    if how == "mean":
        wanted = sum((v * w for v, w in zip(exact, weights, strict=True)), Fraction(0))
        wanted /= sum(weights)
    else:
        wanted = _median(exact, weights)
    if whole:
        assert min(exact) <= got <= max(exact)
        assert got.denominator == 1
        size = (abs(wanted) + Fraction(1, 2)) // 1
        assert got == (size if wanted >= 0 else -size), "half away from zero"
        return
    assert not (value == 0 and math.copysign(1, value) < 0), "-0.0"
    relative = Fraction(1, 10**6) if "32" in column.storage else Fraction(1, 10**12)
    smallest = Fraction(2) ** -149 if "32" in column.storage else Fraction(2) ** -1074
    slack = relative * max(map(abs, exact)) + len(values) * smallest
    assert abs(got - wanted) <= slack
    assert min(exact) - slack <= got <= max(exact) + slack


def _median(values: list[Fraction], weights: list[Fraction]) -> Fraction:
    half, up_to = sum(weights) / 2, Fraction(0)
    ordered = sorted(zip(values, weights, strict=True))
    for at, (value, weight) in enumerate(ordered):
        up_to += weight
        if up_to > half:
            return value
        if up_to == half:
            return (value + ordered[at + 1][0]) / 2
    raise AssertionError


def places_of(case: Case, column: Drawn, before: list[Any]) -> dict[Any, int]:
    """Return the place of each value in the order of an ordinal column."""
    if "order" in column.said:
        return {v: at for at, v in enumerate(column.said["order"])}
    if column.storage in ("ordered", "categorical", "enum") and case.backend != "pyarrow":
        return {v: at for at, v in enumerate(column.categories)}
    return {v: at for at, v in enumerate(sorted({v for v in before if is_there(v)}))}


def is_category(column: Drawn) -> bool:
    return measure(column) in ("mode", "lower median")


def check_combinations(
    columns: list[Drawn],
    case: Case,
    members: list[list[int]],
    before: dict[str, list[Any]],
    after: dict[str, list[Any]],
) -> None:
    """The categories that a group releases are those of one of its records."""
    chosen = [c.name for c in columns if is_category(c)]
    if not chosen:
        return
    there = list(zip(*([_unsigned(v) for v in before[c]] for c in chosen), strict=True))
    shown = list(zip(*([_unsigned(v) for v in after[c]] for c in chosen), strict=True))
    for rows in members:
        own = {there[i] for i in rows}
        if case.request["missing"] == "impute":
            own = {kinds for kinds in own if None not in kinds} or {*there}
        assert shown[rows[0]] in own


def check_constraints(case: Case, after: dict[str, list[Any]]) -> None:
    for terms, relation, limit in case.constraints:
        for i in range(case.n):
            parts = [Fraction(after[name][i]) * Fraction(f) for name, f in terms.items()]
            over = (sum(parts) - Fraction(limit)) * (1 if relation == "<=" else -1)
            assert over <= Fraction(1, 10**5) * max(1, *map(abs, parts)), "a constraint"


# ---- the loss


def check_loss(
    case: Case,
    release: Any,
    labels: list[list[int]],
    before: dict[str, list[Any]],
    weights: list[Fraction],
) -> None:
    """The information loss, column by column: each counts as much as its weight says."""
    lost = total = Fraction(0)
    columns = {c.name: c for c in case.columns}
    for own, block in zip(labels, blocks_of(case), strict=True):
        for name in block:
            axes = axes_of(case, columns[name], before[name], weights)
            if axes is None:
                return
            factor = Fraction(columns[name].said.get("weight", 1.0))
            for share, axis in axes:
                spread = squares(axis, [0] * case.n, weights)
                if spread and share:
                    lost += factor * share * squares(axis, own, weights) / spread
                    total += factor * share
    wanted = float(100 * lost / total) if total else 0.0
    assert math.isclose(release.information_loss, wanted, rel_tol=1e-6, abs_tol=1e-7)


def squares(axis: list[Fraction], labels: list[int], weights: list[Fraction]) -> Fraction:
    """Return the weighted squared distances to the weighted means of the groups."""
    sums: dict[int, list[Fraction]] = {}
    for v, g, w in zip(axis, labels, weights, strict=True):
        tally = sums.setdefault(g, [Fraction(0)] * 3)
        tally[0] += w
        tally[1] += w * v
        tally[2] += w * v * v
    return sum((s2 - s1 * s1 / s0 for s0, s1, s2 in sums.values()), Fraction(0))


def axes_of(
    case: Case, column: Drawn, values: list[Any], weights: list[Fraction]
) -> list[tuple[Fraction, list[Fraction]]] | None:
    """Return the axes of a column with their shares of its variance; None if it has too many."""
    impute = case.request["missing"] == "impute"
    there = [i for i in range(case.n) if is_there(values[i])]
    if not there:
        return []
    if measure(column) == "mode" and column.said.get("type") != "ordinal":
        if column.storage == "ordered":
            return None  # ordinal by its type, whatever it releases
        return _nominal(values, there, weights, impute=impute)
    place = places_of(case, column, values) if is_category(column) else None
    numbers = [values[i] if place is None else place[values[i]] for i in there]
    numbers, _ = units_of(column, numbers, values)
    found = dict(zip(there, map(Fraction, numbers), strict=True))
    inside = sum(weights[i] for i in there)
    mean = sum(weights[i] * found[i] for i in there) / inside
    axis = [found.get(i, mean) for i in range(case.n)]
    if len(there) == case.n:
        return [(Fraction(1), axis)]
    n, m = case.n, len(there)
    share = inside / sum(weights) * Fraction(m - 1, m) * Fraction(n, n - 1)
    if len(set(found.values())) == 1:
        share = Fraction(0)
    if impute:
        return [(share, axis)]
    return [(share, axis), (1 - share, [Fraction(i not in found) for i in range(n)])]


def _nominal(
    values: list[Any], there: list[int], weights: list[Fraction], *, impute: bool
) -> list[tuple[Fraction, list[Fraction]]] | None:
    kinds = {values[i] for i in there}
    n, known = len(values), set(there)
    if len(kinds) >= 32:
        return None
    inside = sum(weights[i] for i in there)
    axes = []
    for kind in kinds:
        mean = sum(weights[i] for i in there if values[i] == kind) / inside
        rest = mean if impute else Fraction(0)
        axes.append([Fraction(values[i] == kind) if i in known else rest for i in range(n)])
    if not impute and len(there) < n:
        axes.append([Fraction(i not in known) for i in range(n)])
    spreads = [squares(axis, [0] * n, weights) for axis in axes]
    whole = sum(spreads)
    if not whole:
        return []
    return [(spread / whole, axis) for spread, axis in zip(spreads, axes, strict=True)]


# ---- what is written


def check_manifest(release: Any) -> None:
    json.dumps(release.manifest, allow_nan=False)
    # The request may list values in an order.
    told = {name: fact for name, fact in release.manifest.items() if name not in _QUOTING}
    check_quiet(json.dumps(told, ensure_ascii=False))
    if not any("order" in said for said in release.manifest["plan"].get("columns", {}).values()):
        check_quiet(json.dumps(release.manifest, ensure_ascii=False))


_QUOTING = ("plan", "command")


def check_quiet(text: str) -> None:
    for secret in SECRETS:
        assert secret not in text, "a record's value is told"


def check_file(case: Case, release: Any, path: Path) -> None:
    """A CSV file, read without the package, keeps what the table keeps."""
    beside = path.with_name(path.name.removesuffix(path.suffix) + ".manifest.json")
    told = json.loads(beside.read_text(encoding="utf-8"))
    assert told["output"]["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    with path.open(encoding="utf-8", newline="") as stream:
        header, *rows = list(csv.reader(stream, strict=True))
    named = (
        [n for n in getattr(release.table.index, "names", ()) if n]
        if case.backend == "pandas"
        else []
    )
    assert header == [*named, *names_of(release.table)]
    rows = [row or [""] for row in rows]
    assert len(rows) == case.n
    assert {len(row) for row in rows} == {len(header)}
    for shown in shown_of(case):
        places = [header.index(name) for name in shown]
        counts = Counter(tuple(row[at] for at in places) for row in rows)
        assert min(counts.values()) >= case.request["k"], "fewer than k in the file"
    for column in case.columns:
        if column.role in (SENSITIVE, WEIGHT):
            at = header.index(column.name)
            check_written(column, plain(release.table, column.name), [row[at] for row in rows])


def check_written(column: Drawn, values: list[Any], texts: list[str]) -> None:
    for value, text in zip(values, texts, strict=True):
        if value is None:
            assert text == ""
        elif column.kind in ("text", "category"):
            assert text == value
        elif column.kind == "int":
            assert int(text) == value
        elif column.kind == "float":
            read = np.float32(text) if "32" in column.storage else float(text or "nan")
            assert read == value or (value != value and text in ("", "NaN"))
        elif column.kind == "bool":
            assert text == str(value).lower()
