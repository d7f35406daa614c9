"""What the fields of a plan take: checks of single values, and the forms that they may come in."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, PlainSerializer, ValidationInfo

from microagg.constraints.grammar import Constraint, parse
from microagg.core.errors import ParameterError
from microagg.core.registry import DEFAULT, methods
from microagg.core.validation import check_choice
from microagg.tables.roles import as_names

# What fields take, for the JSON schema of plans.
AtLeastOne = Annotated[int, Field(ge=1)]
NotNegative = Annotated[float, Field(ge=0)]
PerCent = Annotated[float, Field(ge=0, le=100)]


def checked(check: Any, takes: Any, **bounds: Any) -> BeforeValidator:
    """Return a validator whose errors contain the name of the field; it `takes` such a value."""
    return BeforeValidator(
        lambda value, info: check(_name(info), value, **bounds), json_schema_input_type=takes
    )


def optional(check: Any, takes: Any, **bounds: Any) -> BeforeValidator:
    """Return a validator of a field that may be None."""
    return BeforeValidator(
        lambda value, info: None if value is None else check(_name(info), value, **bounds),
        json_schema_input_type=takes | None,
    )


def _name(info: ValidationInfo) -> str:
    return str(info.field_name)


@dataclass(frozen=True, slots=True)
class OneOf(BeforeValidator):
    """A validator of a field that takes one of a few words, which it lists."""

    choices: tuple[str, ...] = ()


def one_of(choices: Iterable[str], name: str = "", *, or_none: bool = False) -> OneOf:
    """Return a validator of a field that takes one of these words, or None if that is allowed.

    Its errors contain the name of the field, or this one.
    """
    listed = tuple(map(str, choices))

    def check(value: object, info: ValidationInfo) -> str | None:
        if or_none and value is None:
            return None
        return check_choice(name or _name(info), value, listed)

    words: Any = Literal[listed]
    return OneOf(check, words | None if or_none else words, choices=listed)


def parse_constraints(constraints: object) -> tuple[Constraint, ...]:
    """Return the constraints in a list of texts; a single text is one constraint."""
    if isinstance(constraints, str):
        return (parse(constraints),)
    if constraints is None:
        return ()
    if not isinstance(constraints, Iterable) or isinstance(constraints, (bytes, Mapping)):
        raise ParameterError(
            "constraints must be a list of texts such as ['net + tax = gross']; got "
            f"{type(constraints).__name__}."
        )
    return tuple(c if isinstance(c, Constraint) else parse(c) for c in constraints)


def with_one_seed(given: dict[str, Any]) -> dict[str, Any]:
    """Return the fields with the seed in its place, if it came as an option of the method."""
    options, name = given.get("method_options"), given.get("method", DEFAULT)
    if not isinstance(options, Mapping) or options.get("random_state") is None:
        return given
    method = methods().get(name) if isinstance(name, str) else None
    if method is None or "random_state" not in method.options:
        return given
    if given.get("random_state") is not None:
        raise ParameterError(
            "the seed is given twice: as --seed (random_state in Python) and as the option "
            "random_state of the method. Remove one of them."
        )
    rest = {name: value for name, value in options.items() if name != "random_state"}
    return {**given, "method_options": rest, "random_state": options["random_state"]}


def as_markers(given: object) -> tuple[str, ...]:
    """Return the texts of missing values; a number is what it is written as."""
    listed = [given] if isinstance(given, (str, int, float)) else given
    if not isinstance(listed, (list, tuple)) or any(
        isinstance(entry, bool) or not isinstance(entry, (str, int, float)) for entry in listed
    ):
        raise ParameterError(
            "na must be a list of texts or numbers that mean a missing value, such as ['NA', -9]; "
            f"got {type(given).__name__}."
        )
    return tuple(dict.fromkeys(str(entry).strip() for entry in listed))


def as_blocks(blocks: object) -> tuple[tuple[str, ...], ...]:
    """Return the blocks if they are lists of names; a single flat list is refused."""
    if isinstance(blocks, Iterable) and not isinstance(blocks, (str, Mapping)):
        listed = tuple(blocks)
        if not any(isinstance(block, str) for block in listed):
            return tuple(as_names("a block", block) for block in listed)
    raise ParameterError(
        "blocks must be a list of lists of columns, such as [['age', 'income'], ['sex']]; got "
        f"{blocks!r}."
    )


def plain_value(value: object) -> object:
    """Return the value of an option of a method, with arrays as lists."""
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


Constraints = Annotated[
    tuple[Constraint, ...],
    BeforeValidator(parse_constraints, json_schema_input_type=list[str] | str | None),
    PlainSerializer(lambda constraints: [constraint.text for constraint in constraints]),
]
