"""The options of a command -> the plan that they ask for."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microagg.cli.options import parsed, parsed_columns, plan_options, role_options
from microagg.cli.summary import Facts
from microagg.core.errors import MicroaggError, ParameterError
from microagg.core.keywords import ALIASES
from microagg.core.registry import DEFAULT, PLAN_OPTIONS, find
from microagg.plans.agreement import METHOD_FIELDS, options_of_another_method
from microagg.plans.columns import columns_by_name
from microagg.plans.plan import Plan
from microagg.plans.refusals import in_file
from microagg.plans.toml import read_plan
from microagg.tables.roles import IDENTIFIER, UNIT

# What the check of a method looks at.
_SUITS_METHOD = (*METHOD_FIELDS, *PLAN_OPTIONS, "bound", "scale")


@dataclass(frozen=True)
class CommandPlan:
    """The plan that a command was given; `not_used` are options of its file that were dropped.

    `own` has the method of the file and its options, if they were set aside.
    """

    plan: Plan
    not_used: tuple[str, ...] = ()
    own: Plan | None = None

    def rows(self) -> Facts:
        """Return a row on what was dropped, if anything was."""
        if not self.not_used:
            return []
        return [("not used", f"{', '.join(self.not_used)} of the plan: for another method")]


def plan_from(given: Mapping[str, Any], *, method_apart: bool = False, **fixed: Any) -> CommandPlan:
    """Return the plan in the file, if there is one, overridden by the options.

    `fixed` are fields that the command itself sets, whatever is in the file. Where the method is
    overridden, options that belong to the one in the file are dropped. With `method_apart`, the
    method in the file is set aside: the other options need not suit it.
    """
    said = {**parsed(plan_options(), given), **fixed}
    path = given.get("plan")
    written = {} if path is None else read_plan(Path(path))
    planned = dict(written)
    columns = planned.pop("columns", {})
    for alias, name in ALIASES.items():
        if name in said:
            planned.pop(alias, None)
        elif alias in planned and name not in planned:
            planned[name] = planned.pop(alias)
    if path is None and "k" not in said:
        raise ParameterError("missing option '-k': the least number of records in a group.")
    not_used: list[str] = []
    if "method" in said and said["method"] != planned.get("method", DEFAULT):
        meaningless = options_of_another_method({**planned, **said}, find(said["method"]))
        not_used = [name for name in meaningless if name in planned and name not in said]
    kept = {name: value for name, value in planned.items() if name not in not_used}
    roles = columns_by_name(parsed_columns(given), **parsed(role_options(), given))
    own = None
    try:
        if method_apart:
            own, kept = _method_apart(kept)
        plan = Plan.of(**{**kept, **said, "columns": _merged(columns, roles, said.get("unit"))})
    except MicroaggError as error:
        alone = {**({"k": 1} if "k" in said else {}), **written}
        raise in_file(error, str(path), alone) if _fails(alone, error) else error from None
    return CommandPlan(plan, tuple(not_used), own)


def _method_apart(planned: Mapping[str, Any]) -> tuple[Plan, dict[str, Any]]:
    """Return a plan of the method and what must suit it, and the fields without the method."""
    own = Plan.of(k=1, **{name: planned[name] for name in _SUITS_METHOD if name in planned})
    rest = {name: value for name, value in planned.items() if name not in METHOD_FIELDS}
    return own, {**rest, "random_state": own.random_state}


def _fails(alone: Mapping[str, Any], error: MicroaggError) -> bool:
    """Whether a plan file has this problem on its own, whatever the options are."""
    try:
        Plan.of(**alone)
    except MicroaggError as own:
        return str(own) == str(error)
    return False


def _merged(planned: Any, own: Mapping[str, dict[str, Any]], unit: str | None) -> Any:
    """Return the columns of a plan file, overridden column by column.

    Where another unit is given, that of the file still names somebody, and is dropped.
    """
    if not isinstance(planned, dict):
        return planned  # the plan's own check refuses it
    columns = dict(planned)
    if unit is not None:
        for name, said in planned.items():
            if name != unit and isinstance(said, dict) and said.get("role") == UNIT:
                columns[name] = {**said, "role": IDENTIFIER}
    for name, more in own.items():
        base = columns.get(name, {})
        # A type in the plan belongs to the role in the plan.
        fits = isinstance(base, dict) and more.get("role", base.get("role")) == base.get("role")
        columns[name] = {**base, **more} if fits else more
    return columns
