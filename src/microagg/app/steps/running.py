"""The run, in the step Protect: starting it, how far it is, and what it warned of."""

from htmltools import Tag, tags

from microagg.app.answers import Described, Protected
from microagg.app.changes import switches_named_in, with_option
from microagg.app.controls import label_of
from microagg.app.desk import COMPARE, DESCRIBE, PROTECT, SAVE, VERIFY, Action, Desk, Payload
from microagg.app.jobs import JobStatus
from microagg.app.parts import actions, button, card, error_at, notice, sentence
from microagg.app.state import State
from microagg.app.steps import repeating
from microagg.app.steps.refused import check_nothing_refused, refused
from microagg.app.steps.roles import blocking
from microagg.app.words import TIMES, in_words
from microagg.core.errors import SEARCH_INTERRUPTED, ParameterError
from microagg.core.words import percent

_NAMES = {
    DESCRIBE: "Opening the table",
    PROTECT: "Protecting the table",
    COMPARE: "Comparing methods",
    SAVE: "Writing the release",
    VERIFY: "Verifying a file",
}


def view(desk: Desk, found: Described) -> Tag:
    """Return the part of the step about the run."""
    state = desk.state
    blocked = blocking(state, found) or refused(state, found)
    if desk.is_running(PROTECT):
        return card(
            tags.p("The run continues if you close this page.", {"class": "help"}), id="card-run"
        )
    made = desk.protected
    return card(
        notice(blocked, kind="caution", id="blocked") if blocked else None,
        repeating.question(state, found),
        error_at(state, PROTECT),
        notice(
            tags.p(tags.b(made.verdict)),
            tags.p(made.title),
            kind="good",
            id="made",
        )
        if made is not None
        else None,
        *(warnings_of(state, made) if made is not None else ()),
        actions(
            button("Explore the release", "go", id="to-explore", kind="primary", step="explore")
            if made is not None
            else button(
                "Protect the table", "run", id="run", kind="primary", disabled=bool(blocked)
            ),
            button("Compare methods first", "go", id="to-compare", kind="quiet", step="explore")
            if made is None
            else button("Run it again", "run", id="run", kind="quiet", disabled=bool(blocked)),
        ),
        id="card-run",
    )


def warnings_of(state: State, made: Protected) -> list[Tag]:
    """Return the warnings of a run; one that names a switch of the plan can be acted upon.

    That a search was ended early comes first, and is said once.
    """
    ended = [notice(made.ended, kind="caution", id="ended")] if made.ended else []
    texts = [text for text in made.warnings if not (ended and text == SEARCH_INTERRUPTED)]
    return ended + [
        notice(
            tags.p(sentence(text)),
            *[
                button(
                    f"Run it again with {label_of(option.keyword).lower()}",
                    "run_with",
                    id=f"run-with-{option.keyword}",
                    keyword=option.keyword,
                )
                for option in switches_named_in(state.plan, text)
            ],
            kind="caution",
        )
        for text in texts
    ]


def progress(status: JobStatus, task: str) -> Tag:
    """Return how far a task is, with the ways to end it."""
    share = status.done / status.total if status.total else None
    loss = "" if status.loss is None else f"loss so far {percent(status.loss, 3)}"
    per_cent = "" if share is None else f"{100 * share:.0f} %"
    is_stopping = status.state == "stopping"
    stopping = "stopping with the best so far" if is_stopping else ""
    seconds = in_words(max(status.seconds, 0.1), TIMES)
    words = [_NAMES[task], stopping, status.phase, per_cent, loss, seconds]
    return tags.div(
        tags.progress(
            {"max": "1", "aria-label": f"{_NAMES[task]}: how far it is"},
            {"id": f"progress-bar-{task}"},
            {"value": f"{share:.3f}"} if share is not None else {},
        ),
        tags.p(" · ".join(filter(None, words)), {"id": f"progress-words-{task}"}),
        actions(
            button(
                "Stop and keep the best so far", "stop", id="stop", disabled=is_stopping, task=task
            )
            if task == PROTECT
            else None,
            button(
                "Cancel",
                "cancel",
                id=f"cancel-{task}",
                kind="danger",
                task=task,
                title=f"Cancel: {_NAMES[task]}",
            ),
        ),
        {"class": "progress", "role": "status"},
    )


def run(desk: Desk, _: Payload) -> None:
    """Start the run."""
    found = desk.described
    if found is None:
        raise ParameterError("open a table first.")
    if blocked := blocking(desk.state, found):
        raise ParameterError(blocked)
    check_nothing_refused(desk)
    desk.start(PROTECT, desk.state.now.protect_request)


def run_with(desk: Desk, given: Payload) -> None:
    """Turn on a switch that a warning names, and run again."""
    check_nothing_refused(desk)
    desk.choose(plan=with_option(desk.state.plan, str(given["keyword"]), True))
    run(desk, given)


ACTIONS: dict[str, Action] = {"run": run, "run_with": run_with}
