"""How an option is declared: once, with its flag and help, as a field of a model."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, Field
from pydantic.fields import FieldInfo

from microagg.core.read_only import ReadOnly
from microagg.plans.checks import OneOf
from microagg.requirements.base import ColumnRequirement

T = TypeVar("T")


class Section(StrEnum):
    """The section of a command's help that lists an option."""

    COLUMNS = "Columns"
    PROTECTION = "Protection"
    METHOD = "Method"


class Kind(Enum):
    """How the text of an option on the command line is read."""

    WHOLE = auto()  # 5
    NUMBER = auto()  # 1.5
    TEXT = auto()  # mdav
    SWITCH = auto()  # --keep-key or --no-keep-key
    TEXTS = auto()  # a text each time it is given
    NAME = auto()  # age: one column
    NAMES = auto()  # age,sex: names in a list, or one each time
    LISTS = auto()  # age,sex: a list each time
    ASSIGNMENTS = auto()  # NAME=VALUE, one each time
    BY_COLUMN = auto()  # COLUMN=VALUE, one each time, or VALUE for all columns


@dataclass(frozen=True)
class Flag:
    """How an option is given on the command line."""

    name: str
    metavar: str
    section: Section


@dataclass(frozen=True)
class OnlyIf:
    """When an option has a meaning, in the annotation of its field.

    It is refused in any other plan, and `otherwise` says why, as the end of a sentence that begins
    with the option; `{method}` there is the method of the plan.
    """

    condition: Callable[[Any], bool]
    otherwise: str


@dataclass(frozen=True)
class OnDatasets:
    """That datasets beyond memory act on an option, in the annotation of its field.

    Without it, they refuse whatever differs from the default, so that no option can be ignored.
    `refuses` says which values they refuse all the same, and `words` what those ask for, as the
    beginning of a sentence; `{value}` there is the value.
    """

    refuses: Callable[[Any], bool] | None = None
    words: str = ""


@dataclass(frozen=True)
class AsksFor:
    """The requirement that an option of a column asks for, in the annotation of its field."""

    requirement: type[ColumnRequirement]


@dataclass(frozen=True)
class Option:
    """An option of `protect`: its keyword in Python, its flag, what it means, its default."""

    keyword: str
    flag: Flag
    kind: Kind
    help: str
    default: Any = None
    studies: tuple[str, ...] = ()  # commands that take it besides `protect`
    requirement: type[ColumnRequirement] | None = None  # what it asks for, of a column
    only_if: OnlyIf | None = None
    on_datasets: OnDatasets | None = None
    choices: tuple[str, ...] = ()  # the words that it takes, if they are few

    @property
    def dest(self) -> str:
        """Its name in the command line parser."""
        return self.flag.name.lstrip("-").replace("-", "_")

    @property
    def flags(self) -> tuple[str, ...]:
        """Its flag; a switch has one to turn it off as well, as a plan may turn it on."""
        name = self.flag.name
        return (name, f"--no-{name.lstrip('-')}") if self.kind is Kind.SWITCH else (name,)


def option(
    default: Any,
    flag: str,
    metavar: str,
    section: Section,
    help: str,  # noqa: A002
    *,
    studies: tuple[str, ...] = (),
    kind: Kind | None = None,
) -> Any:
    """Declare an option as a field of a model; `...` as the default makes it required.

    `studies` are `compare` and `sweep`, where they take it as an argument of their own. `kind` is
    how its text is read, if that does not follow from its type.
    """
    extra: dict[str, Any] = {"flag": flag, "metavar": metavar, "section": section.value}
    if kind is not None:
        extra["kind"] = kind.name
    extra["studies"] = list(studies)
    if isinstance(default, dict):
        return Field(default_factory=ReadOnly, description=help, json_schema_extra=extra)
    return Field(default, description=help, json_schema_extra=extra)


def options_of(model: type[BaseModel]) -> Iterator[Option]:
    """Return the options that the fields of a model declare, in their order."""
    for name, field in model.model_fields.items():
        extra = field.json_schema_extra
        if isinstance(extra, dict) and "flag" in extra:
            flag = Flag(str(extra["flag"]), str(extra["metavar"]), Section(str(extra["section"])))
            default = None if field.is_required() else field.get_default(call_default_factory=True)
            studies = tuple(map(str, extra["studies"]))  # type: ignore[arg-type]
            kind = Kind[str(extra["kind"])] if "kind" in extra else _kind(field)
            yield Option(
                name,
                flag,
                kind,
                field.description or "",
                default,
                studies,
                requirement=None if (asks := _said(field, AsksFor)) is None else asks.requirement,
                only_if=_said(field, OnlyIf),
                on_datasets=_said(field, OnDatasets),
                choices=() if (one := _said(field, OneOf)) is None else one.choices,
            )


def _said(field: FieldInfo, kind: type[T]) -> T | None:
    """Return what the annotation of a field says of this kind."""
    return next((own for own in field.metadata if isinstance(own, kind)), None)


def _kind(field: FieldInfo) -> Kind:
    kinds = [field.annotation, *get_args(field.annotation)]
    origin = get_origin(field.annotation)
    if origin is dict:
        return Kind.ASSIGNMENTS
    if origin is tuple:
        if get_origin(kinds[1]) is tuple:
            return Kind.LISTS
        return Kind.NAMES if kinds[1] is str else Kind.TEXTS
    for type_, kind in ((bool, Kind.SWITCH), (int, Kind.WHOLE), (float, Kind.NUMBER)):
        if type_ in kinds:
            return kind
    return Kind.TEXT
