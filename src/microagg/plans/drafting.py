"""A draft plan for a table: what each column may be, and why, for a person to check."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from microagg.aggregates.choices import Missing
from microagg.core.registry import DEFAULT
from microagg.core.words import listed_names, without_controls
from microagg.files.annotations import Annotations
from microagg.files.labelled import labelled_types
from microagg.plans.columns import ROLE_OPTIONS
from microagg.plans.options import Option, options_of
from microagg.plans.owners import find_owners
from microagg.plans.plan import Plan
from microagg.plans.proposals import Proposal, propose_constraints
from microagg.plans.toml import toml_key, toml_value
from microagg.tables.columns import ColumnType
from microagg.tables.frames import Frame, dtype_of
from microagg.tables.judging import FEW_CODES, Judgement, are_days, counts_records, judge_type
from microagg.tables.numerals import is_marked
from microagg.tables.roles import DROP, IDENTIFIER, QUASI_IDENTIFIER, ROLES, UNIT
from microagg.tables.typed import code_numbers, is_number, types_of

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
    *("id", "cid", "hid", "hh", "hhid", "idnr", "mrn", "pid", "uid"),
    *(
        "account",
        "case",
        "client",
        "company",
        "customer",
        "firm",
        "household",
        "member",
        "participant",
    ),
    *("patient", "person", "respondent", "student", "subject"),
}
_WEIGHT_WORDS = frozenset(("weight", "weights", "wgt"))
# Values that differ in this share of the records may name them.
_NEARLY_ALL = 0.95
# How many of the columns that are the same in all records of a person are named.
_MOST_NAMED = 3
# Numbers as files have them: 1200, -3.5, 1.234,56.
_NUMERAL = r"^[+-]?\d[\d.,]*$"
_MARK = r"^[^\pC]{1,20}$"  # in a comment of the draft: a line, and not a long one
# At most this many texts among numbers may mean a missing value, each in at least as many records.
_FEW_MARKS, _FREQUENT = 3, 5
# Numbers that stand for a missing value in many files, if they are far from all others.
_NINES = r"-9+|99+"
_WHICH_ORDER = 'day or month first? say dates = "eu" or "us" above'
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


def guess_columns(
    frame: Frame, annotations: Annotations | None = None, *, dates: str | None = None
) -> dict[str, Guess]:
    """Return a guess for every column; none is guessed to be published unchanged.

    `dates` says which of day and month comes first where a column of dates does not tell.
    """
    labelled = labelled_types(frame, annotations)
    guesses = {name: _guess(frame, name, labelled.get(name), dates) for name in frame.columns}
    types = _types_of_quasi_identifiers(guesses)
    known = [name for name, guess in guesses.items() if guess.role == IDENTIFIER]
    unlabelled = {name: kind for name, kind in types.items() if name not in labelled}
    for name, same in find_owners(frame, unlabelled, known).items():
        shown = listed_names(same[:_MOST_NAMED]) + (", ..." if len(same) > _MOST_NAMED else "")
        why = f"each value always has the same {shown}, as a person would{_SHARED}"
        guesses[name] = Guess(IDENTIFIER, None, why)
    return guesses


def propose(frame: Frame, guesses: Mapping[str, Guess], dates: str | None = None) -> list[Proposal]:
    """Return constraints that the quasi-identifiers satisfy in all records, or nearly all."""
    return propose_constraints(frame, _types_of_quasi_identifiers(guesses), dates)


def _types_of_quasi_identifiers(guesses: Mapping[str, Guess]) -> dict[str, ColumnType]:
    return {
        name: guess.type
        for name, guess in guesses.items()
        if guess.role == QUASI_IDENTIFIER and guess.type is not None
    }


def _guess(frame: Frame, name: str, label: ColumnType | None, dates: str | None) -> Guess:
    series = frame[name]
    n, absent = len(series), int(series.null_count())
    if not types_of(frame, name):
        return Guess(DROP, None, f"{series.dtype}: cannot be aggregated")
    if absent == n:
        return Guess(DROP, None, "every value is missing")
    different = series.alias("").drop_nulls().n_unique()
    why = _why_identifier(frame, name, different, n - absent)
    if why and label is None:
        shared = _SHARED if different < n - absent else ""
        return Guess(IDENTIFIER, None, f"{_with_gaps(why, absent)}{shared}{_marks(frame, name)}")
    judged = judge_type(frame, name, label=label, dates=dates)
    if judged.is_ambiguous:
        why = _with_gaps(f"{judged.why}, {_WHICH_ORDER}", absent)
        return Guess(QUASI_IDENTIFIER, None, why)
    if judged.type is ColumnType.NOMINAL:
        marks = _marks(frame, name)
    else:
        marks = _asked(_nines(code_numbers(frame, name).present)) if is_number(frame, name) else ""
    why = _with_gaps(_why_type(frame, name, judged, different), absent)
    return Guess(QUASI_IDENTIFIER, judged.type, f"{why}{marks}")


def _with_gaps(why: str, absent: int) -> str:
    """Say how many values are missing as well, and before a question, so that it comes last.

    >>> _with_gaps("4 different values", 1_000)
    '4 different values, 1,000 missing'
    >>> _with_gaps("whole numbers that may be codes? if counts, use integer", 1)
    '1 missing; whole numbers that may be codes? if counts, use integer'
    """
    if not absent:
        return why
    return f"{absent:,} missing; {why}" if "?" in why else f"{why}, {absent:,} missing"


def _marks(frame: Frame, name: str) -> str:
    """Ask whether entries such as NA in a column of text are values or missing."""
    if dtype_of(frame, name) != nw.String:
        return ""
    texts = [own for own in frame[name].to_list() if own is not None]
    entries = pl.Series(texts, dtype=pl.String).str.strip_chars()
    different = entries.unique()
    return _asked(sorted({*different.filter(is_marked(different)), *_among_numbers(entries)}))


def _asked(found: Sequence[str]) -> str:
    """Ask whether such entries, if there are any, mean that a value is missing."""
    if not found:
        return ""
    return f"; does {' or '.join(found)} mean missing? then na = {toml_value(found)} above"


def _among_numbers(entries: pl.Series) -> list[str]:
    """Return the texts in a column that is otherwise of numbers, if they are few and frequent."""
    is_number = entries.str.contains(_NUMERAL)
    others = entries.filter(~is_number & (entries != "")).value_counts(name="n")
    is_few = 0 < len(others) <= _FEW_MARKS and 2 * int(is_number.sum()) > len(entries)
    if not is_few or int(others["n"].min()) < _FREQUENT:  # type: ignore[arg-type]
        return []
    found = others[entries.name]
    return found.to_list() if found.str.contains(_MARK).all() else []


def _nines(numbers: NDArray[Any]) -> list[str]:
    """Return 999 and the like, or -9 in a column that is not negative, if frequent and far away."""
    if not len(numbers):
        return []
    low, high = numbers.min(), numbers.max()
    below, above = numbers[numbers < high], numbers[numbers > low]
    found = []
    if len(above) and low < 0 <= above.min():
        found.append((low.item(), above))
    if len(below) and high.item() - below.max().item() > np.ptp(below.astype(np.float64)):
        found.append((high.item(), below))
    return [
        f"{code:.0f}"
        for code, others in found
        if len(numbers) - len(others) >= _FREQUENT
        and re.fullmatch(_NINES, f"{code:.0f}")
        and code == round(code)
    ]


def _why_identifier(frame: Frame, name: str, different: int, present: int) -> str:
    """Return why a column may name somebody, if it may: its name, or how much it differs."""
    words, is_text = _words(name), dtype_of(frame, name) == nw.String
    if words & _NAMING_WORDS and is_text:
        return f"its name, and text with {different:,} values"
    if words & _IDENTIFIER_WORDS and _may_name(different, present):
        return f"its name, and {different:,} different values"
    if different < _NEARLY_ALL * present or present < 2:
        return ""
    every = "every record" if different == present else "nearly every record"
    kind = judge_type(frame, name).type
    if is_text and kind not in (ColumnType.DATE, ColumnType.DATETIME):
        return f"text, different in {every}"
    is_whole = kind is ColumnType.INTEGER and not words & _WEIGHT_WORDS
    is_serial = is_whole and counts_records(code_numbers(frame, name).present)
    return f"serial numbers, different in {every}" if is_serial else ""


def _may_name(different: int, present: int) -> bool:
    """Whether this many values may name somebody, each in several records; few may be codes."""
    share = 10 if different > FEW_CODES else 5
    return different > 1 and share * different >= present


def _why_type(frame: Frame, name: str, judged: Judgement, different: int) -> str:
    if _words(name) & _WEIGHT_WORDS and is_number(frame, name):
        return 'survey weights? then use role = "weight" alone'
    if different == 1:
        return "only one value"
    if judged.why.endswith("codes"):
        return f"{judged.why}? if counts, use integer"
    whole = judged.type is ColumnType.INTEGER
    if whole and are_days(code_numbers(frame, name).present):
        return f"{different:,} different dates? then write 20240131 as 2024-01-31"
    if judged.why:
        return f"{judged.why}, {different:,} different"
    if whole and different >= _NEARLY_ALL * len(frame):
        return f"{different:,} different whole numbers: an identifier?"
    noun = "whole numbers" if whole else "numbers" if is_number(frame, name) else "values"
    return f"{different:,} different {noun}"


def _words(name: str) -> set[str]:
    """Return the words of a name such as PersonID, person_id or person.id.

    >>> sorted(_words("PersonID")), sorted(_words("sampling_weight2"))
    (['id', 'person'], ['sampling', 'weight'])
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return {word.lower() for word in re.findall(r"[^\W\d_]+", spaced)}


def draft(
    guesses: dict[str, Guess],
    asked: Plan,
    *,
    source: str,
    n_records: int,
    options: str = "",
    proposals: Sequence[Proposal] = (),
) -> str:
    """Return a plan file with a line for each option and column, and why each was guessed.

    `asked` is a plan with the k and what else was given; `options` are those that the file needs
    to be read, as on the command line. `proposals` are constraints that the table satisfies; they
    are written as comments.
    """
    name = " ".join(source.split())
    chosen = {"method": DEFAULT, "missing": str(Missing.ERROR), **asked.as_dict()}
    later = ["constraints"] if proposals else []  # they are not declared twice
    draft = "\n".join(
        (
            f"# A plan for {name} ({n_records:,} records). Check every line, then run:",
            f"#   microagg protect {name}{options} --plan THIS_FILE",
            "",
            *_option_lines(chosen, later),
            "",
            *_proposal_lines(proposals, chosen.get("constraints", ())),
            "# Roles:",
            *(f"#   {role:17} {option.help}" for role, option in ROLE_HELP.items()),
            "# Nothing is guessed to be published unchanged: sensitive, publish and weight.",
            f"# Types: {', '.join(ColumnType)}.",
            "",
            "[columns]",
            *_column_lines(guesses),
            "",
        )
    )
    return without_controls(draft)


def _option_lines(chosen: dict[str, Any], later: Sequence[str]) -> list[str]:
    """Return a line for every option of a plan but those that come later.

    Options at their defaults are comments.
    """
    lines = []
    for option in (own for own in options_of(Plan) if own.keyword not in later):
        value = chosen.get(option.keyword, option.default)
        written = "" if value is None else toml_value(value)
        mark = "" if option.keyword in chosen else "# "
        lines.append((mark, f"{mark}{option.keyword} = {written}", option.help))
    lines.sort(key=lambda line: line[0])  # chosen options come first
    return _with_comments((entry, comment) for _, entry, comment in lines)


def _proposal_lines(proposals: Sequence[Proposal], given: Sequence[str]) -> list[str]:
    """Return constraints as a list in which each can be put into effect on its own.

    Those that were given are in effect.
    """
    if not proposals:
        return []
    lines = [f"    {toml_value(text)}," for text in given]
    lines += _with_comments((f"#   {toml_value(own.text)},", own.comment) for own in proposals)
    return [
        "# Constraints that the records satisfy. To keep one in the release, remove its #:",
        "constraints = [",
        *lines,
        "]",
        "",
    ]


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
