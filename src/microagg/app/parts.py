"""The parts that pages are made of: buttons, fields, messages; plain HTML, no values of records.

What a part does is the word in its `data-do`: static/app.js sends it, with the value of the part
and its other data, and `microagg.app.desk` has a function for it.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from htmltools import HTML, Tag, TagAttrs, TagChild, TagList, tags

from microagg.app.state import Refusal, State
from microagg.app.words import without_flags
from microagg.core.words import printable, short_name

_LONGEST_NAME = 60


def does(action: str, **data: object) -> TagAttrs:
    """Return the attributes of an element that does something."""
    named = {f"data-{name.replace('_', '-')}": str(value) for name, value in data.items()}
    return {"data-do": action, **named} if action else {}


def button(
    label: TagChild,
    action: str,
    *,
    id: str,
    kind: str = "plain",
    disabled: bool = False,
    title: str | None = None,
    **data: object,
) -> Tag:
    """Return a button; `kind` is primary, plain, quiet or danger."""
    return tags.button(
        label,
        {"type": "button", "class": f"button {kind}", "id": id, **does(action, **data)},
        {"disabled": ""} if disabled else {},
        {"title": title, "aria-label": title} if title else {},
    )


def name_of(name: str, also: str = "") -> Tag:
    """Return the name of a column or a category: the beginning and the end of a long one."""
    shown = short_name(name, _LONGEST_NAME)
    return tags.span(shown, {"class": f"name {also}".rstrip(), "title": name})


def field(
    label: TagChild,
    control: Tag,
    *,
    help: TagChild = "",
    state: State,
    place: str,
) -> Tag:
    """Return a control with its label, its help and what was refused there."""
    key = control.attrs["id"]
    described = [f"{key}-help"] if help else []
    refused = state.view.refusals.get(place)
    if refused is not None:
        described.append(f"{key}-error")
        control.attrs["aria-invalid"] = "true"
        if "data-do" not in control.attrs:  # it is sent with others: emptied, it is right again
            control.attrs.update({"data-emptied": "forget_refusal", "data-place": place})
    if described:
        control.attrs["aria-describedby"] = " ".join(described)
    return tags.div(
        tags.label(label, {"for": key}),
        control,
        tags.p(help, {"class": "help", "id": f"{key}-help"}) if help else None,
        error(refused, id=f"{key}-error"),
        {"class": "field"},
    )


def error(refused: Refusal | None, *, id: str) -> Tag | None:
    """Return what was refused at a place, if something was."""
    if refused is None:
        return None
    return tags.p(sentence(refused.message), {"class": "error", "id": id, "role": "alert"})


def error_at(state: State, place: str) -> Tag | None:
    """Return the message at a place of the page, if there is one."""
    return error(state.view.refusals.get(place), id=f"{place}-error")


def sentence(text: str) -> str:
    """Return a message as a sentence of its own.

    >>> sentence("k must be a whole number.")
    'k must be a whole number.'
    >>> sentence("k, the least number of records, is missing.")
    'k, the least number of records, is missing.'
    >>> sentence("the decimal mark is missing. Give it (--decimal, or decimal= in Python).")
    'The decimal mark is missing. Give it.'
    """
    shown = without_flags(printable(text))
    first = shown.split(maxsplit=1)[0] if shown.strip() else ""
    names = ("k", "l", "t", "na", "unit", "digits")
    is_name = "_" in first or first.partition("-")[0].rstrip(",") in names
    return shown if is_name else shown[:1].upper() + shown[1:]


def entered(state: State, place: str, current: str) -> str:
    """Return what a field shows: what was refused there stays, to be corrected."""
    refused = state.view.refusals.get(place)
    return current if refused is None else refused.text


def text_input(
    action: str,
    value: str,
    *,
    id: str,
    kind: str = "text",
    hint: str = "",
    enter: str = "",
    **data: object,
) -> Tag:
    """Return a line of text that acts when it is changed; Enter presses the button `enter`."""
    return tags.input(
        {"type": kind, "id": id, "name": id, "value": value},
        {"autocomplete": "off", "spellcheck": "false"},
        {"placeholder": hint} if hint else {},
        {"data-enter": enter} if enter else {},
        does(action, **data),
    )


def select(
    action: str,
    choices: Mapping[str, str],
    chosen: str,
    *,
    id: str,
    label: str | None = None,
    **data: object,
) -> Tag:
    """Return a list to choose from; `choices` are values with their words."""
    return tags.select(
        [
            tags.option(words, {"value": value}, {"selected": ""} if value == chosen else {})
            for value, words in choices.items()
        ],
        {"id": id, **does(action, **data)},
        {"aria-label": label} if label else {},
    )


def checkbox(
    label: TagChild,
    action: str,
    *,
    id: str,
    checked: bool,
    help: TagChild = "",
    **data: object,
) -> Tag:
    """Return a box to tick, with its label."""
    box = tags.input(
        {"type": "checkbox", "id": id, "name": id},
        does(action, **data),
        {"checked": ""} if checked else {},
        {"aria-describedby": f"{id}-help"} if help else {},
    )
    return tags.div(
        tags.label(box, tags.span(label), {"class": "check"}),
        tags.p(help, {"class": "help", "id": f"{id}-help"}) if help else None,
        {"class": "field"},
    )


def more(
    title: TagChild,
    *content: TagChild,
    id: str,
    is_open: bool = False,
    note: str = "",
) -> Tag:
    """Return content that is shown on request, or once `is_open` becomes true.

    From then on the browser keeps whether it is.
    """
    return tags.details(
        tags.summary(tags.span(title), tags.span(note, {"class": "quiet-text"}) if note else None),
        tags.div(*content, {"class": "more"}),
        {"id": id},
        {"open": "", "data-open": ""} if is_open else {},
    )


def card(*content: TagChild, title: TagChild = "", id: str | None = None) -> Tag:
    """Return a part of a step, with a title."""
    return tags.section(
        tags.h2(title) if title else None,
        *content,
        {"class": "card"},
        {"id": id} if id else {},
    )


def heading(title: str, lead: TagChild) -> Tag:
    """Return the heading of a step: what it is for."""
    return tags.header(
        tags.h1(title, {"id": "step-title", "tabindex": "-1"}),
        tags.p(lead, {"class": "lead"}),
    )


def facts(rows: Iterable[tuple[TagChild, TagChild]]) -> Tag:
    """Return names and values, one below the other."""
    return tags.dl(
        [
            tags.div(tags.dt(sentence(name) if isinstance(name, str) else name), tags.dd(value))
            for name, value in rows
        ],
        {"class": "facts"},
    )


def notice(*content: TagChild, kind: str = "note", id: str | None = None) -> Tag:
    """Return a message in a box: note, good, caution or bad."""
    return tags.div(
        *content,
        {"class": f"notice {kind}", "role": "alert" if kind == "bad" else "note"},
        {"id": id} if id else {},
    )


def empty(text: str, *actions: TagChild) -> Tag:
    """Return what an empty part says: what to do."""
    return tags.div(tags.p(text), tags.div(*actions, {"class": "actions"}), {"class": "empty"})


def actions(*content: TagChild) -> Tag:
    """Return buttons in a row; the primary one comes first."""
    return tags.div(*content, {"class": "actions"})


def table(header: Iterable[TagChild], rows: Iterable[Iterable[TagChild]], **given: Any) -> Tag:
    """Return a table that scrolls on its own if it is wider than the page."""
    caption = given.pop("caption", None)
    body = tags.table(
        tags.caption(caption, {"class": "sr-only"}) if caption else None,
        tags.thead(tags.tr([tags.th(name, {"scope": "col"}) for name in header])),
        tags.tbody([tags.tr([tags.td(cell) for cell in row]) for row in rows]),
    )
    return tags.div(
        body,
        {"class": "scroll", "tabindex": "0", "role": "region"},
        {"aria-label": caption or "table"},
        given,
    )


def code_block(title: str, text: str, *, id: str) -> Tag:
    """Return code with a button that copies it."""
    return tags.div(
        tags.div(
            tags.h3(title),
            tags.button(
                "Copy",
                {"type": "button", "class": "button quiet", "id": f"{id}-copy", "data-copy": id},
                {"aria-label": f"Copy: {title}"},
            ),
            {"class": "code-head"},
        ),
        tags.pre(tags.code(text, {"id": id}), {"tabindex": "0"}),
        {"class": "code"},
    )


def raw(svg: str) -> HTML:
    """Return markup that was made here, as it is."""
    return HTML(svg)


def joined(*content: TagChild) -> TagList:
    """Return parts one after another."""
    return TagList(*content)
