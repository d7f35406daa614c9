"""Constraints in the step Roles: what every released record satisfies, and who violates it now."""

from htmltools import Tag, tags

from microagg.aggregates.choices import Missing
from microagg.app.answers import Described
from microagg.app.changes import with_constraint, without_constraint
from microagg.app.desk import VIOLATIONS, Action, Desk, Payload
from microagg.app.parts import button, card, entered, error_at, field, more, sentence, text_input
from microagg.core.errors import ParameterError
from microagg.core.words import counted
from microagg.tables.roles import no_such_column


def view(desk: Desk, found: Described) -> Tag:
    """Return the part of the step about constraints."""
    state = desk.state
    texts = [own.text for own in state.plan.constraints]
    listed = [
        tags.li(
            tags.code(text),
            *_violating(desk, text, found.n_records),
            button(
                "Remove",
                "remove_constraint",
                id=f"remove-constraint-{at}",
                kind="small",
                text=text,
                title=f"Remove {text}",
                place="new-constraint",
            ),
        )
        for at, text in enumerate(texts)
    ]
    offered = [own for own in found.proposals if own.text not in texts]
    proposals = [
        tags.li(
            tags.code(own.text),
            tags.span(own.comment, {"class": "why"}),
            button(
                "Add",
                "add_constraint",
                id=f"propose-constraint-{at}",
                kind="small",
                text=own.text,
                title=f"Add {own.text}",
                place="new-constraint",
            ),
        )
        for at, own in enumerate(offered)
    ]
    return card(
        tags.p(
            "What every released record satisfies: totals that add up, dates in order.",
            {"class": "help"},
        ),
        tags.ul(listed, {"class": "entries", "id": "constraints"}) if listed else None,
        error_at(state, "constraints"),
        tags.div(
            field(
                "New constraint",
                text_input(
                    "",
                    entered(state, "new-constraint", ""),
                    id="new-constraint",
                    hint="net + tax = gross",
                    enter="add-constraint",
                ),
                state=state,
                place="new-constraint",
            ),
            button("Add", "add_constraint", id="add-constraint", place="new-constraint", clears=""),
            {"class": "row", "data-form": "constraint"},
        ),
        more(
            f"{counted(len(offered), 'proposed constraint')}",
            tags.ul(proposals, {"class": "entries"}),
            id="constraint-proposals",
            is_open=not texts,
        )
        if offered
        else None,
        title="Constraints",
        id="card-constraints",
    )


def _violating(desk: Desk, text: str, n: int) -> list[Tag]:
    """Say how many records violate a constraint, and what becomes of those with gaps."""
    found = desk.violations
    if found is None:
        waiting = desk.is_running(VIOLATIONS)
        return [tags.span("counting …" if waiting else "not counted", {"class": "why"})]
    if text in found.errors:
        return [tags.span(sentence(found.errors[text]), {"class": "error"})]
    count, gaps = found.counts.get(text, 0), found.gaps.get(text, 0)
    if count:
        verb = "violates" if count == 1 else "violate"
        shown = tags.span(f"{counted(count, 'record')} {verb} it", {"class": "caution-text"})
    else:
        others = " without gaps" if gaps else ""
        shown = tags.span(f"all {n - gaps:,} records{others} satisfy it", {"class": "good-text"})
    return [shown, *_about_gaps(gaps, desk.state.plan.missing)]


def _about_gaps(gaps: int, missing: Missing) -> list[Tag]:
    """Say what becomes of records that lack a value of a constraint's columns."""
    if not gaps:
        return []
    have = "has" if gaps == 1 else "have"
    if missing is Missing.IMPUTE:
        words = f"{counted(gaps, 'record')} {have} gaps, which are filled in"
        return [tags.span(words, {"class": "why"})]
    words = f"{counted(gaps, 'record')} {have} gaps: choose impute for missing values below"
    return [tags.span(words, {"class": "caution-text"})]


def add_constraint(desk: Desk, given: Payload) -> None:
    """Add a constraint, as it was proposed or typed."""
    text = str(given.get("text") or given["fields"].get("new-constraint", "")).strip()
    if not text:
        raise ParameterError('enter a constraint, such as "net + tax = gross".')
    names = [own.name for own in desk.known.columns]
    plan = with_constraint(desk.state.plan, text)
    for name in plan.constraints[-1].coefficients:
        if name not in names:
            raise ParameterError(f"constraint {text!r}: {no_such_column(name, names)}")
    desk.choose(plan=plan)


def remove_constraint(desk: Desk, given: Payload) -> None:
    """Remove a constraint."""
    desk.choose(plan=without_constraint(desk.state.plan, str(given["text"])))


ACTIONS: dict[str, Action] = {
    "add_constraint": add_constraint,
    "remove_constraint": remove_constraint,
}
