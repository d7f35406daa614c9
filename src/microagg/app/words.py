"""Words of the page that no other part of the library has: types, sizes and times for people."""

from collections.abc import Sequence

from microagg.app.answers import Column
from microagg.tables.columns import TYPE_WORDS

SIZES = ((1, "bytes"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB"))
TIMES = ((1, "s"), (60, "min"), (3600, "h"), (86400, "days"))


def where(reason: str) -> str:
    """Say where on the page something is that is above in the draft of a plan.

    >>> where('does NA mean missing? then na = ["NA"] above')
    'does NA mean missing? then na = ["NA"] in the step Data, how the file is written'
    """
    return reason.replace(" above", " in the step Data, how the file is written")


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
