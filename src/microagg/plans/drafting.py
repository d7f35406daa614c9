"""A draft plan for a table: what each column may be, and why, for a person to check."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import narwhals as nw

from microagg.aggregates.choices import Missing
from microagg.core.registry import DEFAULT
from microagg.files.annotations import Annotations
from microagg.files.labelled import labelled_types
from microagg.plans.columns import ROLE_OPTIONS
from microagg.plans.options import Option, options_of
from microagg.plans.plan import Plan
from microagg.plans.toml import toml_key, toml_value
from microagg.tables.columns import ColumnType
from microagg.tables.dates import is_written_as
from microagg.tables.frames import Frame, dtype_of
from microagg.tables.roles import DROP, IDENTIFIER, QUASI_IDENTIFIER, ROLES, UNIT
from microagg.tables.typed import is_number, types_of

# Words in names that say what a column is. With one of the first, a column of text is taken to name
# people, however many share a value.
_NAMING_WORDS = frozenset(
    (
        *("address", "email", "fax", "forename", "iban", "mail", "mobile", "name", "passport"),
        *("phone", "ssn", "surname", "telephone", "username"),
    )
)
_IDENTIFIER_WORDS = _NAMING_WORDS | {
    *("ident", "identifier", "key", "nr", "serial", "url", "uuid"),
    *("id", "cid", "hid", "hhid", "pid", "uid"),
}
_WEIGHT_WORDS = frozenset(("weight", "weights", "wgt"))
# Whole numbers with this few different values are more often codes than counts.
_FEW_CODES = 12
_SHARED = '; it repeats: if k should count its values, use role = "unit"'

_UNIT_OPTION = next(option for option in options_of(Plan) if option.keyword == UNIT)
# Every role as an option. A plan has one unit at most, and may say in its place that there is none.
ROLE_HELP: Mapping[str, Option] = {role: ROLE_OPTIONS.get(role, _UNIT_OPTION) for role in ROLES}


@dataclass(frozen=True)
class Guess:
    """What a column may be, and why."""

    role: str
    type: ColumnType | None
    why: str


def guess_columns(frame: Frame, annotations: Annotations | None = None) -> dict[str, Guess]:
    """Return a guess for every column; none is guessed to be published unchanged."""
    guesses: dict[str, Guess] = {}
    labelled = labelled_types(frame, annotations)
    for name in frame.columns:
        guess = _guess(frame, name)
        if name in labelled and guess.role == QUASI_IDENTIFIER:
            guess = Guess(
                QUASI_IDENTIFIER, labelled[name], "all its values have labels in the file"
            )
        guesses[name] = guess
    return guesses


def _guess(frame: Frame, name: str) -> Guess:
    series = frame[name]
    n, absent = len(series), int(series.null_count())
    different = series.drop_nulls().n_unique() if types_of(frame, name) else 0
    holes = f", {absent:,} missing" if absent else ""
    words = _words(name)
    if not types_of(frame, name):
        return Guess(DROP, None, f"{series.dtype}: cannot be aggregated")
    if absent == n:
        return Guess(DROP, None, "every value is missing")
    all_differ = different == n - absent > 1
    shared = _SHARED if different < n - absent else ""
    if words & _NAMING_WORDS and dtype_of(frame, name) == nw.String:
        return Guess(
            IDENTIFIER, None, f"its name, and text with {different:,} values{holes}{shared}"
        )
    if words & _IDENTIFIER_WORDS and (all_differ or different > n / 10):
        return Guess(
            IDENTIFIER, None, f"its name, and {different:,} different values{holes}{shared}"
        )
    if is_number(frame, name):
        return _guess_number(frame, name, different, all_differ, holes)
    kind = types_of(frame, name)[0]
    if kind != ColumnType.NOMINAL:
        return Guess(QUASI_IDENTIFIER, kind, f"{different:,} different values{holes}")
    if dtype_of(frame, name) == nw.String:
        for kind_of_text in (ColumnType.DATE, ColumnType.DATETIME):
            if is_written_as(series, kind_of_text):
                return Guess(QUASI_IDENTIFIER, kind_of_text, f"text, all dates{holes}")
    if all_differ:
        return Guess(IDENTIFIER, None, f"text, different in every record{holes}")
    return Guess(QUASI_IDENTIFIER, ColumnType.NOMINAL, f"{different:,} different values{holes}")


def _guess_number(frame: Frame, name: str, different: int, all_differ: bool, holes: str) -> Guess:
    words = _words(name)
    kind = types_of(frame, name)[0]
    if words & _WEIGHT_WORDS:
        return Guess(QUASI_IDENTIFIER, kind, 'survey weights? then use role = "weight" alone')
    if kind == ColumnType.INTEGER:
        if all_differ and words & _IDENTIFIER_WORDS:
            return Guess(IDENTIFIER, None, f"its name, and different in every record{holes}")
        if different <= _FEW_CODES:
            return Guess(
                QUASI_IDENTIFIER,
                ColumnType.NOMINAL,
                f"{different} different whole numbers{holes}: codes? if counts, use integer",
            )
        return Guess(QUASI_IDENTIFIER, kind, f"{different:,} different whole numbers{holes}")
    return Guess(QUASI_IDENTIFIER, kind, f"{different:,} different numbers{holes}")


def _words(name: str) -> set[str]:
    """Return the words of a name such as PersonID, person_id or person.id.

    >>> sorted(_words("PersonID")), sorted(_words("sampling_weight2"))
    (['id', 'person'], ['sampling', 'weight'])
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return {word.lower() for word in re.findall(r"[^\W\d_]+", spaced)}


def draft(guesses: dict[str, Guess], *, source: str, k: int, n_records: int) -> str:
    """Return a plan file with a line for each option and column, and why each was guessed."""
    name = " ".join(source.split())
    return "\n".join(
        (
            f"# A plan for {name} ({n_records:,} records). Check every line, then run:",
            f"#   microagg protect {name} --plan THIS_FILE",
            "",
            *_option_lines({"k": k, "method": DEFAULT, "missing": str(Missing.ERROR)}),
            "",
            "# Roles:",
            *(f"#   {role:17} {option.help}" for role, option in ROLE_HELP.items()),
            "# Nothing is guessed to be sensitive or a weight: both are published unchanged.",
            f"# Types: {', '.join(ColumnType)}.",
            "",
            "[columns]",
            *_column_lines(guesses),
            "",
        )
    )


def _option_lines(chosen: dict[str, Any]) -> list[str]:
    """Return a line for every option of a plan; options at their defaults are comments."""
    lines = []
    for option in options_of(Plan):
        value = chosen.get(option.keyword, option.default)
        written = "" if value is None else toml_value(value)
        mark = "" if option.keyword in chosen else "# "
        lines.append((mark, f"{mark}{option.keyword} = {written}", option.help))
    lines.sort(key=lambda line: line[0])  # chosen options come first
    return _with_comments((entry, comment) for _, entry, comment in lines)


def _column_lines(guesses: dict[str, Guess]) -> list[str]:
    keys = [toml_key(name) for name in guesses]
    width = max(map(len, keys))
    return _with_comments(
        (f"{key:{width}} = {_entry(guess)}", guess.why)
        for key, guess in zip(keys, guesses.values(), strict=True)
    )


def _with_comments(lines: Iterable[tuple[str, str]]) -> list[str]:
    listed = list(lines)
    width = max(len(entry) for entry, _ in listed)
    return [f"{entry:{width}}  # {comment}" for entry, comment in listed]


def _entry(guess: Guess) -> str:
    return toml_value({"role": guess.role, **({"type": str(guess.type)} if guess.type else {})})
