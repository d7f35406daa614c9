"""Labels of figures: names that fit, and labels of an axis that do not overlap or get cut off."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from microagg.core.words import with_blanks

CARD = 3.5  # width of the figure of a column, in inches
LETTER = 0.07  # that of a letter
_LONGEST_NAME = 26

Side = Literal["left", "center", "right"]


@dataclass
class Names:
    """Names, represented by placeholders until a figure is drawn."""

    texts: dict[str, str] = field(default_factory=dict)

    def place(self, name: str) -> str:
        """Return a placeholder for a name, about as wide; long names are shortened."""
        name = shortened(name)
        mark = f"Q{len(self.texts):03d}Z"
        mark += "n" * (width_of(name) - len(mark))
        self.texts[mark] = name
        return mark


def shortened(name: str, longest: int = _LONGEST_NAME) -> str:
    r"""Return a name for an axis: without unprintable characters, and shortened if long.

    >>> shortened("a\tb"), shortened("one of many long names of columns")
    ('ab', 'one of many…s of columns')
    """
    name = "".join(sign for sign in with_blanks(name) if unicodedata.category(sign)[0] != "C")
    if width_of(name) <= longest:
        return name
    half = longest // 2
    return f"{_fitting(name, half - 1).rstrip()}…{_fitting(name[::-1], half)[::-1].lstrip()}"


def _fitting(name: str, width: int) -> str:
    """Return as much of the beginning of a name as fits."""
    while width_of(name) > width:
        name = name[:-1]
    return name


def width_of(name: str) -> int:
    """Return how wide a name is, in letters."""
    return int(np.ceil(sum(_width(sign) for sign in name)))


def _width(sign: str) -> float:
    if unicodedata.east_asian_width(sign) in "WF":
        return 2.0
    if unicodedata.combining(sign):
        return 0.0
    if sign in "WM@%—":
        return 1.6
    return 1.25 if sign.isupper() or sign in "mw" else 1.0


class AxisLabel(NamedTuple):
    """A label, empty if there is no room for it, and which part of it is at its place."""

    text: str
    side: Side


def apart(labels: Sequence[tuple[float, str]]) -> list[AxisLabel]:
    """Return the labels of an axis that do not overlap, and how to align them; others are empty.

    Labels come with their place, from 0 to 1; those at the ends are aligned so as not to be cut
    off.

    >>> [tuple(label) for label in apart([(0.0, "0"), (0.02, "1"), (1.0, "100,000")])]
    [('0', 'center'), ('', 'center'), ('100,000', 'right')]
    """
    found, taken = [], -1.0
    for place, text in labels:
        half = len(text) * LETTER / (2 * 0.96 * CARD)
        side: Side = "center"
        begin = place - half
        if place - half < -0.02:
            side, begin = "left", place
        elif place + half > 1.02:
            side, begin = "right", place - 2 * half
        is_free = begin > taken
        if is_free:
            taken = begin + 2 * half + LETTER / CARD
        found.append(AxisLabel(text if is_free else "", side))
    return found
