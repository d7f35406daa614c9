"""The options of a command -> the plan that they ask for."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from microagg.cli.options import parsed, parsed_columns, plan_options, role_options
from microagg.core.errors import ParameterError
from microagg.plans.columns import columns_by_name
from microagg.plans.plan import ALIASES, Plan, read_plan


def plan_from(given: Mapping[str, Any], **fixed: Any) -> Plan:
    """Return the plan in the file, if there is one, overridden by the options.

    `fixed` are fields that the command itself sets, whatever is in the file.
    """
    said = parsed(plan_options(), given)
    path = given.get("plan")
    planned = {} if path is None else read_plan(Path(path))
    columns = planned.pop("columns", {})
    for alias, name in ALIASES.items():
        if name in {**said, **fixed}:
            planned.pop(alias, None)
    if path is None and "k" not in {**said, **fixed}:
        raise ParameterError("missing option '-k': the least number of records in a group.")
    own = columns_by_name(parsed_columns(given), **parsed(role_options(), given))
    return Plan.of(**{**planned, **said, **fixed, "columns": _merged(columns, own)})


def _merged(planned: Any, own: Mapping[str, dict[str, Any]]) -> Any:
    """Return the columns of a plan file, overridden column by column."""
    if not isinstance(planned, dict):
        return planned  # the plan's own check refuses it
    columns = dict(planned)
    for name, more in own.items():
        base = columns.get(name, {})
        # A type in the plan belongs to the role in the plan.
        fits = isinstance(base, dict) and more.get("role", base.get("role")) == base.get("role")
        columns[name] = {**base, **more} if fits else more
    return columns
