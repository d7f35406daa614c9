"""What a group releases and what that loses, in exact fractions and plain loops."""

import math
from datetime import UTC, datetime, timedelta
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from tests.properties.stored import UNITS, Drawn, is_there
from tests.properties.whole_tables import Case, blocks_of

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECONDS = {"day": 86_400, "hour": 3_600, "minute": 60, "second": 1}


def measure(column: Drawn) -> str:
    """Return how a column is aggregated: mean, median, lower median or mode."""
    said = column.said
    if "type" in said and said["type"] != "integer":
        default = "lower median" if said["type"] == "ordinal" else "mode"
    elif column.storage == "ordered":
        default = "lower median"
    else:
        default = "mode" if column.kind in ("bool", "text", "category") else "mean"
    wished = said.get("aggregate", default)
    return default if wished == "median" and default == "lower median" else wished


def check_value(
    case: Case,
    column: Drawn,
    rows: list[int],
    before: list[Any],
    after: list[Any],
    weights: list[Fraction],
) -> None:
    """The value that a group releases of one column."""
    value = after[rows[0]]
    there = [i for i in rows if is_there(before[i])]
    gone = sum(weights[i] for i in rows) - sum(weights[i] for i in there)
    how = measure(column)
    constrained = any(column.name in terms for terms, _, _ in case.constraints)
    if not there and case.request["missing"] == "impute":
        there = [i for i in range(case.n) if is_there(before[i])]
    elif case.request["missing"] != "impute":
        balance = 2 * gone - sum(weights[i] for i in rows)
        assert is_there(value) == (balance <= 0), "missing only where more are than not"
        if not is_there(value):
            return
    assert is_there(value)
    if constrained:
        return
    own = [weights[i] for i in there]
    values = [before[i] for i in there]
    if how == "mode":
        tally: dict[Any, Fraction] = {}
        for v, w in zip(values, own, strict=True):
            tally[v] = tally.get(v, Fraction(0)) + w
        assert value in tally
        assert tally[value] == max(tally.values())
    elif how == "lower median":
        assert value in values
        place = places_of(case, column, before)
        below = sum((w for v, w in zip(values, own, strict=True) if place[v] < place[value]), 0)
        up_to = sum((w for v, w in zip(values, own, strict=True) if place[v] <= place[value]), 0)
        assert below * 2 < sum(own) <= up_to * 2
    else:
        digits = digits_of(column, [v for v in before if is_there(v)])
        check_number(column, how, value, units_of(column, values, before), own, digits)


def units_of(column: Drawn, values: list[Any], all_values: list[Any]) -> tuple[list[Any], int]:
    """Return times as whole numbers of what they are rounded to, and how much that is.

    They count by the clocks of their zone.
    """
    if column.kind != "datetime":
        return values, 1
    values, all_values = ([_clock(column, v) for v in own] for own in (values, all_values))
    steps = {word: seconds * UNITS[column.unit] for word, seconds in _SECONDS.items()}
    there = [v for v in all_values if is_there(v)]
    unit = next((step for step in steps.values() if not any(v % step for v in there)), 1)
    if "resolution" in column.said:
        unit = steps[column.said["resolution"]]
    return [v // unit for v in values], unit


def _clock(column: Drawn, instant: int | None) -> int | None:
    """Return what a clock in the zone of the column shows."""
    if column.zone is None or instant is None:
        return instant
    seconds, rest = divmod(instant, UNITS[column.unit])
    there = (_EPOCH + timedelta(seconds=seconds)).astimezone(ZoneInfo(column.zone))
    shown = there.replace(tzinfo=UTC) - _EPOCH
    return (shown.days * 86_400 + shown.seconds) * UNITS[column.unit] + rest


def _instant(column: Drawn, shown: int) -> int:
    """Return when a clock shows that first; or would, if it went on as before."""
    if column.zone is None:
        return shown
    seconds, rest = divmod(shown, UNITS[column.unit])
    there = (_EPOCH + timedelta(seconds=seconds)).replace(tzinfo=ZoneInfo(column.zone), fold=0)
    since = there.astimezone(UTC) - _EPOCH
    return (since.days * 86_400 + since.seconds) * UNITS[column.unit] + rest


def digits_of(column: Drawn, values: list[Any]) -> int | None:
    """Return the decimals that a column of floats is released with; None for every digit."""
    said = column.said.get("digits")
    if column.kind != "float" or column.said.get("type") == "integer" or said == "all":
        return None
    if said is not None:
        return int(said)
    written = [_written(column, v) for v in values]
    decimals = max((-own.as_tuple().exponent for own in written), default=0)
    decimals = max(decimals, 0)
    fits = all(abs(own).scaleb(decimals) < 10 ** _longest(column) for own in written)
    return decimals if fits and decimals <= 300 else None


def _longest(column: Drawn) -> int:
    return 7 if "32" in column.storage else 15


def _written(column: Drawn, value: float) -> Decimal:
    """Return a float in its shortest form."""
    text = str(np.float32(value)) if "32" in column.storage else repr(float(value))
    return Decimal(text).normalize(Context(prec=400))


def check_decimals(column: Drawn, value: float, wanted: Fraction, digits: int) -> None:
    """The value has so many decimals, and is the nearest that has; halves go away from zero."""
    shown = _written(column, value)
    assert -shown.as_tuple().exponent <= max(digits, 0), "more digits than people would write"
    got, step = Fraction(shown), Fraction(10) ** -digits
    assert (got / step).denominator == 1
    apart = abs(got - wanted) / step
    assert apart <= Fraction(1, 2) + Fraction(1, 10**9), "the nearest"
    if apart == Fraction(1, 2):
        assert abs(got) > abs(wanted), "half away from zero"


def check_number(
    column: Drawn,
    how: str,
    value: Any,
    counted: tuple[list[Any], int],
    weights: list[Fraction],
    digits: int | None,
) -> None:
    values, unit = counted
    whole = column.kind in ("int", "date", "datetime") or column.said.get("type") == "integer"
    exact = [Fraction(v) for v in values]
    fits = digits is not None and all(
        abs(_written(column, v)).scaleb(digits) < 10 ** _longest(column) for v in values
    )
    if fits:
        exact = [Fraction(_written(column, v)) for v in values]
    if how == "mean":
        wanted = sum((v * w for v, w in zip(exact, weights, strict=True)), Fraction(0))
        wanted /= sum(weights)
    else:
        wanted = _median(exact, weights)
    if whole:
        step = 10 ** -column.said.get("digits", 0)
        size = (abs(wanted) / step + Fraction(1, 2)) // 1 * step
        rounded = int(size if wanted >= 0 else -size) * unit
        shown = _instant(column, rounded)
        if column.kind == "float" and "32" in column.storage:
            shown = float(np.float32(shown))  # not every whole number is one of its type
        assert value == shown, "half away from zero"
        return
    assert not (value == 0 and math.copysign(1, value) < 0), "-0.0"
    if fits and digits is not None:
        check_decimals(column, value, wanted, digits)
        return
    got = Fraction(value)
    relative = Fraction(1, 10**6) if "32" in column.storage else Fraction(1, 10**12)
    smallest = Fraction(2) ** -149 if "32" in column.storage else Fraction(2) ** -1074
    slack = relative * max(map(abs, exact)) + len(values) * smallest
    slack += Fraction(10) ** -digits / 2 if digits is not None else 0
    assert abs(got - wanted) <= slack
    assert min(exact) - slack <= got <= max(exact) + slack


def _median(values: list[Fraction], weights: list[Fraction]) -> Fraction:
    half, up_to = sum(weights) / 2, Fraction(0)
    ordered = sorted(zip(values, weights, strict=True))
    for at, (value, weight) in enumerate(ordered):
        up_to += weight
        if up_to > half:
            return value
        if up_to == half:
            return (value + ordered[at + 1][0]) / 2
    raise AssertionError


def places_of(case: Case, column: Drawn, before: list[Any]) -> dict[Any, int]:
    """Return the place of each value in the order of an ordinal column."""
    if "order" in column.said:
        return {v: at for at, v in enumerate(column.said["order"])}
    if column.storage in ("ordered", "categorical", "enum") and case.backend != "pyarrow":
        return {v: at for at, v in enumerate(column.categories)}
    return {v: at for at, v in enumerate(sorted({v for v in before if is_there(v)}))}


def is_category(column: Drawn) -> bool:
    return measure(column) in ("mode", "lower median")


def check_loss(
    case: Case,
    release: Any,
    labels: list[list[int]],
    before: dict[str, list[Any]],
    weights: list[Fraction],
) -> None:
    """The grouping loss, column by column: each counts as much as its weight says."""
    lost = total = Fraction(0)
    columns = {c.name: c for c in case.columns}
    for own, block in zip(labels, blocks_of(case), strict=True):
        for name in block:
            axes = axes_of(case, columns[name], before[name], weights)
            if axes is None:
                return
            factor = Fraction(columns[name].said.get("weight", 1.0))
            for share, axis in axes:
                spread = squares(axis, [0] * case.n, weights)
                if spread and share:
                    lost += factor * share * squares(axis, own, weights) / spread
                    total += factor * share
    wanted = float(100 * lost / total) if total else 0.0
    assert math.isclose(release.grouping_loss, wanted, rel_tol=1e-6, abs_tol=1e-7)


def squares(axis: list[Fraction], labels: list[int], weights: list[Fraction]) -> Fraction:
    """Return the weighted squared distances to the weighted means of the groups."""
    sums: dict[int, list[Fraction]] = {}
    for v, g, w in zip(axis, labels, weights, strict=True):
        tally = sums.setdefault(g, [Fraction(0)] * 3)
        tally[0] += w
        tally[1] += w * v
        tally[2] += w * v * v
    return sum((s2 - s1 * s1 / s0 for s0, s1, s2 in sums.values()), Fraction(0))


def axes_of(
    case: Case, column: Drawn, values: list[Any], weights: list[Fraction]
) -> list[tuple[Fraction, list[Fraction]]] | None:
    """Return the axes of a column with their shares of its variance; None if it has too many."""
    impute = case.request["missing"] == "impute"
    there = [i for i in range(case.n) if is_there(values[i])]
    if not there:
        return []
    if measure(column) == "mode" and column.said.get("type") != "ordinal":
        if column.storage == "ordered":
            return None  # ordinal by its type, whatever it releases
        return _nominal(values, there, weights, impute=impute)
    place = places_of(case, column, values) if is_category(column) else None
    numbers = [values[i] if place is None else place[values[i]] for i in there]
    numbers, _ = units_of(column, numbers, values)
    found = dict(zip(there, map(Fraction, numbers), strict=True))
    inside = sum(weights[i] for i in there)
    mean = sum(weights[i] * found[i] for i in there) / inside
    axis = [found.get(i, mean) for i in range(case.n)]
    if len(there) == case.n:
        return [(Fraction(1), axis)]
    share = _share_of(there, weights)
    if len(set(found.values())) == 1:
        share = Fraction(0)
    if impute:
        return [(share, axis)]
    return [(share, axis), (1 - share, [Fraction(i not in found) for i in range(case.n)])]


def _nominal(
    values: list[Any], there: list[int], weights: list[Fraction], *, impute: bool
) -> list[tuple[Fraction, list[Fraction]]] | None:
    kinds = {values[i] for i in there}
    n, known = len(values), set(there)
    if len(kinds) >= 32:
        return None
    inside = sum(weights[i] for i in there)
    axes = []
    for kind in kinds:
        mean = sum(weights[i] for i in there if values[i] == kind) / inside
        rest = mean if impute else Fraction(0)
        axes.append([Fraction(values[i] == kind) if i in known else rest for i in range(n)])
    if not impute and len(there) < n:
        axes.append([Fraction(i not in known) for i in range(n)])
    spreads = [squares(axis, [0] * n, weights) for axis in axes]
    whole = sum(spreads)
    if not whole:
        return []
    share = _share_of(there, weights) if impute else Fraction(1)
    return [(share * spread / whole, axis) for spread, axis in zip(spreads, axes, strict=True)]


def _share_of(there: list[int], weights: list[Fraction]) -> Fraction:
    """Return the variance of a column that has a variance of 1 where it has values."""
    n, m = len(weights), len(there)
    inside = sum(weights[i] for i in there)
    return inside / sum(weights) * Fraction(m - 1, m) * Fraction(n, n - 1)
