"""What was asked for: one model for Python, the command line, files and the manifest."""

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError, model_validator

from microagg.core.errors import MicroaggError, ParameterError
from microagg.core.keywords import ALIASES
from microagg.core.registry import find
from microagg.files.atomic import atomic_write_all
from microagg.files.writing import text_writer
from microagg.plans.agreement import check_agreement
from microagg.plans.checks import with_one_seed
from microagg.plans.columns import ColumnPlan, as_columns
from microagg.plans.digits import with_digits
from microagg.plans.fields import PlanFields
from microagg.plans.refusals import in_file, refusal
from microagg.plans.toml import read_plan, toml_plan
from microagg.plans.units import ROWS, refuse_ambiguous_rows, with_unit
from microagg.requirements.base import About, Requirement
from microagg.requirements.hybrid import HybridRecords
from microagg.requirements.records import KRecords
from microagg.requirements.units import KUnits
from microagg.tables.columns import AGGREGATES, ColumnOptions, ColumnType
from microagg.tables.roles import (
    DROP,
    IDENTIFIER,
    PUBLISH,
    QUASI_IDENTIFIER,
    ROLES,
    SENSITIVE,
    STRATUM,
    UNIT,
    WEIGHT,
    Roles,
    no_such_column,
)


class Plan(PlanFields):
    """The options of a release: k, the method and its options, and what each column is.

    Every option of `microagg.protect` is one of its fields, which are declared in `PlanFields`. A
    plan is valid: everything that can be checked without the data has been checked. It cannot be
    changed; `replace` returns another one. Plans that say the same are equal, whether they say it
    or leave it to a default. Printed, a plan is the TOML of its file.

    Examples
    --------
    >>> plan = Plan(k=5, method="auto", columns={"sex": {"role": "sensitive"}})
    >>> plan
    Plan(k=5, columns={'sex': {'role': 'sensitive'}})
    >>> print(plan.to_toml().splitlines()[-1])
    sex = { role = "sensitive" }
    """

    @model_validator(mode="before")
    @classmethod
    def _without_aliases(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        for alias, name in ALIASES.items():
            if alias in given and name in given:
                raise ParameterError(f"{alias} is another name for {name}. Give one of them.")
        renamed = {str(ALIASES.get(name, name)): value for name, value in given.items()}
        if isinstance(renamed.get("digits"), Mapping):
            columns = renamed.get("columns")
            renamed = with_digits(renamed, as_columns({} if columns is None else columns))
        return with_unit(with_one_seed(renamed))

    @model_validator(mode="after")
    def _agree(self) -> Self:
        check_agreement(self, find(self.method))
        return self

    def __init__(self, /, **given: Any) -> None:
        try:
            super().__init__(**given)
        except ValidationError as error:
            raise refusal(error, Plan, ColumnPlan) from None

    @classmethod
    def of(cls, /, **given: Any) -> Self:
        """Return the plan, or raise an error that says in one sentence what is wrong."""
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            raise refusal(error, Plan, ColumnPlan) from None

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Self:
        """Return the plan in a TOML file, such as `microagg plan` drafts."""
        if not isinstance(path, (str, PathLike)):
            raise ParameterError(
                f"a plan is a microagg.Plan or the name of a plan file; got {type(path).__name__}."
            )
        given = read_plan(Path(path))
        try:
            return cls.of(**given)
        except MicroaggError as error:
            raise in_file(error, path, given) from None

    def to_toml(self) -> str:
        """Return the plan as the text of a plan file: what differs from the defaults."""
        return toml_plan(self.as_dict())

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write the plan to a TOML file that `read` reads; an existing one needs `force`."""
        if not isinstance(path, (str, PathLike)):
            raise ParameterError(f"path must be the name of a file; got {type(path).__name__}.")
        atomic_write_all({Path(path): text_writer(self.to_toml())}, force=force)

    def __str__(self) -> str:
        try:
            return self.to_toml()
        except MicroaggError:
            return repr(self)

    def __repr_args__(self) -> Iterator[tuple[str, Any]]:
        yield from self.as_dict().items()

    def __hash__(self) -> int:
        return hash((self.k, self.method, self.random_state, frozenset(self.columns)))

    def replace(self, /, **changes: Any) -> Self:
        """Return the plan with other values for these fields.

        >>> Plan.of(k=5).replace(k=10, method="mdav").k
        10
        """
        given = {name: getattr(self, name) for name in self.model_fields_set}
        return type(self).of(**{**given, **changes})

    def as_dict(self) -> dict[str, Any]:
        """Return the options that differ from the defaults, as plain values for json.dumps."""
        return self.model_dump(mode="json", exclude_defaults=True)

    def roles_in(self, columns: Sequence[str]) -> Roles:
        """Return the columns of a table by role, in its order, if it has all columns of the plan.

        A column with options but no role is a quasi-identifier.
        """
        known = set(columns)
        for name in self.columns:
            if name not in known:
                raise no_such_column(name, columns, self.columns)
        if self.counts_rows and self._role_of(ROWS) in (None, IDENTIFIER):
            refuse_ambiguous_rows(columns)
        in_order = [name for name in columns if name in self.columns]
        role_of = {name: column.role_in_plan for name, column in self.columns.items()}
        by_role = {role: tuple(n for n in in_order if role_of[n] == role) for role in ROLES}
        return Roles(
            quasi_identifiers=by_role[QUASI_IDENTIFIER],
            identifiers=by_role[IDENTIFIER],
            sensitive=by_role[SENSITIVE],
            published=by_role[PUBLISH],
            strata=by_role[STRATUM],
            weights=next(iter(by_role[WEIGHT]), None),
            unit=next(iter(by_role[UNIT]), None),
            left_out=by_role[DROP],
        )

    def _role_of(self, name: str) -> str | None:
        return None if name not in self.columns else self.columns[name].role

    def columns_as(self, role: str) -> tuple[str, ...]:
        """Return the columns of a role, in the order of the plan."""
        return tuple(name for name, column in self.columns.items() if column.role == role)

    @property
    def unit_column(self) -> str | None:
        """The column that says whom a record is about, if there is one."""
        return next(iter(self.columns_as(UNIT)), None)

    @property
    def counts_rows(self) -> bool:
        """Whether every record is said to be about a different person."""
        return self.unit == ROWS

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """What every released combination must satisfy."""
        return (KRecords(self.k), *self._on_groups(), *((HybridRecords(),) if self.hybrid else ()))

    @property
    def draws_values(self) -> bool:
        """Whether what a record releases is drawn at random."""
        return self.hybrid or find(self.method).draws

    def _on_groups(self) -> Iterator[Requirement]:
        unit, weights = self.unit_column, next(iter(self.columns_as(WEIGHT)), None)
        if unit is not None:
            yield KUnits(unit, self.k)
        for name, column in self.columns.items():
            yield from column.requirements(name, unit=unit, weights=weights)

    def asks_for(self, requirement: str) -> bool:
        """Whether a column has this requirement, such as t_closeness."""
        return any(getattr(own, requirement) is not None for own in self.columns.values())

    @property
    def compared_columns(self) -> tuple[str, ...]:
        """The columns whose distribution in a combination is compared with that of all records."""
        about = About.ORDERED_VALUES
        return tuple(name for name, said in self.columns.items() if said.required_about(about))

    @property
    def judged_columns(self) -> tuple[str, ...]:
        """The published columns that requirements are about, beside the quasi-identifiers."""
        about = [name for name, column in self.columns.items() if column.is_about_values]
        has_totals = any(column.is_about_contributions for column in self.columns.values())
        return (*about, *(self.columns_as(WEIGHT) if has_totals else ()))

    @property
    def identifiers(self) -> tuple[str, ...]:
        """The columns to drop that name somebody, in the order of the plan."""
        return self.columns_as(IDENTIFIER)

    @property
    def unchanged(self) -> tuple[str, ...]:
        """The columns that are published unchanged, in the order of the plan."""
        each = (SENSITIVE, PUBLISH, WEIGHT)
        return tuple(name for role in each for name in self.columns_as(role))

    @property
    def needs_original(self) -> bool:
        """Whether a requirement is about what is not published."""
        each = self.columns.values()
        return self.unit_column is not None or any(own.is_about_contributions for own in each)

    @property
    def not_published(self) -> tuple[str, ...]:
        """The columns to drop, in the order of the plan."""
        roles = (IDENTIFIER, UNIT, DROP)
        return tuple(name for name, column in self.columns.items() if column.role in roles)

    @property
    def amounts(self) -> frozenset[str]:
        """The columns that the plan treats as amounts, since totals or means are made of them."""
        constrained = (name for own in self.constraints for name in own.coefficients)
        averaged = (
            name
            for name, column in self.columns.items()
            if column.is_about_contributions
            or column.digits is not None
            or column.aggregate not in (None, *AGGREGATES[ColumnType.NOMINAL])
        )
        return frozenset((*constrained, *averaged))

    def digits_of(self, name: str) -> int | None:
        """Return the decimals that were asked for of a column, if any were."""
        asked = self.columns[name].digits if name in self.columns else None
        return asked if isinstance(asked, int) else None

    @property
    def resolutions(self) -> dict[str, str]:
        """The resolutions of dates that are stated, by column."""
        stated = {name: column.resolution for name, column in self.columns.items()}
        return {name: word for name, word in stated.items() if word is not None}

    @property
    def column_options(self) -> dict[str, ColumnOptions]:
        """Options for the values of quasi-identifiers, by name."""
        said = {name: column.options for name, column in self.columns.items()}
        return {
            name: options
            for name, options in said.items()
            if options is not None and self.columns[name].role in (None, QUASI_IDENTIFIER)
        }
