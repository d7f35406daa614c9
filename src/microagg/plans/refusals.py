"""What is wrong with a plan, in one sentence: what was expected, what came, what to do."""

from collections.abc import Mapping
from os import PathLike
from typing import Any

from pydantic import BaseModel, ValidationError

from microagg.core.errors import MicroaggError, ParameterError
from microagg.core.words import did_you_mean
from microagg.plans.columns import ROLE_OPTIONS
from microagg.plans.toml import toml_key


def refusal(
    error: ValidationError, plan: type[BaseModel], column: type[BaseModel]
) -> MicroaggError:
    """Return an error for the first problem with a plan, in words of our own."""
    # A key that is not known may be a misspelt one, and tells more than one that is missing.
    first, *_ = sorted(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
    raised, place = first.get("ctx", {}).get("error"), first["loc"]
    if isinstance(raised, MicroaggError):
        return type(raised)(f"{_column_of(place)}{raised}")
    key = next((part for part in reversed(place) if part != "[key]"), "a plan")
    if first["type"] == "extra_forbidden":
        about = _column_of(place)
        model, subject = (column, "there is") if about else (plan, "a plan has")
        known = model.model_fields
        hint = did_you_mean(key, known) or ("" if about else _role_meant(key))
        return ParameterError(
            f"{about}{subject} no key {key!r}.{hint} Its keys are {', '.join(known)}."
        )
    if first["type"] == "missing":
        return ParameterError(f"a plan needs {key!r}. Add it.")
    if place[-1:] == ("[key]",):
        return ParameterError(
            f"names in {place[0]} must be text; got {type(key).__name__}. Write them as text."
        )
    return ParameterError(
        f"{_column_of(place)}the value of {key} has the wrong type; got "
        f"{type(first['input']).__name__}. Compare it with what 'microagg plan' writes."
    )


def _role_meant(key: object) -> str:
    """Return where a role is given, if a key looks like the keyword of one in `protect`."""
    meant = {option.keyword: role for role, option in ROLE_OPTIONS.items()}
    close = next((word for word in meant if did_you_mean(key, [word])), None)
    if close is None:
        return ""
    return f" A role is given with its column: role = {meant[close]!r} in [columns.NAME]."


def _column_of(place: tuple[int | str, ...]) -> str:
    in_column = len(place) > 2 and place[0] == "columns"
    return _about(str(place[1])) if in_column else ""


def _about(column: str) -> str:
    return f"column {column!r}: "


def in_file(
    error: MicroaggError, path: str | PathLike[str], given: Mapping[str, Any]
) -> MicroaggError:
    """Return the error with the plan file that was read, and the table of the column in it.

    >>> error = ParameterError("column 'net pay': a role must be one of ...")
    >>> print(in_file(error, "plan.toml", {"columns": {"net pay": {"role": "x"}}}))
    plan.toml: [columns."net pay"] a role must be one of ...
    """
    text, columns = str(error), given.get("columns")
    for name in columns if isinstance(columns, Mapping) else ():
        if text.startswith(_about(name)):
            text = f"[columns.{toml_key(name)}] {text.removeprefix(_about(name))}"
            break
    return type(error)(f"{path}: {text}")
