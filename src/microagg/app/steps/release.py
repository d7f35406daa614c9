"""Release: write the table with its manifest and reports; the plan; verify any other file."""

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from htmltools import Tag, TagChild, TagList, tags

from microagg.app.answers import Described, Saved, SaveRequest, SourceAnswer
from microagg.app.code import files_of, target_of
from microagg.app.desk import SAVE, Action, Desk, Payload
from microagg.app.parts import (
    actions,
    button,
    card,
    checkbox,
    empty,
    entered,
    error_at,
    facts,
    field,
    heading,
    notice,
    sentence,
    text_input,
)
from microagg.app.paths import entered_path, is_there
from microagg.app.state import OutputChoices, State, effective_role
from microagg.app.steps import plan_file, verifying
from microagg.app.steps.replacing import already_there, was_asked
from microagg.core.errors import ParameterError
from microagg.core.words import listed_names
from microagg.files.formats import FORMATS, check_output_format, format_of
from microagg.plans.beside import manifest_path
from microagg.tables.roles import DROP, IDENTIFIER

_NOT_RELEASED = (DROP, IDENTIFIER)
_MOST_NAMES = 5
_OVERWRITE, _AUDIT = "overwrite", "audit"
_SWITCHES = tuple(own.name for own in fields(OutputChoices) if own.type in (bool, "bool"))


def view(desk: Desk) -> TagList:
    """Return the step."""
    return TagList(
        heading("Release", "Write the protected table with all that documents it."),
        _saving(desk),
        plan_file.view(desk),
        verifying.view(desk),
    )


def _saving(desk: Desk) -> Tag:
    state, source = desk.state, desk.state.now.source
    if source is None:
        go = button("Open a table", "go", id="to-data", kind="primary", step="data")
        return card(empty("There is no table yet.", go), title="Files", id="card-files")
    made = desk.protected
    if made is None:
        text = "There is no release of the current choices yet. Protect the table first."
        go = button("Go to Protect", "go", id="to-protect", kind="primary", step="protect")
        return card(empty(text, go), title="Files", id="card-files")
    outputs = state.now.outputs
    target = target_of(source, outputs)
    suffixes = [own.suffixes[0] for own in FORMATS if own.can_be_written]
    return card(
        field(
            "File",
            text_input("set_target", entered(state, "target", target), id="target"),
            help=f"The suffix sets the format: {', '.join(suffixes)}."
            f"{_kept(state, desk.described, target)}",
            state=state,
            place="target",
        ),
        notice(made.ended, kind="caution", id="ended") if made.ended else None,
        _choices(state, target),
        _listing(source, outputs),
        error_at(state, SAVE),
        _question(state)
        or actions(
            button(
                "Write the release",
                "save",
                id="save",
                kind="primary",
                disabled=desk.is_running(SAVE),
            )
        ),
        None if state.view.asking else _saved(desk),
        title="Files",
        id="card-files",
    )


def _kept(state: State, found: Described | None, target: str) -> str:
    """Say what the file keeps of the table, and what its format cannot hold."""
    kept = "" if state.plan.shuffle else " Rows and columns keep their order."
    if found is None:
        return kept
    labelled = [
        own.name
        for own in found.columns
        if own.name in found.labelled and effective_role(state.plan, own) not in _NOT_RELEASED
    ]
    if not labelled:
        return kept
    try:
        format_ = format_of(target)
    except ParameterError:
        return kept
    if format_.keeps_labels:
        return f"{kept} Value labels are kept, as far as {format_.name} can hold them."
    return f"{kept} {format_.name} has no value labels: they are left out in {_some(labelled)}."


def _some(names: Sequence[str]) -> str:
    others = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    return listed_names(names[:_MOST_NAMES]) + others


def _choices(state: State, target: str) -> Tag:
    outputs = state.now.outputs
    boxes = [
        checkbox(
            "Internal report",
            "set_output",
            id="output-report",
            checked=outputs.report,
            help="The full report, to read, print and sign. Keep it internal.",
            output="report",
        ),
        checkbox(
            "Public report",
            "set_output",
            id="output-public_report",
            checked=outputs.public_report,
            help="A report to publish with the table: nothing of the original values.",
            output="public_report",
        ),
        checkbox(
            "Audit file",
            "set_output",
            id="output-audit",
            checked=outputs.audit,
            help="Which record is in which group, with its identifiers. It undoes the release.",
            output="audit",
        ),
    ]
    try:
        runs_formulas = format_of(target).runs_formulas
    except ParameterError:
        runs_formulas = False
    if runs_formulas or outputs.escape_formulas:
        boxes.append(
            checkbox(
                "Escape formulas",
                "set_output",
                id="output-escape_formulas",
                checked=outputs.escape_formulas,
                help="Put ' before text that a spreadsheet would run as a formula.",
                output="escape_formulas",
            )
        )
    question = (
        notice(
            tags.p(
                "An audit file names every record and its group: anyone who has it can undo the "
                "protection. Only you can read it; keep it internal, and delete it when it has "
                "served its purpose."
            ),
            actions(
                button("Write an audit file", "confirm_audit", id="confirm-audit", kind="danger"),
                button("No audit file", "dismiss", id="dismiss-audit"),
            ),
            kind="caution",
            id="ask-audit",
        )
        if state.view.asking == _AUDIT
        else None
    )
    return tags.div(tags.div(boxes, {"class": "grid"}), question, {"class": "stack"})


def _listing(source: SourceAnswer, outputs: OutputChoices) -> Tag:
    target = target_of(source, outputs)
    rows: list[tuple[TagChild, TagChild]] = [
        ("Table", _path(target)),
        ("Manifest", _path(str(manifest_path(target)))),
    ]
    for name, path in files_of(source, outputs).items():
        rows.append((name.replace("_", " ").capitalize(), _path(path)))
    return facts(rows)


def _path(path: str) -> Tag:
    return tags.code(path, {"class": "path", "title": path})


def _question(state: State) -> Tag | None:
    if state.view.asking != _OVERWRITE:
        return None
    return notice(
        already_there(state),
        actions(
            button("Replace", "save_anyway", id="save-anyway", kind="danger", place=SAVE),
            button("Keep", "dismiss", id="dismiss-overwrite"),
        ),
        kind="caution",
        id="ask-overwrite",
    )


def existing(source: SourceAnswer, outputs: OutputChoices) -> list[str]:
    """Return the files of a release that are there already."""
    target = target_of(source, outputs)
    every = [target, str(manifest_path(target)), *files_of(source, outputs).values()]
    return [path for path in every if is_there(path)]


def _saved(desk: Desk) -> TagList | None:
    request = _save_request(desk, force=False)
    found = None
    if request is not None:
        found = desk.answer_to(SAVE, request, Saved) or desk.answer_to(
            SAVE, request.model_copy(update={"force": True}), Saved
        )
    if found is None:
        return None
    said = notice(
        tags.p(tags.b("Written.")),
        facts([(own.what.capitalize(), _path(own.path)) for own in found.files]),
        kind="good",
        id="saved",
    )
    return TagList(said, *[notice(sentence(text), kind="caution") for text in found.warnings])


def set_target(desk: Desk, given: Payload) -> None:
    """Choose where the table goes."""
    desk.state = desk.state.accept(SAVE)  # what was refused there was about the former name
    text = str(given["value"]).strip()
    target = str(entered_path(text)) if text else ""
    if target:
        check_output_format(target)
        _refuse_input(desk, target)
    desk.choose(outputs=replace(desk.state.now.outputs, target=target))
    desk.look(asking="")


def _refuse_input(desk: Desk, target: str) -> None:
    """Refuse the table itself before anybody is asked whether to replace it."""
    source = desk.state.now.source
    if source is None or not (is_there(target) and is_there(source.path)):
        return
    if Path(target).samefile(source.path):
        raise ParameterError("this is the table itself, which is never replaced. Choose another.")


def set_output(desk: Desk, given: Payload) -> None:
    """Choose whether a file is written; an audit only after a warning."""
    name, is_wanted = str(given["output"]), bool(given["value"])
    if name not in _SWITCHES:
        return
    if name == _AUDIT and is_wanted:
        desk.look(asking=_AUDIT)
        return
    chosen: dict[str, Any] = {name: is_wanted}
    desk.choose(outputs=replace(desk.state.now.outputs, **chosen))
    desk.look(asking="")


def confirm_audit(desk: Desk, _: Payload) -> None:
    """Write an audit file, as was confirmed."""
    desk.choose(outputs=replace(desk.state.now.outputs, audit=True))
    desk.look(asking="")


def dismiss(desk: Desk, _: Payload) -> None:
    """Take a question away."""
    desk.look(asking="")


def save(desk: Desk, _: Payload) -> None:
    """Write the release, or ask before anything is replaced."""
    now = desk.state.now
    assert now.source is not None
    if "target" in desk.state.view.refusals:  # not to where it would have gone before
        raise ParameterError("the name of the file was refused: choose another above.")
    if there := existing(now.source, now.outputs):
        desk.look(asking=_OVERWRITE, about=tuple(there))
        return
    _write(desk, force=False)


def save_anyway(desk: Desk, given: Payload) -> None:
    """Write the release in place of the files that were asked about."""
    now = desk.state.now
    assert now.source is not None
    if not was_asked(desk, _OVERWRITE, existing(now.source, now.outputs)):
        save(desk, given)
        return
    desk.look(asking="")
    _write(desk, force=True)


def _write(desk: Desk, *, force: bool) -> None:
    request = _save_request(desk, force=force)
    if request is None:
        raise ParameterError("there is no release to save. Protect the file first.")
    desk.start(SAVE, request)


def _save_request(desk: Desk, *, force: bool) -> SaveRequest | None:
    now, job = desk.state.now, desk.release_job
    if now.source is None or job is None:
        return None
    return SaveRequest(
        job=job,
        target=target_of(now.source, now.outputs),
        **files_of(now.source, now.outputs),
        escape_formulas=now.outputs.escape_formulas,
        force=force,
    )


ACTIONS: dict[str, Action] = {
    "set_target": set_target,
    "set_output": set_output,
    "confirm_audit": confirm_audit,
    "dismiss": dismiss,
    "save": save,
    "save_anyway": save_anyway,
    **plan_file.ACTIONS,
    **verifying.ACTIONS,
}
