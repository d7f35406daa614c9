"""Roles: what each column is, whom a record is about, and what released records keep."""

from collections.abc import Sequence
from dataclasses import replace

from htmltools import Tag, TagChild, TagList, tags

from microagg.aggregates.choices import Missing
from microagg.app.answers import Column, Described
from microagg.app.changes import (
    options_in,
    with_option,
    with_proposals,
    with_roles,
)
from microagg.app.controls import control, has_meaning
from microagg.app.desk import Action, Desk, Payload
from microagg.app.parts import (
    actions,
    button,
    card,
    does,
    empty,
    entered,
    error_at,
    heading,
    more,
    name_of,
    notice,
    select,
)
from microagg.app.state import State, effective_role, open_columns, undecided
from microagg.app.steps import column_options, constraints, repeating
from microagg.app.steps.column_options import key_of, panel, places_of
from microagg.app.steps.data import OPTIONS as OF_ENTRIES
from microagg.app.steps.data import shown_columns
from microagg.app.words import kind_of, on_the_page
from microagg.core.words import counted, listed_names
from microagg.plans.drafting import ROLE_HELP
from microagg.plans.options import Section
from microagg.tables.roles import QUASI_IDENTIFIER, SENSITIVE

# Options of the plan that are shown in this step, besides the constraints.
OPTIONS = options_in(Section.COLUMNS, but=OF_ENTRIES)
_MOST_SHOWN = 60
_MOST_NAMES = 5
_EVERY, _OPEN = "all", "open"


def view(desk: Desk) -> TagList:
    """Return the step."""
    lead = "Say what each column is. Proposals come with a reason; you decide."
    found = desk.described
    if found is None:
        return TagList(
            heading("Roles", lead),
            empty(
                "There is no table yet.",
                button("Open a table", "go", id="to-data", kind="primary", step="data"),
            ),
        )
    return TagList(
        heading("Roles", lead),
        _columns(desk, found),
        constraints.view(desk, found),
        _rest(desk.state, found),
        _way_on(desk.state, found),
    )


def blocking(state: State, found: Described) -> str:
    """Return why the way on is blocked, in a sentence; empty if it is not."""
    names = open_columns(state.plan, found)
    if not names:
        return ""
    verb = "has" if len(names) == 1 else "have"
    return (
        f"{counted(len(names), 'column')} of text or dates {verb} no role: {_some(names)}. Give "
        "each one a role, so that nothing is published by oversight."
    )


def _some(names: Sequence[str]) -> str:
    """List the first names, and say how many others there are."""
    others = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return listed_names(names[:_MOST_NAMES]) + others


def _way_on(state: State, found: Described) -> Tag:
    blocked = blocking(state, found)
    return tags.div(
        notice(blocked, kind="caution", id="blocked") if blocked else None,
        actions(
            button(
                "Protect",
                "go",
                id="to-protect",
                kind="primary",
                step="protect",
                disabled=bool(blocked),
            )
        ),
        {"class": "stack"},
    )


def _columns(desk: Desk, found: Described) -> Tag:
    state = desk.state
    shown = filtered(state, found)
    waiting = undecided(state.plan, found)
    return card(
        _proposals(waiting),
        repeating.question(state, found),
        _toolbar(state, shown),
        error_at(state, "bulk-role"),
        tags.div(
            tags.table(
                tags.caption("Columns and their roles", {"class": "sr-only"}),
                tags.thead(
                    tags.tr(
                        tags.th(tags.span("Selected", {"class": "sr-only"}), {"scope": "col"}),
                        tags.th("Column", {"scope": "col"}),
                        tags.th("Role", {"scope": "col"}),
                        tags.th("Proposal", {"scope": "col"}),
                        tags.th(tags.span("Options", {"class": "sr-only"}), {"scope": "col"}),
                    )
                ),
                tags.tbody([row for own in shown[:_MOST_SHOWN] for row in _rows(state, own)]),
                {"class": "roles"},
            ),
            {"class": "scroll", "tabindex": "0", "role": "region", "aria-label": "Columns"},
        ),
        _hidden(shown),
        more(
            "What the roles mean",
            tags.dl(
                [tags.div(tags.dt(role), tags.dd(own.help)) for role, own in ROLE_HELP.items()],
                {"class": "facts"},
            ),
            id="role-help",
        ),
        title="Columns",
        id="card-columns",
    )


def _hidden(shown: Sequence[Column]) -> Tag | None:
    if len(shown) > _MOST_SHOWN:
        text = f"The first {_MOST_SHOWN} of {len(shown):,} columns. Search to see others."
    elif not shown:
        text = "No column is called that. Change the search or the filter."
    else:
        return None
    return tags.p(text, {"class": "help"})


def _proposals(waiting: Sequence[Column]) -> Tag | None:
    if not waiting:
        return None
    one = len(waiting) == 1
    return notice(
        tags.p(
            f"{counted(len(waiting), 'column')} {'has' if one else 'have'} no role of "
            f"{'its' if one else 'their'} own yet. Read the proposals: nothing is proposed to be "
            "published unchanged, so name sensitive columns yourself."
        ),
        button(
            "Accept this proposal" if one else f"Accept all {len(waiting):,} proposals",
            "accept_all",
            id="accept-all",
        ),
        id="proposals",
    )


def filtered(state: State, found: Described) -> list[Column]:
    """Return the columns that the search and the filter show."""
    shown, filter_ = shown_columns(state, found), state.view.shown
    if filter_ == _EVERY:
        return shown
    if filter_ == _OPEN:
        names = {own.name for own in undecided(state.plan, found)}
        return [own for own in shown if own.name in names]
    return [own for own in shown if effective_role(state.plan, own) == filter_]


def _toolbar(state: State, shown: Sequence[Column]) -> Tag:
    filters = {_EVERY: "all columns", _OPEN: "without a role", **{r: r for r in ROLE_HELP}}
    chosen = len(state.view.selected)
    names = {own.name for own in shown}
    is_all = bool(names) and names <= state.view.selected
    return tags.div(
        tags.div(
            tags.label("Find a column", {"for": "search", "class": "sr-only"}),
            tags.input(
                {"type": "search", "id": "search", "value": state.view.search, "data-live": ""},
                {"placeholder": "Find a column", "autocomplete": "off", **does("search")},
            ),
            {"class": "search"},
        ),
        select("filter", filters, state.view.shown, id="filter", label="Show columns"),
        button(
            "Select none" if is_all else f"Select all {len(names):,}",
            "select_shown",
            id="select-shown",
            kind="quiet",
            disabled=not names,
        ),
        tags.div(
            select(
                "bulk_role",
                {
                    "": f"Role of {counted(chosen, 'selected column')} …",
                    **{r: r for r in ROLE_HELP},
                },
                "",
                id="bulk-role",
                label="Role of the selected columns",
            )
            if chosen
            else tags.span("Select columns to give them all a role.", {"class": "help"}),
        ),
        {"class": "toolbar"},
    )


def _rows(state: State, column: Column) -> list[Tag]:
    name, key = column.name, key_of(column.name)
    said = state.plan.columns.get(name)
    own = None if said is None else said.role_in_plan
    effective = effective_role(state.plan, column)
    is_open = state.view.opened == name
    first = {"": "no role: stops the run" if column.is_text else f"none: {QUASI_IDENTIFIER}"}
    kind = kind_of(column)
    missing = f" · {column.missing:,} missing" if column.missing else ""
    row = tags.tr(
        tags.td(
            tags.input(
                {"type": "checkbox", "id": f"select-{key}", "aria-label": f"Select {name}"},
                {"checked": ""} if name in state.view.selected else {},
                does("select", column=name),
            )
        ),
        tags.td(
            name_of(name),
            tags.div(f"{kind} · {column.distinct:,} different{missing}", {"class": "help"}),
        ),
        tags.td(
            select(
                "set_role",
                {**first, **{role: role for role in ROLE_HELP}},
                entered(state, f"role-{key}", own or ""),
                id=f"role-{key}",
                label=f"Role of {name}",
                column=name,
            ),
            error_at(state, f"role-{key}"),
        ),
        tags.td(_proposal(column, own, key)),
        tags.td(
            button(
                "Options",
                "open_column",
                id=f"options-{key}",
                kind="quiet",
                column=name,
                title=f"Options of {name}",
            )
            if effective in (QUASI_IDENTIFIER, SENSITIVE)
            else None
        ),
        {"id": f"row-{key}", "class": "open" if effective is None else ""},
    )
    if not is_open or effective not in (QUASI_IDENTIFIER, SENSITIVE):
        return [row]
    below = tags.td(panel(state, column, effective), {"colspan": "5"})
    return [row, tags.tr(below, {"id": "panel"})]


def _proposal(column: Column, own: str | None, key: str) -> TagChild:
    if own == column.role:
        return tags.span("as proposed: ", on_the_page(column.reason), {"class": "why"})
    accept = button(
        f"Accept {column.role}", "accept", id=f"accept-{key}", kind="small", column=column.name
    )
    return tags.div(
        accept if own is None else tags.span(f"{column.role}? ", {"class": "why"}),
        tags.span(on_the_page(column.reason), {"class": "why"}),
    )


def _rest(state: State, found: Described) -> Tag:
    shown = [control(state, name) for name in OPTIONS if has_meaning(state, name)]
    gaps = with_gaps(state, found)
    return card(
        notice(
            f"Values are missing in {_some(gaps)}. Say below what happens to them, or the run "
            "stops.",
            kind="caution",
            id="gaps",
        )
        if gaps and state.plan.missing is Missing.ERROR
        else None,
        tags.div(shown, {"class": "grid"}),
        title="Records and values",
        id="card-values",
    )


def with_gaps(state: State, found: Described) -> list[str]:
    """Return the protected columns in which values are missing."""
    return [
        own.name
        for own in found.columns
        if own.missing and effective_role(state.plan, own) == QUASI_IDENTIFIER
    ]


def set_role(desk: Desk, given: Payload) -> None:
    """Give one column a role, or take it away."""
    _give(desk, [str(given["column"])], str(given["value"]) or None)


def _give(desk: Desk, names: Sequence[str], role: str | None) -> None:
    """Give columns a role; what was refused about them goes with the former one."""
    desk.choose(plan=with_roles(desk.state.plan, names, role))
    desk.state = desk.state.accept(*(place for name in names for place in places_of(name)))


def bulk_role(desk: Desk, given: Payload) -> None:
    """Give the selected columns a role."""
    if role := str(given["value"]):
        _give(desk, _selected(desk), role)
        desk.look(selected=frozenset())


def _selected(desk: Desk) -> list[str]:
    chosen, found = desk.state.view.selected, desk.described
    return [] if found is None else [own.name for own in found.columns if own.name in chosen]


def accept(desk: Desk, given: Payload) -> None:
    """Accept the proposal for one column."""
    columns = [own for own in desk.known.columns if own.name == given["column"]]
    desk.choose(plan=with_proposals(desk.state.plan, columns))


def accept_all(desk: Desk, _: Payload) -> None:
    """Accept the proposals for all columns without a role."""
    desk.choose(plan=with_proposals(desk.state.plan, undecided(desk.state.plan, desk.known)))


def select_one(desk: Desk, given: Payload) -> None:
    """Select a column, or no longer."""
    change = {str(given["column"])}
    chosen = desk.state.view.selected
    desk.look(selected=chosen | change if given["value"] else chosen - change)


def select_shown(desk: Desk, _: Payload) -> None:
    """Select all columns that are shown, or none."""
    names = {own.name for own in filtered(desk.state, desk.known)}
    chosen = desk.state.view.selected
    desk.look(selected=chosen - names if names <= chosen else chosen | names)


def filter_columns(desk: Desk, given: Payload) -> None:
    """Show columns of one kind."""
    desk.look(shown=str(given["value"]))


def open_column(desk: Desk, given: Payload) -> None:
    """Show the options of a column, or hide them."""
    name = str(given["column"])
    desk.look(opened=None if desk.state.view.opened == name else name)


def set_option(desk: Desk, given: Payload) -> None:
    """Set an option of the plan; those that say how a file is read need it to be read again."""
    keyword, value = str(given["keyword"]), given["value"]
    entry = value if isinstance(value, bool) else str(value)
    plan = with_option(desk.state.plan, keyword, entry)
    now = desk.state.now
    if now.source is not None and (plan.na, plan.dates) != (now.plan.na, now.plan.dates):
        desk.adopt(
            lambda now: replace(now, plan=with_option(now.plan, keyword, entry)),
            str(given["id"]),
            str(value),
        )
        return
    desk.choose(plan=plan)


ACTIONS: dict[str, Action] = {
    "set_role": set_role,
    "bulk_role": bulk_role,
    "accept": accept,
    "accept_all": accept_all,
    "select": select_one,
    "select_shown": select_shown,
    "filter": filter_columns,
    "open_column": open_column,
    "set_option": set_option,
    **column_options.ACTIONS,
    **repeating.ACTIONS,
    **constraints.ACTIONS,
}
