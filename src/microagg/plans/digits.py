"""The decimals of released numbers: of single columns, or every digit of all."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from microagg.aggregates.digits import ALL
from microagg.core.errors import ParameterError
from microagg.core.validation import check_count, quoted

# Thousands of billions, and the smallest step whose power of ten is an exact float.
FEWEST, MOST = -15, 22
DigitsOfColumn = Annotated[int, Field(ge=FEWEST, le=MOST)] | Literal["all"]  # as in a schema


def as_digits(value: object) -> int | str:
    """Return the decimals of a column, or that every digit is released."""
    if value == ALL:
        return ALL
    if isinstance(value, str):
        raise ParameterError(
            f"digits must be a whole number from {FEWEST} to {MOST}, or {ALL!r}; got "
            f"{quoted(value)}."
        )
    return check_count("digits", value, at_least=FEWEST, at_most=MOST)


def only_all(value: object) -> str | None:
    """Return what a plan says of all columns; the digits of single ones are with the column."""
    if value is None or value == ALL:
        return None if value is None else ALL
    raise ParameterError(
        f"digits must be {ALL!r} for every digit, or by column, such as {{'income': 0}}; got "
        f"{quoted(value)}."
    )


def with_digits(given: dict[str, Any], columns: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the fields of a plan with digits that are given by column put with the columns."""
    by_column = given["digits"]
    merged = {name: dict(said) for name, said in columns.items()}
    for name, digits in by_column.items():
        said = merged.setdefault(name, {})
        if said.get("digits", digits) != digits:
            raise ParameterError(f"digits of column {name!r} are given twice. Remove one of them.")
        said["digits"] = digits
    return {**given, "digits": None, "columns": merged}
