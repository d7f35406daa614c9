"""Verify a file, in the step Release: any file, whoever made it."""

from htmltools import Tag, tags

from microagg.app.answers import SourceAnswer, VerifyAnswer, VerifyRequest
from microagg.app.controls import label_of
from microagg.app.desk import VERIFY, Action, Desk, Payload
from microagg.app.parts import (
    actions,
    button,
    card,
    checkbox,
    error_at,
    facts,
    field,
    more,
    notice,
    sentence,
    text_input,
)
from microagg.app.paths import entered_path
from microagg.app.state import State
from microagg.app.steps.data import is_file_refused
from microagg.core.errors import ParameterError
from microagg.files.formats import DIALECT_OPTIONS
from microagg.plans.texts import names_in, whole_or_text


def view(desk: Desk) -> Tag:
    """Return the part of the step about other files."""
    state = desk.state
    found = desk.last(VERIFY, VerifyAnswer) if not desk.is_running(VERIFY) else None
    fields = [
        ("path", "File to check", "/data/people-protected.csv", "Any file, made by any tool."),
        ("k", "k", "5", "Without it, the manifest beside the file says what to check."),
        ("sensitive", "Columns to leave out", "diagnosis", "Sensitive ones, separated by commas."),
        (
            "original",
            "Original",
            "",
            "The table before, to check units and contributions. Without it, the one that is open, "
            "if it is the right one.",
        ),
        ("audit", "Audit", "", "Of a release that was shuffled: which record is where."),
    ]
    return card(
        tags.p("Check what a file promises, independently of what made it.", {"class": "help"}),
        tags.div(
            tags.div(
                [
                    field(
                        label,
                        text_input("", "", id=f"verify-{name}", hint=hint, enter="verify"),
                        help=help_,
                        state=state,
                        place=f"verify-{name}",
                    )
                    for name, label, hint, help_ in fields
                ],
                {"class": "grid"},
            ),
            more(
                "How the file is written",
                tags.div(
                    [_dialect_field(state, name) for name in DIALECT_OPTIONS], {"class": "grid"}
                ),
                id="verify-dialect",
                is_open=is_file_refused(state, VERIFY),
            ),
            checkbox(
                "Check what the current plan asks for",
                "",
                id="verify-plan",
                checked=False,
                help="Its roles, blocks, constraints and requirements, with its k.",
            ),
            actions(
                button("Verify", "verify", id="verify", disabled=desk.is_running(VERIFY)),
            ),
            {"data-form": "verify", "class": "stack"},
        ),
        error_at(state, VERIFY),
        notice(
            tags.p(tags.b(sentence(found.title))),
            facts(found.facts),
            *[tags.p(sentence(text)) for text in found.warnings],
            kind="good" if found.satisfied else "bad",
            id="verified",
        )
        if found is not None and VERIFY not in state.view.refusals
        else None,
        title="Verify a file",
        id="card-verify",
    )


def _dialect_field(state: State, name: str) -> Tag:
    return field(
        label_of(name),
        text_input("", "", id=f"verify-{name}", enter="verify"),
        help=DIALECT_OPTIONS[name].help,
        state=state,
        place=f"verify-{name}",
    )


def verify(desk: Desk, given: Payload) -> None:
    """Verify a file."""
    said = {
        name: str(given["fields"].get(f"verify-{name}", ""))
        for name in ("path", "k", "sensitive", "original", "audit", *DIALECT_OPTIONS)
    }
    dialect = {name: said[name] for name in DIALECT_OPTIONS if said[name]}  # a blank may be one
    said = {name: text.strip() for name, text in said.items()}
    if not said["path"]:
        raise ParameterError("enter the path of the file to check.")
    k = whole_or_text(said["k"]) if said["k"] else None
    if isinstance(k, str):
        raise ParameterError(f"k must be a whole number from 1; got {k!r}.")
    by_plan = bool(given["fields"].get("verify-plan"))
    request = VerifyRequest(
        source=SourceAnswer(path=str(entered_path(said["path"])), **dialect),
        k=k,
        plan=desk.state.plan.as_dict() if by_plan else None,
        sensitive=tuple(names_in(said["sensitive"])) if said["sensitive"] else (),
        original=str(entered_path(said["original"])) if said["original"] else None,
        audit=str(entered_path(said["audit"])) if said["audit"] else None,
        opened=desk.state.now.source,
    )
    desk.forget(VERIFY)
    desk.start(VERIFY, request, text=request.source.path)


ACTIONS: dict[str, Action] = {"verify": verify}
