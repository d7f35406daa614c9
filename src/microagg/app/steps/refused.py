"""Entries of the plan that were refused: nothing runs as if they had not been made."""

from collections.abc import Iterator

from microagg.app.answers import Described
from microagg.app.changes import COLUMN_OPTIONS, OPTIONS
from microagg.app.controls import label_of
from microagg.app.desk import Desk
from microagg.app.state import DATA, PROTECT, ROLES, State
from microagg.app.steps.column_options import key_of
from microagg.app.steps.data import OPTIONS as OF_ENTRIES
from microagg.core.errors import ParameterError
from microagg.core.words import short_name
from microagg.plans.options import Kind, Section

_SHOWN_FIRST = ("k", "effort")  # the others of their step are folded in


def refused(state: State, found: Described) -> str:
    """Return which entries of the plan are refused, and where, in a sentence; empty for none.

    What was entered is not in the plan: a run would do what was chosen before it.
    """
    names = list(_refused(state, found))
    if not names:
        return ""
    them = "it" if len(names) == 1 else "them"
    return f"Refused, and not part of the plan: {', '.join(names)}. Correct or empty {them}."


def check_nothing_refused(desk: Desk) -> None:
    """Refuse to go on while entries of the plan are refused."""
    if sentence := refused(desk.state, desk.known):
        raise ParameterError(sentence)


def _refused(state: State, found: Described) -> Iterator[str]:
    refusals = state.view.refusals
    # A box goes back to what it was, and so does what is not typed: nothing refused is left there.
    typed = {place for place, own in refusals.items() if own.text}
    for keyword, option in OPTIONS.items():
        if f"option-{keyword}" in refusals and option.kind is not Kind.SWITCH:
            yield f"{label_of(keyword)} ({_where(keyword)})"
    roles = f"step {ROLES.capitalize()}"
    for column in found.columns:
        name, key = column.name, key_of(column.name)
        shown = short_name(name)
        if f"role-{key}" in typed:
            yield f"the role of {shown} ({roles})"
        for keyword in COLUMN_OPTIONS:
            if f"column-{keyword}-{name}" in typed:
                yield f"{label_of(keyword)} of {shown} ({roles})"
        if f"order-{key}" in typed:
            yield f"the order of {shown} ({roles})"
    if "new-constraint" in typed:
        yield f"the new constraint ({roles})"
    if "requirement-value" in typed:
        yield f"the new requirement (step {PROTECT.capitalize()})"


def _where(keyword: str) -> str:
    if keyword in OF_ENTRIES:
        return f"step {DATA.capitalize()}, under How the file is written"
    if OPTIONS[keyword].flag.section is Section.COLUMNS:
        return f"step {ROLES.capitalize()}"
    folded = "" if keyword in _SHOWN_FIRST else ", under More options"
    return f"step {PROTECT.capitalize()}{folded}"
