"""A first plan for a table: what each column may be, and why; a person decides."""

import json
import re
from dataclasses import dataclass

import narwhals as nw

from microagg.files.annotations import Annotations
from microagg.tables.columns import ColumnType
from microagg.tables.dates import is_written_as
from microagg.tables.frames import Frame, dtype_of
from microagg.tables.roles import IDENTIFIER, QUASI_IDENTIFIER
from microagg.tables.typed import is_number, types_of

# Parts of names, between capitals, digits and signs, that say what a column is. Of the first a
# column of text names people, however many share a value.
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
# Whole numbers of so few different values are more often codes than counts.
_FEW_CODES = 12


@dataclass(frozen=True)
class Guess:
    """What a column may be, and why."""

    role: str
    type: ColumnType | None
    why: str


def guess_columns(frame: Frame, annotations: Annotations | None = None) -> dict[str, Guess]:
    """Return a guess for every column; none is taken for what is published unchanged."""
    guesses: dict[str, Guess] = {}
    told = told_types(frame, annotations)
    for name in frame.columns:
        guess = _guess(frame, name)
        if name in told and guess.role == QUASI_IDENTIFIER:
            guess = Guess(QUASI_IDENTIFIER, told[name], "the file names each of its values")
        guesses[name] = guess
    return guesses


def told_types(frame: Frame, annotations: Annotations | None) -> dict[str, ColumnType]:
    """Return the types of columns of numbers that are codes, as a file says: all have a label."""
    told = {}
    for name, variable in (annotations.variables if annotations else {}).items():
        labelled = {value for value in variable.value_labels if not isinstance(value, str)}
        if name not in frame.columns or not is_number(frame, name) or len(labelled) < 2:
            continue
        occurring = frame[name].drop_nulls().unique().to_list()
        if occurring and all(value in labelled for value in occurring):
            is_ordinal = variable.measure == "ordinal"
            told[name] = ColumnType.ORDINAL if is_ordinal else ColumnType.NOMINAL
    return told


def _guess(frame: Frame, name: str) -> Guess:
    series = frame[name]
    n, absent = len(series), int(series.null_count())
    different = series.drop_nulls().n_unique() if types_of(frame, name) else 0
    holes = f", {absent:,} missing" if absent else ""
    words = _words(name)
    if not types_of(frame, name):
        return Guess(IDENTIFIER, None, f"{series.dtype}: nothing that could be aggregated")
    if absent == n:
        return Guess(IDENTIFIER, None, "every value is missing")
    all_differ = different == n - absent > 1
    if words & _NAMING_WORDS and dtype_of(frame, name) == nw.String:
        return Guess(IDENTIFIER, None, f"its name, and text with {different:,} values{holes}")
    if words & _IDENTIFIER_WORDS and (all_differ or different > n / 10):
        return Guess(IDENTIFIER, None, f"its name, and {different:,} different values{holes}")
    if is_number(frame, name):
        return _guess_number(frame, name, different, all_differ, holes)
    kind = types_of(frame, name)[0]
    if kind != ColumnType.NOMINAL:
        return Guess(QUASI_IDENTIFIER, kind, f"{different:,} different values{holes}")
    if dtype_of(frame, name) == nw.String:
        for kind_of_text in (ColumnType.DATE, ColumnType.DATETIME):
            if is_written_as(series, kind_of_text):
                return Guess(QUASI_IDENTIFIER, kind_of_text, f"text that is all dates{holes}")
    if all_differ:
        return Guess(IDENTIFIER, None, f"text that is different in every record{holes}")
    return Guess(QUASI_IDENTIFIER, ColumnType.NOMINAL, f"{different:,} different values{holes}")


def _guess_number(frame: Frame, name: str, different: int, all_differ: bool, holes: str) -> Guess:
    words = _words(name)
    kind = types_of(frame, name)[0]
    if words & _WEIGHT_WORDS:
        return Guess(QUASI_IDENTIFIER, kind, 'survey weights? then only role = "weight"')
    if kind == ColumnType.INTEGER:
        if all_differ and words & _IDENTIFIER_WORDS:
            return Guess(IDENTIFIER, None, f"its name, and different in every record{holes}")
        if different <= _FEW_CODES:
            return Guess(
                QUASI_IDENTIFIER,
                ColumnType.NOMINAL,
                f"{different} different whole numbers{holes}: codes? if they count, write integer",
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


def plan_text(guesses: dict[str, Guess], *, source: str, k: int, n_records: int) -> str:
    """Return a plan file with a line for each column, and why it was guessed."""
    entries = [(_key(name), _entry(guess), guess.why) for name, guess in guesses.items()]
    name_width = max(len(key) for key, _, _ in entries)
    width = max(len(entry) for _, entry, _ in entries)
    lines = [
        f"{key:<{name_width}} = {entry:<{width}}  # {why}".rstrip() for key, entry, why in entries
    ]
    return "\n".join((_HEADER.format(source=_comment(source), n=n_records, k=k), *lines, ""))


def _entry(guess: Guess) -> str:
    parts = [f'role = "{guess.role}"']
    if guess.type is not None:
        parts.append(f'type = "{guess.type}"')
    return f"{{ {', '.join(parts)} }}"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)


def _quoted(text: str) -> str:
    """Return a text in quotes; those of JSON are TOML's, but for one sign."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _comment(text: str) -> str:
    return " ".join(text.split())


_HEADER = """\
# A plan for {source} ({n:,} records). Check every line, then run:
#   microagg protect {source} --plan THIS_FILE
#
# Roles:  quasi-identifier  could tell who a record is: released as the aggregate of its group
#         identifier        names the record: dropped
#         sensitive         published as it is; never guessed: change a role to it by hand
#         stratum           records are grouped within its values only, which are published
#         weight            says for how many a record stands; published as it is, never guessed
# Types:  continuous, integer, ordinal (give its order = ["low", "high"]), nominal, boolean,
#         date, datetime

k = {k}
method = "auto"
missing = "error"  # or "value", or "impute"
# seed = 1

[columns]"""
