"""How counts, limits, times and names are written; a rounded limit stays true."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches

# Losses have this many decimals, or more if the smallest would otherwise show as zero.
_DECIMALS, _MOST_DECIMALS = 3, 9
# Shorter times are shown as less than this.
_SHORTEST = 0.001
_LONGEST_NAME = 40
# Smaller percentages are shown as less than this, and as 0 if they are rounding error.
_SMALLEST, _ROUNDING = 0.0001, 1e-9
# What programs obey rather than show, other than tabs and line ends: control characters, and those
# that change the direction of what follows.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""Write characters that a terminal would obey, or not show, as escapes; lines stay lines.

    >>> print(printable("one line\nand \x1b[31mred, \u202eback"))
    one line
    and \u001b[31mred, \u202eback
    """
    if text.replace("\n", "").isprintable():
        return text
    return "".join(c if c == "\n" or c.isprintable() else _escape(c) for c in text)


def without_controls(text: str) -> str:
    r"""Write characters that change how the rest of a file is shown as escapes of JSON and TOML.

    Unlike `printable`, it keeps blanks and joiners that languages need.

    >>> print(without_controls("na\u202eme\x07"), without_controls("a\u00a0b") == "a\u00a0b")
    na\u202eme\u0007 True
    """
    return _OBEYED.sub(lambda found: _escape(found[0]), text)


def with_blanks(name: str) -> str:
    """Return a name whose blanks can be seen where they tell it from another.

    >>> with_blanks("m "), with_blanks(" a  b"), with_blanks("a b")
    ('m␣', '␣a␣␣b', 'a b')
    """
    return name.replace(" ", "␣") if name != name.strip(" ") or "  " in name else name


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return a hint with the known name that is a typo away from `name`, or an empty string.

    >>> did_you_mean("mdaw", ["mdav", "npn-mhm"]), did_you_mean("aeg", ["wage", "age"])
    (" Did you mean 'mdav'?", " Did you mean 'age'?")
    >>> did_you_mean("income", ["outgoings", "name"])
    ''
    """
    written, typed = {choice.lower(): choice for choice in known}, str(name).lower()
    # Swapped letters are a typo as well, which the ratio of short names does not show.
    close = [choice for choice in written if sorted(choice) == sorted(typed)]
    close += get_close_matches(typed, written, n=1, cutoff=0.75)
    return f" Did you mean {written[close[0]]!r}?" if close else ""


def counted(number: int, noun: str) -> str:
    """Write a count with its noun.

    >>> counted(1, "record"), counted(12000, "record")
    ('1 record', '12,000 records')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def joined(words: Sequence[str]) -> str:
    """Write words as part of a sentence.

    >>> joined(["a"]), joined(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def spread(low: int, high: int) -> str:
    """Write a range of sizes.

    >>> spread(3, 5), spread(3000, 3000)
    ('3 to 5', '3,000')
    """
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def percent(value: float, digits: int = 4) -> str:
    """Write a percentage.

    >>> percent(2.17738), percent(52341.7), percent(4.1532, digits=2)
    ('2.177 %', '52,342 %', '4.2 %')
    >>> percent(0.00003), percent(7e-14)
    ('<0.0001 %', '0 %')
    """
    if 0.0 < value < _SMALLEST:
        return f"<{_SMALLEST} %" if value > _ROUNDING else "0 %"
    text = f"{value:.{digits}g}"
    return f"{value:,.0f} %" if "e+" in text else f"{text} %"


# The space in which records are compared, by the scale of numbers; usually in standard deviations.
_SPACES = {
    "log": ", in logarithms",
    "rank": ", by rank",
    "robust": ", in robust units",
    "none": ", in units of the table",
}


def grouping_loss_of(scale: str) -> str:
    """Name the loss of groups about their means, with the space that it is measured in.

    >>> grouping_loss_of("standardise"), grouping_loss_of("rank")
    ('grouping loss', 'grouping loss, by rank')
    """
    return f"grouping loss{_SPACES.get(scale, '')}"


def grouping_note(scale: str) -> str:
    """Say what the column "grouping %" of a study is.

    >>> grouping_note("rank")
    'grouping: of the groups about their means, by rank'
    """
    return f"grouping: of the groups about their means{_SPACES.get(scale, '')}"


def differ(one: float, two: float) -> bool:
    """Say whether two losses differ by more than rounding errors.

    >>> differ(12.3, 12.3 + 1e-12), differ(12.3, 12.4)
    (False, True)
    """
    return not math.isclose(one, two, rel_tol=1e-6, abs_tol=_ROUNDING)


def worst_losses(columns: Mapping[str, float], most: int = 3) -> str:
    """List the columns that lose most, with their losses.

    >>> worst_losses({"city": 23.41, "age": 9.1})
    'city 23.4 %, age 9.1 %'
    """
    shown = list(columns.items())[:most]
    return ", ".join(f"{listed_names([name])} {percent(loss, 3)}" for name, loss in shown)


def at_least(value: float) -> str:
    """Write a lower limit in per cent with four digits, rounded down.

    >>> at_least(13.2069), at_least(0.123456), at_least(0.00003)
    ('13.2 %', '0.1234 %', '0 %')
    """
    return _limit(value, 4, math.floor)


def at_most(value: float) -> str:
    """Write an upper limit in per cent with two digits, or all digits before the point, rounded up.

    >>> at_most(4.1532), at_most(0.031), at_most(99.2), at_most(162.3), at_most(7e-14)
    ('4.2 %', '0.031 %', '100 %', '163 %', '0.0001 %')
    """
    return _limit(value, 2, math.ceil)


def _limit(value: float, digits: int, rounding: Callable[[float], int]) -> str:
    if value <= 0.0 or not math.isfinite(value):
        return percent(value)
    if value < _SMALLEST:
        return f"{_SMALLEST} %" if rounding is math.ceil else "0 %"
    unit = 10.0 ** min(0, math.floor(math.log10(value)) - digits + 1)
    nudge = 1e-12 if rounding is math.floor else -1e-12  # 4.1 / 0.1 is not quite 41
    return percent(rounding(value / unit * (1 + nudge)) * unit, digits=max(digits, 3))


def decimals_for(losses: Sequence[float]) -> int:
    """Return the number of decimals that shows two digits of the smallest loss above zero, up to 9.

    >>> decimals_for([12.3, 4.56]), decimals_for([12.3, 0.00123])
    (3, 4)
    """
    needed = 1 - math.floor(math.log10(min((loss for loss in losses if loss), default=1.0)))
    return max(_DECIMALS, min(needed, _MOST_DECIMALS))


def short_seconds(seconds: float) -> str:
    """Write a time in seconds.

    >>> short_seconds(1.23456), short_seconds(1e-5)
    ('1.235', '<0.001')
    """
    return f"{seconds:.3f}" if seconds >= _SHORTEST else f"<{_SHORTEST}"


def listed_names(columns: Sequence[str]) -> str:
    """List column names in one line.

    >>> print(listed_names(["age", "city, country", "n" * 60]))
    age, 'city, country', nnnnnnnnnnnnnnnnnnnn…nnnnnnnnnnnnnnnnnnn
    """
    return ", ".join(_shown(column) for column in columns) or "none"


def judged_words(name: str, kind: str, why: str) -> str:
    """Say what a column is taken for, and why.

    >>> judged_words("tenure", "nominal", "3 different whole numbers: codes")
    'tenure is nominal (3 different whole numbers: codes)'
    """
    return f"{listed_names([name])} is {kind} ({why})"


def short_name(column: str, longest: int = _LONGEST_NAME) -> str:
    """Return the name of a column, or its beginning and end if it is long.

    Questions of a survey often differ in their last words only.

    >>> short_name("age"), len(short_name("n" * 60))
    ('age', 40)
    >>> short_name("How satisfied are you with [Roads]", longest=20)
    'How satisf…h [Roads]'
    """
    if len(column) <= longest:
        return column
    ending = (longest - 1) // 2
    return f"{column[: longest - 1 - ending]}…{column[-ending:]}"


def counted_units(number: int, column: str) -> str:
    """Write a number of units, which records are about, with the column that names them.

    >>> counted_units(1, "patient"), counted_units(5, "patient")
    ("1 unit ('patient')", "5 different units ('patient')")
    """
    units = "1 unit" if number == 1 else f"{number:,} different units"
    return f"{units} ({short_name(column)!r})"


def _shown(column: str) -> str:
    short = short_name(" ".join(column.split()) if column.strip() == column else column)
    # Quotes show where an ambiguous name begins and ends.
    unclear = any(mark in short for mark in ",'\"") or column.strip() != column
    return repr(short) if unclear else short
