"""Judges of a released table, which share no code with the package.

Each takes plain columns, before and after, and what was asked; it counts and adds up in the
plainest way there is, and raises a `Finding` if a promise is broken.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tests.hostile.cases import expect
from tests.hostile.columns import DROP, IDENTIFIER, PUBLISH, QI, SENSITIVE, STRATUM, UNIT, WEIGHT
from tests.hostile.tables import Table, Total, key

Columns = dict[str, list[Any]]

DRAWING = ("fcm", "efcm")
# What a text says of nobody.
NOBODY = {"", "na", "n/a", "nan", "null", ".", "-", "?", "#n/a", "#null!"}


@dataclass
class Asked:
    """What was promised: which columns are shown together, and to what they are held."""

    k: int
    roles: dict[str, str]  # in the order of the table
    blocks: list[list[str]] = field(default_factory=list)
    keeps_k: bool = True
    key: str | None = None
    diversity: dict[str, Any] = field(default_factory=dict)
    totals: list[Total] = field(default_factory=list)

    @classmethod
    def of(cls, table: Table, request: dict[str, Any]) -> "Asked":
        """Return what a request to `protect` was promised."""
        method, drawn = request.get("method", "auto"), False
        if method in DRAWING:
            drawn = not request.get("strict_k")
        roles = {column.name: column.role for column in table.columns}
        inside = [name for name, role in roles.items() if role == QI]
        blocks = [list(block) for block in request.get("blocks") or ()]
        rest = [name for name in inside if not any(name in block for block in blocks)]
        said = request.get("columns") or {}
        constrained = bool(request.get("constraints"))
        key_column = next(iter(table.named(IDENTIFIER)), None)
        return cls(
            k=request["k"],
            roles=roles,
            blocks=[*blocks, *([rest] if rest else [])],
            keeps_k=not drawn and not request.get("hybrid"),
            key=key_column if request.get("keep_key") else None,
            diversity={n: own["l_diversity"] for n, own in said.items() if "l_diversity" in own},
            totals=table.totals if constrained else [],
        )

    def named(self, *roles: str) -> list[str]:
        """Return the columns of these roles, in order."""
        return [name for name, role in self.roles.items() if role in roles]

    @property
    def shown(self) -> list[list[str]]:
        """The columns that are seen together: those of a block, with the strata."""
        return [[*block, *self.named(STRATUM)] for block in self.blocks]

    @property
    def published(self) -> list[str]:
        """Every column that has to be in the release, in order."""
        gone = self.named(IDENTIFIER, UNIT, DROP)
        return [name for name in self.roles if name not in gone or name == self.key]


def combinations(after: Columns, names: Sequence[str]) -> dict[tuple[Any, ...], list[int]]:
    """Return the records behind each combination of values; a missing value is a value."""
    found: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for at, row in enumerate(zip(*(map(key, after[name]) for name in names), strict=True)):
        found[row].append(at)
    return found


def judge_shape(asked: Asked, before: Columns, after: Columns) -> None:
    """The same records, and exactly the columns that may be seen, in their order."""
    expect(list(after) == asked.published, f"columns are {list(after)}, not {asked.published}")
    n = len(next(iter(before.values())))
    expect({len(own) for own in after.values()} <= {n}, f"there were {n} records")


def judge_published(asked: Asked, before: Columns, after: Columns) -> None:
    """Columns that are published unchanged are unchanged, record by record."""
    for name in asked.named(SENSITIVE, PUBLISH, WEIGHT):
        same = [key(v) for v in before[name]] == [key(v) for v in after[name]]
        expect(same, f"{name!r} was to be published unchanged")


def judge_k(asked: Asked, after: Columns) -> int:
    """At least k records show what a record shows. Returns the fewest."""
    fewest = min(
        min(map(len, combinations(after, names).values())) for names in asked.shown if names
    )
    expect(fewest >= asked.k or not asked.keeps_k, f"{fewest} records, not {asked.k}, are alike")
    return fewest


def judge_units(asked: Asked, before: Columns, after: Columns) -> None:
    """At least k people are behind what a record shows."""
    for unit in asked.named(UNIT):
        owners = [own.strip() if isinstance(own, str) else own for own in before[unit]]
        for names in asked.shown:
            for rows in combinations(after, names).values():
                behind = {owners[at] for at in rows if str(owners[at]).lower() not in NOBODY}
                found = len(behind - {None})
                expect(found >= asked.k, f"{found} units, not {asked.k}, are behind a combination")


def judge_diversity(asked: Asked, after: Columns) -> None:
    """Enough values of a sensitive column are behind every combination, or enough entropy."""
    for name, least in asked.diversity.items():
        # The package may take texts for equal that a plain count does not.
        for rows in (r for names in asked.shown for r in combinations(after, names).values()):
            counts = Counter(key(after[name][at]) for at in rows)
            if isinstance(least, int):
                expect(len(counts) >= least, f"{len(counts)} values of {name!r}, not {least}")
                continue
            shares = [count / len(rows) for count in counts.values()]
            entropy = -sum(share * math.log(share) for share in shares)
            enough = math.log(float(str(least).removeprefix("entropy:")))
            expect(entropy >= enough - 1e-9, f"an entropy of {entropy:.4f} of {name!r}")


def is_decimal(own: Any) -> bool:
    """Whether a value is a number, written in whatever way."""
    try:
        return Decimal(str(own)).is_finite()
    except ArithmeticError:
        return False


def judge_closeness(after: Columns, names: Sequence[str], column: str, most: float) -> None:
    """Nominal values are distributed in every combination as in the whole table, up to `most`.

    Blanks around a text do not count, a blank text is missing, and so is a dash among numbers.
    """
    bare = [own.strip() or None if isinstance(own, str) else own for own in after[column]]
    if all(own is None or own == "-" or is_decimal(own) for own in bare):
        bare = [None if own == "-" else own for own in bare]
    values = list(map(key, bare))
    n, whole = len(values), Counter(values)
    for rows in combinations(after, names).values():
        own = Counter(values[at] for at in rows)
        apart = sum(abs(Fraction(own[v], len(rows)) - Fraction(whole[v], n)) for v in whole) / 2
        expect(apart <= most + 1e-9, f"{column!r} is {float(apart):.4f} from the table")


def judge_contributions(
    asked: Asked, before: Columns, after: Columns, name: str, said: dict[str, Any]
) -> None:
    """No total of a group gives one contribution away, by the p per cent rule or by dominance."""
    n = len(before[name])
    owners = next((before[unit] for unit in asked.named(UNIT)), list(range(n)))
    weights = next((before[weight] for weight in asked.named(WEIGHT)), [1] * n)
    for rows in (rows for names in asked.shown for rows in combinations(after, names).values()):
        amounts: dict[Any, Fraction] = defaultdict(Fraction)
        for at in rows:
            amounts[owners[at]] += abs(Fraction(before[name][at] or 0)) * Fraction(weights[at])
        largest = sorted(amounts.values(), reverse=True)
        total = sum(largest)
        if "p_percent" in said:
            room = Fraction(said["p_percent"]) / 100 * largest[0]
            expect(sum(largest[2:]) >= room, f"a contribution to {name!r} can be estimated")
        if "dominance" in said:
            most, share = said["dominance"]
            dominant = sum(largest[:most]) * 100 > Fraction(share) * total
            expect(not dominant, f"{most} of many contributors dominate {name!r}")


def judge_totals(asked: Asked, after: Columns, *, slack: float = 0.0) -> None:
    """Totals hold as people would add them up: in decimals, to the last digit.

    `slack`, relative to the terms, is for columns that are released with every digit of a float.
    """
    for total in asked.totals:
        rows = zip(*(after[name] for name in total.terms), strict=True)
        for row in rows:
            if any(value is None or value == "" for value in row):
                continue
            terms = [
                factor * as_decimal(value)
                for factor, value in zip(total.terms.values(), row, strict=True)
            ]
            over = sum(terms) - total.limit
            room = Decimal(slack) * sum(map(abs, terms))
            held = {"=": abs(over) <= room, "<=": over <= room, ">=": -over <= room}
            expect(held[total.relation], f"a total is off by {over}")


def as_decimal(value: Any) -> Decimal:
    """Return a number as it is written, in a file perhaps with a decimal comma."""
    return Decimal(value.replace(",", ".") if isinstance(value, str) else repr(value))


def judge_key(asked: Asked, after: Columns) -> None:
    """A random key is each number from 1 to n, once."""
    if asked.key is not None:
        drawn = sorted(int(value) for value in after[asked.key])
        expect(drawn == list(range(1, len(drawn) + 1)), "the key is not the numbers from 1 to n")


def judge_groups(asked: Asked, labels: Sequence[Sequence[int]], after: Columns) -> None:
    """A group releases one value of each column, and groups are numbered by first records."""
    for own, block in zip(labels, asked.blocks, strict=True):
        first = list(dict.fromkeys(own))
        expect(first == list(range(len(first))), "groups are not numbered by their first records")
        members: dict[int, set[tuple[Any, ...]]] = defaultdict(set)
        for at, label in enumerate(own):
            members[label].add(tuple(key(after[name][at]) for name in block))
        expect(max(map(len, members.values())) == 1, "a group releases several combinations")


def judge_range(
    before: Columns,
    after: Columns,
    name: str,
    labels: Iterable[int],
    *,
    step: Fraction,
) -> None:
    """What a group releases of numbers lies within them, up to half a rounding step."""
    members: dict[int, list[int]] = defaultdict(list)
    for at, label in enumerate(labels):
        members[label].append(at)
    for rows in members.values():
        values = [Fraction(before[name][at]) for at in rows if before[name][at] is not None]
        released = after[name][rows[0]]
        if not values or released is None:
            continue
        room = step / 2 + max(map(abs, values)) / 10**6  # 32-bit floats have seven digits
        inside = min(values) - room <= Fraction(released) <= max(values) + room
        expect(inside, f"a group releases a number of {name!r} beyond those it holds")


def plain_loss(before: Sequence[Any], after: Sequence[Any], *, nominal: bool) -> Fraction | None:
    """Return the share of a column's variation that is lost; None if it does not vary."""
    n = len(before)
    if nominal:
        changed = sum(_category(b) != _category(a) for b, a in zip(before, after, strict=True))
        alike = sum(Fraction(count, n) ** 2 for count in Counter(map(_category, before)).values())
        return None if alike == 1 else 2 * changed / (n * (1 - alike))
    x, z = [_number(v) for v in before], [_number(v) for v in after]
    mean = sum(x) / n
    spread = sum((v - mean) ** 2 for v in x)
    if not spread:
        return None
    return sum((b - a) ** 2 for b, a in zip(x, z, strict=True)) / spread


def _category(value: Any) -> Any:
    """Return what two equal codes have in common; -0.0 is the code 0."""
    return key(value + 0.0 if isinstance(value, float) else value)


def _number(value: Any) -> Fraction:
    if isinstance(value, datetime):
        lapse = value.replace(tzinfo=None) - datetime(1970, 1, 1)
        return Fraction(lapse.days * 86_400 + lapse.seconds) + Fraction(lapse.microseconds, 10**6)
    if isinstance(value, date):
        return Fraction(value.toordinal())
    return Fraction(value)


def judge_loss(
    told: float | None, before: Columns, after: Columns, nominal: dict[str, bool]
) -> None:
    """The loss that the manifest tells is what comes out by its definition."""
    losses = [
        loss
        for name, is_nominal in nominal.items()
        if (loss := plain_loss(before[name], after[name], nominal=is_nominal)) is not None
    ]
    if not losses or told is None:
        return
    plainly = float(100 * sum(losses) / len(losses))
    near = math.isclose(told, plainly, rel_tol=1e-5, abs_tol=1e-7)
    expect(near, f"the loss is {plainly:.9g} %, the manifest says {told:.9g} %")
