"""The best partition that can be assembled from the groups of several."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from microagg.core.arrays import Floats, Labels
from microagg.kernels.basics.group_sums import summarise
from microagg.partitions.search.neighbours import distinct_records

if TYPE_CHECKING:
    from microagg.requirements.coded import GroupRule

# With more records nothing is recombined: branching would take too long.
_MOST_RECORDS = 5000
# Limit on branching: a bound on work, so that the outcome is the same on any machine.
_MOST_NODES = 200
# With so many groups, the relaxation is solved first, in a fraction of a second: if no choice can
# lower the error by more than this share, branching is not worth the minute that it may take.
_MANY_GROUPS, _WORTHWHILE = 2_000, 1e-4


def recombine(
    X: Floats,
    partitions: Sequence[Labels],
    seconds: float = math.inf,
    rules: "Sequence[GroupRule]" = (),
) -> Labels:
    """Return the best partition whose groups all occur in one of the given ones.

    Choosing groups that cover every record once, at the least squared error, is a set-partitioning
    problem. If the solver does not finish within `seconds`, or a fixed amount of work, the best
    partition that it found or was given is returned. Records that are equal, also to all `rules`,
    are interchangeable: otherwise the solver would try every way to distribute them.

    >>> X = np.array([[0.0], [0.1], [5.0], [5.1], [9.0], [9.1], [20.0], [20.1]])
    >>> halves = [np.array([0, 0, 1, 1, 2, 3, 2, 3]), np.array([0, 1, 0, 1, 2, 2, 3, 3])]
    >>> recombine(X, halves).tolist()
    [0, 0, 1, 1, 2, 2, 3, 3]
    """
    partitions = [summarise(X, labels).labels for labels in partitions]
    errors = [summarise(X, labels).sse for labels in partitions]
    best = partitions[int(np.argmin(errors))]
    equal = distinct_records(np.column_stack([X, *(part for r in rules for part in r.parts())]))
    first_equal = equal.rows[equal.begins[equal.of_record]]
    groups = _distinct_groups(partitions, first_equal)
    nothing_new = len(groups) == len(_distinct_groups([best], first_equal))
    if nothing_new or len(X) > _MOST_RECORDS or min(errors) == 0.0:
        return best
    chosen = _cheapest_cover(X, first_equal, groups, scale=min(errors), seconds=seconds)
    if chosen is None:
        return best
    labels = _distribute(first_equal, chosen)
    covered = sum(map(len, chosen)) == len(X) and labels.min() >= 0
    return labels if covered and summarise(X, labels).sse < min(errors) else best


def _distinct_groups(partitions: Sequence[Labels], first_equal: Labels) -> list[Labels]:
    """Return the distinct groups of all partitions, each member as the first row that equals it."""
    groups: dict[bytes, Labels] = {}
    for labels in partitions:
        ends = np.bincount(labels).cumsum()[:-1]
        for members in np.split(labels.argsort(kind="stable"), ends):
            group = np.sort(first_equal[members])
            groups.setdefault(group.tobytes(), group)
    return list(groups.values())


def _cheapest_cover(
    X: Floats, first_equal: Labels, groups: list[Labels], scale: float, seconds: float
) -> list[Labels] | None:
    """Return the groups that cover every record once at least error.

    None if none were found, or if none can be much better than the error `scale`.
    """
    from scipy.optimize import LinearConstraint, linprog, milp
    from scipy.sparse import csc_array

    costs = np.array([((X[group] - X[group].mean(axis=0)) ** 2).sum() for group in groups])
    ends = np.concatenate(([0], np.cumsum([len(group) for group in groups])))
    rows = np.concatenate(groups)
    cover = csc_array((np.ones(len(rows)), rows, ends), shape=(len(X), len(groups)))
    cover.sum_duplicates()
    n_equal = np.bincount(first_equal, minlength=len(X))
    most = np.minimum.reduceat(n_equal[cover.indices] // cover.data, cover.indptr[:-1])
    costs *= 100.0 / scale
    if len(groups) > _MANY_GROUPS:
        limits = np.column_stack([np.zeros(len(groups)), most])
        options = {"time_limit": seconds}
        relaxed = linprog(costs, A_eq=cover, b_eq=n_equal, bounds=limits, options=options)
        if relaxed.success and relaxed.fun >= 100.0 * (1.0 - _WORTHWHILE):
            return None
    solution = milp(
        costs,
        constraints=LinearConstraint(cover, n_equal, n_equal),
        integrality=np.ones(len(groups)),
        bounds=(0, most),
        options={"node_limit": _MOST_NODES, "mip_rel_gap": 1e-9, "time_limit": seconds},
    )
    if solution.x is None:
        return None
    times = np.rint(solution.x).astype(np.intp)
    return [groups[at] for at in np.flatnonzero(times) for _ in range(times[at])]


def _distribute(first_equal: Labels, chosen: list[Labels]) -> Labels:
    """Give every group rows equal to its members; rows that no group needs get -1."""
    records = {row: iter(np.flatnonzero(first_equal == row)) for row in np.unique(first_equal)}
    labels = np.full(len(first_equal), -1, dtype=np.intp)
    for number, group in enumerate(chosen):
        for row in group:
            if (record := next(records[row], None)) is not None:
                labels[record] = number
    return labels
