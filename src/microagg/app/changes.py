"""A change of a plan by what somebody entered: the new plan, or an error in one sentence."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from microagg.app.answers import Column, Described
from microagg.core.errors import ParameterError
from microagg.core.registry import find
from microagg.plans.agreement import options_of_another_method
from microagg.plans.columns import VALUES, ColumnPlan, keywords_about
from microagg.plans.commands import quoted_name
from microagg.plans.options import Kind, Option, Section, options_of
from microagg.plans.plan import Plan
from microagg.plans.texts import column_value, option_value
from microagg.requirements.base import About
from microagg.tables.roles import QUASI_IDENTIFIER, SENSITIVE

OPTIONS: Mapping[str, Option] = {own.keyword: own for own in options_of(Plan)}
# Decimals are declared for all columns and for single ones at once.
COLUMN_OPTIONS: Mapping[str, Option] = {
    **{own.keyword: own for own in options_of(ColumnPlan)},
    "digits": OPTIONS["digits"],
}
_ONE_A_LINE = (Kind.TEXTS, Kind.LISTS, Kind.ASSIGNMENTS)


def options_in(*sections: Section, but: Sequence[str]) -> tuple[str, ...]:
    """Return the options of a plan in these sections, section by section, but for those named.

    >>> options_in(Section.METHOD, but=("method", "method_options", "random_state"))
    ('effort', 'time_budget', 'bound', 'scale')
    """
    return tuple(
        keyword
        for section in sections
        for keyword, own in OPTIONS.items()
        if own.flag.section is section and keyword not in but
    )


def with_option(plan: Plan, keyword: str, entered: str | bool) -> Plan:
    """Return the plan with what was entered for an option; nothing means the default.

    >>> with_option(Plan(k=5), "time_budget", "60")
    Plan(k=5, time_budget=60.0)
    >>> with_option(Plan(k=5, na=["?"]), "na", " ")
    Plan(k=5)
    """
    asked = plan.as_dict()
    asked.pop(keyword, None)
    value = _entered(OPTIONS[keyword], entered)
    if value is None and keyword == "k":
        raise ParameterError("enter k, a whole number of at least 1.")
    return Plan.of(**asked, **({} if value is None else {keyword: value}))


def _entered(option: Option, entered: str | bool) -> Any:
    if isinstance(entered, bool):
        return entered
    lines = [line for line in map(str.strip, entered.splitlines()) if line]
    if not lines:
        return None
    is_list = option.kind in (*_ONE_A_LINE, Kind.NAMES, Kind.BY_COLUMN)
    return option_value(option, lines if is_list else lines[0])


def written(option: Option, plan: Plan) -> str:
    r"""Return the value of an option as it would be entered; empty for none.

    >>> written(OPTIONS["blocks"], Plan(k=5, blocks=[["age", "sex"], ["income"]]))
    'age,sex\nincome'
    """
    value = plan.as_dict().get(option.keyword, option.default)
    if value is None:
        return ""
    if option.kind is Kind.ASSIGNMENTS:
        return "\n".join(f"{name}={own}" for name, own in value.items())
    if option.kind is Kind.LISTS:
        return "\n".join(",".join(map(quoted_name, names)) for names in value)
    if option.kind is Kind.NAMES:
        return ",".join(map(quoted_name, value))
    if option.kind is Kind.TEXTS:
        return "\n".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def switches_named_in(plan: Plan, text: str) -> list[Option]:
    """Return the switches that a warning names by their flags, and that are off.

    >>> [own.keyword for own in switches_named_in(Plan(k=5), "Shuffle them (--shuffle).")]
    ['shuffle']
    """
    words = text.replace("(", " ").replace(")", " ").replace(",", " ").split()
    switches = (own for own in OPTIONS.values() if own.kind is Kind.SWITCH)
    named = [own for own in switches if own.flag.name in words]
    return [own for own in named if not getattr(plan, own.keyword)]


def with_method(plan: Plan, method: str) -> tuple[Plan, list[str]]:
    """Return the plan with another method, and the options of the former that are left out.

    >>> with_method(Plan(k=5, effort="best"), "mdav")
    (Plan(k=5, method='mdav'), ['effort'])
    """
    chosen = find(method)
    asked = plan.as_dict()
    unused = options_of_another_method(plan.model_dump(), chosen)
    unused = [name for name in unused if name in asked] if chosen.name != plan.method else []
    rest = {name: value for name, value in asked.items() if name not in (*unused, "method")}
    return Plan.of(**rest, method=chosen.name), unused


def with_roles(plan: Plan, names: Iterable[str], role: str | None) -> Plan:
    """Return the plan with a role for these columns, or without one.

    Options that a column of this role cannot have go: a column that is dropped has no type.

    >>> with_roles(Plan(k=5, columns={"sex": {"type": "nominal"}}), ["sex"], "drop")
    Plan(k=5, columns={'sex': {'role': 'drop'}})
    """
    columns = _columns(plan)
    for name in names:
        kept = {own: v for own, v in columns.get(name, {}).items() if _suits(own, role)}
        columns[name] = kept if role is None else {**kept, "role": role}
    return _with_columns(plan, columns)


def _suits(option: str, role: str | None) -> bool:
    if option == "role":
        return False
    is_about_values = option in keywords_about(*VALUES)
    if role == SENSITIVE:
        return is_about_values
    return role in (None, QUASI_IDENTIFIER) and not is_about_values


def with_proposals(plan: Plan, columns: Iterable[Column]) -> Plan:
    """Return the plan with the proposed role of each of these columns."""
    for role, names in _by_role(columns).items():
        plan = with_roles(plan, names, role)
    return plan


def _by_role(columns: Iterable[Column]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for column in columns:
        found.setdefault(column.role, []).append(column.name)
    return found


def with_column_option(plan: Plan, name: str, keyword: str, text: str) -> Plan:
    """Return the plan with what was entered for an option of a column; nothing removes it.

    >>> plan = Plan(k=5, columns={"diagnosis": {"role": "sensitive"}})
    >>> with_column_option(plan, "diagnosis", "l_diversity", "3").columns["diagnosis"].l_diversity
    3
    """
    columns = _columns(plan)
    said = {own: value for own, value in columns.get(name, {}).items() if own != keyword}
    if text.strip():
        said[keyword] = column_value(COLUMN_OPTIONS[keyword], text.strip())
    columns[name] = said
    return _with_columns(plan, columns)


def with_order(plan: Plan, name: str, order: Sequence[str | int | float | bool]) -> Plan:
    """Return the plan with the order of a column's categories; an empty one removes it."""
    columns = _columns(plan)
    said = {own: value for own, value in columns.get(name, {}).items() if own != "order"}
    if said.get("type") not in (None, "ordinal"):
        del said["type"]  # an order makes it ordinal
    columns[name] = {**said, **({"order": list(order)} if order else {})}
    return _with_columns(plan, columns)


def moved(order: Sequence[Any], start: int, end: int) -> list[Any]:
    """Return a list with the entry at one place moved to another.

    >>> moved(["S", "M", "L"], 2, 0), moved(["S", "M", "L"], 0, 9)
    (['L', 'S', 'M'], ['M', 'L', 'S'])
    """
    rest = list(order)
    if not 0 <= start < len(rest):
        return rest
    entry = rest.pop(start)
    rest.insert(max(0, end), entry)
    return rest


def with_constraint(plan: Plan, text: str) -> Plan:
    """Return the plan with one more constraint."""
    asked = plan.as_dict()
    return Plan.of(**{**asked, "constraints": [*asked.get("constraints", ()), text]})


def without_constraint(plan: Plan, text: str) -> Plan:
    """Return the plan without a constraint."""
    asked = plan.as_dict()
    return Plan.of(**{**asked, "constraints": [t for t in asked["constraints"] if t != text]})


def fitting(plan: Plan, described: Described) -> Plan:
    """Return the plan, if all columns that it names are in the file; otherwise raise an error."""
    plan.roles_in([column.name for column in described.columns])
    return plan


def requirement_options(role: str | None) -> list[str]:
    """Return the requirements that a column of this role can have.

    >>> requirement_options("sensitive"), requirement_options("quasi-identifier")
    (['l_diversity', 't_closeness'], ['p_percent', 'dominance'])
    """
    subjects = VALUES if role == SENSITIVE else (About.CONTRIBUTIONS,)
    return list(keywords_about(*subjects)) if role in (SENSITIVE, QUASI_IDENTIFIER) else []


def _columns(plan: Plan) -> dict[str, dict[str, Any]]:
    return dict(plan.as_dict().get("columns", {}))


def _with_columns(plan: Plan, columns: Mapping[str, Mapping[str, Any]]) -> Plan:
    said = {name: own for name, own in columns.items() if own}
    return Plan.of(**{**plan.as_dict(), "columns": said})
