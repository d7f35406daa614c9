"""Words of the page that no other part of the library has: types, sizes and times for people."""

import re
from collections.abc import Sequence

from microagg.app.answers import Column
from microagg.tables.columns import TYPE_WORDS

SIZES = ((1, "bytes"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB"))
TIMES = ((1, "s"), (60, "min"), (3600, "h"), (86400, "days"))


# What is written into the draft of a plan is chosen on the page.
_ON_THE_PAGE = (
    (r'use role = "(\w+)"', r"choose the role \1"),
    (r'say dates = "eu" or "us" above', "say so in the step Data, under how the file is written"),
    (r"then na = \[(.*)\] above", r"then enter \1 in the step Data, under how the file is written"),
)


def on_the_page(reason: str) -> str:
    """Say what to do on the page where the draft of a plan says what to write.

    >>> on_the_page('does NA mean missing? then na = ["NA"] above')
    'does NA mean missing? then enter "NA" in the step Data, under how the file is written'
    >>> on_the_page('survey weights? then use role = "weight" alone')
    'survey weights? then choose the role weight alone'
    """
    for written, chosen in _ON_THE_PAGE:
        reason = re.sub(written, chosen, reason)
    return reason


# How something is given elsewhere, and what is said here; names may have brackets of their own.
_BRACKETED = r"(?:[^()]|\([^()]*\))*"
_CONTROLS = (
    (rf" \((?:--?[a-z]|or be - for){_BRACKETED}\)", ""),
    (rf" with --drop .* \(drop=\[{_BRACKETED}\]\)", " by the role drop"),
    (r" \((?:missing|dates)='[^()]* in Python\)", ""),
    (r"--(?:missing|dates) (\w+)", r"\1"),
    (r"--type .*=nominal", "choose the type nominal"),
    (r": --na TEXT, or na=\['TEXT'\] in Python", " in the step Data"),
    (r"--bound fast", "the bound fast"),
    (r"^-k takes", "k takes"),
    (rf"; protect, verify and measure also take folders \({_BRACKETED}\)", ""),
)


def without_flags(text: str) -> str:
    """Leave out how something is given elsewhere: here there is a control for it.

    >>> without_flags("Shuffle them (--shuffle, or shuffle=True in Python).")
    'Shuffle them.'
    >>> without_flags("files must end in .csv (or be - for standard input and output).")
    'files must end in .csv.'
    >>> without_flags("--missing impute replaces them (missing='value' or 'impute' in Python).")
    'impute replaces them.'
    """
    for elsewhere, here in _CONTROLS:
        text = re.sub(elsewhere, here, text)
    return text


def unbroken(text: str) -> str:
    """Keep per cent signs on the lines of their numbers."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


def kind_of(column: Column) -> str:
    """Return the type of a column for people."""
    return TYPE_WORDS.get(column.type or "", "text" if column.is_text else "number")


def in_words(amount: float, units: Sequence[tuple[float, str]]) -> str:
    """Write an amount in the largest unit that it has.

    >>> in_words(1530, SIZES), in_words(90, TIMES), in_words(0.2, TIMES)
    ('1.5 kB', '1.5 min', '0.2 s')
    """
    size, unit = next(((size, unit) for size, unit in reversed(units) if amount >= size), units[0])
    return f"{amount / size:.2g} {unit}" if amount / size < 100 else f"{amount / size:,.0f} {unit}"
