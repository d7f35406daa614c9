"""The page: five steps in a line, what each shows, and the session behind it.

Views are functions of a desk; what somebody does comes in as the input `act`, and the views that
depend on it are sent again. Long work is done by jobs: the page only looks how far they are.
"""

import asyncio
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

from htmltools import HTMLDependency, Tag, TagChild, TagList, head_content, tags
from shiny import App, Inputs, Outputs, Session, reactive, render, req

import microagg
from microagg.app.actions import ACTIONS, drop
from microagg.app.code import code_for
from microagg.app.desk import IN_PASSING, Desk
from microagg.app.desks import Desks
from microagg.app.guard import MOST_DROPPED, TOO_LARGE
from microagg.app.parts import actions, button, code_block, more, notice
from microagg.app.state import EXPLORE, STEPS
from microagg.app.steps import data, explore, protect, release, roles, running
from microagg.app.workspace import Workspace

_VIEWS = {
    "data": data.view,
    "roles": roles.view,
    "protect": protect.view,
    "explore": explore.view,
    "release": release.view,
}
OUTPUTS = ("steps", "body", "progress", "code")
_SECONDS_BETWEEN_LOOKS = 0.3


def app(workspace: Workspace, opened: str | None) -> App:
    """Return the app for a workspace, with a file opened at first."""
    desks = Desks(workspace, opened)

    def server(input: Inputs, output: Outputs, session: Session) -> None:  # noqa: ARG001
        serve_page(desks, input, session)

    made = App(page(), server)
    made.sanitize_errors = True  # an error's own words may quote values
    return made


def page() -> Tag:
    """Return what every page begins with; the views come with the connection."""
    own = HTMLDependency(
        "microagg",
        microagg.__version__,
        source={"subdir": str(files("microagg.app").joinpath("static"))},
        stylesheet={"href": "app.css"},
        script={"src": "app.js"},
    )
    body = tags.body(
        own,
        head_content(
            tags.title("microagg"),
            tags.meta({"name": "viewport", "content": "width=device-width, initial-scale=1"}),
            tags.meta({"name": "color-scheme", "content": "light dark"}),
            tags.link({"rel": "icon", "href": "data:,"}),
        ),
        tags.a("Skip to the step", {"href": "#body", "class": "skip"}),
        tags.header(
            tags.div(
                tags.span("microagg", {"class": "brand"}),
                tags.button(
                    "Dark",
                    {"type": "button", "id": "theme", "class": "button quiet"},
                    {"aria-pressed": "false"},
                ),
                {"class": "top"},
            ),
            view("steps", "nav", label="Steps"),
            {"class": "masthead"},
        ),
        tags.div(
            "The app has stopped, or cannot be reached. Start it again with: microagg app",
            {"id": "gone", "class": "notice bad", "role": "alert", "hidden": ""},
        ),
        view("progress", "div"),
        tags.main(view("body", "div"), view("code", "div"), {"id": "main"}),
        tags.div(_drop(), {"id": "drop-store", "hidden": ""}),
    )
    return tags.html(tags.head(), body, {"lang": "en"})


def view(name: str, element: str, *, label: str | None = None) -> Tag:
    """Return the place of a view, which the server fills."""
    return Tag(element, {"id": name, "class": "view"}, {"aria-label": label} if label else {})


def _drop() -> Tag:
    """Return where files are dropped; Shiny sends them, to the private folder."""
    return tags.div(
        tags.div(
            tags.label("Choose a file", {"for": "dropped", "class": "button plain"}),
            tags.span("or drop it here: it goes to a private folder, emptied when the app ends."),
            tags.input(
                {"type": "file", "id": "dropped", "class": "sr-only"},
                {"data-most": str(MOST_DROPPED), "data-too-large": TOO_LARGE},
            ),
            {"class": "input-group"},
        ),
        tags.div(
            tags.div({"class": "progress-bar"}),
            {"id": "dropped_progress", "class": "shiny-file-input-progress", "role": "status"},
        ),
        {"id": "drop", "class": "drop"},
    )


def steps(desk: Desk) -> TagList:
    """Return the line of steps, with undo and redo."""
    now = desk.state.view.step
    listed = [
        tags.li(
            tags.button(
                tags.span(str(at), {"class": "number"}),
                tags.span(name.capitalize(), {"data-label": name.capitalize()}),
                {"type": "button", "id": f"step-{name}", "data-do": "go", "data-step": name},
                {"aria-current": "step"} if name == now else {},
                {"class": "done"} if _is_done(desk, name) else {},
            )
        )
        for at, name in enumerate(STEPS, 1)
    ]
    history = desk.state.history
    return TagList(
        tags.ol(listed),
        tags.div(
            button("Undo", "undo", id="undo", kind="quiet", disabled=not history.past),
            button("Redo", "redo", id="redo", kind="quiet", disabled=not history.future),
            {"class": "history"},
        ),
        tags.p(desk.said, {"id": "said", "role": "status", "class": "said"}),
    )


def _is_done(desk: Desk, step: str) -> bool:
    found = desk.described
    if step == "data" or found is None:
        return found is not None
    if step == "roles":
        return not roles.blocking(desk.state, found)
    return step in ("protect", "explore") and desk.protected is not None


def code(desk: Desk) -> Tag:
    """Return the command and the Python that do the same as a step."""
    step = desk.state.view.step
    found = code_for(step, desk.replay_of_comparison if step == EXPLORE else desk.replay)
    source = desk.state.now.source
    is_copy = source is not None and Path(source.path).is_relative_to(desk.workspace.folder)
    return more(
        "The same as a command, and in Python",
        notice(
            "The open table is a private copy, which is removed when the app ends: name your own "
            "file in its place.",
            id="private-copy",
        )
        if is_copy
        else None,
        code_block("Command line", found.command, id="command"),
        code_block("Python", found.python, id="python"),
        id="code-panel",
    )


def asked_for(desk: Desk) -> list[str]:
    """Return the tasks under way that somebody has asked for, the last one first."""
    return [task for task in reversed(desk.runs) if task not in IN_PASSING]


def progress(desks: Desks, desk: Desk) -> TagChild:
    """Return how far the tasks of the page are, on whatever step one is."""
    every = [(task, desk.status(task)) for task in asked_for(desk)]
    shown = [running.progress(status, task) for task, status in every if status is not None]
    if shown:
        return tags.div(*shown, {"class": "stack"})
    if (other := desks.abandoned()) is not None:
        is_over = other.status().is_over
        return notice(
            tags.p(
                "A page was closed before its release was written."
                if is_over
                else "The page of a run was closed."
            ),
            actions(
                button("Show it", "take_over", id="take-over", kind="primary", job=other.id),
                button("Discard it", "discard", id="discard", kind="danger", job=other.id)
                if is_over
                else None,
            ),
        )
    return tags.div()


def serve_page(desks: Desks, input: Inputs, session: Session) -> None:
    """Connect one page: what is done, the views, and looking after jobs."""
    changed, looked = reactive.value(0), reactive.value(0)
    renamed = reactive.value("")
    offered = reactive.value("")  # the job whose page was closed

    @reactive.calc
    def desk() -> Desk:
        tab = req(input.tab())
        name, found = desks.take(tab)
        session.on_ended(lambda: desks.leave(name, found))
        if name != tab:
            renamed.set(name)
        return found

    def show_again() -> None:
        with reactive.isolate():
            changed.set(changed() + 1)

    @reactive.effect
    @reactive.event(input.act)
    async def _act() -> None:
        message = input.act()
        if not isinstance(message, dict):
            return
        if message.get("do") == "take_over":
            desks.hand_over(str(message.get("job")), desk())
        if message.get("do") == "discard":
            desks.discard(str(message.get("job")))
        await asyncio.to_thread(desk().act, ACTIONS, message)
        show_again()

    @reactive.effect
    @reactive.event(input.dropped)
    def _drop_file() -> None:
        desk().act({"drop": drop}, {"do": "drop", "place": "path", "files": input.dropped()})
        show_again()

    @reactive.effect
    async def _rename() -> None:
        if name := renamed():
            await session.send_custom_message("microagg-tab", {"name": name})

    @reactive.effect
    def _look() -> None:
        reactive.invalidate_later(_SECONDS_BETWEEN_LOOKS)
        if desk().follow():
            show_again()
        found = desks.abandoned()
        with reactive.isolate():
            is_new = offered() != (offered_now := "" if found is None else found.id)
            if is_new or desk().runs or desks.jobs.is_busy() or looked() == 0:
                offered.set(offered_now)
                looked.set(looked() + 1)

    def current() -> Desk:
        changed()
        return desk()

    def tasks() -> TagChild:
        looked()
        return progress(desks, current())

    _send_views(session, current, tasks)


def _send_views(
    session: Session, current: Callable[[], Desk], tasks: Callable[[], TagChild]
) -> None:
    """Send every view now, and again whenever what it is made from has changed."""

    @render.ui
    def steps_() -> TagChild:
        return steps(current())

    @render.ui
    def body() -> TagChild:
        desk = current()
        step = desk.state.view.step
        return tags.div(_VIEWS[step](desk), {"data-step": step, "class": "step"})

    @render.ui
    def code_() -> TagChild:
        return code(current())

    @render.ui
    def progress_() -> TagChild:
        return tasks()

    for name, shown in zip(OUTPUTS, (steps_, body, progress_, code_), strict=True):
        session.output(id=name, suspend_when_hidden=False)(shown)
