"""Sweeps that dissolve and shrink groups, for IGD and the second phase of TFRP."""

import numpy as np

from microagg.core.arrays import Floats, Labels
from microagg.core.progress import report
from microagg.kernels.decomposition.grouping import Grouping, labels_of, make_grouping
from microagg.kernels.decomposition.moves import sweep
from microagg.partitions.splitting import split_large

# Values that a loop reads before it returns to report progress: a fraction of a second.
_WORK_PER_CALL = 50_000_000


def refine(X: Floats, labels: Labels, k: int, *, shrinks: bool) -> Labels:
    """Return groups of k to 2k-1 records with a squared error that is never larger.

    Groups of 2k or more records are split first. Then sweeps go through the groups, largest error
    first, and dissolve them (or, with `shrinks`, else shrink them) where that lowers the error,
    until a sweep finds nothing to do.
    """
    labels = split_large(X, labels, k)
    while True:
        grouping = make_grouping(X, labels, k)
        if not _sweep_all(grouping, k, shrinks=shrinks):
            return labels
        labels = labels_of(grouping)


def _sweep_all(grouping: Grouping, k: int, *, shrinks: bool) -> int:
    """Go through all groups once; returns how many moves were made."""
    in_use = np.flatnonzero(grouping.sizes)
    groups = in_use[np.argsort(-grouping.errors[in_use], kind="stable")]
    values_per_group = k * len(groups) * grouping.X.shape[1]
    step = max(1, _WORK_PER_CALL // values_per_group)
    moves = 0
    for start in range(0, len(groups), step):
        moves += sweep(grouping, groups[start : start + step], shrinks)
        report("refining", min(start + step, len(groups)), len(groups))
    return moves
