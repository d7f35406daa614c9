"""Identifiers that repeat: whom k should count is asked before the run refuses to guess."""

from htmltools import Tag, tags

from microagg.app.answers import Column, Described
from microagg.app.changes import with_option, with_roles
from microagg.app.desk import Action, Desk, Payload
from microagg.app.parts import actions, button, notice
from microagg.app.state import State, effective_role
from microagg.app.steps.column_options import key_of
from microagg.core.words import listed_names, short_name
from microagg.plans.units import ROWS
from microagg.tables.roles import IDENTIFIER, UNIT

_MOST_OFFERED = 3


def repeating(state: State, found: Described) -> list[Column]:
    """Return the identifiers that have fewer values than records, unless a unit is said."""
    if state.plan.unit_column is not None or state.plan.counts_rows:
        return []
    named = [own for own in found.columns if effective_role(state.plan, own) == IDENTIFIER]
    return [own for own in named if 0 < own.distinct < found.n_records - own.missing]


def question(state: State, found: Described) -> Tag | None:
    """Ask whom k should count; nothing if no identifier repeats."""
    columns = repeating(state, found)
    if not columns:
        return None
    names = [own.name for own in columns]
    has = "is an identifier that repeats" if len(names) == 1 else "are identifiers that repeat"
    return notice(
        tags.p(
            f"{listed_names(names[:5])} {has}: k records may be fewer than k people. Whom should k "
            "count? A column that names nobody is better dropped."
        ),
        actions(
            *[
                button(
                    f"Count by {short_name(own.name)}",
                    "count_by",
                    id=f"count-by-{key_of(own.name)}",
                    unit=own.name,
                )
                for own in columns[:_MOST_OFFERED]
            ],
            button(
                "Every record is about somebody else", "count_by", id="count-records", unit=ROWS
            ),
        ),
        kind="caution",
        id="repeating",
    )


def count_by(desk: Desk, given: Payload) -> None:
    """Let k count the values of a column, or records."""
    unit, plan = str(given["unit"]), desk.state.plan
    is_column = unit in [own.name for own in desk.known.columns]
    changed = with_roles(plan, [unit], UNIT) if is_column else with_option(plan, "unit", ROWS)
    desk.choose(plan=changed)


ACTIONS: dict[str, Action] = {"count_by": count_by}
