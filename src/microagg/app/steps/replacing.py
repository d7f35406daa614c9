"""Files that are there already: asked about, and replaced only if all of them were named."""

from pathlib import Path

from htmltools import Tag, tags

from microagg.app.desk import Desk
from microagg.app.state import State


def already_there(state: State) -> Tag:
    """Name the files that would be replaced."""
    names = [Path(path).name for path in state.view.about]
    return tags.p(f"Already there: {', '.join(names)}. Replace?")


def was_asked(desk: Desk, question: str, there: list[str]) -> bool:
    """Whether a question was asked, and about all files that are there now."""
    view = desk.state.view
    return view.asking == question and set(there) <= set(view.about)
