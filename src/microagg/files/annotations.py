"""Labels, missing-value codes and display formats of SPSS, Stata and SAS columns.

Annotations are read from one file and written to another. Whatever the other format cannot hold is
left out with a warning; no value is ever changed.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

# A value of a column: a number or text. In Stata, a letter stands for a tagged missing value.
Code = float | str


class Family(StrEnum):
    """The program a file belongs to."""

    SPSS = "SPSS"
    STATA = "Stata"
    SAS = "SAS"


@dataclass(frozen=True)
class Variable:
    """What a file says about one column, apart from its values.

    `missing` holds the ranges of codes, each (lowest, highest), that stand for a missing value;
    only SPSS has them. `value_labels` gives names to values; in a numeric column of Stata or SAS,
    its letters are tagged missing values (.a to .z).
    """

    is_text: bool
    label: str | None = None
    value_labels: Mapping[Code, str] = field(default_factory=dict)
    missing: tuple[tuple[Code, Code], ...] = ()
    measure: str | None = None
    width: int | None = None
    format: str | None = None


@dataclass(frozen=True)
class Annotations:
    """What a file says about its columns, by name.

    The columns in `coded` are published unchanged, so their missing-value codes were kept when the
    table was read; in all others the codes are now nulls.
    """

    family: Family
    variables: Mapping[str, Variable]
    coded: frozenset[str] = frozenset()

    @property
    def labelled(self) -> tuple[str, ...]:
        """The columns whose values have labels."""
        return tuple(name for name, own in self.variables.items() if own.value_labels)

    def of(self, name: str, *, is_text: bool) -> Variable:
        """Return what still applies to a column that is now text or not; nothing to a new one."""
        variable = self.variables.get(name, Variable(is_text))
        if variable.is_text != is_text:
            # Codes and formats of numbers mean nothing for text, and vice versa.
            return Variable(is_text, label=variable.label)
        return variable


NOTHING = Annotations(Family.SPSS, {})

# Longest labels, in bytes; those of columns in Stata, in characters.
_LONGEST_LABEL = {Family.SPSS: 256, Family.STATA: 80}
_LONGEST_VALUE_LABEL = {Family.SPSS: 120, Family.STATA: 32_000}


def fitting_label(label: str, family: Family, *, of_value: bool = False) -> str:
    """Return as much of the label as the format can hold."""
    longest = (_LONGEST_VALUE_LABEL if of_value else _LONGEST_LABEL)[family]
    if family is Family.STATA and not of_value:
        return label[:longest]
    return label.encode()[:longest].decode(errors="ignore")


def fitting_value_labels(variable: Variable, family: Family) -> dict[Code, str]:
    """Return the value labels that files of the family can hold."""
    labels: dict[Code, str] = {}
    for value, label in variable.value_labels.items():
        fitting = fitting_label(label, family, of_value=True)
        if variable.is_text:
            if family is Family.SPSS:
                labels[value] = fitting
        elif isinstance(value, str):
            if family is Family.STATA and re.fullmatch("[a-z]", value):
                labels[value] = fitting
        elif family is Family.SPSS:
            labels[float(value)] = fitting
        elif float(value).is_integer() and abs(value) < 2**31 - 100:
            labels[int(value)] = fitting
    return labels


def translated_format(
    format_: str | None, source: Family, target: Family, *, is_whole: bool
) -> str | None:
    """Return the display format of a numeric column as the target spells it, if it has one.

    >>> translated_format("F8.2", Family.SPSS, Family.STATA, is_whole=False)
    '%8.2f'
    >>> translated_format("%9.3f", Family.STATA, Family.SPSS, is_whole=False)
    'F9.3'
    >>> translated_format(None, Family.SPSS, Family.SPSS, is_whole=True)
    'F12.0'
    """
    if format_ is not None and source is target:
        return format_
    if found := re.fullmatch(_FIXED[source], format_ or ""):
        width, decimals = int(found[1]), int(found[2] or 0)
        if 0 < width <= 40 and decimals <= 16 and (decimals == 0 or not is_whole):
            return f"F{width}.{decimals}" if target is Family.SPSS else f"%{width}.{decimals}f"
    return "F12.0" if is_whole and target is Family.SPSS else None


_FIXED = {
    Family.SPSS: r"F(\d+)(?:\.(\d+))?",
    Family.STATA: r"%-?(\d+)\.(\d+)f",
    Family.SAS: r"F?(\d+)(?:\.(\d*))?",
}


def shows_whole_numbers(format_: str | None, family: Family) -> bool:
    """Whether the display format shows no decimals."""
    if family is Family.STATA:
        return re.match(r"%-?(0?\d+\.0fc?|t)", format_ or "") is not None
    if family is Family.SAS:
        return re.fullmatch(r"(?!E\d)[A-Z_]*\d*(\.0*)?", format_ or "") is not None
    return re.fullmatch(r"(?!E\d)[A-Z]+\d+(\.0)?", format_ or "") is not None


def listed(names: Iterable[str]) -> str:
    """Return the names in quotes, separated by commas."""
    return ", ".join(repr(name) for name in names)
