"""The command and the call that repeat a release, for its manifest."""

import shlex
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import Any

from microagg.plans.columns import ROLE_OPTIONS, ColumnPlan
from microagg.plans.options import Kind, Option, options_of
from microagg.plans.plan import Plan
from microagg.tables.roles import UNIT


def command_line(
    plan: Plan,
    *,
    source: str,
    target: str,
    dialect: Mapping[str, str | int | None] | None = None,
    escape_formulas: bool = False,
) -> str:
    """Return the command for a plan; files come without their folders.

    >>> plan = Plan.of(k=5, random_state=7, columns={"sex": {"role": "sensitive"}})
    >>> command_line(plan, source="in/people.csv", target="out/safe.csv")
    'microagg protect people.csv -k 5 --seed 7 --sensitive sex -o safe.csv'
    """
    words = ["microagg", "protect", _file(source), *plan_words(plan), *dialect_words(dialect or {})]
    words += ["--escape-formulas"] if escape_formulas else []
    return shlex.join([*words, "-o", _file(target)])


def plan_words(plan: Plan, *, study: str | None = None, without: Container[str] = ()) -> list[str]:
    """Return a plan as options of `protect`, or those that a study such as compare takes.

    >>> plan_words(Plan.of(k=5, bound="none", columns={"sex": {"role": "sensitive"}}))
    ['-k', '5', '--bound', 'none', '--sensitive', 'sex']
    """
    asked = plan.as_dict()
    words: list[str] = []
    for option in options_of(Plan):
        is_taken = study is None or study in option.studies
        if option.keyword in asked and is_taken and option.keyword not in without:
            words += _words(option, asked[option.keyword])
    for name, said in asked.get("columns", {}).items():
        words += _column_words(name, said)
    return words


def dialect_words(dialect: Mapping[str, str | int | None]) -> list[str]:
    """Return how a file is written as options of the command line.

    >>> dialect_words({"delimiter": ";", "max_expanded": "8GB", "sheet": None})
    ['--delimiter', ';', '--max-expanded', '8GB']
    """
    given = {name: value for name, value in dialect.items() if value is not None}
    return [w for n, value in given.items() for w in (f"--{n.replace('_', '-')}", str(value))]


def python_call(plan: Plan) -> str:
    """Return the call that repeats the release of a table in memory.

    >>> python_call(Plan.of(k=5, method="mdav"))
    "microagg.protect(table, k=5, method='mdav')"
    """
    named = [f"{name}={value!r}" for name, value in plan.as_dict().items()]
    return f"microagg.protect(table, {', '.join(named)})"


def _file(path: str) -> str:
    """Return the name of a file without its folder, never looking like an option."""
    name = Path(path).name
    return f"./{name}" if name.startswith("-") and path != "-" else name


def _words(option: Option, value: Any) -> Iterator[str]:
    flag = option.flag.name
    if option.kind is Kind.SWITCH:
        yield option.flags[0 if value else 1]
    elif option.kind is Kind.ASSIGNMENTS:
        for name, given in value.items():
            yield from (flag, f"{name}={given}")
    elif option.kind is Kind.BY_COLUMN:  # columns have theirs
        yield from (flag, str(value))
    elif option.kind is Kind.TEXTS:
        for text in value:
            yield from (flag, text)
    elif option.kind is Kind.NAMES:
        yield from (flag, ",".join(map(quoted_name, value)))
    elif option.kind is Kind.LISTS:
        for names in value:
            yield from (flag, ",".join(map(quoted_name, names)))
    else:
        yield from (flag, str(value))


def _column_words(name: str, said: Mapping[str, Any]) -> Iterator[str]:
    if said.get("role") == UNIT:
        yield from ("--unit", _single(name))
    elif "role" in said:
        option = ROLE_OPTIONS[said["role"]]
        yield option.flag.name
        yield quoted_name(name) if option.kind is Kind.NAMES else _single(name)
    assigned = quoted_name(name) if "=" in name else _single(name)
    if "digits" in said:
        yield from ("--digits", f"{assigned}={said['digits']}")
    for option in options_of(ColumnPlan):
        if option.keyword in said:
            value = said[option.keyword]
            listed = value if isinstance(value, list) else [value]
            yield from (
                option.flag.name,
                f"{assigned}={','.join(quoted_name(str(v)) for v in listed)}",
            )


def _single(name: str) -> str:
    """Return a name where only one is expected: quotes of its own are not those of a list."""
    return quoted_name(name) if name.startswith('"') else name


def quoted_name(name: str) -> str:
    """Return a name as it is written in a list with commas.

    >>> quoted_name("age"), quoted_name("city, country")
    ('age', '"city, country"')
    """
    if any(mark in name for mark in ',"\r\n') or name.strip() != name or not name:
        doubled = name.replace('"', '""')
        return f'"{doubled}"'
    return name
