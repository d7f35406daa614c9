"""The plan of a release as text in the manner of TOML, without the values of columns."""

import json
from collections.abc import Mapping
from typing import Any

Plan = Mapping[str, Any]


def names_values(plan: Plan) -> bool:
    """Whether the plan lists values of a column: the order of its categories, also of rare ones."""
    return any("order" in said for said in plan.get("columns", {}).values())


def plan_text(plan: Plan, *, public: bool) -> str:
    """Return the plan; a public one says nothing of the seed and of columns that are not published.

    >>> plan = {"k": 5, "seed": 1, "columns": {"net pay": {"role": "sensitive"}}}
    >>> print(plan_text(plan, public=True))
    k = 5
    <BLANKLINE>
    [columns."net pay"]
    role = "sensitive"
    """
    hidden = ("seed",) if public else ()
    lines, tables = [], []
    for name, value in plan.items():
        if name in hidden or name == "columns":
            continue
        if isinstance(value, Mapping):
            tables += [
                "",
                f"[{_key(name)}]",
                *(f"{_key(n)} = {_value(v)}" for n, v in value.items()),
            ]
        else:
            lines.append(f"{_key(name)} = {_value(value)}")
    for name, said in plan.get("columns", {}).items():
        if public and said.get("role") == "identifier":
            continue
        tables += ["", f"[columns.{_key(name)}]", *_column_lines(said)]
    return "\n".join([*lines, *tables])


def _column_lines(said: Plan) -> list[str]:
    lines = []
    for name, value in said.items():
        if name == "order":
            lines.append(f"# order = [ {len(value):,} values, not shown here ]")
        else:
            lines.append(f"{_key(name)} = {_value(value)}")
    return lines


def _key(name: str) -> str:
    plain = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if plain else json.dumps(name, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_value(entry) for entry in value)}]"
    return json.dumps(value, ensure_ascii=False)
