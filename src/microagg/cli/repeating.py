"""The command that repeats a release, for its manifest."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_SWITCHES = ("strict_k", "valid_combinations", "keep_key")
_OF_ROLE = {
    "quasi-identifier": "--quasi-identifier",
    "identifier": "--identifier",
    "sensitive": "--sensitive",
    "stratum": "--strata",
    "weight": "--weights",
}
_OF_COLUMN = {
    "type": "--type",
    "aggregate": "--aggregate",
    "resolution": "--resolution",
    "weight": "--column-weight",
}


def repeating_command(
    plan: Any, *, source: str, target: str, dialect: dict[str, str | None] | None = None
) -> str:
    """Return the command for a plan; files come without their folders.

    >>> from microagg.plans.plan import Plan
    >>> plan = Plan.of(k=5, seed=7, columns={"sex": {"role": "sensitive"}})
    >>> repeating_command(plan, source="in/people.csv", target="out/safe.csv")
    'microagg protect people.csv -k 5 --seed 7 --sensitive sex -o safe.csv'
    """
    asked = plan.model_dump(mode="json", exclude_defaults=True)
    words = ["microagg", "protect", _file(source), "-k", str(asked.pop("k"))]
    columns = asked.pop("columns", {})
    for name, value in asked.items():
        words += _of_plan(name, value)
    for name, said in columns.items():
        words += _of_column(name, said)
    for name, given in (dialect or {}).items():
        words += [] if given is None else [f"--{name}", given]
    return shlex.join([*words, "-o", _file(target)])


def _file(path: str) -> str:
    """Return the name of a file without its folder, and not to be taken for an option."""
    name = Path(path).name
    return f"./{name}" if name.startswith("-") and path != "-" else name


def _of_plan(name: str, value: Any) -> Iterator[str]:
    if name in _SWITCHES:
        yield f"--{name.replace('_', '-')}"
    elif name == "options":
        for option, given in value.items():
            yield from ("--option", f"{option}={given}")
    elif name == "constraints":
        for text in value:
            yield from ("--constraint", text)
    elif name == "blocks":
        for block in value:
            yield from ("--block", ",".join(map(_quoted, block)))
    else:
        yield from (f"--{name.replace('_', '-')}", str(value))


def _of_column(name: str, said: dict[str, Any]) -> Iterator[str]:
    if "role" in said:
        yield from (_OF_ROLE[said["role"]], _quoted(name) if said["role"] == "stratum" else name)
    if "order" in said:
        yield from ("--order", f"{name}={','.join(_quoted(str(value)) for value in said['order'])}")
    for key, option in _OF_COLUMN.items():
        if key in said:
            yield from (option, f"{name}={said[key]}")


def _quoted(name: str) -> str:
    """Return a name as it stands in a list with commas."""
    if any(mark in name for mark in ',"') or name.strip() != name:
        doubled = name.replace('"', '""')
        return f'"{doubled}"'
    return name
