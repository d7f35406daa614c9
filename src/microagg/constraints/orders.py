"""Order relations among columns: which of them is never, or hardly ever, above another.

Most such relations say nothing: age is below income because their ranges are. So a relation counts
only if it would fail in many records were the two columns independent of each other, and fails in
hardly any.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.constraints.totals import Total
from microagg.core.arrays import Mask

_N_SAMPLED, _N_COMPARED = 10_000, 1_000
# Share of the records in which an order may fail.
_MOST_FAILING = 0.005
_MOST_FAILING_AT_FIRST = 0.03
# Records in which independent columns would fail, at least; and how many times as many as do.
_LEAST_EXPECTED, _TIMES = 20, 10
# As a share of the records; dates are all in one unit, and a smaller one says something.
_LEAST_SHARE, _LEAST_SHARE_OF_DATES = 0.02, 0.0


@dataclass(frozen=True)
class Order:
    """Column `low` is at most `high`, but in `failing` of `n_records` records.

    Records in which one of the columns is missing do not count.
    """

    low: str
    high: str
    failing: int
    n_records: int


def find_orders(
    columns: Mapping[str, NDArray[Any]],
    missing: Mapping[str, Mask],
    *,
    implied: Mapping[tuple[str, str], int] | None = None,
    are_dates: bool = False,
) -> list[Order]:
    """Return order relations that say something and hold in nearly all records.

    None follows from others, or from those that are `implied`, with the number of records in which
    they may fail: see `implied_orders`.

    >>> rng = np.random.default_rng(0)
    >>> part, age = rng.integers(0, 50, 400), rng.integers(60, 99, 400)
    >>> found = find_orders({"part": part, "all": part + rng.integers(0, 9, 400), "age": age}, {})
    >>> [(order.low, order.high, order.failing) for order in found]
    [('part', 'all', 0)]
    """
    n = len(next(iter(columns.values()), ()))
    rng = np.random.default_rng(0)
    rows = np.sort(rng.choice(n, _N_SAMPLED, replace=False)) if n > _N_SAMPLED else np.arange(n)
    sampled = {name: values[rows] for name, values in columns.items()}
    there = {name: ~missing[name][rows] for name in columns if name in missing}
    share = _LEAST_SHARE_OF_DATES if are_dates else _LEAST_SHARE
    found = {}
    for low, high in _possible(sampled, there):
        if _is_promising(*_both(low, high, sampled, there), n, len(rows), share):
            order = _confirmed(low, high, columns, missing)
            if order is not None:
                found[low, high] = order
    found = {pair: order for pair, order in found.items() if pair[::-1] not in found}
    known = {pair: Order(*pair, fails, n) for pair, fails in (implied or {}).items()} | found
    kept = [order for pair, order in found.items() if pair not in (implied or {})]
    return sorted(
        (order for order in kept if not _follows(order, known)), key=lambda own: own.failing
    )


def _possible(
    sampled: Mapping[str, NDArray[Any]], there: Mapping[str, Mask]
) -> Iterator[tuple[str, str]]:
    """Give the pairs that hold in nearly all of some records, and whose ranges meet."""
    names = list(sampled)
    each = [
        np.where(there.get(name, True), values, np.nan)[:: 1 + len(values) // _N_COMPARED]
        for name, values in sampled.items()
    ]
    X = np.column_stack(each)
    least, most = np.fmin.reduce(X), np.fmax.reduce(X)
    for j, low in enumerate(names):
        fails = (X[:, [j]] > X).sum(axis=0)
        is_possible = fails <= _MOST_FAILING_AT_FIRST * len(X)
        is_possible &= most[j] > least  # otherwise it says nothing
        is_possible[j] = False
        for i in np.flatnonzero(is_possible):
            yield low, names[i]


def _both(
    first: str, second: str, sampled: Mapping[str, NDArray[Any]], there: Mapping[str, Mask]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the records that have a value in both columns."""
    masks = [there[name] for name in (first, second) if name in there]
    if not masks:
        return sampled[first], sampled[second]
    mask = np.logical_and.reduce(masks)
    return sampled[first][mask], sampled[second][mask]


def _is_promising(
    a: NDArray[Any], b: NDArray[Any], n: int, n_sampled: int, least_share: float
) -> bool:
    """Whether a sample fails in far fewer records than it would if the columns were independent.

    Zeros in the lower column fail nowhere, and do not count.
    """
    failing = np.count_nonzero(a > b)
    if not len(a) or failing > 2 * _MOST_FAILING * len(a):
        return False
    used = a != 0
    if not used.any():
        return False
    count = np.count_nonzero(used)
    some = np.flatnonzero(used)[:: 1 + count // _N_COMPARED]
    below = np.searchsorted(np.sort(b[some]), a[some], side="left").sum()
    share = float(below) / len(some) ** 2
    expected = share * count * n / n_sampled
    is_many = expected >= _LEAST_EXPECTED and share >= least_share
    return bool(is_many and failing * n / n_sampled * _TIMES <= expected)


def _confirmed(
    low: str, high: str, columns: Mapping[str, NDArray[Any]], missing: Mapping[str, Mask]
) -> Order | None:
    a, b = columns[low], columns[high]
    fails = a > b
    n = len(fails)
    masks = [missing[name] for name in (low, high) if name in missing]
    if masks:
        there = ~np.logical_or.reduce(masks)
        fails, n = fails & there, int(np.count_nonzero(there))
    failing = int(np.count_nonzero(fails))
    return Order(low, high, failing, n) if failing <= _MOST_FAILING * n else None


def implied_orders(
    totals: Sequence[Total], columns: Mapping[str, NDArray[Any]], missing: Mapping[str, Mask]
) -> dict[tuple[str, str], int]:
    """Return orders of a part and its total, where the other parts are not negative.

    They fail at most where the total does, in that many records.
    """
    found: dict[tuple[str, str], int] = {}
    for total in totals:
        for whole, sign in total.signs.items():
            parts = [name for name, own in total.signs.items() if own == -sign]
            is_total = total.bound == 0.0 and len(parts) == len(total.signs) - 1
            negative = [n for n in parts if not _is_never_negative(n, columns, missing)]
            if is_total and len(negative) < 2:
                # What is added to a part may not be negative; the part itself may.
                for name in negative or parts:
                    fewest = found.get((name, whole), total.failing)
                    found[name, whole] = min(fewest, total.failing)
    return found


def _is_never_negative(
    name: str, columns: Mapping[str, NDArray[Any]], missing: Mapping[str, Mask]
) -> bool:
    values = columns[name]
    return bool((values >= 0).all() if name not in missing else (values[~missing[name]] >= 0).all())


def _follows(order: Order, found: Mapping[tuple[str, str], Order]) -> bool:
    """Whether an order follows from two others; one that always holds, from two that do."""
    return any(
        second is not None and (order.failing or not first.failing + second.failing)
        for first in found.values()
        if first.low == order.low and first.high != order.high
        for second in (found.get((first.high, order.high)),)
    )
