"""How strongly categories go with each other, and with numbers, before and after."""

from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from microagg.aggregates.values import Values
from microagg.core.arrays import Floats, Mask, Rows
from microagg.tables.category_codes import category_codes
from microagg.tables.pairs import Pair, PairedColumn


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
    `largest_change` is that of `most_changed`, `mean_change` the average, both without sign; None
    if there is no pair. Records count by their weights, if there are weights (`is_weighted`).
    """

    cramers_v: tuple[Association, ...]
    eta: tuple[Association, ...]
    largest_change: float | None
    mean_change: float | None
    most_changed: tuple[str, str] | None
    is_weighted: bool = False


def associations(pair: Pair) -> Associations:
    """Return Cramér's V of every two columns of categories, and eta of categories and numbers.

    With n records in a table of r by c categories, n_ij of them in a cell and e_ij = n_i n_j / n
    expected there,

        V = sqrt(sum of (n_ij - e_ij)^2 / e_ij / (n (min(r, c) - 1)))

    without a correction for bias, as both sides have the same records; and for numbers x, with n_i
    of them in category i,

        eta = sqrt(sum of n_i (mean_i - mean)^2 / sum of (x - mean)^2)

    Nominal columns and those of true and false are categories; ordered categories are numbers, by
    their positions. Each figure is over the records that have both values on its side, and
    categories that none of them has do not count. A record of weight 2 counts twice, if there
    are weights. Exact, O(n d^2) for d columns. Sources: Cramér (1946), Pearson (1905).

    >>> import polars as pl
    >>> from microagg.tables.matching import open_pair
    >>> before = pl.DataFrame({"sex": ["f", "f", "m", "m"], "job": ["a", "a", "b", "b"]})
    >>> after = pl.DataFrame({"sex": ["f", "f", "m", "m"], "job": ["a", "b", "a", "b"]})
    >>> pair = open_pair(before, after, quasi_identifiers=["sex", "job"])
    >>> found = associations(pair).cramers_v[0]
    >>> found.columns, found.before, found.after
    (('sex', 'job'), 1.0, 0.0)
    """
    columns = pair.columns.values()
    own = np.ones(pair.n_records) if pair.weights is None else pair.weights
    categories = [_Coded.of(column) for column in columns if not column.is_scaled]
    numbers = [column for column in columns if column.is_scaled]
    tables = tuple(
        Association(
            (a.name, b.name),
            cramers_v(a.before, b.before, own),
            cramers_v(a.after, b.after, own),
        )
        for a, b in combinations(categories, 2)
    )
    ratios = tuple(
        Association(
            (a.name, x.name),
            eta(a.before, x.scaled_before, x.before.is_present, own),
            eta(a.after, x.scaled_after, x.after.is_present, own),
        )
        for a in categories
        for x in numbers
    )
    return summarised(tables, ratios, is_weighted=pair.weights is not None)


def summarised(
    tables: tuple[Association, ...], ratios: tuple[Association, ...], *, is_weighted: bool
) -> Associations:
    """Return these associations with their largest and mean change."""
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
        is_weighted,
    )


class _Coded(NamedTuple):
    """A column of categories on both sides, numbered from 0, -1 where missing."""

    name: str
    before: Rows
    after: Rows

    @classmethod
    def of(cls, column: PairedColumn) -> "_Coded":
        return cls(column.name, _numbered(column.before), _numbered(column.after))


def _numbered(values: Values) -> Rows:
    codes = category_codes(values)
    places = np.unique(codes, return_inverse=True)[1].reshape(-1)
    return places - bool(values.n_missing)  # -1, if there is one, comes first


def cramers_v(a: Rows, b: Rows, weights: Floats) -> float | None:
    """Return Cramér's V of two columns of codes, -1 where missing; None if one does not vary."""
    there = np.flatnonzero((a >= 0) & (b >= 0))
    first, second, own = a[there], b[there], weights[there]
    if not len(there):
        return None
    rows, columns = (np.bincount(codes, weights=own) for codes in (first, second))
    fewest = min(int(np.count_nonzero(totals)) for totals in (rows, columns))
    if fewest < 2:
        return None
    cells, places = np.unique(first * len(columns) + second, return_inverse=True)
    counts = np.bincount(places.reshape(-1), weights=own)
    total = float(own.sum())
    expected = rows[cells // len(columns)] * columns[cells % len(columns)] / total
    # An empty cell adds what is expected there: all that is not expected in the others.
    squares = float((np.square(counts - expected) / expected).sum() + total - expected.sum())
    return float(np.sqrt(np.clip(squares / (total * (fewest - 1)), 0.0, 1.0)))


def eta(codes: Rows, numbers: Floats, present: Mask, weights: Floats) -> float | None:
    """Return the correlation ratio of numbers in categories; None if one of them does not vary."""
    there = np.flatnonzero((codes >= 0) & present)
    if not len(there):
        return None
    own, groups, values = weights[there], codes[there], numbers[there]
    if groups.min() == groups.max() or values.min() == values.max():
        return None
    values = values - np.average(values, weights=own)
    sizes = np.bincount(groups, weights=own)
    means = np.bincount(groups, weights=own * values) / np.where(sizes > 0.0, sizes, 1.0)
    share = float(sizes @ np.square(means)) / float(own @ np.square(values))
    return float(np.sqrt(np.clip(share, 0.0, 1.0)))
