"""Whole tables of every kind, and requests that fit them, for Hypothesis to draw.

A few values of a column are drawn one by one; which record has which comes from a seed, which is
drawn, too: that is quick, and there are many equal records.
"""

import string
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st

from tests.properties.stored import (
    FLOATS,
    IDENTIFIER,
    INTEGERS,
    QI,
    SENSITIVE,
    STRATUM,
    UNITS,
    WEIGHT,
    Drawn,
    arrow_column,
    pandas_column,
    polars_column,
)

BACKENDS = ("pandas", "polars", "pyarrow")

# No message and no manifest may show any of these.
SECRET_TEXT = "Sentinella"
SECRET_WHOLE = 91_827_364
SECRET_FLOAT = 918_273.640625
SECRETS = (SECRET_TEXT, str(SECRET_WHOLE), "918273.64")

ZONES = (None, "UTC", "Europe/Berlin", "America/New_York")
NAMES = ("a", "b", "^a$", "^.*$", "*", "", " ", "a,b", 'q"uote', "`tick`", "it's", "é", "日本")
NAMES += ("x" * 300, "0", "index", "len", "literal", "a\nb", "size", "group", "a=b")
TEXTS = ("", " ", "a", "b", "B", 'say "x"', "a,b", "a;b", "line\nbreak", "\r", "\t", "é", "日本")
TEXTS += ("00123", "NA", "nan", "1", "2.5", "-", "null", "true", "#", SECRET_TEXT)


@dataclass
class Case:
    """A table of a backend and what `protect` is asked to do with it."""

    backend: str
    n: int
    columns: list[Drawn]
    request: dict[str, Any]
    constraints: list[tuple[dict[str, float], str, float]]
    index: list[Any] | None = None
    index_name: str | None = None
    unit: str | None = None
    required: dict[str, dict[str, Any]] = field(default_factory=dict)

    def table(self) -> Any:
        """Return the table, made anew."""
        if self.backend == "polars":
            return pl.DataFrame({column.name: polars_column(column) for column in self.columns})
        if self.backend == "pyarrow":
            arrays = [arrow_column(column) for column in self.columns]
            return pa.table(arrays, names=[column.name for column in self.columns])
        index = pd.Index(self.index, name=self.index_name) if self.index else None
        made = {column.name: pandas_column(column, index) for column in self.columns}
        return pd.DataFrame(made, index=index)

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `protect`."""
        named: dict[str, list[str]] = {}
        for column in self.columns:
            named.setdefault(column.role, []).append(column.name)
        numbers = {c.name for c in self.columns if c.kind in ("float", "int") and not c.said}
        identifiers, sensitive = named.get(IDENTIFIER, []), named.get(SENSITIVE, [])
        if self.index_name is not None:
            (identifiers if self.n % 2 else sensitive).append(self.index_name)
        return {
            # What is of numbers and has no role is one of them as well.
            "quasi_identifiers": [c for c in named.get(QI, []) if c not in numbers or self.n % 3],
            "identifiers": identifiers,
            "sensitive": sensitive,
            "strata": named.get(STRATUM),
            "weights": named.get(WEIGHT, [None])[0],
            "columns": {c.name: said for c in self.columns if (said := _stated(c))},
            "constraints": [written(constraint) for constraint in self.constraints],
            "unit": self.unit,
            **self.required,
            **self.request,
        }


def blocks_of(case: Case) -> list[list[str]]:
    inside = [c.name for c in case.columns if c.role == QI]
    (first,) = case.request["blocks"] or (tuple(inside),)
    parts = [[c for c in inside if c in first], [c for c in inside if c not in first]]
    return [part for part in parts if part]


def shown_of(case: Case) -> list[list[str]]:
    strata = [c.name for c in case.columns if c.role == STRATUM]
    return [[*block, *strata] for block in blocks_of(case)]


def written(constraint: tuple[dict[str, float], str, float]) -> str:
    terms, relation, limit = constraint
    quoted = [(f, "`" + name.replace("`", "``") + "`") for name, f in terms.items()]
    return " + ".join(f"{f} * {name}" for f, name in quoted) + f" {relation} {limit}"


def _storages(backend: str, kind: str, missing: bool) -> tuple[str, ...]:
    """How a backend can store a kind of values, of which some may be missing."""
    plain = {
        "float": FLOATS,
        "int": INTEGERS,
        "bool": ("bool",),
        "text": ("string",),
        "date": ("date",),
        "datetime": ("datetime",),
    }
    if backend == "polars":
        return {**plain, "category": ("categorical", "enum")}[kind]
    if backend == "pyarrow":
        text = ("string", "large_string")
        return {**plain, "text": text, "category": ("dictionary",)}[kind]
    arrow = tuple(f"arrow {name}" for name in plain.get(kind, ()))
    numpy = () if missing else plain.get(kind, ())
    own = {
        "float": (*FLOATS, "Float32", "Float64"),
        "int": (*numpy, *(name.title().replace("Ui", "UI") for name in INTEGERS)),
        "bool": (*numpy, "boolean", "object"),
        "text": ("object", "str", "string"),
        "category": ("categorical", "ordered"),
        "date": ("date",),
        "datetime": ("datetime",),
    }
    return (*own[kind], *arrow)


def _numbers(storage: str, kind: str) -> st.SearchStrategy[Any]:
    name = storage.removeprefix("arrow ").lower()
    if kind == "float":
        width = int(name[-2:])
        few = [0.0, -0.0, 0.5, -3.5, 1e9, 1e30, 1e-30, SECRET_FLOAT if width == 64 else 0.25]
        few += [1e300, -1e300, 5e-324, 1e-310, 1e9 + 0.1, 0.1] if width == 64 else [1.5]
        few = [float(np.float32(v)) for v in few] if width == 32 else few
        anything = st.floats(width=width, allow_nan=False, allow_infinity=False)
        return st.one_of(st.sampled_from(few), anything)
    limits = np.iinfo(name)
    low, high = int(limits.min), int(limits.max)
    few = [0, 1, 2, 3, 7, 100, *([SECRET_WHOLE] if high > SECRET_WHOLE else [])]
    return st.one_of(st.sampled_from(few), st.sampled_from(few), st.integers(low, high))


def _instants(unit: str) -> st.SearchStrategy[int]:
    per_second = UNITS[unit]
    coarse = st.sampled_from([86_400, 3_600, 60, 1])
    seconds = st.tuples(st.integers(-3_000, 3_000), coarse).map(lambda pair: pair[0] * pair[1])
    whole = seconds.map(lambda value: value * per_second)
    return st.one_of(whole, whole, st.integers(-(10**9), 10**9))


def _pool(draw, kind: str, storage: str, unit: str) -> list[Any]:
    """A few values of a kind, all different."""
    if kind in ("float", "int"):
        values = _numbers(storage, kind)
    elif kind == "bool":
        values = st.booleans()
    elif kind in ("text", "category"):
        values = st.one_of(
            st.sampled_from(TEXTS), st.text(st.characters(codec="utf-8"), max_size=4)
        )
    elif kind == "date":
        values = st.integers(-20_000, 40_000)
    else:
        values = _instants(unit)
    found = draw(st.lists(values, min_size=1, max_size=draw(st.sampled_from([1, 2, 4, 8]))))
    return list(dict.fromkeys(found)) if kind != "float" else found


KINDS = ("float", "int", "bool", "text", "category", "date", "datetime")


def _column(draw, rng, case: tuple[str, int], name: str, *, kinds=KINDS, missing: float) -> Drawn:
    backend, n = case
    kind = draw(st.sampled_from(kinds))
    absent = rng.random(n) < missing
    storage = draw(st.sampled_from(_storages(backend, kind, bool(absent.any()))))
    units = [unit for unit in UNITS if unit != "s" or backend != "polars"]
    unit = draw(st.sampled_from(units)) if kind == "datetime" else ""
    pool = _pool(draw, kind, storage, unit)
    values = [pool[at] for at in rng.integers(len(pool), size=n)]
    if kind == "float" and draw(st.booleans()):
        spread = rng.normal(size=n) * 10.0 ** rng.integers(-3, 6) + rng.integers(-5, 5)
        wide = "64" in storage
        values = [float(v) if wide else float(np.float32(v)) for v in spread]
    elif kind == "int" and draw(st.booleans()):
        values = [int(v) for v in rng.integers(0, 100, size=n)]
    absences = [None]
    if kind == "float" and (backend != "pandas" or "arrow" in storage):
        absences = draw(st.sampled_from([[None], [np.nan], [None, np.nan]]))
    values = [
        absences[rng.integers(len(absences))] if gone else value
        for value, gone in zip(values, absent, strict=True)
    ]
    column = Drawn(name, kind, storage, values, unit=unit)
    if kind == "category":
        others = [text for text in ("never", "seen") if text not in pool]
        listed = [*pool, *others]
        column.categories = [listed[at] for at in rng.permutation(len(listed))]
    if kind == "datetime":
        column.zone = draw(st.sampled_from(ZONES))
    return column


def _stated(column: Drawn) -> dict[str, Any]:
    """Return what is said of a column; of numbers the type, too, so that none are codes."""
    if column.role != QI or column.kind not in ("float", "int") or "type" in column.said:
        return column.said
    return {**column.said, "type": "integer" if column.kind == "int" else "continuous"}


def _say(draw, column: Drawn) -> None:
    """Say something of some columns: a type, an order, an aggregate, a weight."""
    said = column.said
    if draw(st.integers(0, 5)) == 0:
        said["weight"] = draw(st.sampled_from([0.0, 0.25, 2.0, 1000.0]))
    present = [v for v in column.values if v is not None and v == v]
    if draw(st.integers(0, 2)):
        return
    if column.kind in ("float", "int"):
        kinds = ["nominal", "ordinal", *(["boolean"] if len(set(present)) < 3 else [])]
        kinds += ["integer"] if all(float(v).is_integer() for v in present) else []
        digits = [-2, 0, 1, 3, "all"] if column.kind == "float" else [-2, -1, 0]
        wishes = [{"aggregate": "median"}, {"aggregate": "mean"}, None, {"digits": digits}]
        wish = draw(st.sampled_from(wishes))
        if wish and "digits" in wish:
            wish = {"digits": draw(st.sampled_from(digits))}
        said |= wish or {"type": draw(st.sampled_from(kinds))}
    elif column.kind in ("text", "category"):
        listed = sorted({*present, *column.categories}, key=lambda text: text[::-1])
        said |= {"order": listed or ["a"], "type": "ordinal"}
        said |= draw(st.sampled_from([{}, {"aggregate": "mode"}, {"aggregate": "median"}]))
    elif column.kind == "bool":
        said["type"] = draw(st.sampled_from(["nominal", "boolean"]))
    elif column.kind == "date":
        said["aggregate"] = draw(st.sampled_from(["mean", "median"]))
    else:
        said["resolution"] = draw(st.sampled_from(["day", "hour", "minute", "second"]))


def _constraints(draw, columns: list[Drawn]) -> list[tuple[dict[str, float], str, float]]:
    usable = [
        c.name
        for c in columns
        if c.role == QI
        and c.name  # the grammar has no way to write an empty one
        and c.kind in ("float", "int")
        and not {"type", "aggregate"} & {*c.said}
    ]
    if not usable or draw(st.integers(0, 6)):
        return []
    chosen = draw(st.lists(st.sampled_from(usable), min_size=1, max_size=2, unique=True))
    factors = draw(st.lists(st.sampled_from([1, 2, 0.5]), min_size=2, max_size=2))
    if len(chosen) == 2 and draw(st.booleans()):
        return [({chosen[0]: 1.0, chosen[1]: -1.0}, "<=", 0.0)]
    terms = dict(zip(chosen, factors, strict=False))
    return [(terms, draw(st.sampled_from([">=", "<="])), draw(st.sampled_from([0.0, 10.0])))]


def _request(draw, columns: list[Drawn], n: int, *, has_identifier: bool) -> dict[str, Any]:
    inside = [c for c in columns if c.role == QI]
    gaps = any(v is None or v != v for c in inside for v in c.values)
    request: dict[str, Any] = {"k": draw(st.integers(1, min(6, n)))}
    if draw(st.integers(0, 30)) == 17:
        request["k"] = n + 1
    modes = ["value", "impute"] * 9 + ["error"] if gaps else ["error", "value", "impute"]
    request["missing"] = draw(st.sampled_from(modes))
    methods = ["mdav"] * 9 + ["v-mdav"] * 4 + ["tsp-mhm"] * 2 + ["auto"]
    numeric = all(c.kind in ("float", "int") and not c.said for c in inside) and not gaps
    if numeric and all(c.role not in (STRATUM, WEIGHT) for c in columns):
        methods += ["fcm"] * 4
    request["method"] = draw(st.sampled_from(methods))
    if request["method"] == "auto":
        request["effort"] = "fast"
    drawn = request["method"] == "fcm"
    if drawn:
        request["strict_k"] = True
    request["random_state"] = draw(st.integers(0, 9))
    scales = ["standardise", "none"] if drawn else ["robust", "rank", "log", "none"]
    request["scale"] = draw(st.sampled_from(["standardise"] * 5 + scales))
    if any(c.role == STRATUM for c in columns):
        request["small_strata"] = draw(st.sampled_from(["merge"] * 5 + ["error"]))
    request["valid_combinations"] = draw(st.integers(0, 3)) != 3
    request["keep_margins"] = draw(st.integers(0, 3)) == 3
    request["keep_key"] = draw(st.integers(0, 3 if has_identifier else 40)) == (
        3 if has_identifier else 37
    )
    request["shuffle"] = draw(st.integers(0, 3)) == 3
    request["blocks"] = ()
    if len(inside) > 1 and not drawn and draw(st.integers(0, 5)) == 4:
        names = [c.name for c in inside]
        first = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
        request["blocks"] = (tuple(first),)
    return request


def _index(draw, rng, n: int) -> tuple[list[Any] | None, str | None]:
    kind = draw(st.sampled_from(["none"] * 12 + ["numbers", "named"] * 3 + ["text"]))
    if kind == "none":
        return None, None
    if kind == "numbers":
        return [int(v) for v in rng.integers(0, 5, size=n)], None
    return [f"{SECRET_TEXT}{at}" for at in range(n)], "who" if kind == "named" else None


@st.composite
def cases(draw, backend: str) -> Case:
    """A table of 1 to 40 records and a request that mostly fits it."""
    n = draw(st.one_of(st.integers(1, 12), st.integers(10, 40)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    roles = [QI] * draw(st.integers(1, 4))
    roles += [SENSITIVE] * draw(st.sampled_from([0, 1, 1, 2]))
    roles += [IDENTIFIER] * draw(st.sampled_from([0, 0, 1, 2]))
    roles += [STRATUM] * draw(st.sampled_from([0, 0, 0, 1, 2]))
    roles += [WEIGHT] * draw(st.sampled_from([0, 0, 0, 1]))
    roles = [roles[at] for at in rng.permutation(len(roles))]
    names = draw(
        st.lists(
            st.one_of(
                st.sampled_from(NAMES),
                st.sampled_from(string.ascii_letters),
                st.text(st.characters(codec="utf-8"), min_size=1, max_size=5),
            ),
            min_size=len(roles),
            max_size=len(roles),
            unique=True,
        )
    )
    share = draw(st.sampled_from([0.0, 0.0, 0.1, 0.3, 0.6]))
    kinds_inside = draw(st.sampled_from([KINDS, KINDS, KINDS, ("float", "int")]))
    columns = []
    for name, role in zip(names, roles, strict=True):
        missing = 0.0 if role == WEIGHT or draw(st.booleans()) else share
        kinds = {WEIGHT: ("float", "int"), QI: kinds_inside}.get(role, KINDS)
        column = _column(draw, rng, (backend, n), name, kinds=kinds, missing=missing)
        column.role = role
        if role == WEIGHT:
            column.storage = draw(st.sampled_from(["float64", "int64", "int8"]))
            column.kind = "float" if column.storage == "float64" else "int"
            whole = rng.integers(1, 4, size=n)
            column.values = (whole * (1 if column.kind == "int" else 1.5)).tolist()
        elif role == QI and (kinds is KINDS or draw(st.booleans())):
            _say(draw, column)
        elif role in (SENSITIVE, IDENTIFIER):
            _hide(column, rng)
        columns.append(column)
    if draw(st.integers(0, 3)) == 0:  # many equal records
        again = rng.integers(n, size=n)
        for column in columns:
            column.values = [column.values[at] for at in again]
    index, index_name = _index(draw, rng, n) if backend == "pandas" else (None, None)
    if index_name in names:
        index = index_name = None
    has_identifier = IDENTIFIER in roles or (index_name is not None and n % 2 == 1)
    request = _request(draw, columns, n, has_identifier=has_identifier)
    identifiers = [c.name for c in columns if c.role == IDENTIFIER]
    # An identifier that repeats is a unit, or every record is about somebody else.
    units = ["rows"] * 6 + [None]
    if not request["keep_key"] and request["method"] != "fcm":
        units += identifiers * 2
    unit = draw(st.sampled_from(units)) if identifiers else None
    if unit in identifiers:
        request["k"] = min(2, request["k"])
    required = {} if request["method"] == "fcm" else _required(draw, columns)
    constraints = _constraints(draw, columns)
    return Case(backend, n, columns, request, constraints, index, index_name, unit, required)


def _required(draw, columns: list[Drawn]) -> dict[str, dict[str, Any]]:
    """Something of the values of sensitive columns, and of contributions to totals."""
    asked: dict[str, dict[str, Any]] = {}
    for column in columns:
        if draw(st.integers(0, 5)):
            continue
        if column.role == SENSITIVE:
            several = len({repr(value) for value in column.values}) > 3
            asked.setdefault("l_diversity", {})[column.name] = 2 if several else 1
            asked.setdefault("t_closeness", {})[column.name] = draw(st.sampled_from([0.5, 0.8]))
        elif column.role == QI and column.kind in ("float", "int") and not column.said:
            keyword, value = draw(st.sampled_from([("p_percent", 0.1), ("dominance", (1, 99.5))]))
            asked.setdefault(keyword, {})[column.name] = value
    return asked


def _hide(column: Drawn, rng) -> None:
    """Put values in that nobody may see elsewhere."""
    if column.kind == "text":
        at = int(rng.integers(len(column.values)))
        column.values[at] = f"{SECRET_TEXT}{at}"
    elif column.kind == "int" and column.storage.lower().endswith("int64"):
        column.values[0] = SECRET_WHOLE
    elif column.kind == "float" and "64" in column.storage:
        column.values[0] = SECRET_FLOAT
