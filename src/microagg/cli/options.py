"""Options that several commands share, and how their values are read."""

import csv
import re
from collections.abc import Sequence
from typing import Annotated

import typer

from microagg import __version__
from microagg.core.errors import ParameterError
from microagg.files.formats import suffix_list

Value = bool | int | float | str | None

_LONGEST_QUOTED = 40
_WORDS = {"true": True, "false": False, "none": None}


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"microagg {__version__}")
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Force = Annotated[
    bool, typer.Option("--force", help="Replace an existing output (never the input).")
]

FILES = f"A {suffix_list()} file, or - (CSV)."
Input = Annotated[str, typer.Argument(metavar="INPUT", help=FILES)]
Delimiter = Annotated[
    str | None,
    typer.Option(metavar="D", help="What separates the fields of a CSV file. Default: detected."),
]
Decimal = Annotated[
    str | None,
    typer.Option(metavar="M", help="Decimal mark of a CSV file, . or , Default: detected."),
]
Encoding = Annotated[
    str | None,
    typer.Option(metavar="E", help="Encoding of a CSV, SPSS or Stata file. Default: detected."),
]
QuasiIdentifiers = Annotated[
    list[str] | None,
    typer.Option(
        "--quasi-identifier",
        metavar="C",
        help="Column to protect. Columns of numbers that no option names are protected, too.",
    ),
]
Identifiers = Annotated[
    list[str] | None,
    typer.Option("--identifier", metavar="C", help="Column to drop, such as a name."),
]
Sensitive = Annotated[
    list[str] | None,
    typer.Option("--sensitive", metavar="C", help="Column to publish unchanged."),
]
Types = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="C=T",
        help="Type of a column: continuous, integer, ordinal, nominal, boolean, date or "
        "datetime. Default: as it is stored.",
    ),
]
Orders = Annotated[
    list[str] | None,
    typer.Option(
        "--order", metavar="C=A,B,..", help="Values of an ordinal column, the lowest first."
    ),
]
Missing = Annotated[
    str,
    typer.Option(
        metavar="M",
        help="Missing values: error, value (groups release them together), or impute.",
    ),
]
Constraints = Annotated[
    list[str] | None,
    typer.Option(
        "--constraint", metavar="C", help='What every record satisfies: "net + tax = gross".'
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="OUT",
        help="Write the figures to a file as well, or as CSV to -.",
    ),
]
Scale = Annotated[
    str,
    typer.Option(
        metavar="S", help="How numbers are compared: standardise, robust, rank, log, or none."
    ),
]
Effort = Annotated[
    str, typer.Option(metavar="E", help="How much work auto does: fast, balanced or best.")
]
Seed = Annotated[
    str | None,
    typer.Option(metavar="N", help="Repeat the draws of a method with chance in it."),
]


def whole_or_text(text: str) -> int | str:
    """Return the whole number that the text writes, or the text for a check to refuse."""
    return int(text) if re.fullmatch(r"[+-]?[0-9]{1,40}", text) else text


def count_or_text(text: str) -> int | str:
    """Return the whole number, or a text that is short enough for a message to quote.

    >>> count_or_text("5"), count_or_text("9" * 5000)
    (5, '99999999999999999999…')
    """
    return whole_or_text(text if len(text) <= _LONGEST_QUOTED else f"{text[:20]}…")


def number_or_text(text: str) -> float | str:
    """Return the number that the text writes, or the text for a check to refuse.

    >>> number_or_text("1.5"), number_or_text("long")
    (1.5, 'long')
    """
    try:
        return float(text)
    except ValueError:
        return count_or_text(text)


def seed_or_none(text: str | None) -> int | None:
    """Return the seed that the text writes, if it is one.

    >>> seed_or_none("7"), seed_or_none(None)
    (7, None)
    """
    if text is None:
        return None
    seed = count_or_text(text)
    if isinstance(seed, int) and 0 <= seed < 2**32:
        return seed
    raise ParameterError(f"--seed must be a whole number from 0 to 4294967295; got {seed!r}.")


def assignments(pairs: Sequence[str]) -> dict[str, Value]:
    """Return the values of NAME=VALUE pairs: true, false, none, a number, or text.

    >>> assignments(["leftover=nearest", "starts=3", "tour=true", "time_budget=none"])
    {'leftover': 'nearest', 'starts': 3, 'tour': True, 'time_budget': None}
    """
    values: dict[str, Value] = {}
    for pair in pairs:
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not (name and equals and value):
            raise ParameterError(f"--option must be NAME=VALUE; got {pair!r}.")
        if name in values:
            raise ParameterError(f"--option {name} is given twice. Remove one of them.")
        values[name] = _read_value(value)
    return values


def _read_value(text: str) -> Value:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    number = whole_or_text(text)
    return number if isinstance(number, int) else number_or_text(text)


def listed_names(text: str) -> list[str]:
    """Return the names in a text that lists them with commas; quotes hold commas together.

    >>> listed_names('age, "city, country"')
    ['age', 'city, country']
    """
    try:
        rows = list(csv.reader([text], skipinitialspace=True, strict=True))
    except csv.Error:
        raise ParameterError(
            f"names are listed with commas between them, in one line, quotes closed; got {text!r}."
        ) from None
    return [name for row in rows for name in row if name.strip()]


def by_column(**given: Sequence[str] | None) -> dict[str, dict[str, Value | list[str]]]:
    """Return what is said of columns in options such as --type sex=nominal, by column.

    >>> by_column(type=["sex=nominal"], order=["size=S,M,L"], weight=["sex=2"])
    {'sex': {'type': 'nominal', 'weight': 2}, 'size': {'order': ['S', 'M', 'L']}}
    """
    said: dict[str, dict[str, Value | list[str]]] = {}
    for key, pairs in given.items():
        option = "--column-weight" if key == "weight" else f"--{key}"
        for pair in pairs or ():
            # From the right: a name may hold an equals sign, a value of these hardly.
            name, equals, value = pair.partition("=") if key == "order" else pair.rpartition("=")
            if not (name and equals and value.strip()):
                raise ParameterError(f"{option} must be COLUMN=VALUE; got {pair!r}.")
            if key in said.setdefault(name, {}):
                raise ParameterError(f"{option} is given twice for {name!r}. Remove one of them.")
            value = value.strip()
            said[name][key] = (
                listed_names(value)
                if key == "order"
                else _read_value(value)
                if key == "weight"
                else value
            )
    return said
