"""How dates are written as text: found from all texts of a column, and used to read them.

Day and month may come in either order. The texts of a column tell which, if one of them has a day
above 12; otherwise somebody has to say so. With points, as in 31.12.2024, the day comes first.
"""

import re
from dataclasses import dataclass

import polars as pl

from microagg.tables.columns import US, ColumnType

_LAYOUT = re.compile(
    r"""(?P<first>[0-9]{1,4})(?P<sign>[-/.])(?P<second>[0-9]{1,2})(?P=sign)(?P<third>[0-9]{1,4})
    (?:(?P<between>[T ])[0-9]{1,2}:[0-9]{2}(?P<seconds>:[0-9]{2}(?P<fraction>\.[0-9]{6})?)?
    (?:[ ](?P<half>[AP]M|[ap]m))?)?""",
    re.VERBOSE,
)
# What stands for each part of a form; texts that are written with or without zeros are read alike.
_PARTS = {
    "%Y": "([0-9]{4})",
    "%m": "([0-9]{1,2})",
    "%d": "([0-9]{1,2})",
    "%H": "([0-9]{1,2})",
    "%I": "([0-9]{1,2})",
    "%M": "[0-9]{2}",
    "%S": "[0-9]{2}",
    "%.6f": r"\.[0-9]{6}",
    "%p": "(?:AM|PM)",
    "%P": "(?:am|pm)",
}
_PART = re.compile(r"%-?([a-zA-Z]|\.6f)")


@dataclass(frozen=True, slots=True)
class Writing:
    """A form as of `strftime`, and whether the other order of day and month would fit as well."""

    form: str
    is_ambiguous: bool = False

    @property
    def type(self) -> ColumnType:
        """The type of what is written: dates with or without times."""
        return ColumnType.DATETIME if "%M" in self.form else ColumnType.DATE

    @property
    def order(self) -> str:
        """Which of day and month comes first, in words; nothing if the year does."""
        bare = _without_flags(self.form)
        if bare.startswith("%Y"):
            return ""
        return "day first" if bare.startswith("%d") else "month first"


def find_writing(texts: pl.Series, order: str | None = None) -> Writing | None:
    """Return how all texts of a column are written, if they are dates.

    `order` says whether the month (us) or the day (eu) comes first where the texts do not tell.

    >>> find_writing(pl.Series(["1/5/2024", "12/31/2024"])).form
    '%-m/%-d/%Y'
    >>> find_writing(pl.Series(["01/05/2024", "12/11/2024"])).is_ambiguous
    True
    """
    present = texts.drop_nulls()
    layout = _LAYOUT.fullmatch(str(present[0])) if len(present) else None
    if layout is None:
        return None
    tentative = _tentative_form(layout)
    if tentative is None:
        return None
    different = present.unique()
    fields = different.str.extract_groups(f"^{_pattern(tentative)}$").struct.unnest()
    if fields.get_column(fields.columns[0]).null_count():
        return None
    form, is_ambiguous = _in_order(tentative, fields, order)
    if form is None or parsed(different, form).null_count():
        return None
    return Writing(_with_flags(form, fields), is_ambiguous)


def is_laid_out_as_date(text: str) -> bool:
    """Whether one text may be a date: if the first of a column is not, none of it needs reading."""
    return text[:1].isdigit() and _LAYOUT.fullmatch(text) is not None


def parsed(texts: pl.Series, form: str) -> pl.Series:
    """Return texts of a form as dates, or dates with times; null where one is not of it."""
    bare = _without_flags(form)
    fitting = texts.str.contains(f"^{_pattern(bare)}$")
    own = pl.DataFrame({"text": texts, "fits": fitting}).select(
        pl.when("fits").then("text").alias("")
    )
    if Writing(form).type is ColumnType.DATE:
        return own.to_series().str.to_date(bare, strict=False)
    return own.to_series().str.to_datetime(bare, time_unit="us", strict=False)


def _tentative_form(layout: re.Match[str]) -> str | None:
    """Return the form of one text, with the day first if the year is last."""
    sign = layout["sign"]
    if len(layout["first"]) == 4 and len(layout["third"]) <= 2:
        form = f"%Y{sign}%m{sign}%d"
    elif len(layout["first"]) <= 2 and len(layout["third"]) == 4:
        form = f"%d{sign}%m{sign}%Y"
    else:
        return None
    if layout["between"]:
        form += f"{layout['between']}{'%I' if layout['half'] else '%H'}:%M"
        form += ":%S" if layout["seconds"] else ""
        form += "%.6f" if layout["fraction"] else ""
    if layout["half"]:
        form += " %P" if layout["half"].islower() else " %p"
    return form


def _in_order(form: str, fields: pl.DataFrame, order: str | None) -> tuple[str | None, bool]:
    """Return the form with day and month in the order that fits; whether both do."""
    if form.startswith("%Y"):
        return form, False
    first, second = (
        int(fields.get_column(name).cast(pl.Int64).max())  # type: ignore[arg-type]
        for name in fields.columns[:2]
    )
    month_first = form.replace("%d", "%_").replace("%m", "%d").replace("%_", "%m")
    if max(first, second) > 12:
        if min(first, second) > 12:
            return None, False
        return (form if first > 12 else month_first), False
    has_points = form[2] == "."
    is_ambiguous = order is None and not has_points
    return (month_first if order == US else form), is_ambiguous


def _with_flags(form: str, fields: pl.DataFrame) -> str:
    """Return the form with a flag for numbers below 10 that are written without a zero.

    Where some have a zero and others have none, all get one.
    """
    parts = [part for part in _PART.findall(form) if part in "YmdHI"]
    found: dict[str, bool | None] = {}
    for part, name in zip(parts, fields.columns, strict=True):
        if part != "Y":
            texts = fields.get_column(name)
            has_zeros = bool(texts.str.starts_with("0").any())
            is_bare = bool((texts.str.len_bytes() == 1).any())
            found[part] = None if not (has_zeros or is_bare) else not has_zeros
    for part, other in (("d", "m"), ("m", "d")):  # a part that does not tell is like the other
        if found[part] is None:
            found[part] = found[other]
    for part, without_zero in found.items():
        if without_zero:
            form = form.replace(f"%{part}", f"%-{part}")
    return form


def _without_flags(form: str) -> str:
    return form.replace("%-", "%")


def _pattern(form: str) -> str:
    """Return a regular expression for texts of a form without flags."""
    pattern, at = "", 0
    for match in _PART.finditer(form):
        pattern += re.escape(form[at : match.start()]) + _PARTS[match[0]]
        at = match.end()
    return pattern + re.escape(form[at:])
