"""What a release promises, counted and computed in the plainest way there is.

Nothing here uses the package's own arithmetic: sums are exact fractions, groups are loops.
"""

import csv
import hashlib
import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from tests.properties.slow_values import check_loss, check_value, is_category
from tests.properties.stored import (
    IDENTIFIER,
    SENSITIVE,
    STRATUM,
    WEIGHT,
    Drawn,
    is_there,
    key,
    plain,
    same,
)
from tests.properties.whole_tables import SECRETS, Case, blocks_of, shown_of


def check_release(case: Case, table: Any, release: Any) -> None:
    """Check everything that a finished release promises."""
    check_shape(case, table, release)
    check_untouched(case, table)
    order = check_order(case, release)
    before = {c.name: [plain(table, c.name)[at] for at in order] for c in case.columns}
    after = {c: plain(release.table, c) for c in names_of(release.table)}
    for column in case.columns:
        if column.role in (SENSITIVE, WEIGHT):
            assert same(before[column.name], after[column.name]), "a column was to stay"
    units = units_of(case, before)
    check_k(case, release, after)
    check_units(case, release, after, units)
    check_strata(case, before, after, units)
    check_values(case, release, after)
    check_groups(case, release, before, after)
    check_manifest(release)


def names_of(table: Any) -> list[str]:
    return list(getattr(table, "column_names", None) or table.columns)


def check_order(case: Case, release: Any) -> list[int]:
    """Every record is there once, where it was unless it was shuffled. Returns who is where."""
    order: list[int] = release.order.tolist()
    assert sorted(order) == list(range(case.n))
    assert case.request["shuffle"] or order == sorted(order)
    return order


def check_shape(case: Case, table: Any, release: Any) -> None:
    """The same kind of table, columns, types and index."""
    released = release.table
    assert type(released) is type(table)
    gone = [c.name for c in case.columns if c.role == IDENTIFIER]
    key_column = case.arguments()["identifiers"][0] if case.request["keep_key"] else None
    kept = [c.name for c in case.columns if c.name not in gone or c.name == key_column]
    kept += [key_column] if key_column is not None and key_column == case.index_name else []
    assert names_of(released) == kept
    for name in kept:
        if name == key_column:
            assert sorted(plain(released, name)) == list(range(1, case.n + 1))
        elif case.backend == "pyarrow":
            assert released.schema.field(name).type == table.schema.field(name).type
        else:
            assert _same_type(released[name], table[name], is_shuffled=case.request["shuffle"])
    if case.backend == "pandas" and case.index_name is None:
        assert list(released.index) == list(range(case.n)), "row numbers begin anew"
    elif case.index_name in case.arguments()["identifiers"]:
        assert list(released.index) == list(range(case.n)), "the index is gone"
    elif case.backend == "pandas":
        pd.testing.assert_index_equal(released.index, table.index[release.order])


def _same_type(released: Any, original: Any, *, is_shuffled: bool) -> bool:
    """Whether a column has the same type, which lists no category without a record.

    A list without a meaning could show the order of records that were shuffled, so it is sorted.
    """
    own, was = released.dtype, original.dtype
    if isinstance(was, pd.CategoricalDtype):
        held = set(released.dropna())
        listed = [name for name in was.categories if name in held]
        if is_shuffled and not was.ordered:
            listed.sort()
        return list(own.categories) == listed and own.ordered == was.ordered
    if isinstance(was, pl.Enum):
        held = set(released.to_list())
        return own.categories.to_list() == [name for name in was.categories if name in held]
    return bool(own == was)


def check_untouched(case: Case, table: Any) -> None:
    fresh = case.table()
    if case.backend == "pandas":
        pd.testing.assert_frame_equal(table, fresh)
    else:
        assert all(same(plain(table, c.name), plain(fresh, c.name)) for c in case.columns)
        assert table.schema == fresh.schema


def check_k(case: Case, release: Any, after: dict[str, list[Any]]) -> None:
    """At least k records show what a record shows; missing values are values."""
    smallest, facts = [], release.manifest.as_dict()
    for shown in shown_of(case):
        rows = zip(*(map(key, after[name]) for name in shown), strict=True)
        counts = Counter(rows)
        assert min(counts.values()) >= case.request["k"], "fewer than k share a combination"
        smallest.append((min(counts.values()), len(counts)))
    assert facts["smallest_class"] == min(smallest)[0]
    assert facts["n_classes"] in [count for least, count in smallest if least == min(smallest)[0]]


# Markers of a missing value, which name nobody.
NOBODY = {
    form for text in ("NA", "N/A", "NaN", "null") for form in (text, text.upper(), text.lower())
}
NOBODY |= {".", "-", "?", "#N/A", "#n/a", "#NULL!", "#null!"}


def units_of(case: Case, before: dict[str, list[Any]]) -> list[Any] | None:
    """Whom each record is about; None for nobody."""
    if case.unit in (None, "rows"):
        return None
    bare = [own.strip() or None if isinstance(own, str) else own for own in before[case.unit]]
    return [own if is_there(own) and own not in NOBODY else None for own in bare]


def check_units(case: Case, release: Any, after: dict[str, list[Any]], units: Any) -> None:
    """At least k units show what a record shows."""
    facts = release.manifest.units
    assert (facts is None) == (units is None)
    if units is None:
        return
    fewest = []
    for shown in shown_of(case):
        rows = zip(*(map(key, after[name]) for name in shown), strict=True)
        behind: dict[Any, set[Any]] = {}
        for row, unit in zip(rows, units, strict=True):
            behind.setdefault(row, set()).add(unit)
        fewest.append(min(len(own - {None}) for own in behind.values()))
    assert min(fewest) == facts.fewest >= case.request["k"]
    assert facts.count == len({*units} - {None})
    assert facts.records_without == units.count(None)


def check_values(case: Case, release: Any, after: dict[str, list[Any]]) -> None:
    """Sensitive columns have as many values behind each combination as was asked for."""
    wanted = case.required.get("l_diversity", {})
    kinds = {c.name: c.kind for c in case.columns}
    for name in (name for name in wanted if kinds[name] != "text"):
        for shown in shown_of(case):
            rows = zip(*(map(key, after[column]) for column in shown), strict=True)
            behind: dict[Any, set[Any]] = {}
            for row, value in zip(rows, after[name], strict=True):
                behind.setdefault(row, set()).add(_unsigned(value))
            assert min(map(len, behind.values())) >= wanted[name]
    n_asked = sum(map(len, case.required.values())) + (case.unit not in (None, "rows"))
    assert len(release.manifest.requirements) == n_asked


def check_strata(
    case: Case, before: dict[str, list[Any]], after: dict[str, list[Any]], units: Any
) -> None:
    """Strata are as they were, but for small ones, which take on the values of others."""
    strata = [c.name for c in case.columns if c.role == STRATUM]
    if not strata:
        return
    old = list(zip(*([_unsigned(v) for v in before[c]] for c in strata), strict=True))
    new = list(zip(*([_unsigned(v) for v in after[c]] for c in strata), strict=True))
    members: dict[Any, set[Any]] = {}
    for own, who in zip(old, range(case.n) if units is None else units, strict=True):
        members.setdefault(own, set()).add(who)
    sizes = {own: len(who - {None}) for own, who in members.items()}
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
    facts = release.manifest.as_dict()
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
        chosen = chosen_together(case, [columns[c] for c in block])
        for rows in members:
            taken = check_chosen(case, chosen, rows, before, after)
            for name in block:
                assert len({key(after[name][i]) for i in rows}) == 1
                if case.request["method"] != "fcm" and name not in taken:
                    check_value(case, columns[name], rows, before[name], after[name], exact)
    check_constraints(case, after)
    if case.request["method"] != "fcm" and case.request["scale"] == "standardise":
        check_loss(case, release, labels, before, exact)


def chosen_together(case: Case, columns: list[Drawn]) -> list[list[str]]:
    """The columns of which a group releases the values of one record, in sets."""
    names = [c.name for c in columns if is_category(c)]
    sets = [names] if case.request["valid_combinations"] else [[name] for name in names]
    return [own for own in sets if len(own) > 1 or (own and case.request["keep_margins"])]


def check_chosen(
    case: Case,
    chosen: list[list[str]],
    rows: list[int],
    before: dict[str, list[Any]],
    after: dict[str, list[Any]],
) -> list[str]:
    """The categories that a group releases are those of one of its records, if one is complete."""
    taken = []
    for names in chosen:
        own = {tuple(_unsigned(before[name][i]) for name in names) for i in rows}
        if case.request["missing"] == "impute":
            own = {kinds for kinds in own if None not in kinds}
        if own:
            assert tuple(_unsigned(after[name][rows[0]]) for name in names) in own
            taken += names
    return taken


def check_constraints(case: Case, after: dict[str, list[Any]]) -> None:
    """Constraints hold, as exactly as the numbers of the columns can be told apart."""
    given = {c.name: [v for v in c.values if is_there(v)] for c in case.columns}
    for terms, relation, limit in case.constraints:
        largest = max(abs(Fraction(v)) for name in terms for v in (*given[name], limit, 1))
        for i in range(case.n):
            total = sum(Fraction(after[name][i]) * Fraction(f) for name, f in terms.items())
            over = (total - Fraction(limit)) * (1 if relation == "<=" else -1)
            assert over <= largest / 10**5, "a constraint"


def check_manifest(release: Any) -> None:
    json.dumps(release.manifest.as_dict(), allow_nan=False)
    # The request may list values in an order.
    told = {name: fact for name, fact in release.manifest.as_dict().items() if name not in _QUOTING}
    check_quiet(json.dumps(told, ensure_ascii=False))
    if not any(
        "order" in said for said in release.manifest.plan.as_dict().get("columns", {}).values()
    ):
        check_quiet(json.dumps(release.manifest.as_dict(), ensure_ascii=False))


_QUOTING = ("plan", "command")


def check_quiet(text: str) -> None:
    for secret in SECRETS:
        assert secret not in text, "a record's value is told"


def check_file(case: Case, release: Any, path: Path) -> None:
    """A CSV file, read without the package, keeps what the table keeps."""
    beside = path.with_name(f"{path.name}.manifest.json")
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
