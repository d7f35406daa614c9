"""The options of one column in the step Roles, and the order of its categories."""

from collections.abc import Sequence
from typing import Any

from htmltools import Tag, tags

from microagg.app.answers import Column
from microagg.app.changes import (
    COLUMN_OPTIONS,
    moved,
    requirement_options,
    with_column_option,
    with_order,
)
from microagg.app.controls import control_of_column
from microagg.app.desk import Action, Desk, Payload
from microagg.app.parts import actions, button, entered, field, name_of, text_input
from microagg.app.state import State
from microagg.core.errors import ParameterError
from microagg.plans.commands import quoted_name
from microagg.plans.texts import names_in
from microagg.tables.columns import AGGREGATES, ColumnType
from microagg.tables.roles import SENSITIVE

# Options of a protected column; requirements come with its role.
OPTIONS = ("type", "order", "aggregate", "resolution", "digits", "weight")


def key_of(name: str) -> str:
    """Return a name as part of an id: anything but a letter or digit is replaced by its code.

    >>> key_of("net pay"), key_of("age")
    ('net_20pay', 'age')
    """
    return "".join(c if c.isalnum() and c.isascii() else f"_{ord(c):x}" for c in name)


def places_of(name: str) -> list[str]:
    """Return the places of the page where something can be refused about a column."""
    key = key_of(name)
    return [f"role-{key}", f"order-{key}", *(f"column-{own}-{name}" for own in COLUMN_OPTIONS)]


def panel(state: State, column: Column, role: str) -> Tag:
    """Return the options of a column of this role."""
    name = column.name
    kind = _kind(state, column)
    wanted = [own for own in _suiting(kind, role) if own != "order"]
    shown = [
        control_of_column(state, name, own, AGGREGATES[kind] if own == "aggregate" and kind else ())
        for own in (*wanted, *_required(kind, role))
    ]
    return tags.div(
        tags.h3(f"Options of {name}"),
        tags.div(shown, {"class": "grid"}),
        _order(state, column, kind),
        actions(button("Done", "open_column", id="close-column", column=name)),
        {"class": "panel"},
    )


def _kind(state: State, column: Column) -> ColumnType | None:
    said = state.plan.columns.get(column.name)
    options = None if said is None else said.options
    stated = None if options is None else options.stated_type
    return stated or (ColumnType(column.type) if column.type else None)


def _suiting(kind: ColumnType | None, role: str) -> tuple[str, ...]:
    """Return the options that a column of a type and role has."""
    if role == SENSITIVE:
        return ("type",)
    left_out = set()
    if kind is not None and not kind.is_number:
        left_out.add("digits")
    if kind not in (None, ColumnType.DATE, ColumnType.DATETIME):
        left_out.add("resolution")
    return tuple(own for own in OPTIONS if own not in left_out)


def _required(kind: ColumnType | None, role: str) -> list[str]:
    """Return the requirements that a column can have: on totals, only of amounts."""
    is_amount = kind is None or kind.is_number
    return requirement_options(role) if role == SENSITIVE or is_amount else []


def _order(state: State, column: Column, kind: ColumnType | None) -> Tag | None:
    if kind is None or not kind.is_categorical:
        return None
    said = state.plan.columns.get(column.name)
    order = None if said is None else said.order
    entries = list(order or column.categories)
    place = f"order-{key_of(column.name)}"
    typed = entered(state, place, _written(entries) if order else "")
    rare = ""
    if column.n_rare:
        are = "category is" if column.n_rare == 1 else "categories are"
        rare = f" {column.n_rare:,} rare {are} not shown here: type them in their place."
    items = [
        tags.li(
            name_of(str(entry)),
            _mover("↑", "up", column.name, at, at - 1, entry, disabled=at == 0),
            _mover("↓", "down", column.name, at, at + 1, entry, disabled=at == len(entries) - 1),
            {"draggable": "true", "data-drag": str(at), "id": f"entry-{key_of(str(entry))}"},
        )
        for at, entry in enumerate(entries)
    ]
    return tags.div(
        tags.h3("Order of the categories"),
        tags.p(
            "Lowest first. Drag, use the arrows, or type the order: then the column is ordinal, "
            f"and a group releases its median category.{rare}",
            {"class": "help"},
        ),
        tags.ol(
            items,
            {"class": "order", "id": "order-list", "data-dropped": "move_category"},
            {"data-column": column.name, "data-place": place},
        )
        if items
        else None,
        field(
            "Order as text",
            text_input("set_order", typed, id=place, hint="low, medium, high", column=column.name),
            help="Separated by commas; a category with a comma in double quotes.",
            state=state,
            place=place,
        ),
        button("No order", "clear_order", id="clear-order", kind="quiet", column=column.name)
        if order
        else button(
            "Use this order", "take_order", id="take-order", column=column.name, place=place
        )
        if items
        else None,
        {"class": "ordering"},
    )


def _written(entries: Sequence[Any]) -> str:
    return ", ".join(quoted_name(str(entry)) for entry in entries)


def _mover(
    sign: str, way: str, name: str, at: int, to: int, entry: object, *, disabled: bool
) -> Tag:
    return button(
        sign,
        "move_category",
        id=f"{way}-{key_of(str(entry))}",  # it goes with its entry, and so does the focus
        kind="small",
        disabled=disabled,
        title=f"Move {entry} {way}",
        **{"column": name, "from": at, "to": to, "place": f"order-{key_of(name)}"},
    )


def set_column_option(desk: Desk, given: Payload) -> None:
    """Set an option of a column."""
    name, keyword, text = (str(given[key]) for key in ("column", "keyword", "value"))
    place = f"column-{keyword}-{name}"
    try:
        plan = with_column_option(desk.state.plan, name, keyword, text)
    except ParameterError as error:
        desk.state = desk.state.refuse(place, text, str(error))
        return
    desk.choose(plan=plan)
    desk.state = desk.state.accept(place)


def set_order(desk: Desk, given: Payload) -> None:
    """Set the order of a column's categories as it was typed."""
    text, name = str(given["value"]).strip(), str(given["column"])
    known = {str(entry): entry for entry in _column(desk, name).categories}
    order = [known.get(entry, entry) for entry in names_in(text)] if text else []
    desk.choose(plan=with_order(desk.state.plan, name, order))


def move_category(desk: Desk, given: Payload) -> None:
    """Move a category to another place in the order."""
    name = str(given["column"])
    order = moved(_entries(desk, name), int(given["from"]), int(given["to"]))
    desk.choose(plan=with_order(desk.state.plan, name, order))


def take_order(desk: Desk, given: Payload) -> None:
    """Take the order that is shown."""
    name = str(given["column"])
    desk.choose(plan=with_order(desk.state.plan, name, _entries(desk, name)))


def clear_order(desk: Desk, given: Payload) -> None:
    """Remove the order."""
    desk.choose(plan=with_order(desk.state.plan, str(given["column"]), ()))


def _entries(desk: Desk, name: str) -> list[Any]:
    said = desk.state.plan.columns.get(name)
    return list((said.order if said is not None else None) or _column(desk, name).categories)


def _column(desk: Desk, name: str) -> Column:
    return next(own for own in desk.known.columns if own.name == name)


ACTIONS: dict[str, Action] = {
    "set_column_option": set_column_option,
    "set_order": set_order,
    "move_category": move_category,
    "take_order": take_order,
    "clear_order": clear_order,
}
