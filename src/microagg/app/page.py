"""The page: five steps in a line, what each shows, and the session behind it.

Views are functions of a desk; what somebody does comes in as the input `act`, and the views that
depend on it are sent again. Long work is done by jobs: the page only looks how far they are.
"""

import asyncio
import secrets
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from htmltools import HTMLDependency, Tag, TagChild, TagList, head_content, tags
from shiny import App, Inputs, Outputs, Session, reactive, render, req

import microagg
from microagg.app.code import code_for
from microagg.app.desk import IN_PASSING, PROTECT, Action, Desk, Payload
from microagg.app.guard import MOST_DROPPED, TOO_LARGE
from microagg.app.jobs import Job, Jobs
from microagg.app.parts import actions, button, code_block, more, notice
from microagg.app.state import EXPLORE, STEPS, Choices, State
from microagg.app.steps import data, explore, protect, release, roles, running
from microagg.app.workspace import Workspace

_VIEWS = {
    "data": data.view,
    "roles": roles.view,
    "protect": protect.view,
    "explore": explore.view,
    "release": release.view,
}
_SECONDS_BETWEEN_LOOKS = 0.3
_MOST_DESKS = 50


def app(workspace: Workspace, opened: str | None) -> App:
    """Return the app for a workspace, with a file opened at first."""
    desks = Desks(workspace, opened)

    def server(input: Inputs, output: Outputs, session: Session) -> None:  # noqa: ARG001
        serve_page(desks, input, session)

    made = App(page(), server)
    made.sanitize_errors = True  # an error's own words may quote values
    return made


class Desks:
    """The desks of all pages, by the names of their tabs: a page that is reloaded has its own."""

    def __init__(self, workspace: Workspace, opened: str | None) -> None:
        self.workspace = workspace
        self.jobs = Jobs(workspace)
        self._opened = opened
        self._desks: dict[str, Desk] = {}
        self._in_use: set[str] = set()
        workspace.is_busy = self.is_busy

    def is_busy(self) -> bool:
        """Whether a job is under way, or a release has not been written: it would be lost."""
        desks = list(self._desks.values())  # another thread may open one meanwhile
        return self.jobs.is_busy() or any(own.unwritten is not None for own in desks)

    def take(self, tab: str) -> tuple[str, Desk]:
        """Return the desk of a tab, and the name that the tab has from now on.

        A tab that was duplicated comes with the name of the other: it gets a name of its own, and
        a copy of the other's choices.
        """
        known = self._desks.get(tab)
        if known is not None and tab not in self._in_use:
            self._in_use.add(tab)
            return tab, known
        desk = Desk(self.workspace, self.jobs)
        if known is not None:
            tab, desk.state = secrets.token_hex(16), known.state
            desk.ask_for_what_is_missing()
        else:
            self._open_first(desk)
        self._make_room()
        self._desks[tab] = desk
        self._in_use.add(tab)
        return tab, desk

    def _make_room(self) -> None:
        """Forget pages that were closed long ago, if there are many."""
        closed = [tab for tab, own in self._desks.items() if tab not in self._in_use]
        idle = [tab for tab in closed if not self._desks[tab].runs]
        idle.sort(key=lambda tab: self._desks[tab].unwritten is not None)  # these last
        for tab in idle[: max(0, len(self._desks) - _MOST_DESKS + 1)]:
            self._desks.pop(tab).close()

    def leave(self, tab: str, desk: Desk) -> None:
        """Note that a page was closed; its desk stays for when it is opened again."""
        if self._desks.get(tab) is desk:
            self._in_use.discard(tab)

    def _open_first(self, desk: Desk) -> None:
        """Open the file that was named at the start, once."""
        if self._opened is not None:
            path, self._opened = self._opened, None
            desk.act(ACTIONS, {"do": "open_path", "place": "path", "path": path, "value": path})

    def abandoned(self) -> Job | None:
        """Return the last run whose page was closed before its release was written."""
        runs = [own.runs[PROTECT].job for own in self._closed if PROTECT in own.runs]
        wanted = [job for job in runs if job.status().state not in ("failed", "cancelled")]
        wanted = wanted or [own.unwritten for own in self._closed if own.unwritten is not None]
        return wanted[-1] if wanted else None

    @property
    def _closed(self) -> list[Desk]:
        return [own for tab, own in self._desks.items() if tab not in self._in_use]

    def hand_over(self, name: str, desk: Desk) -> None:
        """Give a run whose page was closed, or its release, to another page."""
        if (found := self._taken_away(name)) is not None:
            desk.take_over(*found)

    def discard(self, name: str) -> None:
        """Remove a release whose page was closed."""
        if (found := self._taken_away(name)) is not None:
            self.jobs.discard(found[0])

    def _taken_away(self, name: str) -> tuple[Job, Choices] | None:
        job = self.abandoned()
        if job is None or job.id != name:  # somebody else has it by now
            return None
        (owner,) = (own for own in self._closed if own.has(job))
        return job, owner.give_away(job)


def go(desk: Desk, given: Payload) -> None:
    """Go to a step."""
    if (step := str(given["step"])) in STEPS:
        desk.look(step=step, asking="")


def undo(desk: Desk, _: Payload) -> None:
    """Take the last choice back."""
    desk.state = State(desk.state.history.undo(), desk.state.view)
    desk.look(refusals={}, asking="")


def redo(desk: Desk, _: Payload) -> None:
    """Make the choice again that was taken back."""
    desk.state = State(desk.state.history.redo(), desk.state.view)
    desk.look(refusals={}, asking="")


def forget_refusal(desk: Desk, _: Payload) -> None:
    """Take a reason away whose field was emptied: whatever is done at a place does that."""


def stop(desk: Desk, given: Payload) -> None:
    """Keep the best so far."""
    desk.stop(str(given["task"]))


def cancel(desk: Desk, given: Payload) -> None:
    """End a task, if it is still under way."""
    desk.cancel(str(given["task"]))


def drop(desk: Desk, given: Payload) -> None:
    """Open the files that Shiny has put into the private folder; no word of the page does this."""
    for file in given["files"] or ():
        path = desk.workspace.keep(Path(file["datapath"]), str(file["name"]))
        data.open_path(desk, {"path": path})


def asked_for(desk: Desk) -> list[str]:
    """Return the tasks under way that somebody has asked for, the last one first."""
    return [task for task in reversed(desk.runs) if task not in IN_PASSING]


ACTIONS: Mapping[str, Action] = {
    "go": go,
    "undo": undo,
    "redo": redo,
    "forget_refusal": forget_refusal,
    "stop": stop,
    "cancel": cancel,
    **data.ACTIONS,
    **roles.ACTIONS,
    **protect.ACTIONS,
    **explore.ACTIONS,
    **release.ACTIONS,
}
OUTPUTS = ("steps", "body", "progress", "code")


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
    return more(
        "The same as a command, and in Python",
        code_block("Command line", found.command, id="command"),
        code_block("Python", found.python, id="python"),
        id="code-panel",
    )


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
    changed = reactive.value(0)
    looked = reactive.value(0)
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

    @render.ui
    def steps_() -> TagChild:
        changed()
        return steps(desk())

    @render.ui
    def body() -> TagChild:
        changed()
        step = desk().state.view.step
        return tags.div(_VIEWS[step](desk()), {"data-step": step, "class": "step"})

    @render.ui
    def code_() -> TagChild:
        changed()
        return code(desk())

    @render.ui
    def progress_() -> TagChild:
        changed(), looked()
        return progress(desks, desk())

    for name, shown in zip(OUTPUTS, (steps_, body, progress_, code_), strict=True):
        session.output(id=name, suspend_when_hidden=False)(shown)
