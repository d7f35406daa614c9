"""Columns as careless people have them: plain Python values, None where one is missing.

Nothing here is shared with the tables of the property tests.
"""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from tests.hostile.cases import OWNER_MARK, VALUE_MARK, one_in, secret

QI = "quasi-identifier"
IDENTIFIER = "identifier"
SENSITIVE = "sensitive"
PUBLISH = "publish"
STRATUM = "stratum"
WEIGHT = "weight"
UNIT = "unit"
DROP = "drop"

NUMBERS = ("number", "whole")


@dataclass
class Column:
    """A column: its values, what they are, and what is said of them in the request."""

    kind: str  # number, whole, flag, text, category, date, time, date text, odd
    values: list[Any]
    name: str = ""
    role: str = QI
    said: dict[str, Any] = field(default_factory=dict)
    listed: list[str] | None = None  # all categories of its type, used or not
    ordered: bool = False

    @property
    def has_gaps(self) -> bool:
        """Whether a value is missing."""
        return any(value is None or value != value for value in self.values)


Recipe = Callable[[random.Random, int], Column]


def prices(chance: random.Random, n: int) -> Column:
    values = [round(chance.lognormvariate(6, 1.2), 2) for _ in range(n)]
    if one_in(chance, 3):
        values[chance.randrange(n)] = 83_164_517.25  # the one rich person
    return Column("number", values)


def measurements(chance: random.Random, n: int) -> Column:
    digits = chance.choice([None, None, 0, 1, 3, 6])
    drawn = [chance.gauss(chance.choice([0, 170, -1e6]), 10) for _ in range(n)]
    return Column("number", drawn if digits is None else [round(v, digits) for v in drawn])


EXTREMES = (0.0, -0.0, 5e-324, -5e-324, 1e-310, 1e-30, 0.1, 0.30000000000000004, 1 / 3, 1e9 + 0.1)
EXTREMES += (1e15 + 0.5, 1e22, 1e30, -1e30, 1e150, 1e300, -1e300, 1.7976931348623157e308)


def extremes(chance: random.Random, n: int) -> Column:
    pool = chance.sample(EXTREMES, chance.choice([1, 2, 3, 6]))
    return Column("number", [chance.choice(pool) for _ in range(n)])


def whole(chance: random.Random, n: int) -> Column:
    return Column("whole", [chance.randint(0, chance.choice([5, 90])) for _ in range(n)])


def wide_whole(chance: random.Random, n: int) -> Column:
    around = chance.choice([2**31, 2**53, 2**62, -(2**62), 10**12])
    return Column("whole", [around + chance.randint(-40, 40) for _ in range(n)])


def codes(chance: random.Random, n: int) -> Column:
    pool = chance.choice([(1, 2), (1, 2, 9), (0, 1), (11, 12, 13, 99), (7,)])
    return Column("whole", [chance.choice(pool) for _ in range(n)])


def float_codes(chance: random.Random, n: int) -> Column:
    return Column("number", [float(value) for value in codes(chance, n).values])


def constants(chance: random.Random, n: int) -> Column:
    value = chance.choice([0, 7, -3.5, 1e300, 5e-324, True, "same", date(2024, 2, 29)])
    kinds = {bool: "flag", int: "whole", float: "number", str: "text", date: "date"}
    return Column(kinds[type(value)], [value] * n)


def flags(chance: random.Random, n: int) -> Column:
    share = chance.choice([0.5, 0.1, 0.97])
    return Column("flag", [chance.random() < share for _ in range(n)])


TOWNS = (
    "Oslo",
    "Łódź",
    "東京",
    "São Paulo",
    "NA",
    "",
    " ",
    "00123",
    "1",
    "2.5",
    "nan",
    "null",
    "-",
)
TOWNS += ("=1+1", "@SUM(A1)", "+1", "a,b", 'say "x"', "a;b", "line\nbreak", "\ttab", "é", "e\u0301")
TOWNS += ("x" * 300, "🙂", "\u202eabc", "true", "#N/A", "O'Neil", "\x1b[31mred", "a\x07b")


def towns(chance: random.Random, n: int) -> Column:
    pool = chance.sample(TOWNS, chance.choice([2, 3, 5, 9]))
    values = [pool[min(int(chance.expovariate(1)), len(pool) - 1)] for _ in range(n)]
    if one_in(chance, 3):
        values[chance.randrange(n)] = secret(chance, VALUE_MARK)
    return Column("text", values)


def categories(chance: random.Random, n: int) -> Column:
    levels = ["low", "mid", "high", "none", "other", "é"][: chance.choice([2, 3, 6])]
    values = [levels[min(int(chance.expovariate(0.7)), len(levels) - 1)] for _ in range(n)]
    if one_in(chance, 3):
        rare = secret(chance, VALUE_MARK)
        levels = [*levels, rare]
        values[chance.randrange(n)] = rare
    listed = chance.sample([*levels, "never", "seen"], len(levels) + 2)
    return Column("category", values, listed=listed, ordered=one_in(chance, 3))


def days(chance: random.Random, n: int) -> Column:
    first = date(chance.choice([1, 1899, 1970, 2023, 9998]), 3, 1)
    reach = chance.choice([3, 300])
    values = [first + timedelta(days=chance.randint(0, reach)) for _ in range(n)]
    return Column("date", values)


ZONES = (None, None, UTC, ZoneInfo("Europe/Berlin"), ZoneInfo("America/St_Johns"))


def times(chance: random.Random, n: int) -> Column:
    first = datetime(chance.choice([1955, 2024]), chance.choice([3, 10]), 25, tzinfo=None)
    step = chance.choice([1, 60, 3600, 86_400, 0.001])
    made = [first + timedelta(seconds=step * chance.randint(0, 500)) for _ in range(n)]
    zone = chance.choice(ZONES)
    if zone is not None:
        made = [at.replace(tzinfo=UTC).astimezone(zone) for at in made]  # every local time exists
    return Column("time", made)


def date_texts(chance: random.Random, n: int) -> Column:
    form = chance.choice(["%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%Y-%m-%dT%H:%M:%S"])
    made = [datetime(2023, 1, 1) + timedelta(days=chance.randint(0, 700)) for _ in range(n)]
    if one_in(chance, 6):  # nothing says which is the day
        made = [at.replace(day=min(at.day, 12)) for at in made]
    return Column("date text", [at.strftime(form) for at in made])


def infinite(chance: random.Random, n: int) -> Column:
    column = measurements(chance, n)
    column.values[chance.randrange(n)] = chance.choice([math.inf, -math.inf])
    return column


def nothing(chance: random.Random, n: int) -> Column:
    return Column(chance.choice(["number", "text", "date"]), [None] * n)


def oddities(chance: random.Random, n: int) -> Column:
    """Return values that no method can group: each is refused, or published as it is."""
    value = chance.choice([Decimal("1.10"), b"\x00\xff", timedelta(3), [1, 2], {"a": 1}])
    return Column("odd", [value] * n)


# By name, with how often each is drawn.
RECIPES: dict[Recipe, int] = {
    prices: 8,
    measurements: 8,
    extremes: 5,
    whole: 8,
    wide_whole: 2,
    codes: 5,
    float_codes: 4,
    constants: 3,
    flags: 4,
    towns: 6,
    categories: 7,
    days: 5,
    times: 4,
    date_texts: 4,
    nothing: 1,
}
REFUSED: tuple[Recipe, ...] = (infinite, oddities)
NUMERIC: tuple[Recipe, ...] = (prices, measurements, whole, float_codes, extremes)


def any_column(chance: random.Random, n: int, *, numeric: bool = False) -> Column:
    """Return a column of any recipe; once in a while one that has to be refused."""
    if one_in(chance, 150):
        return chance.choice(REFUSED)(chance, n)
    if numeric:
        return chance.choice(NUMERIC)(chance, n)
    (recipe,) = chance.choices(list(RECIPES), weights=list(RECIPES.values()))
    return recipe(chance, n)


def identifiers(chance: random.Random, n: int, *, repeat: bool = False) -> Column:
    """Return who the records are about: nobody may ever see one of these values."""
    of = [chance.randrange(max(1, n // 2)) for _ in range(n)] if repeat else list(range(n))
    if one_in(chance, 3):
        owners: list[Any] = [chance.randint(7_310_000_000, 7_319_999_999) for _ in range(n)]
        return Column("whole", [owners[at] for at in of], role=IDENTIFIER)
    owners = [secret(chance, OWNER_MARK) for _ in range(n)]
    return Column("text", [owners[at] for at in of], role=IDENTIFIER)


def weights(chance: random.Random, n: int) -> Column:
    """Return how many each record stands for; now and then something that is no weight."""
    values: list[Any] = [chance.choice([1, 2, 2.5, 40]) for _ in range(n)]
    if one_in(chance, 30):
        values[chance.randrange(n)] = chance.choice([0, -1, math.inf, None])
    return Column("number", [None if v is None else float(v) for v in values], role=WEIGHT)


def totals(chance: random.Random, n: int) -> list[Column]:
    """Return parts and a whole that add up, except perhaps in a few records."""
    digits = chance.choice([0, 2, 2])
    parts = [[round(chance.lognormvariate(5, 1), digits) for _ in range(n)] for _ in range(2)]
    gross = [float(Decimal(str(a)) + Decimal(str(b))) for a, b in zip(*parts)]
    if one_in(chance, 3):
        gross[chance.randrange(n)] += 1.0
    return [Column("number", own) for own in (*parts, gross)]


def with_gaps(chance: random.Random, column: Column, share: float) -> Column:
    """Return the column without some of its values."""
    column.values = [None if chance.random() < share else value for value in column.values]
    return column
