"""Texts of the command line and the app -> values; a check refuses what is invalid."""

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from microagg.core.errors import ParameterError
from microagg.plans.options import Kind, Option

Value = bool | int | float | str | None

_LONGEST_QUOTED = 40
_QUOTED = r'"(?:[^"]|"")*"'
_WORDS = {"true": True, "false": False, "none": None}
# Kinds of options of columns whose values are numbers, or may be.
_NUMBERS = (Kind.WHOLE, Kind.NUMBER, Kind.BY_COLUMN)
# More would be a typo.
_MOST_KS = 1000


def whole_or_text(text: str) -> int | str:
    """Return the whole number, or the text, shortened so that a message can quote it.

    >>> whole_or_text("5"), whole_or_text("9" * 5000)
    (5, '99999999999999999999…')
    """
    short = text if len(text) <= _LONGEST_QUOTED else f"{text[:20]}…"
    return int(short) if re.fullmatch(r"[+-]?[0-9]{1,40}", short) else short


def seed_of(text: str) -> int:
    """Return the seed that the text writes, if it is one.

    >>> seed_of("7")
    7
    """
    seed = whole_or_text(text)
    if isinstance(seed, int) and 0 <= seed < 2**32:
        return seed
    raise ParameterError(f"--seed must be a whole number from 0 to 4294967295; got {seed!r}.")


def number_or_text(text: str) -> float | str:
    """Return the number in the text, or the text for a check to refuse.

    >>> number_or_text("1.5"), number_or_text("long")
    (1.5, 'long')
    """
    try:
        return float(text)
    except ValueError:
        return whole_or_text(text)


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
        values[name] = _plain_value(value)
    return values


def _plain_value(text: str) -> Value:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    number = int(text) if re.fullmatch(r"[+-]?[0-9]{1,40}", text) else text
    return number if isinstance(number, int) else number_or_text(text)


def names_in(text: str) -> list[str]:
    """Return the names in a text separated by commas; a name with a comma is in quotes.

    >>> names_in('age, "city, country"'), names_in("")
    (['age', 'city, country'], [''])
    """
    try:
        rows = list(csv.reader([text], skipinitialspace=True, strict=True))
    except csv.Error:
        raise ParameterError(
            "names must be separated by commas on one line, a name with a comma in double "
            f"quotes; got {text!r}."
        ) from None
    # An empty text is an empty name: it must not be taken for none.
    return rows[0] or [""]


def columns_in(text: str) -> list[str]:
    """Return the columns in a text separated by commas, none of which has an empty name.

    >>> columns_in("age,")
    Traceback (most recent call last):
    microagg.core.errors.ParameterError: a list of columns must have no empty names; got 'age,'...
    """
    names = names_in(text)
    if any(not name.strip() for name in names):
        raise ParameterError(
            f"a list of columns must have no empty names; got {text!r}. Leave them out."
        )
    return names


def name_in(text: str) -> str:
    """Return the name of one column, which may be in double quotes as in a list.

    >>> name_in('"city, country"'), name_in("city, country"), name_in('5" pipe')
    ('city, country', 'city, country', '5" pipe')
    """
    return names_in(text)[0] if re.fullmatch(_QUOTED, text) else text


def by_column(
    options: Iterable[Option], given: Mapping[str, Sequence[str] | None]
) -> dict[str, dict[str, Any]]:
    """Return the values of COLUMN=VALUE options, by column; `given` has their texts by keyword.

    >>> from microagg.plans.columns import ColumnPlan, options_of
    >>> given = {"type": ["sex=nominal"], "order": ["size=S,M,L"], "weight": ["sex=2"]}
    >>> by_column(options_of(ColumnPlan), given)
    {'sex': {'type': 'nominal', 'weight': 2}, 'size': {'order': ['S', 'M', 'L']}}
    """
    said: dict[str, dict[str, Any]] = {}
    for option in options:
        key, flag = option.keyword, option.flag.name
        for pair in given.get(key) or ():
            name, value = _assigned(pair, from_left=key == "order")
            if not (name and value):
                raise ParameterError(f"{flag} must be COLUMN=VALUE; got {pair!r}.")
            if key in said.setdefault(name, {}):
                raise ParameterError(f"{flag} is given twice for {name!r}. Remove one of them.")
            said[name][key] = column_value(option, value)
    return said


def _assigned(pair: str, *, from_left: bool) -> tuple[str, str]:
    """Return both sides of COLUMN=VALUE: empty ones without a column or a value.

    From the right, as names may contain equals signs; but so may the values of an order.
    """
    if quoted := re.fullmatch(rf"({_QUOTED})=(.*)", pair, flags=re.DOTALL):
        name, value = quoted.groups()
    else:
        name, _, value = pair.partition("=") if from_left else pair.rpartition("=")
    return name_in(name), value.strip()


def column_value(option: Option, text: str) -> Any:
    """Return the value of an option of a column.

    >>> from microagg.plans.columns import ColumnPlan, options_of
    >>> {own.keyword: column_value(own, "2") for own in options_of(ColumnPlan)}["l_diversity"]
    2
    """
    if option.keyword == "order":
        return names_in(text)
    return _plain_value(text) if option.kind in _NUMBERS else text


def option_value(option: Option, given: Any) -> Any:
    """Return the value of an option of a plan; an invalid text is left for a check to refuse.

    `given` is a text, or a list of them for an option that may be given several times; None if it
    was not given.

    >>> from microagg.plans.options import options_of
    >>> from microagg.plans.plan import Plan
    >>> own = {option.keyword: option for option in options_of(Plan)}
    >>> option_value(own["k"], "5"), option_value(own["blocks"], ["age,sex", "income"])
    (5, [['age', 'sex'], ['income']])
    """
    if given is None or given == []:
        return None
    if option.keyword == "random_state":
        return seed_of(given)
    # An entry that means a missing value may be empty.
    listed = names_in if option.keyword == "na" else columns_in
    readers: dict[Kind, Callable[[Any], Any]] = {
        Kind.WHOLE: whole_or_text,
        Kind.NUMBER: number_or_text,
        Kind.NAME: name_in,
        Kind.NAMES: lambda texts: [name for text in texts for name in listed(text)],
        Kind.LISTS: lambda texts: [listed(text) for text in texts],
        Kind.ASSIGNMENTS: assignments,
        Kind.BY_COLUMN: lambda texts: next((text for text in texts if "=" not in text), None),
    }
    return readers.get(option.kind, lambda value: value)(given)


def listed_ks(text: str) -> list[int]:
    """Return each k in the text, with ranges expanded; whether it is one is checked elsewhere.

    >>> listed_ks("2-5,10"), listed_ks("3 5")
    ([2, 3, 4, 5, 10], [3, 5])
    """
    ks: list[int] = []
    for part in re.sub(r"\s*-\s*", "-", text).replace(",", " ").split():
        ks += _range(part) if "-" in part[1:] else [_whole(part)]
        if len(ks) > _MOST_KS:
            raise ParameterError(f"-k may list at most {_MOST_KS:,} values; got more.")
    return ks


def _whole(text: str) -> int:
    k = whole_or_text(text)
    if isinstance(k, int):
        return k
    raise ParameterError(
        f"-k takes whole numbers and ranges of them, as in 3,5,10 or 2-20; got {k!r}."
    )


def _range(text: str) -> range:
    """Return the ks of a range such as 2-20."""
    low, high = (whole_or_text(end) for end in text.split("-", 1))
    if not (isinstance(low, int) and isinstance(high, int) and high > 0):
        shown = whole_or_text(text)
        raise ParameterError(f"a range of -k must be two whole numbers, as in 2-20; got {shown!r}.")
    if low > high:
        raise ParameterError(f"a range of -k must go from low to high; write {high}-{low}.")
    return range(low, min(high, low + _MOST_KS) + 1)
