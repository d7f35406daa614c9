"""The plan: all that a release is asked to be, in one model for files, options and the manifest."""

import tomllib
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from microagg.aggregates.released import Missing
from microagg.bounds.choice import AUTO, BOUNDS
from microagg.core.errors import DataError, MicroaggError, ParameterError
from microagg.core.registry import DEFAULT, find
from microagg.core.validation import (
    check_choice,
    check_count,
    check_flag,
    check_number,
    check_seed,
    did_you_mean,
)
from microagg.tables.columns import ColumnType
from microagg.tables.roles import (
    IDENTIFIER,
    QUASI_IDENTIFIER,
    ROLES,
    SENSITIVE,
    STRATUM,
    WEIGHT,
    Names,
    as_names,
)
from microagg.tables.scaling import SCALES
from microagg.tables.strata import SMALL_STRATA
from microagg.tables.typed import ColumnOptions


def _choice(name: str, choices: Iterable[str]) -> Any:
    return BeforeValidator(lambda value: check_choice(name, value, choices))


def _flag(name: str) -> Any:
    return BeforeValidator(lambda value: check_flag(name, value))


def _optional(check: Any) -> Any:
    return BeforeValidator(lambda value: None if value is None else check(value))


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class ColumnPlan(_Model):
    """What is said of one column; what is left out is decided by what is in it."""

    role: Annotated[str | None, _optional(lambda v: check_choice("a role", v, ROLES))] = None
    type: Annotated[
        ColumnType | None,
        _optional(lambda v: ColumnType(check_choice("a type", v, map(str, ColumnType)))),
    ] = None
    order: tuple[str | int | float | bool, ...] | None = None
    aggregate: str | None = None
    resolution: str | None = None
    weight: Annotated[
        float, BeforeValidator(lambda v: check_number("a column's weight", v, low=0.0))
    ] = 1.0

    @property
    def options(self) -> ColumnOptions | None:
        """What the column is to be like, if anything is said of that."""
        options = ColumnOptions(self.type, self.order, self.aggregate, self.resolution, self.weight)
        return None if options == ColumnOptions() else options


class Plan(_Model):
    """What to release: k, the method and its options, and what each column is.

    The same model is a plan file, what `protect` was asked for, and the `plan` of a manifest.
    """

    k: Annotated[int, BeforeValidator(lambda value: check_count("k", value))]
    method: Annotated[str, BeforeValidator(lambda value: find(value).name)] = DEFAULT
    options: dict[str, Any] = Field(default_factory=dict)
    seed: Annotated[int | None, _optional(check_seed)] = None
    effort: str = "balanced"
    time_budget: Annotated[
        float | None, _optional(lambda value: check_number("time_budget", value, low=0.0))
    ] = None
    bound: Annotated[str, _choice("bound", BOUNDS)] = AUTO
    scale: Annotated[str, _choice("scale", SCALES)] = "standardise"
    missing: Annotated[Missing, _choice("missing", tuple(map(str, Missing)))] = Missing.ERROR
    constraints: tuple[str, ...] = ()
    strict_k: Annotated[bool, _flag("strict_k")] = False
    small_strata: Annotated[str, _choice("small_strata", SMALL_STRATA)] = "error"
    blocks: tuple[tuple[str, ...], ...] = ()
    valid_combinations: Annotated[bool, _flag("valid_combinations")] = False
    keep_key: Annotated[bool, _flag("keep_key")] = False
    columns: dict[str, ColumnPlan] = Field(default_factory=dict)

    @classmethod
    def of(cls, **given: Any) -> Self:
        """Return the plan, or say in one sentence what is wrong with it."""
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            raise _worded(error) from None

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Self:
        """Return the plan in a TOML file, such as `microagg plan` drafts."""
        return cls.of(**read_plan(Path(path)))

    def with_seed(self, seed: int | None) -> Self:
        """Return the plan with the seed that was used."""
        return self.model_copy(update={"seed": seed})

    def with_types(self, types: Mapping[str, ColumnType]) -> Self:
        """Return the plan with types for those quasi-identifiers of which it says nothing more."""
        columns = dict(self.columns)
        for name, kind in types.items():
            said = columns.get(name, ColumnPlan())
            if said.role in (None, QUASI_IDENTIFIER) and said.type is None and said.order is None:
                columns[name] = said.model_copy(update={"type": kind})
        return self.model_copy(update={"columns": columns})

    def with_options(self, options: dict[str, Any]) -> Self:
        """Return the plan with other options of the method."""
        return self.model_copy(update={"options": options})

    def roles(self) -> dict[str, Any]:
        """Return the columns by role, as `open_records` takes them."""
        by_role: dict[str | None, list[str]] = {role: [] for role in ROLES}
        for name, column in self.columns.items():
            if column.role is not None:
                by_role[column.role].append(name)
        weights = by_role[WEIGHT]
        if len(weights) > 1:
            listing = ", ".join(map(repr, weights))
            raise ParameterError(f"one column can hold weights; got {listing}. Choose one.")
        return {
            "quasi_identifiers": by_role[QUASI_IDENTIFIER],
            "identifiers": by_role[IDENTIFIER],
            "sensitive": by_role[SENSITIVE],
            "strata": by_role[STRATUM],
            "weights": weights[0] if weights else None,
        }

    def column_options(self) -> dict[str, ColumnOptions]:
        """Return what is said of the types and aggregates of columns."""
        found = {}
        for name, column in self.columns.items():
            if column.options is None:
                continue
            if column.role not in (None, QUASI_IDENTIFIER):
                raise ParameterError(
                    f"column {name!r} is to be {column.role}, and types, orders, aggregates and "
                    "weights in comparisons are for quasi-identifiers. Remove one or the other."
                )
            found[name] = column.options
        return found


def columns_by_name(
    columns: Mapping[str, Any] | None,
    *,
    quasi_identifiers: Names = None,
    identifiers: Names = None,
    sensitive: Names = None,
    strata: Names = None,
    weights: str | None = None,
) -> dict[str, dict[str, Any]]:
    """Put what is said of columns and the roles that are given as lists together."""
    if columns is not None and not isinstance(columns, Mapping):
        raise ParameterError(
            "columns must be a mapping of column names to what is said of them, such as "
            f"{{'sex': {{'type': 'nominal'}}}}; got {type(columns).__name__}."
        )
    found: dict[str, dict[str, Any]] = {}
    for name, said in (columns or {}).items():
        if not isinstance(said, (Mapping, ColumnPlan)):
            raise ParameterError(
                f"what is said of column {name!r} must be a mapping such as {{'type': 'nominal'}}; "
                f"got {type(said).__name__}."
            )
        plain = said.model_dump(exclude_unset=True) if isinstance(said, ColumnPlan) else said
        found[name] = dict(plain)
    listed = {
        QUASI_IDENTIFIER: as_names("quasi_identifiers", quasi_identifiers),
        IDENTIFIER: as_names("identifiers", identifiers),
        SENSITIVE: as_names("sensitive", sensitive),
        STRATUM: as_names("strata", strata),
        WEIGHT: as_names("weights", weights),
    }
    for role, names in listed.items():
        for name in names:
            said = found.setdefault(name, {})
            if said.get("role", role) != role:
                raise ParameterError(
                    f"column {name!r} can play one role only; it is named as {said['role']} and "
                    f"as {role}. Remove one of them."
                )
            said["role"] = role
    return found


def as_records(columns: Mapping[str, Any] | None, missing: str, **names: Names) -> dict[str, Any]:
    """Return what is said of columns as `open_records` takes it, where nothing is released."""
    plan = Plan.of(k=1, missing=missing, columns=columns_by_name(columns, **names))  # type: ignore[arg-type]
    return {**plan.roles(), "column_options": plan.column_options(), "missing": plan.missing}


def read_plan(path: Path) -> dict[str, Any]:
    """Return what a plan file says, checked against the model but for what is missing."""
    try:
        text = path.read_text(encoding="utf-8")
        return tomllib.loads(text)
    except OSError as error:
        raise ParameterError(
            f"the plan {str(path)!r} cannot be read: {error.strerror or 'it is no file'}."
        ) from None
    except UnicodeDecodeError:
        raise DataError(f"the plan {str(path)!r} is not UTF-8 text. Save it as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        where = str(error).rpartition("(at ")[2].rstrip(")") or "end of document"
        raise DataError(
            f"the plan {str(path)!r} is not well-formed TOML at {where}. Compare it with what "
            "'microagg plan' writes."
        ) from None


def _worded(error: ValidationError) -> MicroaggError:
    """Word the first thing that is wrong with a plan."""
    first = error.errors()[0]
    raised = first.get("ctx", {}).get("error")
    if isinstance(raised, MicroaggError):
        where = _where(first["loc"])
        return type(raised)(f"{where}{raised}")
    *within, key = first["loc"]
    if first["type"] == "extra_forbidden":
        model = ColumnPlan if within else Plan
        of = f"what is said of column {within[1]!r}" if within else "a plan"
        return ParameterError(
            f"{of} has no key {key!r}.{did_you_mean(key, model.model_fields)} Its keys are "
            f"{', '.join(model.model_fields)}."
        )
    if first["type"] == "missing":
        return ParameterError(f"a plan needs {key!r}. Add it.")
    path = ".".join(str(part) for part in first["loc"])
    return ParameterError(f"{path} in a plan is not as expected: {first['msg'].lower()}.")


def _where(location: tuple[int | str, ...]) -> str:
    return f"column {location[1]!r}: " if location[0] == "columns" and len(location) > 2 else ""
