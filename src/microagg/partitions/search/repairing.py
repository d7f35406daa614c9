"""Groups of any method, repaired until they meet all requirements."""

import numpy as np

from microagg.core.arrays import Floats, Labels, Mask
from microagg.core.progress import paced, report
from microagg.kernels.annealing.arrangement import Arrangement, make_arrangement
from microagg.kernels.annealing.repairing import (
    Repairs,
    find_failing,
    make_repairs,
    propose_repairs,
)
from microagg.kernels.basics.rounding import without_offset
from microagg.kernels.rules.rules import Rules
from microagg.partitions.search.neighbours import near_lists

# Near records of a member whose groups may take part in a repair.
_NEIGHBOURS = 16


def repair(X: Floats, labels: Labels, rules: Rules, near: Labels | None = None) -> Labels:
    """Return groups that meet all rules; groups that do already change as little as possible.

    Each round finds for every group that fails the cheapest merger with a neighbour, or the
    cheapest record of a neighbour that mends it by joining it or by an exchange, and makes these
    repairs, cheapest first, as far as they concern different groups.
    """
    numbered = np.unique(labels, return_inverse=True)[1]
    most = int(numbered.max()) + 1
    failing = np.zeros(most, dtype=np.bool_)
    X = without_offset(X)
    none = np.zeros((len(X), 0), dtype=np.intp)
    arrangement = make_arrangement(X, none, numbered, most, seed=0)
    if find_failing(arrangement, rules, failing):
        if near is None:
            near = near_lists(X, _NEIGHBOURS)
        _repair(arrangement._replace(near=near), rules, failing)
    return arrangement.labels


def _repair(arrangement: Arrangement, rules: Rules, failing: Mask) -> None:
    most = len(arrangement.sizes)
    repairs = Repairs(
        partners=np.full(most, -1, dtype=np.intp),
        coming=np.full(most, -1, dtype=np.intp),
        going=np.full(most, -1, dtype=np.intp),
        costs=np.full(most, np.inf),
    )
    first = left = int(np.count_nonzero(failing))
    while left and np.count_nonzero(arrangement.sizes) > 1:
        groups = np.flatnonzero(failing)
        for some in paced(groups):
            propose_repairs(arrangement, rules, failing, some, repairs)
            report("repairing groups", first - left, first)
        make_repairs(arrangement, repairs, groups[np.argsort(repairs.costs[groups], kind="stable")])
        left = find_failing(arrangement, rules, failing)
