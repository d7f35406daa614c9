"""Whom a record is about: the column that says so, or a promise that people differ."""

from collections.abc import Collection
from typing import Annotated, Any

from pydantic import BeforeValidator

from microagg.core.errors import ParameterError
from microagg.plans.columns import as_columns
from microagg.tables.roles import IDENTIFIER, UNIT, two_roles

ROWS = "rows"


def _only_rows(value: object) -> str | None:
    """Return what a plan says in place of a column; a column has the role `unit`."""
    if value is None or value == ROWS:
        return None if value is None else ROWS
    raise ParameterError(
        f"unit must be the name of a column, or {ROWS!r} if every record is about a different "
        f"person; got {type(value).__name__}."
    )


UnitOfRecords = Annotated[str | None, BeforeValidator(_only_rows)]


def with_unit(given: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a plan with the role `unit` for the column that `unit` names."""
    unit = given.get("unit")
    if not isinstance(unit, str) or unit == ROWS:
        return given
    columns = given.get("columns")
    said = as_columns({} if columns is None else columns)
    role = said.setdefault(unit, {}).get("role", UNIT)
    if role not in (UNIT, IDENTIFIER):  # a unit is dropped like an identifier, and may be named so
        raise two_roles(unit, str(role), UNIT)
    said[unit] = {**said[unit], "role": UNIT}
    return {**{name: value for name, value in given.items() if name != "unit"}, "columns": said}


def refuse_ambiguous_rows(columns: Collection[str]) -> None:
    """Refuse the promise that every record differs if it may have been meant as a column."""
    if ROWS in columns:
        raise ParameterError(
            f"the unit {ROWS!r} says that every record is about a different person, but the table "
            "also has a column of that name, which may be the one that says whom. Rename the "
            "column."
        )
