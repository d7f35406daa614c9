"""The options of the commands: derived from the plan, or defined once here, in shared groups."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any

import typer

from microagg.cli.version import Version
from microagg.files.formats import DIALECT_OPTIONS, suffix_list
from microagg.plans.columns import ROLE_OPTIONS, ColumnPlan
from microagg.plans.options import Kind, Option, Section, options_of
from microagg.plans.plan import Plan
from microagg.plans.texts import by_column, option_value

Parameter = inspect.Parameter

FILES_SECTION, OUTPUT_SECTION = "Files", "Output"

FILES = f"A {suffix_list()} file, or - (CSV)."
FILES_OR_FOLDER = f"A {suffix_list()} file, or - (CSV); or a folder of Parquet, Arrow or CSV files."
Input = Annotated[str, typer.Argument(metavar="INPUT", help=FILES)]
InputOrFolder = Annotated[str, typer.Argument(metavar="INPUT", help=FILES_OR_FOLDER)]
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


def text_option(
    name: str,
    metavar: str,
    help_: str,
    *short: str,
    section: str = FILES_SECTION,
    default: str | None = None,
) -> Parameter:
    """Return an option with a value; `short` are other flags than its name."""
    return _option(
        name,
        str | None,
        default,
        _flag(name),
        *short,
        metavar=metavar,
        help=help_ if default is None else f"{help_} Default: {default}.",
        show_default=False,
        rich_help_panel=section,
    )


def switch(name: str, help_: str, *short: str, section: str = OUTPUT_SECTION) -> Parameter:
    """Return an option without a value; `short` are other flags than its name."""
    return _option(name, bool, False, _flag(name), *short, help=help_, rich_help_panel=section)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


DIALECT = tuple(text_option(name, own.metavar, own.help) for name, own in DIALECT_OPTIONS.items())


def dataset_files(where: str = "that for temporary files") -> tuple[Parameter, ...]:
    """Return the options for what does not fit in memory; work folders are made `where`."""
    return (
        text_option(
            "memory",
            "SIZE",
            "Most memory to use, such as 4GB, for a file or folder that does not fit in it.",
        ),
        text_option(
            "work_dir",
            "DIR",
            f"Folder for the private work folder of a dataset. Default: {where}.",
        ),
    )


def output_file(
    help_: str, *, metavar: str = "OUT", section: str = FILES_SECTION, default: str | None = None
) -> tuple[Parameter, ...]:
    """Return the option for where a result goes; the help says what it is."""
    return (text_option("output", metavar, help_, "-o", section=section, default=default),)


def several_k(help_: str) -> tuple[Parameter, ...]:
    """Return the option for the k of a study; the help says what is tried by default."""
    return (
        _option(
            "k",
            str | None,
            None,
            "-k",
            metavar="K,...",
            help=help_,
            rich_help_panel=str(Section.PROTECTION),
        ),
    )


def plan_file(
    help_: str = "A plan file, see 'microagg plan'; options given here override it.",
) -> tuple[Parameter, ...]:
    """Return the option for a plan file; the help says what may be given beside it."""
    return (text_option("plan", "P.toml", help_),)


def original_file(help_: str) -> tuple[Parameter, ...]:
    """Return the option for the original of a protected file; the help says what it is for."""
    return (text_option("original", "FILE", help_),)


def audit_file(help_: str) -> tuple[Parameter, ...]:
    """Return the option for the audit of a protected file; the help says what it is for."""
    return (text_option("audit", "FILE", help_),)


JSON = switch("json", "Print one JSON object on standard output.")
QUIET = switch("quiet", "Print nothing but errors.", "-q")
FORCE = switch("force", "Replace an existing output (never the input).")
VERSION = Parameter("_version", Parameter.KEYWORD_ONLY, default=False, annotation=Version)
FIGURES_FILE = output_file("Write the figures to a file as well, or as CSV to -.")


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
    """Add the parameters of these groups to a command.

    It gets them as one mapping, `given`, but for those that it names as arguments of its own.
    """
    shared = [*(parameter for group in groups for parameter in group), VERSION]
    names = {parameter.name for parameter in shared}

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        named = inspect.signature(function).parameters
        own = [p for p in named.values() if p.name != "given" and p.name not in names]

        def command(**values: Any) -> None:
            given = {name: value for name, value in values.items() if name not in named}
            rest = {name: value for name, value in values.items() if name in named}
            function(**rest, given=given)

        command.__name__ = function.__name__
        command.__doc__ = function.__doc__
        every = [*(p.replace(kind=Parameter.KEYWORD_ONLY) for p in own), *shared]
        command.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in every}
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
