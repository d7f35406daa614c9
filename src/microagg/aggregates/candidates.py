"""What groups may release of their categories: the combinations that their own records have."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microagg.aggregates.values import SAME_SHARE
from microagg.core.arrays import Floats, Labels, Mask, Rows


@dataclass(frozen=True, eq=False)
class Categories:
    """A column of categories: the code of every record, counted from 0, and how far codes differ.

    `points` has a row for each code; None if all codes are equally far apart. Records that are not
    `known` have no value. The column counts with its `weight`.
    """

    codes: Rows
    points: Floats | None = None
    known: Mask | None = None
    weight: float = 1.0

    @property
    def n_codes(self) -> int:
        """How many codes there are, or more."""
        return int(self.codes.max()) + 1


@dataclass(frozen=True, eq=False)
class Candidates:
    """The different combinations of categories in each group, and what each would lose.

    A candidate belongs to one of the `groups`, which ascend, and is first seen in record `rows`.
    Categories of all columns are numbered in one sequence, the margins: `margins` has those of each
    candidate, a column each, and `members` those of every record, -1 where it has no value.
    `losses` are shares of the variance of the columns, summed. `weights` are those of the records,
    `sizes` those of the groups.
    """

    groups: Labels
    rows: Rows
    margins: Rows
    losses: Floats
    labels: Labels
    members: Rows
    weights: Floats
    n_margins: int

    @property
    def sizes(self) -> Floats:
        """The weight of every group, those without a candidate included."""
        return np.bincount(self.labels, weights=self.weights).astype(np.float64)

    @property
    def starts(self) -> Rows:
        """Where the candidates of each group that has any begin."""
        return np.flatnonzero(np.diff(self.groups, prepend=-1))

    def targets(self) -> Floats:
        """Return the total of each category in the original, in a table without missing values.

        Records without a value count as those that have one do.
        """
        totals = np.zeros(self.n_margins)
        for column in self.members.T:
            known = column >= 0
            if known.any():
                share = self.weights.sum() / self.weights[known].sum()
                totals += share * np.bincount(
                    column[known], weights=self.weights[known], minlength=self.n_margins
                )
        return totals

    def totals(self, chosen: Rows, others: Rows) -> Floats:
        """Return the released total of each category, with one candidate chosen in each group.

        `others` has the margins that groups without a candidate release, a row for every group.
        """
        margins = others.copy()
        margins[self.groups[chosen]] = self.margins[chosen]
        sizes = np.repeat(self.sizes, margins.shape[1])
        totals = np.bincount(margins.reshape(-1), weights=sizes, minlength=self.n_margins)
        return totals.astype(np.float64)

    def is_least(self) -> Mask:
        """Return which candidates lose no more than any other of their group, up to rounding."""
        starts, sizes = self.starts, self.sizes
        least = np.repeat(
            np.minimum.reduceat(self.losses, starts), np.diff([*starts, len(self.groups)])
        )
        found: Mask = self.losses <= least + SAME_SHARE * sizes[self.groups] / sizes.sum()
        return found


def candidates_of(
    columns: Sequence[Categories], labels: Labels, weights: Floats | None = None
) -> Candidates:
    """Return the combinations in each group; no label is left out.

    Only records with a value in every column qualify. What a candidate loses of a column is

        sum of w |x - c|^2 / sum of w |x - mean of all x|^2

    over the records with a value in its group, and over all of them, with w the weights of records
    and values as points; for codes that are equally far apart these are indicators, one for each
    code. Time O(n d log n).

    >>> found = candidates_of([Categories(np.array([0, 0, 1, 1]))], np.array([0, 0, 0, 1]))
    >>> found.groups.tolist(), found.rows.tolist(), found.losses.tolist()
    ([0, 0, 1], [0, 2, 3], [1.0, 2.0, 0.0])
    """
    own = np.ones(len(labels)) if weights is None else weights
    complete = _complete(columns, len(labels))
    keys = labels[complete]
    for column in columns:
        combined = keys * column.n_codes + column.codes[complete]
        keys = np.unique(combined, return_inverse=True)[1].reshape(-1)
    _, first = np.unique(keys, return_index=True)
    rows = complete[first]
    offsets = np.cumsum([0, *(column.n_codes for column in columns)])
    members = np.column_stack(
        [
            column.codes + offset
            if column.known is None
            else np.where(column.known, column.codes + offset, -1)
            for column, offset in zip(columns, offsets, strict=False)
        ]
    )
    groups = labels[rows]
    losses = np.zeros(len(rows))
    for column in columns:
        losses += _losses(column, labels, own, groups, column.codes[rows])
    return Candidates(groups, rows, members[rows], losses, labels, members, own, int(offsets[-1]))


def _complete(columns: Sequence[Categories], n_records: int) -> Rows:
    masks = [column.known for column in columns if column.known is not None]
    if not masks:
        return np.arange(n_records)
    return np.flatnonzero(np.logical_and.reduce(masks))


def _losses(
    column: Categories, labels: Labels, weights: Floats, groups: Labels, codes: Rows
) -> Floats:
    """Return what groups lose of a column if they release these codes."""
    there = slice(None) if column.known is None else column.known
    labels, n_groups, own, weights = (
        labels[there],
        int(labels.max()) + 1,
        column.codes[there],
        weights[there],
    )
    sizes = np.bincount(labels, weights=weights, minlength=n_groups)
    lost: Floats = np.zeros(len(groups))
    if column.points is None:
        held = np.bincount(own, weights=weights) / weights.sum()
        # Indicators of different codes are at a squared distance of 2.
        spread = float(weights.sum() * (1.0 - np.square(held).sum()) / 2.0)
        pairs, places = np.unique(labels * column.n_codes + own, return_inverse=True)
        with_it = np.bincount(places.reshape(-1), weights=weights)
        lost = (
            lost + sizes[groups] - with_it[np.searchsorted(pairs, groups * column.n_codes + codes)]
        )
    else:
        spread = 0.0
        safe = np.where(sizes > 0.0, sizes, 1.0)
        for points in column.points.T:
            axis = points[own]
            spread += float(weights @ np.square(axis - np.average(axis, weights=weights)))
            means = np.bincount(labels, weights=weights * axis, minlength=n_groups) / safe
            within = weights * np.square(axis - means[labels])
            around = np.bincount(labels, weights=within, minlength=n_groups)
            lost += around[groups] + sizes[groups] * np.square(points[codes] - means[groups])
    if spread <= SAME_SHARE * weights.sum():  # nothing but rounding
        return np.zeros(len(groups))
    shares: Floats = column.weight * lost / spread
    return shares
