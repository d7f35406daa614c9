"""The arguments of a call -> the plan that they describe."""

from collections.abc import Mapping
from os import PathLike
from typing import Any

from microagg.core.errors import ParameterError
from microagg.plans.columns import ROLE_OPTIONS, columns_by_name
from microagg.plans.options import options_of
from microagg.plans.plan import Plan

ROLE_KEYWORDS = tuple(option.keyword for option in ROLE_OPTIONS.values())
_DEFAULTS = {option.keyword: option.default for option in options_of(Plan)}
_MAY_BE_NONE = ("constraints", "method_options")


def plan_of(arguments: Mapping[str, Any], plan: Plan | str | PathLike[str] | None = None) -> Plan:
    """Return the plan that arguments describe, or the one that was given or is in a file.

    Arguments are named as in `protect`. With a plan, all others must be left out: it would be
    unclear which one counts.
    """
    said = {name: value for name, value in arguments.items() if not _is_default(name, value)}
    if plan is not None:
        _check_alone(said)
        return plan if isinstance(plan, Plan) else Plan.read(plan)
    if "k" not in said:
        raise ParameterError(
            "k, the least number of records in a group, is missing. Give k, or a plan."
        )
    roles = {name: said.pop(name) for name in ROLE_KEYWORDS if name in said}
    columns = columns_by_name(said.pop("columns", None), **roles)
    return Plan.of(**said, columns=columns)


def _is_default(name: str, value: Any) -> bool:
    default = _DEFAULTS.get(name)
    if value is None:
        return default is None or name in _MAY_BE_NONE
    if isinstance(value, (tuple, list, dict)) and not value:
        return True
    # True is not the number 1 here; a choice may be given as text.
    return isinstance(default, type(value)) and bool(value == default)


def _check_alone(said: Mapping[str, Any]) -> None:
    if said:
        name = next(iter(said))
        change = "columns" if name in ROLE_KEYWORDS else name
        raise ParameterError(
            f"{name} is given in addition to a plan. Put it in the plan, as in "
            f"plan.replace({change}=...), or leave the plan out."
        )
