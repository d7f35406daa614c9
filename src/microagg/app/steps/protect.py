"""Protect: k and what it means here, requirements, method and effort; then the run."""

from htmltools import Tag, TagList, tags

from microagg.app.answers import Column, Described
from microagg.app.changes import (
    options_in,
    requirement_options,
    with_column_option,
    with_method,
)
from microagg.app.controls import control, has_meaning, label_of
from microagg.app.desk import Action, Desk, Payload
from microagg.app.estimates import axes_of, estimate
from microagg.app.parts import (
    button,
    card,
    empty,
    entered,
    field,
    heading,
    more,
    select,
    text_input,
)
from microagg.app.state import State, effective_role
from microagg.app.steps import running
from microagg.core.errors import ParameterError
from microagg.core.registry import METHODS, Method
from microagg.core.words import counted, counted_units, percent
from microagg.plans.columns import REQUIREMENT_OPTIONS
from microagg.plans.options import Section
from microagg.tables.columns import ColumnType
from microagg.tables.roles import QUASI_IDENTIFIER, SENSITIVE

# Options of the plan that are shown in this step, besides those that are shown in other ways.
OPTIONS = options_in(
    Section.METHOD, Section.PROTECTION, but=("k", "method", "effort", "constraints")
)


def view(desk: Desk) -> TagList:
    """Return the step."""
    lead = "Choose how many records every published combination stands for, then run."
    found = desk.described
    if found is None:
        return TagList(
            heading("Protect", lead),
            empty(
                "There is no table yet.",
                button("Open a table", "go", id="to-data", kind="primary", step="data"),
            ),
        )
    return TagList(
        heading("Protect", lead),
        _protection(desk.state, found),
        _requirements(desk.state, found),
        _method(desk.state, found),
        running.view(desk, found),
    )


def _protection(state: State, found: Described) -> Tag:
    plan = state.plan
    return card(
        tags.div(
            field(
                "k",
                text_input(
                    "set_option",
                    entered(state, "option-k", str(plan.k)),
                    id="option-k",
                    kind="number",
                    keyword="k",
                ),
                help="Least number of records behind a released combination. 3 to 10 is usual.",
                state=state,
                place="option-k",
            ),
            tags.div(
                [tags.p(line) for line in meaning_of_k(state, found)],
                {"class": "meaning", "id": "k-means", "aria-live": "polite"},
            ),
            {"class": "row top"},
        ),
        title="Protection",
        id="card-protection",
    )


def meaning_of_k(state: State, found: Described) -> list[str]:
    """Say what k means for this table: groups, and the chance of finding somebody."""
    k, n = state.plan.k, found.n_records
    unit = next((own for own in found.columns if own.name == state.plan.unit_column), None)
    if unit is not None and unit.distinct < k:
        units = counted(unit.distinct, "different value")
        return [f"{unit.name} has {units}: k can be {unit.distinct:,} at most."]
    if n < k:
        return [f"The table has {counted(n, 'record')}: k can be {n:,} at most."]
    if k == 1:
        return ["k = 1 protects nobody: every record may be released as it is."]
    return [*_groups(state, n), *_weaker(state)]


def _groups(state: State, n: int) -> list[str]:
    """Say how many groups there are, and what a guess at somebody is worth."""
    k, unit = state.plan.k, state.plan.unit_column
    chance = f"1 time in {k:,} ({percent(100 / k, 3)})"
    if unit is not None:
        return [
            f"Every group holds records of at least {counted_units(k, unit)}.",
            f"Anyone who knows somebody's true values can at best find their group. A guess at who "
            f"it is succeeds {chance}, more often for those with many of its records.",
        ]
    fewest, most = -(-n // (2 * k - 1)), n // k
    groups = counted(most, "group") if fewest == most else f"{fewest:,} to {most:,} groups"
    lines = [
        f"{n:,} records make {groups} of {k:,} to {2 * k - 1:,}.",
        "Anyone who knows somebody's true values can at best find their group. A guess at which "
        f"of its records is theirs succeeds at most {chance}, as long as nobody has several.",
    ]
    if n < 2 * k:
        lines.append("With fewer than 2k records there is one group: all records become equal.")
    return lines


def _weaker(state: State) -> list[str]:
    """Say where a plan promises less than k."""
    plan = state.plan
    lines = []
    if plan.hybrid:
        lines.append("Hybrid records are not k-anonymous: groups keep their means, not their size.")
    elif plan.draws_values and not plan.strict_k:
        lines.append(
            f"{plan.method} draws values at random: k is an average, and not guaranteed without "
            "strict k."
        )
    if plan.blocks:
        lines.append("With blocks, this holds within each block of columns only.")
    return lines


def _requirements(state: State, found: Described) -> Tag:
    asked = [
        (name, option.keyword, said[option.keyword])
        for name, said in state.plan.as_dict().get("columns", {}).items()
        for option in REQUIREMENT_OPTIONS
        if option.keyword in said
    ]
    entries = [
        tags.li(
            tags.span(tags.b(label_of(keyword)), f" {value} of ", tags.code(name)),
            button(
                "Remove",
                "remove_requirement",
                id=f"remove-requirement-{at}",
                kind="small",
                column=name,
                keyword=keyword,
                title=f"Remove {label_of(keyword)} of {name}",
                place="requirement-value",
            ),
        )
        for at, (name, keyword, value) in enumerate(asked)
    ]
    return card(
        tags.p(
            "k people are not always safe: all of a group may have the same diagnosis, and one "
            "large firm may be most of a total.",
            {"class": "help"},
        ),
        tags.ul(entries, {"class": "entries"}) if entries else None,
        _new_requirement(state, found),
        title="Further requirements",
        id="card-requirements",
    )


def _new_requirement(state: State, found: Described) -> Tag:
    fitting = {
        own.name: requirement_options(effective_role(state.plan, own)) for own in found.columns
    }
    choices = {
        f"{keyword}|{name}": f"{label_of(keyword)} of {name}"
        for keyword in (own.keyword for own in REQUIREMENT_OPTIONS)
        for name, keywords in fitting.items()
        if keyword in keywords and _may_have(found, name, keyword)
    }
    if not choices:
        return tags.p(
            "l-diversity and t-closeness are for sensitive columns, p % and dominance for "
            "protected numbers: there are none.",
            {"class": "help"},
        )
    value = tags.input(
        {"type": "text", "id": "requirement-value", "name": "requirement-value"},
        {"placeholder": "3", "autocomplete": "off", "data-enter": "add-requirement"},
        {"value": entered(state, "requirement-value", "")},
    )
    helps = [f"{label_of(own.keyword)}: {own.help}" for own in REQUIREMENT_OPTIONS]
    return tags.div(
        tags.div(
            tags.div(
                tags.label("Requirement", {"for": "new-requirement"}),
                tags.select(
                    [tags.option(words, {"value": value}) for value, words in choices.items()],
                    {"id": "new-requirement", "name": "requirement"},
                ),
                {"class": "field"},
            ),
            field("Value", value, state=state, place="requirement-value"),
            button(
                "Add",
                "add_requirement",
                id="add-requirement",
                place="requirement-value",
                clears="",
            ),
            {"class": "row", "data-form": "requirement"},
        ),
        more("What they mean", tags.ul([tags.li(text) for text in helps]), id="requirement-help"),
        {"class": "stack"},
    )


def _may_have(found: Described, name: str, keyword: str) -> bool:
    column = next(own for own in found.columns if own.name == name)
    is_amount = column.type in ("continuous", "integer")
    return keyword in requirement_options(SENSITIVE) or (
        is_amount and keyword in requirement_options(QUASI_IDENTIFIER)
    )


def _method(state: State, found: Described) -> Tag:
    plan = state.plan
    methods = {name: f"{name}: {own.summary}" for name, own in METHODS.items()}
    chosen = METHODS[plan.method]
    names = [name for name in OPTIONS if has_meaning(state, name)]
    is_refused = any(f"option-{name}" in state.view.refusals for name in names)
    rest = [control(state, name) for name in names]
    return card(
        field(
            "Method",
            select("set_method", methods, plan.method, id="method"),
            help=f"Guarantees {chosen.guarantee.value}. Time {chosen.cost}. "
            f"From {_source(chosen)}.",
            state=state,
            place="method",
        ),
        control(state, "effort") if has_meaning(state, "effort") else None,
        tags.p(
            tags.b("It takes, roughly: "),
            estimate(
                plan.method,
                plan.effort,
                found.n_records,
                n_protected(state, found),
                plan.time_budget,
                n_axes=n_axes(state, found),
                has_units=plan.unit_column is not None,
            ).words,
            ".",
            {"id": "estimate"},
        ),
        more(
            "More options", tags.div(rest, {"class": "grid"}), id="more-options", is_open=is_refused
        ),
        title="Method",
        id="card-method",
    )


def _source(method: Method) -> str:
    """Return where a method is from, for those who have no docs folder at hand."""
    return method.source.replace(f"docs/methods/{method.name}.md", "this project")


def n_protected(state: State, found: Described) -> int:
    """Return how many columns are protected."""
    return len(_protected(state, found))


def n_axes(state: State, found: Described) -> int:
    """Return in how many dimensions records are compared: categories without order take several."""
    return sum(
        axes_of(own.distinct) if _type_of(state, own) == ColumnType.NOMINAL else 1
        for own in _protected(state, found)
    )


def _protected(state: State, found: Described) -> list[Column]:
    return [own for own in found.columns if effective_role(state.plan, own) == QUASI_IDENTIFIER]


def _type_of(state: State, column: Column) -> str | None:
    said = state.plan.columns.get(column.name)
    if said is not None and said.order:
        return ColumnType.ORDINAL
    return said.type if said is not None and said.type is not None else column.type


def set_method(desk: Desk, given: Payload) -> None:
    """Choose another method; options that belong to the former one go."""
    plan, unused = with_method(desk.state.plan, str(given["value"]))
    desk.choose(plan=plan)
    if unused:
        names = " and ".join(label_of(name).lower() for name in unused)
        desk.said = f"{plan.method} does not use {names}: left out."


def add_requirement(desk: Desk, given: Payload) -> None:
    """Require more of a column."""
    keyword, _, name = str(given["fields"].get("requirement", "")).partition("|")
    value = str(given["fields"].get("requirement-value", "")).strip()
    if not value:
        raise ParameterError(f"enter a value for {label_of(keyword)}.")
    desk.choose(plan=with_column_option(desk.state.plan, name, keyword, value))


def remove_requirement(desk: Desk, given: Payload) -> None:
    """Require less of a column."""
    name, keyword = str(given["column"]), str(given["keyword"])
    desk.choose(plan=with_column_option(desk.state.plan, name, keyword, ""))


ACTIONS: dict[str, Action] = {
    "set_method": set_method,
    "add_requirement": add_requirement,
    "remove_requirement": remove_requirement,
    **running.ACTIONS,
}
