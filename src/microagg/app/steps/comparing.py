"""Compare methods, in the step Explore: a map of risk and loss, to choose from."""

from dataclasses import replace
from typing import Any

from htmltools import Tag, tags

from microagg.app import plots
from microagg.app.answers import Compared
from microagg.app.changes import with_method, with_option
from microagg.app.desk import COMPARE, Action, Desk, Payload
from microagg.app.parts import (
    button,
    card,
    does,
    entered,
    error_at,
    field,
    more,
    notice,
    raw,
    sentence,
    table,
    text_input,
)
from microagg.app.state import State, Study
from microagg.app.steps.refused import check_nothing_refused
from microagg.app.steps.roles import blocking
from microagg.app.words import unbroken
from microagg.core.errors import ParameterError
from microagg.core.registry import METHODS
from microagg.core.validation import check_ks
from microagg.core.words import percent, short_seconds
from microagg.plans.texts import listed_ks


def view(desk: Desk) -> Tag:
    """Return the part of the step about methods."""
    state, found = desk.state, desk.compared
    study = state.now.study
    is_running = desk.is_running(COMPARE)
    return card(
        tags.p("What each method would lose at each k. Nothing is released.", {"class": "help"}),
        tags.div(
            field(
                "Values of k",
                text_input(
                    "set_ks",
                    entered(state, "ks", ", ".join(map(str, study.ks))),
                    id="ks",
                    hint="3, 5, 10",
                ),
                state=state,
                place="ks",
            ),
            button(
                "Compare",
                "compare",
                id="compare",
                kind="primary" if desk.protected is None else "plain",
                disabled=is_running,
            ),
            {"class": "row"},
        ),
        more(
            "Methods to compare",
            tags.div(
                [_method_box(study, name) for name in METHODS if not METHODS[name].single_column],
                {"class": "grid tight"},
            ),
            id="methods",
            note=", ".join(study.methods),
        ),
        error_at(state, "methods"),
        error_at(state, COMPARE),
        _map(state, found) if found is not None else _no_map(desk),
        title="Compare methods",
        id="card-compare",
    )


def _method_box(study: Study, name: str) -> Tag:
    box = tags.input(
        {
            "type": "checkbox",
            "id": f"method-{name}",
            **does("set_methods", method=name, place="methods"),
        },
        {"checked": ""} if name in study.methods else {},
    )
    return tags.label(box, tags.span(name), {"class": "check", "title": METHODS[name].summary})


def _no_map(desk: Desk) -> Tag:
    earlier = desk.last(COMPARE, Compared)
    text = (
        "The choices have changed since the last comparison. Compare again, or undo."
        if earlier is not None
        else "Not compared yet. The map shows which choices no other beats on both risk and loss."
    )
    return tags.p(text, {"class": "help"})


def _map(state: State, found: Compared) -> Tag:
    drawn = [row for row in found.rows if row["information_loss"] is not None]
    chosen = (state.plan.method, state.plan.k)
    rows = [_row(row, chosen) for row in found.rows if row["error"] is None]
    return tags.div(
        tags.div(raw(plots.risk_utility_map(drawn, chosen)), {"class": "wide-figure"})
        if drawn
        else None,
        tags.p(
            "Lower left is better. Filled marks are not beaten by any other; choose one with a "
            "click, or with Enter.",
            {"class": "help"},
        )
        if drawn
        else None,
        more(
            "As a table",
            table(
                ("Method", "k", "Loss", "Linked", "Groups", "Seconds", "Choice"),
                rows,
                caption="Comparison of methods",
            ),
            *[tags.p(text, {"class": "help"}) for text in found.notes],
            id="compare-table",
        ),
        *[notice(sentence(text), kind="caution") for text in (*found.failures, *found.warnings)],
        {"id": "compared", "class": "stack"},
    )


def _row(row: dict[str, Any], chosen: tuple[str, int]) -> tuple[Any, ...]:
    method, k = row["method"], row["k"]
    loss = row["information_loss"]
    return (
        method,
        f"{k:,}",
        "" if loss is None else unbroken(percent(loss, 4)),
        unbroken(percent(row["linkage"], 3)),
        f"{row['n_groups']:,}",
        short_seconds(row["seconds"] or 0.0),
        "chosen"
        if (method, k) == chosen
        else button(
            "Choose",
            "adopt",
            id=f"adopt-{method}-{k}",
            kind="small",
            method=method,
            k=k,
            title=f"Choose {method} with k = {k}",
        ),
    )


def compare(desk: Desk, _: Payload) -> None:
    """Start the comparison."""
    if blocked := blocking(desk.state, desk.known):
        raise ParameterError(blocked)
    check_nothing_refused(desk)
    if "ks" in desk.state.view.refusals:
        raise ParameterError("the values of k were refused: correct them above.")
    desk.start(COMPARE, desk.state.now.compare_request)


def set_ks(desk: Desk, given: Payload) -> None:
    """Choose the values of k to compare."""
    text = str(given["value"])
    if not text.strip():
        raise ParameterError("enter values of k, such as 3, 5, 10.")
    ks = tuple(check_ks(listed_ks(text)))
    desk.choose(study=replace(desk.state.now.study, ks=ks))


def set_methods(desk: Desk, given: Payload) -> None:
    """Compare a method as well, or no longer."""
    study, name = desk.state.now.study, str(given["method"])
    chosen = {*study.methods, name} if given["value"] else set(study.methods) - {name}
    if not chosen:
        raise ParameterError("methods must name at least one method.")
    methods = tuple(own for own in METHODS if own in chosen)
    desk.choose(study=replace(study, methods=methods))


def adopt(desk: Desk, given: Payload) -> None:
    """Choose a method and a k of the comparison."""
    plan, _ = with_method(desk.state.plan, str(given["method"]))
    plan = with_option(plan, "k", str(given["k"]))
    chosen = desk.state.now.adopting(plan)
    desk.choose(plan=chosen.plan, study=chosen.study)
    desk.said = f"Chosen: {plan.method} with k = {plan.k:,}."


ACTIONS: dict[str, Action] = {
    "compare": compare,
    "set_ks": set_ks,
    "set_methods": set_methods,
    "adopt": adopt,
}
