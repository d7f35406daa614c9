"""Exchanges of records between groups, two at a time, while that lowers the squared error."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.kernels.compile import kernel

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

# Gains below this share of the distances involved are roundings.
LEAST_GAIN = 1e-12


class Exchange(NamedTuple):
    """Groups that exchange records; group g is members[starts[g]:starts[g + 1]]."""

    X: Floats
    group_of: Rows  # by row
    members: Rows
    place_of: Rows  # by row: its place among the members
    starts: Rows
    centers: Floats
    radii: Floats  # largest distance of a member from the centre
    squares: Floats  # by row: squared distance from the own centre
    changed: Rows  # by group: the exchange, counted from 1, that changed it last
    looked: Rows  # by row: how many exchanges there had been when it found no gain; -1: never
    total: Rows  # one entry: exchanges so far


def make_exchange(X: Floats, group_of: Rows) -> Exchange:
    """Groups numbered from 0, none of them empty."""
    n_groups = int(group_of.max()) + 1
    members = group_of.argsort(kind="stable")
    exchange = Exchange(
        X=X,
        group_of=group_of.copy(),
        members=members,
        place_of=members.argsort(),
        starts=np.concatenate(([0], np.bincount(group_of).cumsum())),
        centers=np.empty((n_groups, X.shape[1])),
        radii=np.empty(n_groups),
        squares=np.empty(len(X)),
        changed=np.zeros(n_groups, dtype=np.intp),
        looked=np.full(len(X), -1, dtype=np.intp),
        total=np.zeros(1, dtype=np.intp),
    )
    for group in range(n_groups):
        measure_group(exchange, group)
    return exchange


@kernel
def measure_group(exchange: Exchange, group: int) -> None:
    """Mean of a group, about its first member so that no offset costs digits, and its radius."""
    X, center = exchange.X, exchange.centers[group]
    members = exchange.members[exchange.starts[group] : exchange.starts[group + 1]]
    for j in range(X.shape[1]):
        first = X[members[0], j]
        total = 0.0
        for row in members:
            total += X[row, j] - first
        center[j] = first + total / members.shape[0]
    widest = 0.0
    for row in members:
        exchange.squares[row] = squared_distance(X[row], center)
        widest = max(widest, exchange.squares[row])
    exchange.radii[group] = np.sqrt(widest)


@kernel
def squared_distance(x: Floats, y: Floats) -> float:
    """Squared distance between two points."""
    total = 0.0
    for j in range(x.shape[0]):
        gap = x[j] - y[j]
        total += gap * gap
    return total


@kernel
def take_turns(exchange: Exchange, rows: Rows) -> int:
    """Let each of the rows make its best exchange, if one gains; returns how many did."""
    members, place_of, group_of = exchange.members, exchange.place_of, exchange.group_of
    before = exchange.total[0]
    for row in rows:
        other = best_exchange(exchange, row)
        if other < 0:
            exchange.looked[row] = exchange.total[0]
            continue
        exchange.total[0] += 1
        place_of[row], place_of[other] = place_of[other], place_of[row]
        group_of[row], group_of[other] = group_of[other], group_of[row]
        members[place_of[row]] = row
        members[place_of[other]] = other
        for group in (group_of[row], group_of[other]):
            exchange.changed[group] = exchange.total[0]
            measure_group(exchange, group)
    return exchange.total[0] - before


@kernel
def best_exchange(exchange: Exchange, row: int) -> int:
    """Row of the record whose exchange with `row` lowers the error most; -1 if none does.

    If the own group has not changed since the last look, only groups that have are looked at.
    The bound falls as the other record's distance from its centre rises, so at the group's radius
    it tells which groups need no look at all.
    """
    X, members, starts, centers = exchange.X, exchange.members, exchange.starts, exchange.centers
    own = exchange.group_of[row]
    size = starts[own + 1] - starts[own]
    squares = exchange.squares
    own_square = squares[row]
    known = exchange.looked[row]
    if exchange.changed[own] > known:
        known = -1
    best = 0.0
    best_row = -1
    for g in range(starts.shape[0] - 1):
        if g == own or exchange.changed[g] <= known:
            continue
        weight = 1.0 / size + 1.0 / (starts[g + 1] - starts[g])
        square = squared_distance(X[row], centers[g])
        if least_change(square, own_square, exchange.radii[g] ** 2, weight) >= best:
            continue
        for other in members[starts[g] : starts[g + 1]]:
            if least_change(square, own_square, squares[other], weight) >= best:
                continue
            entering = square + squared_distance(X[other], centers[own])
            leaving = own_square + squares[other]
            change = entering - leaving - weight * squared_distance(X[row], X[other])
            if change < best and change < -LEAST_GAIN * (entering + leaving):
                best = change
                best_row = other
    return best_row


@kernel
def least_change(square: float, own_square: float, other_square: float, weight: float) -> float:
    """Bound on how an exchange of x in A with y in B changes the error, from below.

    With u, v = |x - B|, |x - A| and r = |y - B| (to the means), w = 1/a + 1/b for the sizes, the
    change is u^2 - v^2 + |y - A|^2 - r^2 - w |x - y|^2, where |A - B| >= u - v makes |y - A| at
    least u - v - r, and |x - y| is at most u + r.
    """
    u, v, r = np.sqrt(square), np.sqrt(own_square), np.sqrt(other_square)
    gap = max(0.0, u - v - r)
    return square - own_square + gap * gap - other_square - weight * (u + r) ** 2
