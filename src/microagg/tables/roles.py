"""Which column plays which part: quasi-identifier, identifier or sensitive."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw

from microagg.errors import DataError, ParameterError
from microagg.tables.delimited import LEADING_ZERO
from microagg.tables.frames import Frame, index_names
from microagg.validation import did_you_mean

_INTEGERS = (nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32, nw.UInt64)
_NUMBERS = (*_INTEGERS, nw.Float32, nw.Float64)
_WORDS = {
    nw.Array: "lists",
    nw.Binary: "binary",
    nw.Boolean: "true or false",
    nw.Categorical: "categories",
    nw.Date: "dates",
    nw.Datetime: "dates with times",
    nw.Decimal: "numbers of decimal type",
    nw.Duration: "durations",
    nw.Enum: "categories",
    nw.Int128: "numbers of 128 bits",
    nw.List: "lists",
    nw.Object: "objects",
    nw.Struct: "structures",
    nw.Time: "times",
    nw.UInt128: "numbers of 128 bits",
    nw.Unknown: "unknown type",
}
_ROLE_WORDS = {
    "quasi_identifiers": "a quasi-identifier",
    "identifiers": "an identifier",
    "sensitive": "sensitive",
}

Names = Iterable[str] | str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """Columns by role, in the order of the table.

    `quasi_identifiers` are released as group aggregates; `assumed` are those of them that nobody
    named. `identifiers` are dropped, `sensitive` columns are published as they are.
    """

    quasi_identifiers: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()


def check_named(
    columns: Sequence[str],
    *,
    quasi_identifiers: Names = None,
    identifiers: Names = None,
    sensitive: Names = None,
) -> Roles:
    """Return the roles that were given if every name is a column and has one role only."""
    given = {
        "quasi_identifiers": _as_names("quasi_identifiers", quasi_identifiers),
        "identifiers": _as_names("identifiers", identifiers),
        "sensitive": _as_names("sensitive", sensitive),
    }
    for names in given.values():
        for name in names:
            if name not in columns:
                raise ParameterError(f"the table has no column {name!r}.{_nearest(name, columns)}")
    taken: dict[str, str] = {}
    for role, names in given.items():
        for name in names:
            if taken.setdefault(name, role) != role:
                raise ParameterError(
                    f"column {name!r} can play one role only; it is named as "
                    f"{_ROLE_WORDS[taken[name]]} and as {_ROLE_WORDS[role]}. Remove one of them."
                )
    in_order = {role: tuple(c for c in columns if c in names) for role, names in given.items()}
    return Roles(**in_order)


def resolve(frame: Frame, named: Roles) -> Roles:
    """Give every column a role: numbers without one are quasi-identifiers, other types stop.

    Nothing is published because nobody thought of it: text, dates and the like need a role, and
    so does a pandas index that has a name.
    """
    _check_index(frame, named)
    given = {*named.quasi_identifiers, *named.identifiers, *named.sensitive}
    roleless = [name for name in frame.columns if name not in given]
    if unusable := [c for c in named.quasi_identifiers if not _is_number(frame, c)]:
        raise DataError(
            "only whole-number and float columns can be quasi-identifiers so far; got "
            f"{_listing(frame, unusable)}. Convert them to numbers or give them another role."
        )
    if others := [name for name in roleless if not _is_number(frame, name)]:
        raise DataError(_needs_a_role(frame, others))
    assumed = tuple(roleless)
    quasi_identifiers = tuple(
        name for name in frame.columns if name in assumed or name in named.quasi_identifiers
    )
    if not quasi_identifiers:
        raise ParameterError(
            "there is no quasi-identifier to protect: every column is an identifier or sensitive. "
            "Take the columns that could tell who a record is out of those roles."
        )
    return replace(named, quasi_identifiers=quasi_identifiers, assumed=assumed)


def require_numbers(frame: Frame, columns: Sequence[str]) -> None:
    """Refuse columns of anything but numbers where constraints speak of them."""
    if unusable := [name for name in columns if not _is_number(frame, name)]:
        raise DataError(
            "only whole-number and float columns can be in constraints; got "
            f"{_listing(frame, unusable)}. Convert them to numbers, or remove the constraint."
        )


def _as_names(role: str, names: Names) -> tuple[str, ...]:
    if names is None:
        return ()
    if isinstance(names, str):
        return (names,)
    listed: tuple[Any, ...] = tuple(names) if isinstance(names, Iterable) else (None,)
    if all(isinstance(name, str) for name in listed):
        return listed
    raise ParameterError(f"{role} must be column names (text); got {type(names).__name__}.")


def _nearest(name: str, columns: Sequence[str]) -> str:
    if hint := did_you_mean(name, columns):
        return hint
    shown = ", ".join(repr(column) for column in columns[:12])
    more = f" and {len(columns) - 12} more" if len(columns) > 12 else ""
    return f" Its columns are {shown}{more}."


def _check_index(frame: Frame, named: Roles) -> None:
    for name in index_names(frame):
        if name in named.quasi_identifiers:
            raise DataError(
                f"{name!r} is the table's index; a quasi-identifier must be a column. Call "
                "reset_index() first."
            )
        if name not in named.identifiers and name not in named.sensitive:
            raise DataError(
                f"the table's index {name!r} has no role. Name it in identifiers to drop it or in "
                "sensitive to publish it unchanged, or call reset_index() to make it a column."
            )


def _is_number(frame: Frame, name: str) -> bool:
    return name in frame.columns and frame.schema[name] in _NUMBERS


def _needs_a_role(frame: Frame, names: list[str]) -> str:
    one = len(names) == 1
    counted = "a column has no role and is" if one else f"{len(names)} columns have no role and are"
    text = any(frame.schema[name] == nw.String for name in names)
    markers = " (markers such as NA or ? count as text)" if text else ""
    return (
        f"{counted} not of plain numbers: {_listing(frame, names)}. Convert "
        f"{'it' if one else 'each'} to numbers{markers}, drop it as an identifier (--identifier, "
        f"or identifiers=[{names[0]!r}] in Python), or publish it unchanged as sensitive "
        f"(--sensitive, or sensitive=[{names[0]!r}])."
    )


def _listing(frame: Frame, names: list[str]) -> str:
    return ", ".join(f"{name!r} ({_describe(frame, name)})" for name in names)


def _describe(frame: Frame, name: str) -> str:
    """Word the type of a column; of text, in how many records it is."""
    series = frame[name]
    present = len(series) - int(series.null_count())
    if not present:
        return "missing in every record"
    if series.dtype != nw.String:
        return _WORDS.get(type(series.dtype), str(series.dtype))
    entries = [value for value in series.to_list() if isinstance(value, str) and value.strip()]
    codes = sum(re.match(LEADING_ZERO, value) is not None for value in entries)
    words = sum(not _reads_as_number(value) for value in entries)
    found = []
    if words:
        found.append(f"text in {words} of {len(series)} records")
    if codes:
        found.append(f"codes with leading zeros in {codes} of {len(series)} records")
    return ", ".join(found) or "numbers stored as text or beyond 64 bits"


def _reads_as_number(value: str) -> bool:
    if re.match(LEADING_ZERO, value):
        return True
    try:
        float(value)
    except ValueError:
        return False
    return "_" not in value
