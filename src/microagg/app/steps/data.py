"""Data: open a table by its path, by dropping it, from the recent ones, or try a sample."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from htmltools import Tag, TagList, tags

from microagg.app.answers import Column, Described, SourceAnswer
from microagg.app.controls import control, label_of
from microagg.app.desk import DESCRIBE, Action, Desk, Payload
from microagg.app.parts import (
    actions,
    button,
    card,
    does,
    entered,
    facts,
    field,
    heading,
    more,
    name_of,
    notice,
    sentence,
    table,
    text_input,
)
from microagg.app.paths import entered_path
from microagg.app.samples import SAMPLES, sample_path
from microagg.app.state import Choices, OutputChoices, State
from microagg.app.words import SIZES, in_words, kind_of, on_the_page
from microagg.core.errors import ParameterError
from microagg.files.formats import DIALECT_OPTIONS, protected_name, suffix_list
from microagg.plans.plan import Plan

_MARKS = {
    "\t": "tab",
    " ": "blank",
    ",": "comma (,)",
    ";": "semicolon (;)",
    ".": "point (.)",
    "|": "bar (|)",
}
OPTIONS = ("na", "dates")  # they say how entries of the file are read


def view(desk: Desk) -> TagList:
    """Return the step."""
    found = desk.described
    return TagList(
        heading("Data", "Open a table. It is read where it is: nothing leaves this computer."),
        _opening(desk),
        _described(desk, found) if found is not None else _samples(desk),
    )


def _opening(desk: Desk) -> Tag:
    state, source = desk.state, desk.state.now.source
    opening = desk.runs.get(DESCRIBE)
    asked = opening.text if opening is not None and opening.place == "path" else ""
    path = entered(state, "path", asked or ("" if source is None else source.path))
    return card(
        tags.div(
            field(
                "Path of the file",
                text_input("", path, id="path", hint="/data/people.csv", enter="open"),
                help=f"{suffix_list()}. Any size: it is not copied.",
                state=state,
                place="path",
            ),
            button(
                "Open",
                "open",
                id="open",
                kind="primary",
                disabled=opening is not None,
                place="path",
            ),
            {"class": "row", "data-form": "open"},
        ),
        tags.div({"id": "drop-place"}),  # static/app.js puts the place for dropping here
        _recent(desk),
        _dialect(state),
        title="Open a file",
        id="card-open",
    )


def _recent(desk: Desk) -> Tag | None:
    paths = desk.workspace.recent()
    if not paths:
        return None
    listed = [
        tags.li(
            button(
                tags.span(tags.b(path.name), " ", tags.span(str(path.parent), {"class": "path"})),
                "open_path",
                id=f"recent-{at}",
                kind="link",
                path=path,
                place="path",
            )
        )
        for at, path in enumerate(paths)
    ]
    return more(
        "Recent files",
        tags.ul(listed, {"class": "plain-list"}),
        button("Clear this list", "forget_recent", id="forget-recent", kind="quiet"),
        id="recent",
        is_open=desk.described is None,
    )


def _dialect(state: State) -> Tag:
    source = state.now.source or SourceAnswer(path="")
    said = source.dialect
    fields = [
        field(
            label_of(name),
            tags.input(
                {"type": "text", "id": name, "name": name, "value": said.get(name, "")},
                {"autocomplete": "off", "data-enter": "reopen"},
            ),
            help=own.help,
            state=state,
            place=f"dialect-{name}",
        )
        for name, own in DIALECT_OPTIONS.items()
    ]
    note = ", ".join(f"{name} {value}" for name, value in said.items())
    note = note or ", ".join(label_of(name).lower() for name in DIALECT_OPTIONS)
    return more(
        "How the file is written",
        tags.div(
            tags.div(fields, {"class": "grid"}),
            button(
                "Read it again",
                "reopen",
                id="reopen",
                disabled=_asked_for(state) is None,
                place="path",
            ),
            {"data-form": "dialect", "class": "stack"},
        ),
        tags.h3("Entries"),
        tags.div([control(state, name) for name in OPTIONS], {"class": "grid"})
        if state.now.source
        else tags.p("Open a file first.", {"class": "help"}),
        id="dialect",
        is_open=is_file_refused(state, "path"),
        note=note,
    )


def _samples(desk: Desk) -> Tag:
    if desk.is_running(DESCRIBE):
        return tags.div()
    listed = [
        tags.li(
            button(name, "open_sample", id=f"sample-{name}", sample=name, place="path"),
            tags.span(sample.summary),
        )
        for name, sample in SAMPLES.items()
    ]
    return card(
        tags.p("No table is open. Open one above, or try one of these:"),
        tags.ul(listed, {"class": "samples"}),
        title="Sample tables",
        id="card-samples",
    )


def _described(desk: Desk, found: Described) -> Tag:
    rows = [
        ("Records", f"{found.n_records:,}"),
        ("Columns", f"{len(found.columns):,}"),
        ("Format", f"{found.format}, {in_words(found.n_bytes, SIZES)}"),
        *((name.capitalize(), _shown_mark(value)) for name, value in found.dialect.items()),
    ]
    return card(
        facts(rows),
        *[notice(sentence(text), kind="caution") for text in found.warnings],
        actions(
            button("Choose roles", "go", id="to-roles", kind="primary", step="roles"),
            button("Close this table", "close_source", id="close-source", kind="quiet"),
        ),
        _search(desk.state),
        table(
            ("Column", "Type", "Missing", "Different values", "Why"),
            [_row(column, found.n_records) for column in shown_columns(desk.state, found)],
            caption=f"Columns of {found.name}",
            id="columns",
        ),
        title=found.name,
        id="card-described",
    )


def _shown_mark(value: str) -> str:
    return _MARKS.get(value, value)


def _search(state: State) -> Tag:
    return tags.div(
        tags.label("Find a column", {"for": "search", "class": "sr-only"}),
        tags.input(
            {"type": "search", "id": "search", "value": state.view.search, "data-live": ""},
            {"placeholder": "Find a column", "autocomplete": "off", **does("search")},
        ),
        {"class": "search"},
    )


def shown_columns(state: State, found: Described) -> list[Column]:
    """Return the columns whose names contain what is searched for."""
    wanted = state.view.search.strip().casefold()
    return [column for column in found.columns if wanted in column.name.casefold()]


def _row(column: Column, n: int) -> tuple[Any, ...]:
    share = f" ({100 * column.missing / n:.2g}\N{NO-BREAK SPACE}%)" if column.missing and n else ""
    return (
        name_of(column.name, "wide"),
        kind_of(column),
        f"{column.missing:,}{share}" if column.missing else "none",
        f"{column.distinct:,}",
        tags.span(column.why or on_the_page(column.reason), {"class": "why"}),
    )


def open_file(desk: Desk, given: Payload) -> None:
    """Open the file whose path was entered."""
    _open(desk, str(given["fields"].get("path") or given.get("path") or ""))


def open_path(desk: Desk, given: Payload) -> None:
    """Open a recent file."""
    _open(desk, str(given["path"]))


def _open(desk: Desk, path: str, **dialect: str) -> None:
    if not path.strip(' "'):
        raise ParameterError("enter the path of a file, or drop one.")
    place = entered_path(path)
    source = SourceAnswer(path=str(place), **dialect)
    if source.path == _path(desk.state):
        desk.adopt(lambda now: replace(now, source=source), "path", path)
        return
    outputs = OutputChoices()
    if place.is_relative_to(desk.workspace.folder):  # it would be removed there
        outputs = OutputChoices(target=str(Path.cwd() / Path(protected_name(place.name)).name))
    desk.adopt(lambda now: Choices(source, Plan(k=now.plan.k), now.study, outputs), "path", path)


def _path(state: State) -> str | None:
    source = state.now.source
    return None if source is None else source.path


def _asked_for(state: State) -> str | None:
    """Return the file that was asked for last: one that was refused may only lack its sheet."""
    refused = state.view.refusals.get("path")
    return refused.text if refused is not None and refused.text else _path(state)


def is_file_refused(state: State, place: str) -> bool:
    """Whether a file was refused that may be read once it is said how it is written."""
    refused = state.view.refusals.get(place)
    if refused is None:
        return False
    try:
        path = entered_path(refused.text)
        return path.is_file() and path.stat().st_size > 0
    except (OSError, ParameterError):  # no path of a file
        return False


def open_sample(desk: Desk, given: Payload) -> None:
    """Write a sample table to the private folder, and open it."""
    _open(desk, str(sample_path(str(given["sample"]), desk.workspace.folder)))


def reopen(desk: Desk, given: Payload) -> None:
    """Read the file again, written as it was said."""
    path = _asked_for(desk.state)
    if path is None:
        raise ParameterError("open a file first.")
    said = {name: str(given["fields"].get(name, "")) for name in DIALECT_OPTIONS}
    _open(desk, path, **{name: text for name, text in said.items() if text})


def close_source(desk: Desk, _: Payload) -> None:
    """Go back to no table; undo opens it again."""
    desk.choose(source=None, plan=Plan(k=desk.state.plan.k))
    desk.look(refusals={})


def forget_recent(desk: Desk, _: Payload) -> None:
    """Empty the list of recent files."""
    desk.workspace.forget_recent()


def search(desk: Desk, given: Payload) -> None:
    """Show the columns whose names contain a text."""
    desk.look(search=str(given.get("value", "")))


ACTIONS: dict[str, Action] = {
    "open": open_file,
    "open_path": open_path,
    "open_sample": open_sample,
    "reopen": reopen,
    "close_source": close_source,
    "forget_recent": forget_recent,
    "search": search,
}
