"""A control for every option of a plan, made from how the option is declared: name, type, help."""

from collections.abc import Iterable

from htmltools import Tag, TagChild, tags

from microagg.app.changes import COLUMN_OPTIONS, OPTIONS, written
from microagg.app.parts import checkbox, does, entered, field, select, text_input
from microagg.app.state import State
from microagg.core.registry import METHODS, NOT_OPTIONS
from microagg.plans.options import Kind, Option

_ONE_A_LINE = (Kind.TEXTS, Kind.LISTS, Kind.ASSIGNMENTS)
_DEFAULT = "default"
# Words for options whose keyword is not one.
_LABELS = {
    "k": "k",
    "na": "Missing value markers",
    "random_state": "Seed",
    "method_options": "Options of the method",
    "strict_k": "Strict k",
    "dates": "Day and month",
    "missing": "Missing values",
    "digits": "Decimals",
    "unit": "Records",
    "keep_key": "Keep a key",
    "shuffle": "Random order",
    "l_diversity": "l-diversity",
    "t_closeness": "t-closeness",
    "p_percent": "p %",
    "max_expanded": "Largest size",
    "decimal": "Decimal mark",
}


def label_of(keyword: str) -> str:
    """Return the name of an option for people.

    >>> label_of("time_budget"), label_of("l_diversity")
    ('Time budget', 'l-diversity')
    """
    return _LABELS.get(keyword, keyword.replace("_", " ").capitalize())


def control(state: State, keyword: str) -> Tag:
    """Return the control of an option of the plan."""
    option, place = OPTIONS[keyword], f"option-{keyword}"
    shown = entered(state, place, written(option, state.plan))
    label = label_of(keyword)
    if option.kind is Kind.SWITCH:
        is_on = bool(getattr(state.plan, keyword))
        box = checkbox(
            label, "set_option", id=place, checked=is_on, help=option.help, keyword=keyword
        )
        refused = state.view.refusals.get(place)
        if refused is not None:
            box.append(tags.p(refused.message, {"class": "error", "role": "alert"}))
        return box
    return field(
        label, _input(option, shown, place), help=_help(state, option), state=state, place=place
    )


def _input(option: Option, shown: str, place: str) -> Tag:
    data = {"keyword": option.keyword}
    if option.keyword == "digits":
        return select(
            "set_option",
            {"": "as many as each column has", "all": "every digit"},
            shown,
            id=place,
            **data,
        )
    if option.keyword == "unit":
        choices = {"": "not said", "rows": "every record is about somebody else"}
        return select("set_option", choices, shown, id=place, **data)
    if option.choices:
        nothing = {} if option.default in option.choices else {"": "not said"}
        return select("set_option", {**nothing, **_worded(option)}, shown, id=place, **data)
    if option.kind in _ONE_A_LINE:
        return tags.textarea(
            shown,
            {"id": place, "rows": "2", "spellcheck": "false"},
            {"placeholder": f"{option.flag.metavar}, one a line"},
            does("set_option", **data),
        )
    return text_input("set_option", shown, id=place, hint=_hint(option.flag.metavar), **data)


def _hint(metavar: str) -> str:
    """Return the form of a value, if a letter does not stand for it."""
    return metavar if any(mark in metavar for mark in ":,=") else ""


def _worded(option: Option) -> dict[str, str]:
    return {
        word: f"{word} ({_DEFAULT})" if word == option.default else word for word in option.choices
    }


def _help(state: State, option: Option) -> TagChild:
    if option.keyword != "method_options":
        return option.help
    known = [name for name in METHODS[state.plan.method].options if name not in NOT_OPTIONS]
    listing = ", ".join(known)
    those = f"{state.plan.method} takes: {listing}." if known else f"{state.plan.method} has none."
    return f"NAME=VALUE, one a line. {those}"


def has_meaning(state: State, keyword: str) -> bool:
    """Whether an option has a meaning in this plan, or is set."""
    option = OPTIONS[keyword]
    if keyword in state.plan.as_dict() or f"option-{keyword}" in state.view.refusals:
        return True
    if keyword == "unit" and state.plan.unit_column is not None:
        return False  # the column says it
    return option.only_if is None or option.only_if.condition(state.plan)


def control_of_column(state: State, name: str, keyword: str, choices: Iterable[str] = ()) -> Tag:
    """Return the control of an option of a column; `choices` restrict what it takes."""
    option, place = COLUMN_OPTIONS[keyword], f"column-{keyword}"
    said = state.plan.as_dict().get("columns", {}).get(name, {})
    value = said.get(keyword)
    current = "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
    shown = entered(state, f"{place}-{name}", current)
    data = {"column": name, "keyword": keyword}
    words = tuple(choices) or option.choices
    if words:
        listed = {"": "as judged" if keyword == "type" else _DEFAULT, **{w: w for w in words}}
        made = select("set_column_option", listed, shown, id=place, **data)
    else:
        hint = "1" if keyword == "weight" else _hint(option.flag.metavar.partition("=")[2])
        made = text_input("set_column_option", shown, id=place, hint=hint, **data)
    return field(label_of(keyword), made, help=option.help, state=state, place=f"{place}-{name}")
