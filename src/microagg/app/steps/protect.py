"""Protect: k and what it means here, requirements, method and effort; then the run."""

from htmltools import Tag, TagList, tags

from microagg.app.answers import Described, Protected
from microagg.app.changes import (
    requirement_options,
    switches_named_in,
    with_column_option,
    with_method,
    with_option,
)
from microagg.app.controls import control, has_meaning, label_of
from microagg.app.desk import PROTECT, Action, Desk, Payload
from microagg.app.estimates import estimate
from microagg.app.jobs import JobStatus
from microagg.app.parts import (
    actions,
    button,
    card,
    empty,
    entered,
    error_at,
    field,
    heading,
    more,
    notice,
    select,
    sentence,
    text_input,
)
from microagg.app.state import State, effective_role
from microagg.app.steps.roles import blocking
from microagg.app.words import TIMES, in_words
from microagg.core.errors import SEARCH_INTERRUPTED, ParameterError
from microagg.core.registry import METHODS
from microagg.core.words import counted, percent
from microagg.plans.columns import REQUIREMENT_OPTIONS
from microagg.tables.roles import QUASI_IDENTIFIER, SENSITIVE

# Options of the plan that are shown in this step, besides k, the method and its effort.
OPTIONS = (
    *("time_budget", "random_state", "bound", "scale", "method_options"),
    *("valid_combinations", "keep_margins", "strict_k", "hybrid", "shuffle"),
)
SHOWN_FIRST = ("k", "method", "effort")


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
        _run(desk, found),
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
    if n < k:
        return [f"The table has {counted(n, 'record')}: k can be {n:,} at most."]
    unit = next((own for own in found.columns if own.name == state.plan.unit_column), None)
    if unit is not None and unit.distinct < k:
        units = counted(unit.distinct, "different value")
        return [f"{unit.name} has {units}: k can be {unit.distinct:,} at most."]
    if k == 1:
        return ["k = 1 protects nobody: every record may be released as it is."]
    return [*_groups(state, n), *_weaker(state)]


def _groups(state: State, n: int) -> list[str]:
    """Say how many groups there are, and what a guess at somebody is worth."""
    k, unit = state.plan.k, state.plan.unit_column
    chance = f"1 time in {k:,} ({percent(100 / k, 3)})"
    if unit is not None:
        return [
            f"Every group holds records of at least {k:,} different values of {unit}.",
            f"Whoever knows somebody's true values finds such a group at best. A guess at who it "
            f"is succeeds {chance}, more often with those who have many of its records.",
        ]
    fewest, most = -(-n // (2 * k - 1)), n // k
    groups = counted(most, "group") if fewest == most else f"{fewest:,} to {most:,} groups"
    lines = [
        f"{n:,} records make {groups} of {k:,} to {2 * k - 1:,}.",
        "Whoever knows somebody's true values finds that person's group at best. A guess at which "
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
        lines.append(f"{plan.method} draws: k is an average, and not guaranteed without strict k.")
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
        error_at(state, "requirement-value"),
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
            tags.div(
                tags.label("Value", {"for": "requirement-value"}),
                tags.input(
                    {"type": "text", "id": "requirement-value", "name": "requirement-value"},
                    {"placeholder": "3", "autocomplete": "off", "data-enter": "add-requirement"},
                    {"value": entered(state, "requirement-value", "")},
                ),
                {"class": "field short"},
            ),
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
    rest = [control(state, name) for name in OPTIONS if has_meaning(state, name)]
    return card(
        field(
            "Method",
            select("set_method", methods, plan.method, id="method"),
            help=f"Guarantees {chosen.guarantee.value}. Time {chosen.cost}. From {chosen.source}.",
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
            ).words,
            ".",
            {"id": "estimate"},
        ),
        more("More options", tags.div(rest, {"class": "grid"}), id="more-options"),
        title="Method",
        id="card-method",
    )


def n_protected(state: State, found: Described) -> int:
    """Return how many columns are protected."""
    roles = (effective_role(state.plan, own) for own in found.columns)
    return sum(role == QUASI_IDENTIFIER for role in roles)


def _run(desk: Desk, found: Described) -> Tag:
    state = desk.state
    blocked = blocking(state, found)
    if desk.is_running(PROTECT):
        return card(
            tags.p("The run goes on if you close this page.", {"class": "help"}), id="card-run"
        )
    made = desk.protected
    return card(
        notice(blocked, kind="caution", id="blocked") if blocked else None,
        error_at(state, PROTECT),
        notice(
            tags.p(tags.b(made.verdict)),
            tags.p(made.title),
            kind="good",
            id="made",
        )
        if made is not None
        else None,
        *(warnings_of(state, made) if made is not None else ()),
        actions(
            button("Explore the release", "go", id="to-explore", kind="primary", step="explore")
            if made is not None
            else button(
                "Protect the table", "run", id="run", kind="primary", disabled=bool(blocked)
            ),
            button("Compare methods first", "go", id="to-compare", kind="quiet", step="explore")
            if made is None
            else button("Run it again", "run", id="run", kind="quiet"),
        ),
        id="card-run",
    )


def warnings_of(state: State, made: Protected) -> list[Tag]:
    """Return the warnings of a run; one that names a switch of the plan can be acted upon.

    That a search was ended early comes first, and is said once.
    """
    ended = [notice(made.ended, kind="caution", id="ended")] if made.ended else []
    texts = [text for text in made.warnings if not (ended and text == SEARCH_INTERRUPTED)]
    return ended + [
        notice(
            tags.p(sentence(text)),
            *[
                button(
                    f"Run it again with: {label_of(option.keyword).lower()}",
                    "run_with",
                    id=f"run-with-{option.keyword}",
                    keyword=option.keyword,
                )
                for option in switches_named_in(state.plan, text)
            ],
            kind="caution",
        )
        for text in texts
    ]


def progress(status: JobStatus, task: str) -> Tag:
    """Return how far a run is, with the ways to end it."""
    share = status.done / status.total if status.total else None
    loss = "" if status.loss is None else f"loss so far {percent(status.loss, 3)}"
    per_cent = "" if share is None else f"{100 * share:.0f} %"
    is_stopping = status.state == "stopping"
    phase = "stopping with the best so far" if is_stopping else status.phase
    words = [phase, per_cent, loss, in_words(max(status.seconds, 0.1), TIMES)]
    return tags.div(
        tags.progress(
            {"max": "1", "aria-label": "How far the run is", "id": "progress-bar"},
            {"value": f"{share:.3f}"} if share is not None else {},
        ),
        tags.p(" · ".join(filter(None, words)), {"id": "progress-words"}),
        actions(
            button(
                "Stop and keep the best so far", "stop", id="stop", disabled=is_stopping, task=task
            )
            if task == PROTECT
            else None,
            button("Cancel", "cancel", id="cancel", kind="danger", task=task),
        ),
        {"class": "progress", "role": "status"},
    )


def run(desk: Desk, _: Payload) -> None:
    """Start the run."""
    found = desk.described
    if found is None:
        raise ParameterError("open a table first.")
    if blocked := blocking(desk.state, found):
        raise ParameterError(blocked)
    desk.start(PROTECT, desk.state.now.protect_request)


def run_with(desk: Desk, given: Payload) -> None:
    """Turn on a switch that a warning names, and run again."""
    desk.choose(plan=with_option(desk.state.plan, str(given["keyword"]), True))
    run(desk, given)


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


def adopt(desk: Desk, given: Payload) -> None:
    """Choose a method and a k of the comparison."""
    plan, _ = with_method(desk.state.plan, str(given["method"]))
    plan = with_option(plan, "k", str(given["k"]))
    desk.choose(plan=plan)
    desk.said = f"Chosen: {plan.method} with k = {plan.k:,}."


ACTIONS: dict[str, Action] = {
    "run": run,
    "run_with": run_with,
    "set_method": set_method,
    "add_requirement": add_requirement,
    "remove_requirement": remove_requirement,
    "adopt": adopt,
}
