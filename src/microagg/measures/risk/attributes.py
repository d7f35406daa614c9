"""Attribute disclosure: what a class of equal records reveals about a sensitive column."""

from dataclasses import dataclass

import numpy as np

from microagg.aggregates.values import Values
from microagg.core.arrays import Counts, Floats, Labels, Mask
from microagg.tables.pairs import Pair


@dataclass(frozen=True)
class ColumnDisclosure:
    """Diversity and closeness of one sensitive column over all released classes."""

    smallest_distinct: int
    mean_distinct: float
    homogeneous_classes: int
    homogeneous_records: int
    smallest_entropy: float
    mean_entropy: float
    largest_distance: float
    mean_distance: float


@dataclass(frozen=True)
class AttributeDisclosure:
    """What the classes reveal about each sensitive column."""

    columns: dict[str, ColumnDisclosure]


def attribute_disclosure(pair: Pair) -> AttributeDisclosure:
    """Return l-diversity and t-closeness of every sensitive column, as released.

    In each class of records with equal released quasi-identifiers, with p the distribution of the
    column there and q that in the whole table:

    - distinct: the number of different values; a class with only one is homogeneous;
    - entropy: exp(-sum p log p), the number of equally frequent values with the same entropy;
    - distance: the earth mover's distance between p and q. Moving all from the i-th to the j-th of
      m values costs |i - j| / (m - 1) for numbers, dates and ordered categories; for nominal ones,
      any move costs 1, which makes it sum |p - q| / 2.

    Means are over classes. A missing value is a value of its own; see `ordered_distances` for the
    cost of moving it. Time O(n log n) for each column. Source: Machanavajjhala et al. (2007);
    Li, Li and Venkatasubramanian (2007).
    """
    return AttributeDisclosure(
        {
            name: column_disclosure(pair.classes, column.after, is_ordered=column.is_scaled)
            for name, column in pair.sensitive.items()
        }
    )


@dataclass(frozen=True, eq=False)
class Cells:
    """The distinct values of every class, with counts: ordered by class, then by value.

    `values` are ranks among the values of the whole table; missing comes last.
    """

    classes: Labels
    values: Labels
    counts: Counts
    class_sizes: Counts
    value_counts: Counts

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.class_sizes)

    @property
    def shares(self) -> Floats:
        """The share of its class that each cell holds."""
        return self.counts / self.class_sizes[self.classes]

    def total(self, of_cells: Floats) -> Floats:
        """Return the sum over the cells of each class."""
        totals: Floats = np.bincount(self.classes, of_cells, self.n_classes).astype(np.float64)
        return totals

    def select(self, kept: Mask, n_values: int) -> "Cells":
        """Return the cells of the first values only; a class may end up with none."""
        classes, counts = self.classes[kept], self.counts[kept]
        sizes = np.bincount(classes, weights=counts, minlength=self.n_classes)
        return Cells(
            classes,
            self.values[kept],
            counts,
            sizes.astype(np.int64),
            self.value_counts[:n_values],
        )


def column_disclosure(classes: Labels, values: Values, *, is_ordered: bool) -> ColumnDisclosure:
    """Measure one column; classes are numbered 0, 1, ... without gaps."""
    cells = cells_of(classes, values)
    distinct = np.bincount(cells.classes)
    shares = cells.shares
    entropy = np.exp(-cells.total(shares * np.log(shares)))
    if is_ordered:
        distances = ordered_distances(cells, has_missing=values.n_missing > 0)
    else:
        distances = nominal_distances(cells)
    alone = distinct == 1
    return ColumnDisclosure(
        smallest_distinct=int(distinct.min()),
        mean_distinct=float(distinct.mean()),
        homogeneous_classes=int(np.count_nonzero(alone)),
        homogeneous_records=int(cells.class_sizes[alone].sum()),
        smallest_entropy=float(entropy.min()),
        mean_entropy=float(entropy.mean()),
        largest_distance=float(distances.max()),
        mean_distance=float(distances.mean()),
    )


def cells_of(classes: Labels, values: Values) -> Cells:
    """Count how often each value occurs in each class."""
    present = np.unique(values.present)
    places = np.searchsorted(present, values.numbers)
    if values.missing is not None:
        places = np.where(values.missing, len(present), places)
    n_values = len(present) + (values.n_missing > 0)
    keys, counts = np.unique(classes * n_values + places, return_counts=True)
    return Cells(
        keys // n_values,
        keys % n_values,
        counts,
        np.bincount(classes),
        np.bincount(places, minlength=n_values),
    )


def nominal_distances(cells: Cells) -> Floats:
    """Return sum |p - q| / 2 of every class: the total by which p exceeds q."""
    overall = cells.value_counts / cells.value_counts.sum()
    return cells.total(np.maximum(cells.shares - overall[cells.values], 0.0))


def ordered_distances(cells: Cells, *, has_missing: bool) -> Floats:
    """Return the earth mover's distance between p and q in every class, by the order of values.

    With a the share of missing values in the class and b that in the table, it is

        |a - b| + (1 - max(a, b)) * distance among the values that are present:

    the surplus of missing values on one side is moved at the full cost of 1. This is never less
    than the least cost with missing values at a distance of 1 from all others, and equal to it
    where nothing is missing.
    """
    if not has_missing:
        return _ordered_distance(cells)
    n_present = len(cells.value_counts) - 1
    is_missing = cells.values == n_present
    here = cells.total(np.where(is_missing, cells.shares, 0.0))
    overall = cells.value_counts[-1] / cells.value_counts.sum()
    among = _ordered_distance(cells.select(~is_missing, n_present))
    return np.asarray(np.abs(here - overall) + (1.0 - np.maximum(here, overall)) * among)


def _ordered_distance(cells: Cells) -> Floats:
    """Sum |P(i) - Q(i)| / (m - 1) over i < m, with P and Q the cumulative distributions.

    Between one value of a class and the next, P is constant and Q rises: Q is first below P, then
    above it, and the sums of Q over both parts are differences of cumulative sums.
    """
    m = len(cells.value_counts)
    if m < 2 or not len(cells.values):
        return np.zeros(cells.n_classes)
    cumulative = np.cumsum(cells.value_counts)
    n = cumulative[-1]
    before = np.concatenate(([0], np.cumsum(cumulative)))  # whole numbers, so exact
    running = np.cumsum(cells.counts)
    ends = np.cumsum(cells.class_sizes)
    level = running - (ends - cells.class_sizes)[cells.classes]
    P = level / cells.class_sizes[cells.classes]
    is_last = np.append(cells.classes[1:] != cells.classes[:-1], True)
    is_first = np.append(True, is_last[:-1])
    begin = cells.values
    end = np.where(is_last, m, np.append(begin[1:], 0))
    crossing = np.clip(np.searchsorted(cumulative / n, P), begin, end)
    below = P * (crossing - begin) - (before[crossing] - before[begin]) / n
    above = (before[end] - before[crossing]) / n - P * (end - crossing)
    leading = np.where(is_first, before[begin] / n, 0.0)
    return np.maximum(cells.total(below + above + leading), 0.0) / (m - 1)
