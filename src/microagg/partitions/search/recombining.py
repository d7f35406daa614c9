"""The best partition that can be put together from the groups of several."""

import math
from collections.abc import Sequence

import numpy as np

from microagg.core.arrays import Floats, Labels
from microagg.kernels.basics.group_sums import summarise
from microagg.partitions.search.neighbours import kinds_of_records

# A puzzle of more records, or of larger groups, is left as it is: branching takes too long.
_MOST_RECORDS = 5000
# Branches looked at: a bound on work, so that the outcome is the same on any machine.
_MOST_NODES = 200


def recombine(X: Floats, partitions: Sequence[Labels], seconds: float = math.inf) -> Labels:
    """Return the best partition whose groups all occur in one of the given ones.

    Choosing groups that cover every record once, at the least squared error, is a set-partitioning
    problem; where the solver does not finish within so many seconds, or a fixed amount of work, the
    best that it found or that was given is returned. Equal
    records stand for each other: otherwise the solver would look at every way to hand them out.

    >>> X = np.array([[0.0], [0.1], [5.0], [5.1], [9.0], [9.1], [20.0], [20.1]])
    >>> halves = [np.array([0, 0, 1, 1, 2, 3, 2, 3]), np.array([0, 1, 0, 1, 2, 2, 3, 3])]
    >>> recombine(X, halves).tolist()
    [0, 0, 1, 1, 2, 2, 3, 3]
    """
    partitions = [summarise(X, labels).labels for labels in partitions]
    errors = [summarise(X, labels).sse for labels in partitions]
    best = partitions[int(np.argmin(errors))]
    equal = kinds_of_records(X)
    kinds = equal.rows[equal.begins[equal.of_record]]  # the first row that equals each
    groups = _distinct_groups(partitions, kinds)
    nothing_else = len(groups) == len(_distinct_groups([best], kinds))
    if nothing_else or len(X) > _MOST_RECORDS or min(errors) == 0.0:
        return best
    chosen = _cheapest_cover(X, kinds, groups, scale=min(errors), seconds=seconds)
    if chosen is None:
        return best
    labels = _hand_out(kinds, chosen)
    covered = sum(map(len, chosen)) == len(X) and labels.min() >= 0
    return labels if covered and summarise(X, labels).sse < min(errors) else best


def _distinct_groups(partitions: Sequence[Labels], kinds: Labels) -> list[Labels]:
    """The groups of all partitions by the kinds of their members, each once."""
    groups: dict[bytes, Labels] = {}
    for labels in partitions:
        ends = np.bincount(labels).cumsum()[:-1]
        for members in np.split(labels.argsort(kind="stable"), ends):
            group = np.sort(kinds[members])
            groups.setdefault(group.tobytes(), group)
    return list(groups.values())


def _cheapest_cover(
    X: Floats, kinds: Labels, groups: list[Labels], scale: float, seconds: float
) -> list[Labels] | None:
    """The groups that hold every record once at the least error; None if none were found."""
    from scipy.optimize import LinearConstraint, milp
    from scipy.sparse import csc_array

    costs = np.array([((X[group] - X[group].mean(axis=0)) ** 2).sum() for group in groups])
    ends = np.concatenate(([0], np.cumsum([len(group) for group in groups])))
    rows = np.concatenate(groups)
    cover = csc_array((np.ones(len(rows)), rows, ends), shape=(len(X), len(groups)))
    cover.sum_duplicates()
    there_are = np.bincount(kinds, minlength=len(X))
    most = np.minimum.reduceat(there_are[cover.indices] // cover.data, cover.indptr[:-1])
    solution = milp(
        costs / scale * 100.0,
        constraints=LinearConstraint(cover, there_are, there_are),
        integrality=np.ones(len(groups)),
        bounds=(0, most),
        options={"node_limit": _MOST_NODES, "mip_rel_gap": 1e-9, "time_limit": seconds},
    )
    if solution.x is None:
        return None
    times = np.rint(solution.x).astype(np.intp)
    return [groups[at] for at in np.flatnonzero(times) for _ in range(times[at])]


def _hand_out(kinds: Labels, chosen: list[Labels]) -> Labels:
    """Give every group records of the kinds it wants; what no group wants gets -1."""
    records = {kind: iter(np.flatnonzero(kinds == kind)) for kind in np.unique(kinds)}
    labels = np.full(len(kinds), -1, dtype=np.intp)
    for number, group in enumerate(chosen):
        for kind in group:
            if (record := next(records[kind], None)) is not None:
                labels[record] = number
    return labels
