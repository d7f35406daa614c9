"""What somebody can do on a page, by name: each changes a desk, or asks it for work."""

from collections.abc import Mapping
from pathlib import Path

from microagg.app.desk import Action, Desk, Payload
from microagg.app.state import STEPS, State
from microagg.app.steps import data, explore, protect, release, roles


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
