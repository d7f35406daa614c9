"""The plan as a file, in the step Release: to save, to load and to replay."""

from dataclasses import replace
from pathlib import Path

from htmltools import Tag, tags

from microagg.app.changes import fitting
from microagg.app.code import plan_path
from microagg.app.desk import Action, Desk, Payload
from microagg.app.parts import (
    actions,
    button,
    card,
    code_block,
    entered,
    field,
    more,
    notice,
    text_input,
)
from microagg.app.paths import entered_path, is_there
from microagg.app.steps.replacing import already_there, was_asked
from microagg.core.errors import ParameterError
from microagg.files.atomic import check_target
from microagg.plans.plan import Plan

_OVERWRITE_PLAN = "overwrite-plan"


def view(desk: Desk) -> Tag:
    """Return the part of the step about the plan."""
    state, source = desk.state, desk.state.now.source
    place = plan_path(source, state.now.outputs) if source is not None else ""
    question = (
        notice(
            already_there(state),
            actions(
                button(
                    "Replace",
                    "save_plan_anyway",
                    id="save-plan-anyway",
                    kind="danger",
                    place="plan-path",
                ),
                button("Keep", "dismiss", id="dismiss-plan"),
            ),
            kind="caution",
            id="ask-overwrite-plan",
        )
        if state.view.asking == _OVERWRITE_PLAN
        else None
    )
    return card(
        tags.p(
            "The plan is everything that was chosen, as a file: replay it here, or with ",
            tags.code("microagg protect --plan", {"class": "whole"}),
            ". After a run it holds the seed: the same plan and table give the same release, "
            "except for random keys and a random order, and unless the search was stopped early or "
            "had a time budget.",
            {"class": "help"},
        ),
        tags.div(
            field(
                "Plan file",
                text_input("", entered(state, "plan-path", place), id="plan-path"),
                state=state,
                place="plan-path",
            ),
            button("Save", "save_plan", id="save-plan", place="plan-path"),
            button("Load", "load_plan", id="load-plan", place="plan-path"),
            {"class": "row", "data-form": "plan"},
        ),
        question,
        more(
            "The plan as TOML",
            code_block("Plan", str(desk.replay.plan), id="plan-toml"),
            id="plan-text",
        ),
        title="Plan",
        id="card-plan",
    )


def save_plan(desk: Desk, given: Payload) -> None:
    """Save the plan, or ask before a file is replaced."""
    path = _plan_target(desk, given)
    if is_there(path):
        desk.look(asking=_OVERWRITE_PLAN, about=(str(path),))
        return
    desk.replay.plan.save(path)
    desk.said = f"Saved {path}."


def save_plan_anyway(desk: Desk, given: Payload) -> None:
    """Save the plan in place of the file that was asked about."""
    path = _plan_target(desk, given)
    if not was_asked(desk, _OVERWRITE_PLAN, [str(path)]):
        save_plan(desk, given)
        return
    desk.look(asking="")
    desk.replay.plan.save(path, force=True)
    desk.said = f"Saved {path}."


def load_plan(desk: Desk, given: Payload) -> None:
    """Take the plan in a file, if it fits the table."""
    plan = Plan.read(_plan_path(given))
    now = desk.state.now
    if desk.described is not None:
        fitting(plan, desk.described)
    desk.look(refusals={})  # they were about the former plan
    if now.source is None:
        desk.choose(plan=plan)
        return
    entered_name = str(given["fields"].get("plan-path", ""))
    desk.adopt(lambda now: replace(now, plan=plan), "plan-path", entered_name)
    desk.said = "The plan was loaded."


def _plan_target(desk: Desk, given: Payload) -> Path:
    """Return where the plan goes, which is not where the table is."""
    path, source = _plan_path(given), desk.state.now.source
    check_target(path, force=True, source=None if source is None else Path(source.path))
    return path


def _plan_path(given: Payload) -> Path:
    text = str(given["fields"].get("plan-path", "")).strip()
    if not text:
        raise ParameterError("enter the name of a plan file, such as people.toml.")
    return entered_path(text)


ACTIONS: dict[str, Action] = {
    "save_plan": save_plan,
    "save_plan_anyway": save_plan_anyway,
    "load_plan": load_plan,
}
