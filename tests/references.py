"""Slow and obvious implementations to compare with."""

from functools import cache
from itertools import pairwise
from math import fsum

import numpy as np
from numba import njit


def number_by_first_record(labels) -> list[int]:
    seen: dict[int, int] = {}
    return [seen.setdefault(label, len(seen)) for label in np.asarray(labels).tolist()]


def squared_distances(X, point):
    """Column by column: NumPy's sum over eight or more columns rounds in another order."""
    return sum((X[:, j] - point[j]) ** 2 for j in range(X.shape[1]))


def mean(X):
    """Correctly rounded sums: a mean halfway between two records must not be off by a rounding."""
    return np.array([fsum(column) for column in X.T]) / len(X)


def mdav(X, k, leftover="group"):
    labels, rest, groups = np.full(len(X), -1), np.arange(len(X)), 0

    def take(row):
        nonlocal rest, groups
        chosen = np.argsort(squared_distances(X[rest], X[row]), kind="stable")[:k]
        labels[rest[chosen]] = groups
        rest, groups = np.delete(rest, chosen), groups + 1

    def farthest(point):
        return rest[squared_distances(X[rest], point).argmax()]

    while len(rest) >= (3 * k if leftover == "group" else 2 * k):
        r = farthest(mean(X[rest]))
        s = farthest(X[r])
        take(r)
        take(s)
    if len(rest) >= 2 * k:
        take(farthest(mean(X[rest])))
    return close(X, k, labels, rest, groups)


def cbfs(X, k):
    labels, rest, groups = np.full(len(X), -1), np.arange(len(X)), 0
    while len(rest) >= k:
        r = rest[squared_distances(X[rest], mean(X[rest])).argmax()]
        chosen = np.argsort(squared_distances(X[rest], X[r]), kind="stable")[:k]
        labels[rest[chosen]] = groups
        rest, groups = np.delete(rest, chosen), groups + 1
    return close(X, k, labels, rest, groups)


def md(X, k):
    labels, rest, groups = np.full(len(X), -1), np.arange(len(X)), 0

    def take(row):
        nonlocal rest, groups
        chosen = np.argsort(squared_distances(X[rest], X[row]), kind="stable")[:k]
        labels[rest[chosen]] = groups
        rest, groups = np.delete(rest, chosen), groups + 1

    while len(rest) >= 3 * k:
        apart = np.array([squared_distances(X[rest], X[row]) for row in rest])
        r, s = np.unravel_index(apart.argmax(), apart.shape)
        r, s = rest[r], rest[s]
        take(r)
        take(s)
    if len(rest) >= 2 * k:
        take(rest[squared_distances(X[rest], mean(X[rest])).argmax()])
    return close(X, k, labels, rest, groups)


def close(X, k, labels, rest, groups):
    """The last k or more are a group; fewer go to the group with the nearest mean."""
    if len(rest) >= k:
        labels[rest] = groups
    elif len(rest):
        centers = np.array([sum(X[labels == g]) / k for g in range(groups)])  # in row order
        for row in rest:
            labels[row] = squared_distances(centers, X[row]).argmin()
    return number_by_first_record(labels)


def round_half_away(values):
    return np.sign(values) * np.floor(np.abs(values) + 0.5)


def sse(X, labels, integer=False):
    total = 0.0
    for group in set(np.asarray(labels).tolist()):
        members = X[np.asarray(labels) == group]
        center = members.mean(axis=0)
        total += ((members - (round_half_away(center) if integer else center)) ** 2).sum()
    return total


def best_cut(X, k, integer=False):
    """Least cost over every way to cut the rows of X, in their order, into runs of k or more."""

    @cache
    def cost(start, stop):
        return sse(X[start:stop], np.zeros(stop - start), integer)

    return min(
        sum(cost(start, stop) for start, stop in pairwise(cuts)) for cuts in all_cuts(len(X), k)
    )


def all_cuts(n, k, start=0):
    if start == n:
        yield (n,)
    for stop in range(start + k, n + 1):
        for rest in all_cuts(n, k, stop):
            yield (start, *rest)


def best_partition(X, k, integer=False):
    """Least cost over every partition into groups of k or more."""
    costs = np.full(1 << len(X), np.inf)
    for subset in range(1, 1 << len(X)):
        rows = [i for i in range(len(X)) if subset >> i & 1]
        if len(rows) >= k:
            costs[subset] = sse(X[rows], np.zeros(len(rows)), integer)
    return cheapest_cover(costs)


@njit
def cheapest_cover(costs):
    """Dynamic program over subsets: the group of the lowest record is any subset with it."""
    best = np.full(costs.shape[0], np.inf)
    best[0] = 0.0
    for records in range(1, costs.shape[0]):
        lowest = records & -records
        group = records
        while group > 0:
            if group & lowest:
                best[records] = min(best[records], costs[group] + best[records ^ group])
            group = (group - 1) & records
    return best[-1]


def close_with_nearest_and_split(X, k, labels):
    """Records without a group, -1, join the one with the nearest mean; MDAV splits from 2k on."""
    labels = np.asarray(labels)
    groups = sorted(set(labels.tolist()) - {-1})
    centers = np.array([X[labels == g].mean(axis=0) for g in groups])
    joined = labels.copy()
    for row in np.flatnonzero(labels < 0):
        joined[row] = groups[squared_distances(centers, X[row]).argmin()]
    for g in groups:
        rows = np.flatnonzero(joined == g)
        if len(rows) >= 2 * k:
            joined[rows] = joined.max() + 1 + np.array(mdav(X[rows], k))
    return joined


def error(X, rows):
    return ((X[rows] - X[rows].mean(axis=0)) ** 2).sum()


def dissolve_and_shrink(X, labels, k, shrinks):
    """The sweeps of IGD, and without `shrinks` those of TFRP, with errors summed up every time."""
    labels = np.array(labels)
    groups = [np.flatnonzero(labels == g).tolist() for g in sorted(set(labels.tolist()))]
    moved = True
    while moved:
        moved = False
        for group in sorted(groups, key=lambda rows: -error(X, rows)):
            if dissolve(X, groups, group, k):
                moved = True
                continue
            while shrinks and shrink(X, groups, group, k):
                moved = True
    for g, rows in enumerate(groups):
        labels[rows] = g
    return number_by_first_record(labels)


def cheapest(X, groups, row):
    costs = [error(X, [*rows, row]) - error(X, rows) for rows in groups]
    return int(np.argmin(costs)) if costs else None


def dissolve(X, groups, group, k):
    others = [rows for rows in groups if rows is not group]
    if not others:
        return False
    new = [list(rows) for rows in others]
    from_center = squared_distances(X[group], X[group].mean(axis=0))
    for row in np.array(group)[np.argsort(from_center)]:
        new[cheapest(X, new, row)].append(int(row))
    before = error(X, group) + sum(error(X, rows) for rows in others)
    if before - sum(error(X, rows) for rows in new) <= 1e-9 * before:
        return False
    groups[:] = others
    for rows, larger in zip(others, new):
        replace(X, groups, rows, larger, k)
    return True


def shrink(X, groups, group, k):
    if len(group) == k:
        return False
    others = [rows for rows in groups if rows is not group]
    gains = []
    for row in group:
        stay = [r for r in group if r != row]
        home = cheapest(X, others, row)
        if home is None:
            return False
        cost = error(X, [*others[home], row]) - error(X, others[home])
        gains.append((error(X, group) - error(X, stay) - cost, row, home))
    gain, row, home = max(gains)
    if gain <= 1e-9 * error(X, group):
        return False
    group.remove(row)
    replace(X, groups, others[home], [*others[home], row], k)
    return True


def replace(X, groups, rows, larger, k):
    """Let a group have other members; from 2k on, some record and its nearest become a new one."""
    while len(larger) >= 2 * k:
        parts = []
        for seed in larger:
            near = sorted(larger, key=lambda r: squared_distances(X[[r]], X[seed])[0])[:k]
            rest = [r for r in larger if r not in near]
            parts.append((error(X, near) + error(X, rest), near, rest))
        _, near, larger = min(parts)
        groups.append(near)
    rows[:] = larger
