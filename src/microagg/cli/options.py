"""The options of the commands: derived from the plan, or defined once here, in shared groups."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any

import typer

from microagg.cli.version import Version
from microagg.files.formats import DIALECT_OPTIONS, suffix_list
from microagg.plans.columns import ROLE_OPTIONS, ColumnPlan
from microagg.plans.options import Kind, Option, options_of
from microagg.plans.plan import Plan
from microagg.plans.texts import by_column, option_value

Parameter = inspect.Parameter

FILES_SECTION, OUTPUT_SECTION = "Files", "Output"

FILES = f"A {suffix_list()} file, or - (CSV)."
FILES_OR_FOLDER = f"A {suffix_list()} file, or - (CSV); or a folder of Parquet, Arrow or CSV files."
Input = Annotated[str, typer.Argument(metavar="INPUT", help=FILES)]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Most memory to use, such as 4GB, for a file or folder that does not fit in it.",
        rich_help_panel=FILES_SECTION,
    ),
]
WorkDir = Annotated[
    str | None,
    typer.Option(
        metavar="DIR",
        help="Folder for the private work folder of a dataset. Default: that for temporary files.",
        rich_help_panel=FILES_SECTION,
    ),
]

_COMMA = """A name with a comma goes in double quotes, as in '"city, country",age'."""
_TYPES: dict[Kind, Any] = {
    Kind.WHOLE: str | None,
    Kind.NUMBER: str | None,
    Kind.TEXT: str | None,
    Kind.NAME: str | None,
    Kind.SWITCH: bool | None,
}


def _option(name: str, type_: Any, default: Any, *declarations: str, **details: Any) -> Parameter:
    return Parameter(
        name,
        Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[type_, typer.Option(*declarations, **details)],
    )


def _text(name: str, flag: str, metavar: str, section: str, help_: str) -> Parameter:
    return _option(
        name, str | None, None, flag, metavar=metavar, help=help_, rich_help_panel=section
    )


def _switch(name: str, *flags: str, help_: str) -> Parameter:
    return _option(name, bool, False, *flags, help=help_, rich_help_panel=OUTPUT_SECTION)


DIALECT = tuple(
    _text(name, f"--{name.replace('_', '-')}", own.metavar, FILES_SECTION, own.help)
    for name, own in DIALECT_OPTIONS.items()
)


def plan_file(
    help_: str = "A plan file, see 'microagg plan'; options given here override it.",
) -> tuple[Parameter, ...]:
    """Return the option for a plan file; the help says what may be given beside it."""
    return (_text("plan", "--plan", "P.toml", FILES_SECTION, help_),)


def original_file(help_: str) -> tuple[Parameter, ...]:
    """Return the option for the original of a protected file; the help says what it is for."""
    return (_text("original", "--original", "FILE", FILES_SECTION, help_),)


def audit_file(help_: str) -> tuple[Parameter, ...]:
    """Return the option for the audit of a protected file; the help says what it is for."""
    return (_text("audit", "--audit", "FILE", FILES_SECTION, help_),)


JSON = _switch("json", "--json", help_="Print one JSON object on standard output.")
QUIET = _switch("quiet", "--quiet", "-q", help_="Print nothing but errors.")
FORCE = _switch("force", "--force", help_="Replace an existing output (never the input).")
VERSION = Parameter("_version", Parameter.KEYWORD_ONLY, default=False, annotation=Version)
FIGURES_FILE = (
    _option(
        "output",
        str | None,
        None,
        "--output",
        "-o",
        metavar="OUT",
        help="Write the figures to a file as well, or as CSV to -.",
        rich_help_panel=FILES_SECTION,
    ),
)


def role_options(*roles: str) -> list[Option]:
    """Return the options for these roles, or for all."""
    return [ROLE_OPTIONS[role] for role in roles or ROLE_OPTIONS]


def plan_options(*keywords: str, study: str | None = None) -> list[Option]:
    """Return the options of a plan with these keywords, or those of a study, or all of them."""
    found = (o for o in options_of(Plan) if study is None or study in o.studies)
    return [o for o in found if not keywords or o.keyword in keywords]


def column_options(*keywords: str) -> list[Option]:
    """Return the options for single columns with these keywords, or all of them."""
    return [o for o in options_of(ColumnPlan) if not keywords or o.keyword in keywords]


def parameters(
    options: Iterable[Option], *, of_columns: bool = False, **help_texts: str
) -> list[Parameter]:
    """Return options as parameters of a command; `help_texts` replace help, by keyword."""
    found = []
    for option in options:
        help_ = help_texts.get(option.keyword, _help(option))
        flag, many = option.flag, of_columns or option.kind not in _TYPES
        type_ = list[str] | None if many else _TYPES[option.kind]
        found.append(
            _option(
                option.dest,
                type_,
                None,
                "/".join(option.flags),
                metavar=flag.metavar or None,
                help=help_,
                rich_help_panel=str(flag.section),
            )
        )
    return found


def table_options(study: str | None = None) -> list[Parameter]:
    """Return what describes a table to protect, or to study: options of a plan, columns, files."""
    return [
        *parameters(plan_options(study=study)),
        *parameters(role_options()),
        *parameters(column_options(), of_columns=True),
        *plan_file(),
        *DIALECT,
    ]


def _help(option: Option) -> str:
    if option.keyword == "quasi_identifiers":
        return f"{option.help} {_COMMA}"
    default = option.default
    if option.kind is Kind.SWITCH or default in (None, (), {}):
        return option.help
    return (
        f"{option.help} Default: {default:g}."
        if isinstance(default, float)
        else (f"{option.help} Default: {default}.")
    )


def takes(*groups: Iterable[Parameter]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the parameters of these groups to a command, which gets them as one mapping, `given`."""
    shared = [parameter for group in groups for parameter in group]
    names = {parameter.name for parameter in shared}

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        own = [p for p in inspect.signature(function).parameters.values() if p.name != "given"]

        def command(**values: Any) -> None:
            given = {name: value for name, value in values.items() if name in names}
            rest = {name: value for name, value in values.items() if name not in names}
            function(**rest, given=given)

        command.__name__ = function.__name__
        command.__doc__ = function.__doc__
        every = [*(p.replace(kind=Parameter.KEYWORD_ONLY) for p in own), *shared, VERSION]
        command.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in every}
        names.add(VERSION.name)
        return command

    return decorate


def parsed(options: Iterable[Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the options that were given, by keyword."""
    found = {option.keyword: option_value(option, given.get(option.dest)) for option in options}
    return {keyword: value for keyword, value in found.items() if value is not None}


def parsed_columns(given: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the values of options such as --type sex=nominal, by column."""
    for_one = column_options()
    for_all_or_one = [o for o in plan_options() if o.kind is Kind.BY_COLUMN]
    said: dict[str, Sequence[str] | None] = {
        option.keyword: given.get(option.dest) for option in for_one
    }
    for option in for_all_or_one:
        said[option.keyword] = [text for text in given.get(option.dest) or () if "=" in text]
    return by_column((*for_one, *for_all_or_one), said)


def dialect_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that say how a file is read."""
    return {parameter.name: given[parameter.name] for parameter in DIALECT}
