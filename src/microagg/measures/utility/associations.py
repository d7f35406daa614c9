"""How strongly categories go with each other, and with numbers, before and after."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from microagg.aggregates.values import Values
from microagg.core.arrays import Floats, Rows
from microagg.tables.category_points import category_codes
from microagg.tables.pairs import Pair, PairedColumn

# Rounding error is no variance.
_NO_VARIANCE = 1e-12


@dataclass(frozen=True)
class Association:
    """How strongly two columns are associated, from 0 (not at all) to 1 (completely).

    Cramér's V between two columns of categories, the correlation ratio eta between categories and
    numbers. None if a column does not vary among the records that have both values.
    """

    columns: tuple[str, str]
    before: float | None
    after: float | None

    @property
    def change(self) -> float | None:
        """How much stronger it is after; None if it is unknown on one side."""
        return None if self.before is None or self.after is None else self.after - self.before


@dataclass(frozen=True)
class Associations:
    """The associations of all pairs of columns of which one or both are categories.

    `cramers_v` has those of two columns of categories, `eta` those of categories and numbers.
    `largest_change` is that of `most_changed`, `mean_change` the average, both without sign; None if
    there is no pair.
    """

    cramers_v: tuple[Association, ...]
    eta: tuple[Association, ...]
    largest_change: float | None
    mean_change: float | None
    most_changed: tuple[str, str] | None


def associations(pair: Pair, weights: Floats | None = None) -> Associations:
    """Return Cramér's V of every two columns of categories, and eta of categories and numbers.

    With n records in a table of r by c categories, n_ij in each cell,

        V = sqrt(chi^2 / (n (min(r, c) - 1))),  chi^2 = sum of (n_ij - n_i n_j / n)^2 / (n_i n_j / n)

    without a correction for bias, so that both sides are comparable, and

        eta = sqrt(sum of n_i (mean_i - mean)^2 / sum of (x - mean)^2)

    for the numbers x in each category i. Nominal columns and those of true and false are
    categories; ordered categories count as numbers, by their positions. Each is over the records
    that have both values on that side; categories that no record has do not count. With `weights`
    a record of weight 2 counts twice. Exact, O(n d^2).

    >>> import polars as pl
    >>> from microagg.tables.matching import open_pair
    >>> before = pl.DataFrame({"sex": ["f", "f", "m", "m"], "job": ["a", "a", "b", "b"]})
    >>> after = pl.DataFrame({"sex": ["f", "f", "m", "m"], "job": ["a", "b", "a", "b"]})
    >>> found = associations(open_pair(before, after)).cramers_v[0]
    >>> found.columns, found.before, found.after
    (('sex', 'job'), 1.0, 0.0)
    """
    columns = list(pair.columns.values())
    own = np.ones(pair.n_records) if weights is None else weights
    categories = [column for column in columns if not column.is_scaled]
    numbers = [column for column in columns if column.is_scaled]
    tables = tuple(_cramers_v(a, b, own) for a, b in combinations(categories, 2))
    ratios = tuple(_eta(a, x, own) for a in categories for x in numbers)
    changes = {
        found.columns: abs(found.change) for found in (*tables, *ratios) if found.change is not None
    }
    most = max(changes, key=lambda names: changes[names], default=None)
    return Associations(
        tables,
        ratios,
        None if most is None else changes[most],
        float(np.mean(list(changes.values()))) if changes else None,
        most,
    )


def _cramers_v(a: PairedColumn, b: PairedColumn, weights: Floats) -> Association:
    sides = ((a.before, b.before), (a.after, b.after))
    return Association((a.name, b.name), *(cramers_v(*side, weights) for side in sides))


def _eta(a: PairedColumn, x: PairedColumn, weights: Floats) -> Association:
    before = eta(a.before, x.before, x.scaled_before, weights)
    after = eta(a.after, x.after, x.scaled_after, weights)
    return Association((a.name, x.name), before, after)


def cramers_v(a: Values, b: Values, weights: Floats) -> float | None:
    """Return Cramér's V of two columns; None if one of them does not vary."""
    there = _both(a, b)
    first, second = (_compact(category_codes(own)[there]) for own in (a, b))
    if not len(first) or not first.max() or not second.max():
        return None
    r, c = int(first.max()) + 1, int(second.max()) + 1
    rows, columns = (np.bincount(own, weights=weights[there]) for own in (first, second))
    cells, places = np.unique(first * c + second, return_inverse=True)
    counts = np.bincount(places.reshape(-1), weights=weights[there])
    # Empty cells add n_i n_j / n each; all together that is n, less what the others expect.
    total = float(weights[there].sum())
    expected = rows[cells // c] * columns[cells % c] / total
    squares = float((np.square(counts - expected) / expected).sum()) + total - expected.sum()
    return float(np.sqrt(np.clip(squares / (total * (min(r, c) - 1)), 0.0, 1.0)))


def eta(a: Values, x: Values, numbers: Floats, weights: Floats) -> float | None:
    """Return the correlation ratio of numbers in categories; None if one of them does not vary."""
    there = _both(a, x)
    codes, own, values = _compact(category_codes(a)[there]), weights[there], numbers[there]
    if not len(codes) or not codes.max():
        return None
    values = values - np.average(values, weights=own)
    spread = float(own @ np.square(values))
    if values.min() == values.max() or spread <= _NO_VARIANCE * own.sum():
        return None
    means = np.bincount(codes, weights=own * values) / np.bincount(codes, weights=own)
    return float(np.sqrt(np.clip(own @ np.square(means[codes]) / spread, 0.0, 1.0)))


def _both(a: Values, b: Values) -> Rows:
    masks = [own.missing for own in (a, b) if own.missing is not None]
    if not masks:
        return np.arange(len(a.numbers))
    return np.flatnonzero(~np.logical_or.reduce(masks))


def _compact(codes: Rows) -> Rows:
    """Number the codes that occur from 0."""
    return np.unique(codes, return_inverse=True)[1].reshape(-1)


def strongest_changes(found: Sequence[Association], count: int) -> Iterator[Association]:
    """Give the associations that changed most, those that are unknown on one side last."""
    order = sorted(found, key=lambda own: -1.0 if own.change is None else abs(own.change))
    yield from list(reversed(order))[:count]
