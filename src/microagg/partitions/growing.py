"""Groups around the records farthest from fixed points, for V-MDAV and the first phase of TFRP."""

import numpy as np

from microagg.core.arrays import Floats, Labels
from microagg.core.progress import report
from microagg.kernels.basics.group_sums import summarise
from microagg.kernels.construction.variable_size import rounds_by_rank
from microagg.kernels.neighbours.blocks import ONE_BLOCK, make_blocks
from microagg.partitions.fixed_size import squared_distances
from microagg.partitions.splitting import split_large

# Values that a loop reads before it returns to report progress: a fraction of a second.
_WORK_PER_CALL = 50_000_000


def groups_around_farthest(X: Floats, k: int, points: list[Floats], gain: float = 0.0) -> Labels:
    """Return groups of k to 2k-1 records around the records farthest from the points, in turn.

    A group is the farthest record left, its k-1 nearest, and any more that `gain` lets join. The
    last records, fewer than k, each join the group with the nearest mean; a group that thereby
    reaches 2k is split.
    """
    n, d = X.shape
    ranks = np.array([np.argsort(-squared_distances(X, point), kind="stable") for point in points])
    labels: Labels = np.full(n, -1, dtype=np.intp)
    n_groups, left = 0, n
    while left >= k:
        blocks = make_blocks(X, np.flatnonzero(labels < 0))
        # Blocks empty unevenly: lay them out again at each halving, as long as that pays off.
        relayout_at = max(k, left // 2 if left > ONE_BLOCK else 0)
        while left >= relayout_at:
            records = k * max(1, _WORK_PER_CALL // (left * d * (1 if gain == 0 else k)))
            stop_at = max(relayout_at, left - records + 1)
            n_groups, left = rounds_by_rank(
                X, k, blocks, ranks, gain, n_groups, left, stop_at, labels
            )
            report("grouping", n - left, n)
    return split_large(X, _join_nearest(X, labels), k)


def _join_nearest(X: Floats, labels: Labels) -> Labels:
    """Put each record without a group into the group with the nearest mean."""
    formed = labels >= 0
    if formed.all():
        return labels
    groups = summarise(X[formed], labels[formed])
    joined = np.empty_like(labels)
    joined[formed] = groups.labels
    for row in np.flatnonzero(~formed):
        joined[row] = squared_distances(groups.centers, X[row]).argmin()
    return joined
