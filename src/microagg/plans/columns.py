"""Options for single columns: their roles, types, and how they are compared and released."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Annotated, Any, TypedDict

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer

from microagg.core.errors import ParameterError
from microagg.core.validation import check_mapping, check_number
from microagg.core.words import joined
from microagg.plans.checks import AtLeastOne, NotNegative, PerCent, one_of
from microagg.plans.digits import DigitsOfColumn, as_digits
from microagg.plans.options import AsksFor, Flag, Kind, Option, Section, option, options_of
from microagg.requirements.base import About, ColumnRequirement, Context
from microagg.requirements.closeness import TCloseness
from microagg.requirements.contributions import Dominance, PPercent, as_dominance
from microagg.requirements.diversity import LDiversity, as_diversity
from microagg.tables.columns import AGGREGATES, RESOLUTIONS, ColumnOptions, ColumnType
from microagg.tables.roles import (
    DROP,
    IDENTIFIER,
    PUBLISH,
    QUASI_IDENTIFIER,
    ROLES,
    SENSITIVE,
    STRATUM,
    WEIGHT,
    Names,
    as_names,
    two_roles,
)

_EVERY_AGGREGATE = tuple(dict.fromkeys(name for names in AGGREGATES.values() for name in names))

# How requirements are written as text, for the JSON schema of plans.
_Entropy = Annotated[str, Field(pattern=r"^\s*entropy:\s*[0-9]+(\.[0-9]*)?\s*$")]
_ShareText = Annotated[str, Field(pattern=r"^\s*[0-9]+\s*:\s*[0-9]+(\.[0-9]*)?\s*$")]

# The roles as options: their keywords in Python, and how they are given on the command line.
ROLE_OPTIONS: Mapping[str, Option] = {
    QUASI_IDENTIFIER: Option(
        "quasi_identifiers",
        Flag("--quasi-identifier", "C,...", Section.COLUMNS),
        Kind.NAMES,
        "Columns to protect. Columns of numbers without a role are protected as well.",
    ),
    IDENTIFIER: Option(
        "identifiers",
        Flag("--identifier", "C,...", Section.COLUMNS),
        Kind.NAMES,
        "Columns to drop that name somebody, such as names and numbers of people.",
        default=(),
    ),
    DROP: Option(
        "drop",
        Flag("--drop", "C,...", Section.COLUMNS),
        Kind.NAMES,
        "Columns to drop that name nobody.",
        default=(),
    ),
    SENSITIVE: Option(
        "sensitive",
        Flag("--sensitive", "C,...", Section.COLUMNS),
        Kind.NAMES,
        "Columns to publish unchanged that an intruder wants to know, such as a diagnosis.",
        default=(),
    ),
    PUBLISH: Option(
        "publish",
        Flag("--publish", "C,...", Section.COLUMNS),
        Kind.NAMES,
        "Columns to publish unchanged that are not sensitive.",
        default=(),
    ),
    STRATUM: Option(
        "strata",
        Flag("--strata", "C,...", Section.COLUMNS),
        Kind.NAMES,
        "Columns to group within: only records with the same values share a group.",
    ),
    WEIGHT: Option(
        "weights",
        Flag("--weights", "C", Section.COLUMNS),
        Kind.NAME,
        "Column of record weights, published unchanged.",
    ),
}


class RoleOptions(TypedDict, total=False):
    """The roles as keywords of `protect` and others."""

    quasi_identifiers: Names
    identifiers: Names
    sensitive: Names
    publish: Names
    drop: Names
    strata: Names
    weights: str | None


class Model(BaseModel):
    """A frozen model without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse any change, in words that say what to do."""
        instead = f" Make another one: replace({name}=...)." if hasattr(self, "replace") else ""
        raise AttributeError(f"a {type(self).__name__} cannot be changed.{instead}")


def _optional(check: Any, takes: Any) -> BeforeValidator:
    return BeforeValidator(
        lambda value: None if value is None else check(value), json_schema_input_type=takes | None
    )


def _as_order(order: object) -> tuple[str | int | float | bool, ...]:
    """Return the values of an order as plain ones, if they are a list of text and numbers."""
    expected = "an order must be a list of text or numbers, lowest first, such as ['low', 'high']"
    if not isinstance(order, Iterable) or isinstance(order, (str, bytes, Mapping)):
        raise ParameterError(f"{expected}; got {type(order).__name__}.")
    listed = tuple(entry.item() if isinstance(entry, np.generic) else entry for entry in order)
    for entry in listed:
        if not isinstance(entry, (str, int, float)):
            raise ParameterError(f"{expected}; got a list with {type(entry).__name__}.")
    if len({(type(entry), entry) for entry in listed}) < len(listed):  # True is not 1 here
        raise ParameterError("an order must list every value once; got one twice. List it once.")
    return listed


class ColumnPlan(Model):
    """The options of one column; what is left out follows from its contents."""

    role: Annotated[str | None, one_of(ROLES, "a role", or_none=True)] = Field(
        None, description=f"What the column is: {', '.join(ROLES)}."
    )
    type: Annotated[ColumnType | None, one_of(ColumnType, "a type", or_none=True)] = option(
        None,
        "--type",
        "C=T",
        Section.COLUMNS,
        "Type of a column: continuous, integer, ordinal, nominal, boolean, date or datetime.",
    )
    order: Annotated[
        tuple[str | int | float | bool, ...] | None, _optional(_as_order, list[str | float | bool])
    ] = option(
        None, "--order", "C=A,B,...", Section.COLUMNS, "Values of an ordinal column, lowest first."
    )
    aggregate: Annotated[str | None, one_of(_EVERY_AGGREGATE, "an aggregate", or_none=True)] = (
        option(
            None,
            "--aggregate",
            "C=A",
            Section.COLUMNS,
            "What a group releases of a column: mean, median or mode.",
        )
    )
    resolution: Annotated[str | None, one_of(RESOLUTIONS, "a resolution", or_none=True)] = option(
        None,
        "--resolution",
        "C=R",
        Section.COLUMNS,
        "Unit of released times: year, quarter, month, day, hour, minute or second.",
    )
    digits: Annotated[int | str | None, _optional(as_digits, DigitsOfColumn)] = Field(
        None, description="Decimals of its released numbers, -3 for thousands, or all."
    )
    weight: Annotated[
        float,
        BeforeValidator(
            lambda v: check_number("a column's weight", v, low=0.0),
            json_schema_input_type=NotNegative,
        ),
    ] = option(
        1.0,
        "--column-weight",
        "C=W",
        Section.COLUMNS,
        "How much a column counts when records are compared.",
    )
    l_diversity: Annotated[
        int | str | None, _optional(as_diversity, AtLeastOne | _Entropy), AsksFor(LDiversity)
    ] = option(
        None,
        "--l-diversity",
        "C=L",
        Section.PROTECTION,
        "Least number of values of a sensitive column in every group, or entropy:L.",
    )
    t_closeness: Annotated[
        float | None,
        _optional(
            lambda v: check_number("t_closeness", v, low=0.0, high=1.0),
            Annotated[float, Field(ge=0, le=1)],
        ),
        AsksFor(TCloseness),
    ] = option(
        None,
        "--t-closeness",
        "C=T",
        Section.PROTECTION,
        "How far a sensitive column in a group may be from the whole table, from 0 to 1.",
    )
    p_percent: Annotated[
        float | None,
        _optional(lambda v: check_number("p_percent", v, low=0.0, high=100.0), PerCent),
        AsksFor(PPercent),
    ] = option(
        None,
        "--p-percent",
        "C=P",
        Section.PROTECTION,
        "How far off, in per cent, any estimate of a contribution to a group's total must be.",
    )
    dominance: Annotated[
        tuple[int, float] | None,
        _optional(as_dominance, _ShareText | tuple[AtLeastOne, PerCent]),
        AsksFor(Dominance),
        PlainSerializer(lambda v: None if v is None else f"{v[0]}:{v[1]:.15g}"),
    ] = option(
        None,
        "--dominance",
        "C=N:SHARE",
        Section.PROTECTION,
        "Largest share of a group's total that its N largest contributors may have, in per cent.",
    )

    @property
    def role_in_plan(self) -> str | None:
        """Its role; a column that has only options for quasi-identifiers is one of them."""
        is_described = self.options is not None or self.is_about_contributions
        return self.role or (QUASI_IDENTIFIER if is_described else None)

    @property
    def is_ordered(self) -> bool | None:
        """Whether its values have an order; None if nothing says what they are."""
        kind = None if self.options is None else self.options.stated_type
        return None if kind is None else kind not in (ColumnType.NOMINAL, ColumnType.BOOLEAN)

    def requirements(self, name: str, **others: str | None) -> Iterator[ColumnRequirement]:
        """Return what is required of the column of this name; `others` are unit and weights."""
        asked = {keyword: getattr(self, keyword) for keyword in self.required_about(*About)}
        if asked:  # most columns of a wide table have none
            context = Context(self.is_ordered, self.order, **others)
            yield from (REQUIREMENTS[key].of(name, asked[key], context) for key in asked)

    def required_about(self, *subjects: About) -> tuple[str, ...]:
        """Return the requirements that it has about any of these, such as t_closeness."""
        those = keywords_about(*subjects)
        return tuple(keyword for keyword in those if getattr(self, keyword) is not None)

    @property
    def is_about_contributions(self) -> bool:
        """Whether there is a requirement on what a group's total gives away."""
        return bool(self.required_about(About.CONTRIBUTIONS))

    @property
    def is_about_values(self) -> bool:
        """Whether there is a requirement on the values behind a combination."""
        return bool(self.required_about(*VALUES))

    @property
    def options(self) -> ColumnOptions | None:
        """The options for its values, if there are any."""
        said = ColumnOptions(
            self.type, self.order, self.aggregate, self.resolution, self.weight, self.digits
        )
        return None if said == ColumnOptions() else said


class RequirementOptions(TypedDict, total=False):
    """Requirements on columns as keywords of `protect`, `verify` and others: {"diagnosis": 3}."""

    l_diversity: Mapping[str, int | str] | None
    t_closeness: Mapping[str, float] | None
    p_percent: Mapping[str, float] | None
    dominance: Mapping[str, tuple[int, float] | str] | None


REQUIREMENT_OPTIONS = tuple(o for o in options_of(ColumnPlan) if o.requirement is not None)
REQUIREMENTS = {o.keyword: o.requirement for o in REQUIREMENT_OPTIONS if o.requirement is not None}
VALUES = (About.VALUES, About.ORDERED_VALUES)


@cache
def keywords_about(*subjects: About) -> tuple[str, ...]:
    """Return the requirements on columns that are about any of these.

    >>> keywords_about(About.CONTRIBUTIONS)
    ('p_percent', 'dominance')
    """
    return tuple(keyword for keyword, own in REQUIREMENTS.items() if own.about in subjects)


def names_about(*subjects: About) -> tuple[str, ...]:
    """Return the names of these requirements in manifests and for people.

    >>> names_about(About.CONTRIBUTIONS)
    ('p per cent', 'dominance')
    """
    return tuple(own.name for own in REQUIREMENTS.values() if own.about in subjects)


# What is judged by the original, as the published table does not show it.
NEED_ORIGINAL = joined(("units", *names_about(About.CONTRIBUTIONS)))


def columns_by_name(
    columns: Mapping[str, Any] | None,
    requirements: Mapping[str, Any] | None = None,
    **roles: Names,
) -> dict[str, dict[str, Any]]:
    """Merge options for columns with requirements, and with roles given as lists, by keyword."""
    found = as_columns({} if columns is None else columns)
    for keyword, asked in (requirements or {}).items():
        for name, value in check_mapping(keyword, asked).items():
            said = found.setdefault(_as_name(name), {})
            if keyword in said and said[keyword] != value:
                raise ParameterError(
                    f"{keyword} of column {name!r} is given twice. Remove one of them."
                )
            said[keyword] = value
    for role, declared in ROLE_OPTIONS.items():
        for name in as_names(declared.keyword, roles.pop(declared.keyword, None)):
            said = found.setdefault(name, {})
            if said.get("role", role) != role:
                raise two_roles(name, said["role"], role)
            said["role"] = role
    if roles:
        raise TypeError(f"no role is given as {', '.join(roles)}")
    return found


def as_columns(columns: object) -> dict[str, dict[str, Any]]:
    """Return the options of columns by name, if they are mappings."""
    if not isinstance(columns, Mapping):
        raise ParameterError(
            "columns must be a mapping of column names to what they are, such as "
            f"{{'sex': {{'type': 'nominal'}}}}; got {type(columns).__name__}."
        )
    return {_as_name(name): _as_dict(name, said) for name, said in columns.items()}


def _as_name(name: object) -> str:
    if isinstance(name, str):
        return name
    raise ParameterError(
        f"the name of a column must be text; got {type(name).__name__}. Rename the column."
    )


def _as_dict(name: str, said: object) -> dict[str, Any]:
    if isinstance(said, ColumnPlan):
        return said.model_dump(exclude_unset=True)
    if isinstance(said, Mapping):
        return dict(said)
    raise ParameterError(
        f"the entry of column {name!r} must be a mapping such as {{'type': 'nominal'}}; got "
        f"{type(said).__name__}."
    )
