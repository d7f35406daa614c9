"""A role for every column: numbers without one are quasi-identifiers, other types stop."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import narwhals as nw

from microagg.core.errors import DataError, ParameterError
from microagg.tables.columns import ColumnType
from microagg.tables.frames import Frame, dtype_of, index_names, type_name
from microagg.tables.roles import IS_IT_A_HEADER, Roles, may_be_record, shown_column
from microagg.tables.typed import is_number, types_of

_WORDS = {
    nw.Array: "lists",
    nw.Binary: "binary",
    nw.Boolean: "true or false",
    nw.Categorical: "categories",
    nw.Date: "dates",
    nw.Datetime: "dates with times",
    nw.Decimal: "decimals",
    nw.Duration: "durations",
    nw.Enum: "categories",
    nw.Int128: "128-bit integers",
    nw.List: "lists",
    nw.Object: "objects",
    nw.Struct: "structs",
    nw.Time: "times",
    nw.UInt128: "128-bit integers",
    nw.Unknown: "unknown type",
}
# Digits with a leading zero, such as postcodes.
_CODE = r"\s*[+-]?0[0-9]+\s*"


def resolve(frame: Frame, named: Roles) -> Roles:
    """Give every column a role: numbers without one are quasi-identifiers, others are refused.

    So nothing is published just because nobody thought of it: text, dates and the like need a role,
    and so does a pandas index that has a name.
    """
    _check_index(frame, named)
    given = {*named.shown, *named.unpublished, *named.unchanged}
    roleless = [name for name in frame.columns if name not in given]
    if unusable := [name for name in named.quasi_identifiers if not types_of(frame, name)]:
        raise DataError(
            "quasi-identifiers must be numbers, text, categories, true or false, or dates; got "
            f"{_listing(frame, unusable)}. Convert them or give them another role."
        )
    if others := [name for name in roleless if not is_number(frame, name)]:
        raise DataError(_needs_a_role(frame, others))
    assumed = tuple(roleless)
    protected = {*assumed, *named.quasi_identifiers}
    quasi_identifiers = tuple(name for name in frame.columns if name in protected)
    if not quasi_identifiers:
        raise ParameterError(
            "there is no quasi-identifier to protect: every column is dropped or published "
            "unchanged. Give columns that could identify a record another role."
        )
    return replace(named, quasi_identifiers=quasi_identifiers, assumed=assumed)


def require_numbers_or_dates(
    frame: Frame, columns: Sequence[str], forms: Mapping[str, str]
) -> None:
    """Refuse constraints on columns of anything else; `forms` are those of dates in text."""
    unusable = [
        name
        for name in columns
        if not (is_number(frame, name) or name in forms)
        and not {*types_of(frame, name)[:1]} & {ColumnType.DATE, ColumnType.DATETIME}
    ]
    if unusable:
        raise DataError(
            "constraints can only use columns of integers, floats and dates; got "
            f"{_listing(frame, unusable)}. Convert them to numbers, or remove the constraint."
        )


def _check_index(frame: Frame, named: Roles) -> None:
    for name in index_names(frame):
        if name in (*named.shown, named.weights):
            raise DataError(
                f"{name!r} is the table's index; quasi-identifiers, strata and weights must be "
                "columns. Call reset_index() first."
            )
        if name not in (*named.unpublished, *named.sensitive, *named.published):
            raise DataError(
                f"the table's index {name!r} has no role. Name it in identifiers to drop it, in "
                "sensitive or publish to publish it unchanged, or call reset_index() to make it a "
                "column."
            )


def _needs_a_role(frame: Frame, names: list[str]) -> str:
    one = len(names) == 1
    counted = "a column has no role and is" if one else f"{len(names)} columns have no role and are"
    hidden = may_be_record(frame.columns)
    first = repr("NAME" if hidden else names[0])
    mixed = next((name for name in names if _is_nearly_numbers(frame, name)), None)
    notes = f" {IS_IT_A_HEADER}" if hidden else ""
    if mixed is not None:
        notes += (
            f" If texts among the numbers in {shown_column(mixed, frame.columns)} mean a missing "
            "value, name them: --na TEXT, or na=['TEXT'] in Python."
        )
    return (
        f"{counted} not plain numbers: {_listing(frame, names)}. Protect "
        f"{'it' if one else 'each'} as a quasi-identifier (--quasi-identifier, or "
        f"quasi_identifiers=[{first}] in Python), drop it as an identifier (--identifier, or "
        f"identifiers=[{first}]), or publish it unchanged: as sensitive (--sensitive, or "
        f"sensitive=[{first}]) or not (--publish, or publish=[{first}]). For "
        f"many columns, 'microagg plan' drafts all roles.{notes}"
    )


def _is_nearly_numbers(frame: Frame, name: str) -> bool:
    """Whether most entries of a column of text are numbers, and none a code such as 007."""
    if dtype_of(frame, name) != nw.String:
        return False
    entries = [value for value in frame[name].to_list() if isinstance(value, str) and value.strip()]
    if any(re.fullmatch(_CODE, value) for value in entries):
        return False
    return len(entries) / 2 < sum(map(_reads_as_number, entries)) < len(entries)


def _listing(frame: Frame, names: list[str]) -> str:
    columns = frame.columns
    return ", ".join(f"{shown_column(name, columns)} ({_describe(frame, name)})" for name in names)


def _describe(frame: Frame, name: str) -> str:
    """Describe the type of a column and, for text, how many records have some."""
    series = frame[name]
    present = len(series) - int(series.null_count())
    if not present:
        return "missing in every record"
    dtype = dtype_of(frame, name)
    if dtype != nw.String:
        return _WORDS.get(type(dtype), type_name(dtype))
    entries = [value for value in series.to_list() if isinstance(value, str) and value.strip()]
    codes = sum(re.fullmatch(_CODE, value) is not None for value in entries)
    words = sum(not _reads_as_number(value) for value in entries)
    found = []
    if words:
        found.append(f"text in {words} of {len(series)} records")
    if codes:
        found.append(f"codes with leading zeros in {codes} of {len(series)} records")
    return ", ".join(found) or "numbers stored as text or beyond 64 bits"


def _reads_as_number(value: str) -> bool:
    if re.fullmatch(_CODE, value):
        return True
    try:
        float(value)
    except ValueError:
        return False
    return "_" not in value
