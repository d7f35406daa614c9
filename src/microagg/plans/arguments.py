"""The arguments of a call -> the plan that they describe."""

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import signature
from os import PathLike
from typing import Any, ParamSpec, TypeVar

from microagg.core.errors import ParameterError
from microagg.core.keywords import check_keywords
from microagg.plans.columns import REQUIREMENT_OPTIONS, ROLE_OPTIONS, columns_by_name
from microagg.plans.options import options_of
from microagg.plans.plan import Plan

ROLE_KEYWORDS = tuple(option.keyword for option in ROLE_OPTIONS.values())
REQUIREMENT_KEYWORDS = tuple(option.keyword for option in REQUIREMENT_OPTIONS)
_OF_COLUMNS = (*ROLE_KEYWORDS, *REQUIREMENT_KEYWORDS, "unit", "digits")
_DEFAULTS = {option.keyword: option.default for option in options_of(Plan)}
_MAY_BE_NONE = ("constraints", "method_options")
_OF_A_PLAN = {*_DEFAULTS, *_OF_COLUMNS, "columns"}

P = ParamSpec("P")
R = TypeVar("R")


def alone_with_plan(*allowed: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function refuse options of a plan in addition to `plan`, also at their defaults.

    It would be unclear which one counts. None and empty lists do not count; `allowed` are those
    that the function takes beside a plan.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        names = list(signature(function).parameters)

        @wraps(function)
        def call(*args: P.args, **named: P.kwargs) -> R:
            check_keywords(function, named, names)
            given = {**dict(zip(names, args, strict=False)), **named}
            if given.get("plan") is not None:
                _check_alone([n for n in given if n not in allowed and not _is_empty(given[n])])
            return function(*args, **named)

        return call

    return decorate


def plan_of(arguments: Mapping[str, Any], plan: Plan | str | PathLike[str] | None = None) -> Plan:
    """Return the plan that arguments describe, or the one that was given or is in a file.

    Arguments are named as in `protect`.
    """
    if plan is not None:
        return plan if isinstance(plan, Plan) else Plan.read(plan)
    said = other_than_defaults(arguments)
    if "k" not in said:
        raise ParameterError(
            "k, the least number of records in a group, is missing. Give k, or a plan."
        )
    roles = {name: said.pop(name) for name in ROLE_KEYWORDS if name in said}
    required = {name: said.pop(name) for name in REQUIREMENT_KEYWORDS if name in said}
    columns = columns_by_name(said.pop("columns", None), required, **roles)
    return Plan.of(**said, columns=columns)


def other_than_defaults(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that say something."""
    return {name: value for name, value in arguments.items() if not _is_default(name, value)}


def _is_default(name: str, value: Any) -> bool:
    default = _DEFAULTS.get(name)
    if value is None:
        return default is None or name in _MAY_BE_NONE
    if _is_empty(value):
        return True
    # True is not the number 1 here; a choice may be given as text.
    return isinstance(default, type(value)) and bool(value == default)


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, (tuple, list, dict)) and not value)


def _check_alone(given: Iterable[str]) -> None:
    if name := next((name for name in given if name in _OF_A_PLAN), None):
        change = "columns" if name in _OF_COLUMNS else name
        raise ParameterError(
            f"{name} is given in addition to a plan. Put it in the plan, as in "
            f"plan.replace({change}=...), or leave the plan out."
        )
