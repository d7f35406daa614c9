"""Requests: a value for every field of `Plan` and every option of every method, right or wrong.

`test_requests.py` asks for an entry here for each field and option that there is.
"""

import math
import random
from collections.abc import Callable
from typing import Any

from microagg import methods
from tests.hostile.cases import one_in
from tests.hostile.columns import NUMBERS, QI, SENSITIVE, STRATUM, UNIT, WEIGHT, Column
from tests.hostile.tables import Table

Draw = Callable[[random.Random, Table], Any]


def _one_of(*values: Any) -> Draw:
    return lambda chance, _table: chance.choice(values)


def _blocks(chance: random.Random, table: Table) -> Any:
    names = table.named(QI)
    return [chance.sample(names, chance.randint(1, len(names)))]


def _digits(chance: random.Random, table: Table) -> Any:
    numbers = [c.name for c in table.columns if c.role == QI and c.kind in NUMBERS]
    if not numbers or one_in(chance, 3):
        return "all"
    return {chance.choice(numbers): chance.choice([0, 1, 2, -1, -3, "all"])}


# A value of every field; those that are about columns are made by `request_for` itself.
FIELDS: dict[str, Draw] = {
    "k": lambda chance, table: chance.randint(1, min(6, max(1, table.n // 2))),
    "method": lambda chance, _table: chance.choice([*methods(), "auto", "mdav", "mdav"]),
    "method_options": _one_of({}),
    "random_state": _one_of(None, 0, 1, 2**32 - 1),
    "effort": _one_of("fast"),
    "time_budget": _one_of(None, None, 0.0, 0.2),
    "bound": _one_of("auto", "none", "none", "fast"),
    "scale": _one_of("standardise", "standardise", "robust", "rank", "log", "none"),
    "missing": _one_of("value", "impute", "error"),
    "na": _one_of((), (), ["NA", "none"], [-999], ["1"]),
    "digits": _digits,
    "dates": _one_of("us", "eu"),
    "constraints": _one_of(()),
    "strict_k": _one_of(True, False),
    "small_strata": _one_of("merge", "merge", "error"),
    "blocks": _blocks,
    "valid_combinations": _one_of(True, False),
    "keep_margins": _one_of(False, True),
    "hybrid": _one_of(True),
    "keep_key": _one_of(True),
    "shuffle": _one_of(True),
    "unit": _one_of("rows"),
    "columns": _one_of({}),
}
# How often one of these is asked for, out of so many times; the others are always drawn.
RARE = {"time_budget": 6, "na": 6, "digits": 5, "dates": 3, "blocks": 6, "hybrid": 15}
RARE |= {"keep_key": 5, "shuffle": 5, "scale": 2, "bound": 2, "method_options": 1}

WRONG: dict[str, tuple[Any, ...]] = {
    "k": (0, -1, 2.5, "3", True, None, 10**30, math.nan, [3]),
    "method": ("mdva", "", 3, None, "MDAV\n", "\x1b[31m"),
    "method_options": ({"leftovr": 1}, {"constraints": 1}, [1], "x", {"k": 2}),
    "random_state": (-1, 2**32, "seed", 0.5, [1]),
    "effort": ("much", None, 1),
    "time_budget": (-1, "long", math.inf, math.nan, True),
    "bound": ("best", None, 1),
    "scale": ("none ", 0, None),
    "missing": ("drop", None, 1),
    "na": (None, [None], [[1]], {"a": 1}),
    "digits": (3, "some", {"no such column": 2}, {"age": 99}, {"age": True}),
    "dates": ("de", 1),
    "constraints": (["a +"], ["(" * 400 + "x" + ")" * 400 + " = 1"], 3, ["x < 3"], ["1 = 1"]),
    "strict_k": ("yes", 1, None),
    "small_strata": ("drop", None),
    "blocks": (["age"], [["no such column"]], 3, [[1]]),
    "valid_combinations": ("no", 0),
    "keep_margins": (1, "yes"),
    "hybrid": ("yes", 1),
    "keep_key": ("yes", 1),
    "shuffle": ("yes", 1, None),
    "unit": (3, "no such column", ["a"]),
    "columns": (3, {"no such column": {}}, {1: {}}, {"age": {"rol": "drop"}}, {"age": 3}),
}

OPTIONS: dict[str, tuple[Any, ...]] = {
    "criterion": ("rest", "total"),
    "gain": ("auto", 0.0, 1.1, 1e300),
    "initial": ("mdav", "v-mdav", "hac"),
    "integer": (False,),
    "lambda1": (None, 1e-300, 1.0, 1e300),
    "lambda2": (None, 1e-300, 1.0, 1e300),
    "leftover": ("group", "nearest"),
    "linkage": ("single", "complete", "average"),
    "m1": (None, 1.0, 1.5, 1e6),
    "m2": (None, 1.0, 2.0, 1e6),
    "max_iterations": (1, 5),
    "max_size": ("k", "2k-1"),
    "n_clusters": (None, 1, 2),
    "n_jobs": (None, 1, 2),
    "n_restarts": (0, 1),
    "n_starts": (1, 2),
    "preprocess": (0, 3),
    "priority": (True, False),
    "refine": (True, False),
    "split": ("mdav", "md", "cbfs"),
    "tolerance": (0.0, 1e-3),
    "tour": (True, False),
}
HUGE = 10**400
WRONG_OPTIONS = ("", None, -1, math.nan, [1], {"a": 1}, HUGE, "\x1b[2J", 2.5)
ENDLESS = ("max_iterations", "n_restarts", "n_starts")  # as long as somebody asks for


def request_for(chance: random.Random, table: Table) -> dict[str, Any]:
    """Return the arguments of `protect` for a table: mostly right, sometimes wrong in one place."""
    asked: dict[str, Any] = {
        name: draw(chance, table)
        for name, draw in FIELDS.items()
        if one_in(chance, RARE.get(name, 1))
    }
    _adapt(chance, table, asked)
    inside_totals = {name for total in table.totals for name in total.terms}
    asked["columns"] = {
        c.name: _said(chance, c, may_have_type=c.name not in inside_totals) for c in table.columns
    }
    asked["columns"] = {name: said for name, said in asked["columns"].items() if said}
    if asked["method"] in methods() and methods()[asked["method"]].needs:
        for name in table.named(SENSITIVE)[:1]:
            asked["columns"][name] = {"role": SENSITIVE, "t_closeness": 0.5}
    if one_in(chance, 12):
        wrong = chance.choice(sorted(WRONG))
        asked[wrong] = chance.choice(WRONG[wrong])
    return asked


def wrong_fields(asked: dict[str, Any]) -> list[str]:
    """Return the fields with a value that must be refused."""
    return [
        name for name, value in asked.items() if any(value is own for own in WRONG.get(name, ()))
    ]


def _adapt(chance: random.Random, table: Table, asked: dict[str, Any]) -> None:
    """Leave out what does not go together, most of the time."""
    if one_in(chance, 60):
        return
    method = _fitting_method(chance, table, asked)
    options = set(methods()[method].options)
    draws, needs = methods()[method].draws, methods()[method].needs
    if needs and not any(c.role == SENSITIVE for c in table.columns):
        method, options, draws = "mdav", set(methods()["mdav"].options), False
    asked["method"] = method
    if method == "auto" or "n_starts" in options:
        asked.pop("time_budget", None)
    known = sorted(options & set(OPTIONS))
    asked["method_options"] = {}
    if known and one_in(chance, 2):
        name = chance.choice(known)
        value = chance.choice(WRONG_OPTIONS if one_in(chance, 15) else OPTIONS[name])
        asked["method_options"] = {name: value}
        if value == HUGE and name in ENDLESS:
            asked["method_options"] = {}
    _drop(asked, "effort", unless="effort" in options)
    _drop(asked, "time_budget", unless="time_budget" in options)
    _drop(asked, "strict_k", unless=draws)
    _drop(asked, "small_strata", unless=bool(table.named(STRATUM)))
    _drop(asked, "keep_key", unless=bool(table.named("identifier")) and not table.named(UNIT))
    _drop(asked, "unit", unless=not table.named(UNIT) and one_in(chance, 2))
    plainly = not (draws or table.named(WEIGHT) or table.named(UNIT)) and method != "tclose-first"
    _drop(asked, "hybrid", unless=plainly and asked["missing"] == "error")
    if draws:
        for name in ("blocks", "bound", "keep_margins"):
            asked.pop(name, None)
    asked["constraints"] = [] if asked.get("blocks") else [str(total) for total in table.totals]
    if any(c.has_gaps for c in table.columns if c.role == QI) and not one_in(chance, 10):
        asked["missing"] = chance.choice(["value", "impute"])


def _fitting_method(chance: random.Random, table: Table, asked: dict[str, Any]) -> str:
    method = asked["method"]
    inside = [c for c in table.columns if c.role == QI]
    numeric = all(c.kind in NUMBERS and not c.has_gaps for c in inside)
    plain_roles = not table.named(STRATUM, WEIGHT, UNIT)
    if methods()[method].single_column and not (len(inside) == 1 and numeric):
        return "mdav"
    if methods()[method].draws and not (numeric and plain_roles):
        return chance.choice(["auto", "hac", "v-mdav"])
    return str(method)


def _drop(asked: dict[str, Any], name: str, *, unless: bool) -> None:
    if not unless:
        asked.pop(name, None)


def _said(chance: random.Random, column: Column, *, may_have_type: bool) -> dict[str, Any]:
    """Return what a request says of one column."""
    if column.role != QI:
        return {"role": column.role, **_required_of_values(chance, column)}
    assumed = column.kind in NUMBERS and one_in(chance, 2)
    said = {} if assumed else {"role": QI}
    if may_have_type and one_in(chance, 3):
        said |= _type_of(chance, column)
    if one_in(chance, 12):
        said["weight"] = chance.choice([0, 0.5, 2])
    if column.kind in NUMBERS and set(said) <= {"role"} and one_in(chance, 8):
        said |= chance.choice([{"p_percent": 1}, {"dominance": (1, 95)}])
    if one_in(chance, 60):
        said[chance.choice(["type", "order", "weight", "resolution"])] = chance.choice(
            [None, "", -1, math.nan, ["a", "a"], "ordinal", "year", [[1]]]
        )
    return said


def _type_of(chance: random.Random, column: Column) -> dict[str, Any]:
    kinds: dict[str, list[dict[str, Any]]] = {
        "number": [{"type": "continuous"}, {"aggregate": "median"}, {"type": "ordinal"}],
        "whole": [{"type": "integer"}, {"type": "nominal"}, {"type": "ordinal"}],
        "flag": [{"type": "boolean"}, {"type": "nominal"}],
        "category": [{"type": "nominal"}],
        "text": [{"type": "nominal"}],
        "date": [{"resolution": "month"}, {"resolution": "year"}, {"aggregate": "median"}],
        "time": [{"resolution": "day"}, {"resolution": "hour"}, {"aggregate": "median"}],
        "date text": [{"type": "nominal"}, {"resolution": "month"}],
    }
    said = dict(chance.choice(kinds.get(column.kind, [{}])))
    if column.kind == "category" and one_in(chance, 2):
        used = {value for value in column.values if value is not None}
        if not any(value.startswith("Vx") for value in used):
            said = {"order": sorted(used)}
    return said


def _required_of_values(chance: random.Random, column: Column) -> dict[str, Any]:
    if column.role != SENSITIVE or not one_in(chance, 3):
        return {}
    return chance.choice([{"l_diversity": 2}, {"l_diversity": "entropy:1.5"}, {"t_closeness": 0.6}])
