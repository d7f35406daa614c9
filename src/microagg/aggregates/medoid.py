"""The combination of categories that loses least in each group, as its representative."""

import numpy as np

from microagg.aggregates.candidates import Candidates
from microagg.aggregates.values import SAME_SHARE
from microagg.core.arrays import Floats, Mask, Rows


def medoids(candidates: Candidates) -> Rows:
    """Return for every group that has candidates the one that loses least.

    Of several, it is the one whose categories are most under-represented in what the groups before
    it, and those without a tie, release: so ties favour no code. If they all are alike, it is the
    one that is first in the table. Groups are taken in the order of their numbers, which is that of
    their first records.

    >>> from microagg.aggregates.candidates import Categories, candidates_of
    >>> found = candidates_of([Categories(np.array([0, 1, 0, 1]))], np.array([0, 0, 1, 1]))
    >>> medoids(found).tolist()  # the codes are 0, and then 1
    [0, 3]
    """
    least, starts = candidates.is_least(), candidates.starts
    # The first of each group that loses least; right for those without a tie.
    chosen = np.flatnonzero(least)
    chosen = chosen[np.diff(candidates.groups[chosen], prepend=-1) > 0]
    n_least = np.add.reduceat(least, starts, dtype=np.intp)
    tied = np.flatnonzero(n_least > 1)
    if len(tied):
        _settle(candidates, least, chosen, tied)
    return chosen


def _settle(candidates: Candidates, least: Mask, chosen: Rows, tied: Rows) -> None:
    """Choose among equals in the `tied` groups, so that the totals of categories stay fair.

    Groups are small, and there are many: lists take a fifth of the time of arrays here.
    """
    order = np.argsort(candidates.labels, kind="stable")
    ends = np.append(0, np.bincount(candidates.labels).cumsum())  # of the group before
    bounds = np.append(candidates.starts, len(least))
    settled = np.setdiff1d(np.arange(len(chosen)), tied)
    sizes = candidates.sizes.tolist()
    excess = _excess(candidates, chosen[settled]).tolist()
    for at in tied.tolist():
        group = candidates.groups[bounds[at]]
        members = order[ends[group] : ends[group + 1]]
        weights = candidates.weights[members].tolist()
        for column in candidates.members[members].T.tolist():
            for margin, weight in zip(column, weights, strict=True):
                if margin >= 0:  # others are not categories
                    excess[margin] -= weight
        equals = bounds[at] + np.flatnonzero(least[bounds[at] : bounds[at + 1]])
        equals = equals[np.argsort(candidates.rows[equals])]
        margins = candidates.margins[equals].tolist()
        over = [sum(excess[margin] for margin in own) for own in margins]
        # Sums of weights are rounded, but ties must stay ties.
        most = min(over) + SAME_SHARE * sizes[group]
        best = next(i for i, own in enumerate(over) if own <= most)
        chosen[at] = equals[best]
        for margin in margins[best]:
            excess[margin] += sizes[group]


def _excess(candidates: Candidates, chosen: Rows) -> Floats:
    """Return by how much the totals of categories rise in the groups of the chosen."""
    groups = candidates.groups[chosen]
    excess = np.zeros(candidates.n_margins)
    _add(excess, candidates.margins[chosen], candidates.sizes[groups])
    is_chosen = np.zeros(int(candidates.labels.max()) + 1, dtype=np.bool_)
    is_chosen[groups] = True
    rows = np.flatnonzero(is_chosen[candidates.labels])
    _add(excess, candidates.members[rows], -candidates.weights[rows])
    return excess


def _add(totals: Floats, margins: Rows, weights: Floats) -> None:
    """Add weights to the margins in each row; those below 0 are not categories."""
    for column in margins.T:
        known = column >= 0
        np.add.at(totals, column[known], weights[known])
