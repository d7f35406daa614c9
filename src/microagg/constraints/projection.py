"""The nearest point of a polyhedron, for many points at once.

A polyhedron is where `equal @ v = equal_sides` and `below @ v <= below_sides`. The nearest point to
m minimises the sum of ((v - m) / scale)^2. If it were known which inequalities hold with equality
there, the nearest point would have a closed form; so the search is for these:

1. The equalities are solved; the remaining freedom is described in orthonormal directions.
2. Violated inequalities are guessed to be active. All points with the same guess are projected at
   once; inequalities with negative multipliers leave it and violated ones enter it, until nothing
   changes: then the conditions of Karush, Kuhn and Tucker hold.
3. For the few points where that does not converge, the active set comes from least distance
   programming by nonnegative least squares (Lawson and Hanson 1974, chapter 23), one by one.
4. All points with the same active set are projected onto its equalities.

Time and memory O(n d (number of constraints)) for n points with few different active sets.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from microagg.constraints.equalities import NEGLIGIBLE, Equalities, rowwise, unit_rows
from microagg.constraints.violations import LEAST_TERM, TOLERANCE
from microagg.core.arrays import Floats, Mask, Rows
from microagg.core.validation import FARTHEST

# Inside the search, so that its rounding errors stay well within the tolerance.
_SETTLED = 1e-12
_DIGIT = 1e-15
_ROUNDS = 30


@dataclass(frozen=True)
class Polyhedron:
    """Points v where `equal @ v = equal_sides` and `below @ v <= below_sides`."""

    equal: Floats
    equal_sides: Floats
    below: Floats
    below_sides: Floats

    def sizes(self, values: Floats, scales: Floats) -> tuple[Floats, Floats]:
        """Return how large the terms of each constraint are, for every row of `values`."""
        terms = np.maximum(np.abs(values), LEAST_TERM * scales)
        return (
            rowwise(terms, np.abs(self.equal)) + np.abs(self.equal_sides),
            rowwise(terms, np.abs(self.below)) + np.abs(self.below_sides),
        )

    def holds(self, values: Floats, scales: Floats, tolerance: float = TOLERANCE) -> Mask:
        """Return for every row of `values` whether it satisfies everything within the tolerance."""
        equal, below = self.sizes(values, scales)
        misses = np.abs(rowwise(values, self.equal) - self.equal_sides)
        over = rowwise(values, self.below) - self.below_sides
        kept = np.hstack([misses <= tolerance * equal, over <= tolerance * below])
        return np.asarray(kept.all(axis=1))


def project(
    values: Floats, scales: Floats, polyhedron: Polyhedron, tolerance: float = TOLERANCE
) -> tuple[Floats, Mask]:
    """Return the nearest point for each row of `values`, and whether it satisfies everything.

    Rows that satisfy everything within `tolerance` come back as they are, bit for bit. A column
    of scale 0 does not move; a row that can only be satisfied by moving such a column comes back
    with False.

    >>> triangle = Polyhedron(np.ones((1, 2)), np.ones(1), -np.eye(2), np.zeros(2))
    >>> project(np.array([[0.5, 0.5], [3.0, 1.0]]), np.ones(2), triangle)
    (array([[0.5, 0.5],
           [1. , 0. ]]), array([ True,  True]))
    """
    inside = polyhedron.holds(values, scales, tolerance)
    outside = np.flatnonzero(~inside)
    if not outside.size:
        return values, inside
    moved = values.copy()
    moved[outside] = _project_outside(values[outside], scales, polyhedron)
    inside[outside] = polyhedron.holds(moved[outside], scales)
    return moved, inside


def _project_outside(values: Floats, scales: Floats, polyhedron: Polyhedron) -> Floats:
    active = _active_sets(values, scales, polyhedron)
    moved = np.empty_like(values)
    for pattern, rows in _alike(active):
        flat = Equalities.measured(
            np.vstack([polyhedron.equal, polyhedron.below[pattern]]),
            np.concatenate([polyhedron.equal_sides, polyhedron.below_sides[pattern]]),
            scales,
        )
        moved[rows] = _not_above(flat, flat.project(values[rows]), len(polyhedron.equal))
    _keep_bounds(moved, scales, polyhedron)
    # A number that is only rounding error becomes zero if the constraints still hold.
    clear = np.where(np.abs(moved) <= _DIGIT * np.abs(values), 0.0, moved)
    well = polyhedron.holds(clear, np.zeros_like(scales))
    moved[well] = clear[well]
    # No -0.0: equal numbers must look the same.
    return moved + 0.0


def _not_above(flat: Equalities, points: Floats, n_equal: int) -> Floats:
    """Lower values at an active inequality by some last digits, so that it holds as computed.

    It then holds in whatever order its terms are summed. Bounds, and comparisons of two columns,
    need no lowering.
    """
    rows = np.abs(flat.rows)
    only_compared = (np.count_nonzero(rows, axis=1) == 1) | (
        (np.count_nonzero(rows == rows.max(axis=1, keepdims=True), axis=1) == 2)
        & (np.count_nonzero(rows, axis=1) == 2)
        & (flat.sides == 0)
    )
    digits = np.where(only_compared, 0.0, 4 * _DIGIT)
    within = np.zeros((len(points), len(flat.sides)))
    for _ in range(3):
        over = rowwise(points, flat.rows) - flat.sides
        over += digits * (rowwise(np.abs(points), rows) + np.abs(flat.sides))
        over[:, :n_equal] = 0.0
        above = np.flatnonzero((over > 0).any(axis=1))
        if not above.size:
            break
        within[above] += 2 * np.maximum(over[above], 0.0)
        points[above] = flat.project(points[above], within[above])
    return points


def _keep_bounds(points: Floats, scales: Floats, polyhedron: Polyhedron) -> None:
    """Move values that rounding left beyond their own bound back to it: no age of -1e-30."""
    for row, side in zip(polyhedron.equal, polyhedron.equal_sides, strict=True):
        columns = np.flatnonzero(row)
        if columns.size == 1 and scales[columns[0]] > 0:
            points[:, columns[0]] = side / row[columns[0]]
    for row, side in zip(polyhedron.below, polyhedron.below_sides, strict=True):
        columns = np.flatnonzero(row)
        if columns.size == 1:
            column, bound = columns[0], side / row[columns[0]]
            keep = np.minimum if row[column] > 0 else np.maximum
            points[:, column] = keep(points[:, column], bound)


def _active_sets(values: Floats, scales: Floats, polyhedron: Polyhedron) -> Mask:
    """Return for every row which inequalities hold with equality at its nearest point."""
    n, m = len(values), len(polyhedron.below)
    if not m:
        return np.zeros((n, 0), dtype=bool)
    solved = Equalities.measured(polyhedron.equal, polyhedron.equal_sides, scales).project(values)
    free = _free_directions(polyhedron.equal * scales)
    lengths, unit = unit_rows((polyhedron.below * scales) @ free)
    whole = np.maximum(unit_rows(polyhedron.below * scales)[0], np.finfo(np.float64).tiny)
    # Inequalities fixed by equalities, or by columns that cannot move, are not candidates.
    choice = lengths > NEGLIGIBLE * whole
    safe = np.where(choice, lengths, 1.0)
    missed = polyhedron.below_sides - rowwise(solved, polyhedron.below)
    room = np.where(choice, _in_units(missed, safe), 1)
    near = np.where(choice, _in_units(_SETTLED * polyhedron.sizes(solved, scales)[1], safe), 0)
    unit[~choice] = 0.0
    active, settled = _guessed(unit, room, near, room < -near)
    left = np.flatnonzero(~settled)
    if left.size:
        found = np.array([_least_distance(unit, room[row]) for row in left])
        # Exact for the inequalities that matter most; a guess covers the others.
        active[left], settled = _guessed(unit, room[left], near[left], found)
        active[left[~settled]] = found[~settled]
    return active


def _in_units(values: Floats, units: Floats) -> Floats:
    """Return the values in these units, clipped where tiny units would make them overflow."""
    with np.errstate(over="ignore"):
        return np.clip(values / units, -FARTHEST, FARTHEST)


def _free_directions(rows: Floats) -> Floats:
    """Orthonormal directions, one per column, in which the equalities keep holding."""
    _, units = unit_rows(rows)
    _, weights, directions = np.linalg.svd(units)
    rank = int(np.count_nonzero(weights > NEGLIGIBLE))
    return directions[rank:].T


def _guessed(unit: Floats, room: Floats, near: Floats, guess: Mask) -> tuple[Mask, Mask]:
    """Find min |z| with unit @ z <= room for each row of `room` by guesses of the active set.

    Returns the last guess of every row, and whether it satisfies all conditions of optimality.
    """
    active = guess.copy()
    settled = np.zeros(len(room), dtype=bool)
    left = np.arange(len(room))
    for _ in range(_ROUNDS):
        changed = np.empty((len(left), len(unit)), dtype=bool)
        for pattern, at in _alike(active[left]):
            rows = left[at]
            inverse = np.asarray(np.linalg.pinv(unit[pattern], NEGLIGIBLE), np.float64)
            z = rowwise(room[rows][:, pattern], inverse)
            multipliers = np.zeros((len(rows), len(unit)))
            multipliers[:, pattern] = -rowwise(z, inverse.T)
            slack = room[rows] - rowwise(z, unit)
            zero = near[rows] + 10 * _DIGIT * rowwise(np.abs(z), np.abs(unit))
            changed[at] = multipliers - slack > zero
            kept = (slack >= -zero) & (multipliers >= -zero)
            kept[:, pattern] &= np.abs(slack[:, pattern]) <= zero[:, pattern]
            settled[rows] = kept.all(axis=1)
        ended = settled[left] | (changed == active[left]).all(axis=1)
        active[left[~ended]] = changed[~ended]
        left = left[~ended]
        if not left.size:
            break
    return active, settled


def _least_distance(unit: Floats, room: Floats) -> Mask:
    """Find the active set of min |z| with unit @ z <= room, exactly, for one row."""
    from scipy.optimize import nnls

    size = np.abs(room).max()
    stacked = -np.vstack([unit.T, room / size])
    target = np.zeros(len(stacked))
    target[-1] = 1.0
    try:
        pulls = nnls(stacked, target)[0]
    except RuntimeError:  # no convergence: the result will not pass the final check
        return room < 0
    found: Mask = pulls > 0
    return found


def _alike(active: Mask) -> Iterator[tuple[Rows, Rows]]:
    """Yield each active set that occurs, with the rows it occurs in."""
    if not active.shape[1]:
        yield np.empty(0, dtype=np.intp), np.arange(len(active))
        return
    packed = np.ascontiguousarray(np.packbits(active, axis=1))
    keys = packed.view(f"V{packed.shape[1]}")[:, 0] if packed.shape[1] > 1 else packed[:, 0]
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(keys[order[1:]] != keys[order[:-1]]) + 1
    for rows in np.split(order, starts):
        yield np.flatnonzero(active[rows[0]]), rows
