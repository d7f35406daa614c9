"""The nearest point that satisfies the constraints, with whole numbers in integer columns.

The whole numbers that satisfy the equalities form a lattice, x0 + N z, found exactly; N is chosen
short and nearly orthogonal. Given the whole numbers, the other columns have a nearest point of
their own, so the squared distance of a group is |R z - t|^2 plus a constant, and the nearest z is
searched for in every group, starting at the relaxed point: the nearest one that need not be whole.
Inequalities among whole numbers limit the search. Those that involve other columns are checked
afterwards: in groups where they matter, all lattice points that could be nearest are tried.

The search has a budget of steps. Groups that use it up get the best point found so far; the relaxed
point bounds how much farther than the nearest it can be.

The equalities are solved once; then each group takes a few steps if there are few columns, and up
to the budget if there are many. Memory O(n (columns + constraints)) for n groups.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from microagg.constraints.component import LARGEST_WHOLE, Component, WholePart
from microagg.constraints.equalities import NEGLIGIBLE, rowwise, unit_rows
from microagg.constraints.exact import short_basis
from microagg.constraints.program import nearest_by_program
from microagg.constraints.projection import project
from microagg.core.arrays import Floats, Mask, Rows, States, Wholes
from microagg.core.errors import GuaranteeError, ParameterError
from microagg.core.progress import paced, report
from microagg.kernels.basics.rounding import half_away_from_zero
from microagg.kernels.lattice.nearest_points import (
    FOUND,
    NOTHING,
    PROVED,
    closest_points,
    points_within,
)

TASK = "searching for whole numbers that satisfy the constraints"
# Steps of the search in one group, and points that are tried one by one.
BUDGET = 50_000
CANDIDATES = 2_000
# Nearest points give the bounds of the search, so they must be accurate to the last digits.
_ROUNDING = 1e-14
# Groups whose candidates are listed at once.
_AT_ONCE = 256
# Limit on products of coefficients and values, so that their sums fit in 64 bits.
_LARGEST_PRODUCT = 2**61


@dataclass(frozen=True)
class GroupMeans:
    """The means of groups, their relaxed points, and lattice points near these."""

    means: Floats
    relaxed: Floats
    base: Wholes

    def __getitem__(self, rows: Rows) -> "GroupMeans":
        return GroupMeans(self.means[rows], self.relaxed[rows], self.base[rows])


@dataclass(frozen=True)
class Points:
    """The nearest points that were found, one per row, and their squared distances.

    `leasts` are the squared distances of the relaxed points. `states` says for each row whether the
    point is proved nearest, only found, or missing.
    """

    points: Floats
    costs: Floats
    leasts: Floats
    states: States

    def __getitem__(self, rows: Rows) -> "Points":
        return Points(self.points[rows], self.costs[rows], self.leasts[rows], self.states[rows])

    def __setitem__(self, rows: Rows, others: "Points") -> None:
        self.points[rows], self.costs[rows] = others.points, others.costs
        self.leasts[rows], self.states[rows] = others.leasts, others.states


class Lattice:
    """What all groups have in common: the lattice of a component in the metric of `scales`."""

    def __init__(self, component: Component, scales: Floats) -> None:
        self.component, self.scales = component, scales
        is_whole = np.array([name in component.limits for name in component.columns])
        self.whole, self.loose = np.flatnonzero(is_whole), np.flatnonzero(~is_whole)
        part = WholePart(component)
        solutions = part.solutions()
        assert solutions is not None  # a component is feasible, or was refused before
        self.equal = component.polyhedron.equal
        # For whole numbers that miss the equalities by r, the other columns move by `pull @ r`.
        lengths, units = unit_rows(self.equal[:, self.loose] * scales[self.loose])
        pull = np.linalg.pinv(units, rcond=NEGLIGIBLE)
        self.pull = pull / np.where(lengths > 0, lengths, np.inf)
        metric = np.vstack([np.diag(1 / scales[self.whole]), self.pull @ self.equal[:, self.whole]])
        origin, basis = solutions
        vectors = short_basis(basis, metric)
        n = len(self.whole)
        self.basis = _small(vectors, n).T
        spread = metric @ self.basis
        self.Q, self.R = _triangular(spread)
        weights = 1 / scales[self.whole]
        self.coordinates = np.linalg.pinv(weights[:, None] * self.basis) * weights
        self.origin = self._near_zero(origin, vectors)
        self.rows = _small([row.coefficients for row in part.below], n)
        self.sides = np.array(
            [max(min(int(row.side), 2**60), -(2**60)) for row in part.below], dtype=np.int64
        )

    def _near_zero(self, origin: list[int], vectors: list[list[int]]) -> Wholes:
        """Return a point of the lattice at or close to the one nearest to zero."""
        for _ in range(3):
            times = np.rint(self.coordinates @ np.array(origin, dtype=np.float64))
            for factor, vector in zip(times, vectors, strict=True):
                origin = [x - int(factor) * v for x, v in zip(origin, vector, strict=True)]
        return np.asarray(_small([origin], len(origin), LARGEST_WHOLE)[0])

    def nearest(self, means: Floats) -> Points:
        """Return the nearest point of every row of `means`."""
        relaxed, reached = project(means, self.scales, self.component.polyhedron, _ROUNDING)
        groups = GroupMeans(means, relaxed, self._base(relaxed))
        leasts = self._squared_distances(relaxed, means)
        whole, costs, states = self._search(groups, leasts)
        points, inside = self._complete(whole, means)
        exact = np.where(inside, self._squared_distances(points, means), np.inf)
        # Inequalities that involve other columns made the point costlier, or infeasible.
        step = np.square(np.diag(self.R)).min(initial=np.inf)
        doubtful = (states == NOTHING) | ~inside | (exact > costs + 1e-9 * (costs + step))
        states[~inside] = NOTHING
        found = Points(points, np.where(states == NOTHING, np.inf, exact), leasts, states)
        again = np.flatnonzero(doubtful)
        for start in range(0, len(again), _AT_ONCE):
            rows = again[start : start + _AT_ONCE]
            some = found[rows]
            self._round_inside(groups[rows], some)
            self._try_all(groups[rows], some)
            self._solve_programs(groups[rows], some)
            found[rows] = some
            report(TASK, start, len(again))
        states[(states == PROVED) & ~reached] = FOUND
        return found

    def _base(self, relaxed: Floats) -> Wholes:
        """Return for every row a nearby point of the lattice, relative to which z is small."""
        z = np.rint(rowwise(relaxed[:, self.whole] - self.origin, self.coordinates))
        base: Wholes = self.origin + z.astype(np.int64) @ self.basis.T
        largest = max(int(np.abs(base).max(initial=0)), 1)
        if largest * int(np.abs(self.rows).sum(axis=1).max(initial=1)) > _LARGEST_PRODUCT:
            raise _too_many_digits()
        return base

    def _search(self, groups: GroupMeans, leasts: Floats) -> tuple[Wholes, Floats, States]:
        """Return the nearest whole numbers, ignoring other columns, and their states."""
        targets, rests, pulls = self._targets(groups)
        rooms = self.sides - groups.base @ self.rows.T
        n, k = targets.shape
        z = np.zeros((n, k), dtype=np.int64)
        costs, states = rests.copy(), np.zeros(n, dtype=np.int8)
        if k == 0:
            states[(rooms >= 0).all(axis=1)] = PROVED
            return groups.base, costs, states
        limits = self.rows @ self.basis
        for rows in paced(np.arange(n)):
            at = slice(rows[0], rows[-1] + 1)
            closest_points(
                self.R, targets[at], pulls[at], rests[at], leasts[at], limits, rooms[at],
                BUDGET, z[at], costs[at], states[at],
            )  # fmt: skip
            report(TASK, int(rows[-1]) + 1, n)
        return groups.base + z @ self.basis.T, costs, states

    def _targets(self, groups: GroupMeans) -> tuple[Floats, Floats, Floats]:
        """Return t, the constant part of the squared distances, and the relaxed points."""
        ahead = groups.means[:, self.whole] - groups.base
        at_base = np.array(groups.means)
        at_base[:, self.whole] = groups.base
        misses = self.component.polyhedron.equal_sides - rowwise(at_base, self.equal)
        wanted = np.hstack([ahead / self.scales[self.whole], rowwise(misses, self.pull)])
        targets = rowwise(wanted, self.Q.T)
        rests = np.square(wanted - rowwise(targets, self.Q)).sum(axis=1)
        pulls = rowwise(
            rowwise(groups.relaxed[:, self.whole] - groups.base, self.coordinates), self.R
        )
        return targets, rests, pulls

    def _complete(self, whole: Wholes, means: Floats) -> tuple[Floats, Mask]:
        """Move the other columns to where they are nearest, given the whole numbers."""
        points = np.array(means)
        points[:, self.whole] = whole
        only_loose = self.scales.copy()
        only_loose[self.whole] = 0.0
        return project(points, only_loose, self.component.polyhedron)

    def _squared_distances(self, points: Floats, means: Floats) -> Floats:
        squares: Floats = np.square((points - means) / self.scales).sum(axis=1)
        return squares

    def _try_all(self, groups: GroupMeans, out: Points) -> None:
        """Try every z that could be nearer than the point found, in growing radii.

        This is for inequalities that involve other columns: whether these can satisfy them, and how
        near, is known only once all whole numbers are.
        """
        centers = rowwise(groups.relaxed[:, self.whole] - groups.base, self.coordinates)
        targets, rests, pulls = self._targets(groups)
        radius = float(np.square(np.diag(self.R)).sum()) / 4 * (1 + 1e-9)
        limits, before = np.minimum(out.costs, out.leasts + radius), np.full(len(rests), -np.inf)
        left = np.arange(len(limits))
        while left.size:
            counts, z = self._listed(centers[left], (limits - out.leasts)[left])
            rows = np.repeat(left, counts)
            ahead = rowwise(z.astype(np.float64), self.R)
            bounds = np.square(ahead - pulls[rows]).sum(axis=1) + out.leasts[rows]
            costs = np.square(ahead - targets[rows]).sum(axis=1) + rests[rows]
            new = (bounds > before[rows]) & (costs < out.costs[rows])
            self._keep_best(groups.base[rows[new]] + z[new] @ self.basis.T, rows[new], groups, out)
            ended = (counts >= CANDIDATES) | (len(self.R) == 0)
            out.states[left] = np.where(np.isfinite(out.costs[left]), FOUND, NOTHING)
            proved = (out.costs <= limits)[left] & (counts < CANDIDATES)
            out.states[left[proved]] = PROVED
            left = left[~(ended | proved)]
            radius *= 4
            # Slightly below the limit, so that points misplaced by rounding are tried again.
            before = out.leasts + (limits - out.leasts) * (1 - 1e-9)
            limits = np.minimum(out.costs, np.maximum(limits, out.leasts + radius))

    def _round_inside(self, groups: GroupMeans, out: Points) -> None:
        """Round points so far inside the inequalities that rounding cannot lead outside.

        This is for groups without a point so far, whose nearest points lie in a corner too narrow
        to search. Rounding moves every entry of z by at most a half, and other columns with it.
        """
        lost = np.flatnonzero(out.states == NOTHING)
        if not lost.size:
            return
        polyhedron = self.component.polyhedron
        below = polyhedron.below
        other = self.scales[self.loose, None] * (self.pull @ self.equal[:, self.whole])
        turns = (below[:, self.whole] - below[:, self.loose] @ other) @ self.basis
        inner = replace(
            polyhedron, below_sides=polyhedron.below_sides - np.abs(turns).sum(axis=1) / 2
        )
        points, reached = project(groups.means[lost], self.scales, inner)
        rows, points = lost[reached], points[reached]
        base = groups.base[rows]
        z = np.rint(rowwise(points[:, self.whole] - base, self.coordinates)).astype(np.int64)
        self._keep_best(base + z @ self.basis.T, rows, groups, out)
        out.states[rows[np.isfinite(out.costs[rows])]] = FOUND

    def _solve_programs(self, groups: GroupMeans, out: Points) -> None:
        """Solve an integer program for each group that still has no point."""
        is_whole = np.isin(np.arange(len(self.scales)), self.whole)
        for row in np.flatnonzero(out.states == NOTHING):
            origin = np.array(groups.relaxed[row])
            origin[self.whole] = groups.base[row]
            point = nearest_by_program(
                self.component.polyhedron, is_whole, origin, groups.means[row], self.scales
            )
            if point is not None:
                whole = point[None, self.whole].astype(np.int64)
                self._keep_best(whole, np.array([row]), groups, out)
            if np.isfinite(out.costs[row]):
                out.states[row] = FOUND
            report(TASK, int(row), len(out.states))

    def _listed(self, centers: Floats, radii: Floats) -> tuple[Rows, Wholes]:
        """Return how many z lie around each center, and all of them, up to the budget."""
        n, k = centers.shape
        if k == 0:
            return np.ones(n, dtype=np.intp), np.zeros((n, 0), dtype=np.int64)
        points = np.empty((n, CANDIDATES, k), dtype=np.int64)
        counts = np.empty(n, dtype=np.intp)
        points_within(self.R, centers, radii, points, counts)
        return counts, points[np.arange(CANDIDATES) < counts[:, None]]

    def _keep_best(self, whole: Wholes, rows: Rows, groups: GroupMeans, out: Points) -> None:
        """Complete points of the lattice, each for a row, and keep those nearer than before."""
        inside = (whole @ self.rows.T <= self.sides).all(axis=1)
        whole, rows = whole[inside], rows[inside]
        means = groups.means[rows]
        tried, inside = self._complete(whole, means)
        distances = self._squared_distances(tried, means)
        order = np.lexsort((distances, rows))
        order = order[inside[order]]
        owners, first = np.unique(rows[order], return_index=True)
        nearest = order[first]
        nearer = distances[nearest] < out.costs[owners]
        owners, nearest = owners[nearer], nearest[nearer]
        out.points[owners], out.costs[owners] = tried[nearest], distances[nearest]


def _triangular(spread: Floats) -> tuple[Floats, Floats]:
    Q, R = np.linalg.qr(spread)
    signs = np.where(np.diag(R) < 0, -1.0, 1.0)
    return Q * signs, np.ascontiguousarray(R * signs[:, None])


def _small(numbers: Sequence[Sequence[int]], n: int, largest: int = 2**40) -> Wholes:
    """Return rows of `n` whole numbers in 64 bits if none is larger than `largest`."""
    if any(abs(number) > largest for row in numbers for number in row):
        raise _too_many_digits()
    return np.array(numbers, dtype=np.int64).reshape(len(numbers), n)


def _too_many_digits() -> ParameterError:
    return ParameterError(
        "constraints on columns of whole or rounded numbers must fit 64-bit integers; the "
        "coefficients, or their products with the values, have too many digits. Round the "
        "coefficients, convert whole numbers to floats, or release every digit (--digits all)."
    )


@dataclass(frozen=True)
class NearestWhole:
    """The values of a component, which rows are proved nearest, and how far others may be off."""

    values: dict[str, Floats | Wholes]
    proved: Mask
    excess: float


def nearest_whole(component: Component, means: Floats, scales: Floats) -> NearestWhole:
    """Return the nearest points of a component with columns of whole numbers.

    No column has scale 0. Values beyond 2**53 have been refused before.
    """
    found = _rounded(component, means, scales)
    left = np.flatnonzero(found.states == NOTHING)
    if left.size:
        found[left] = Lattice(component, scales).nearest(means[left])
    lost = int(np.count_nonzero(found.states == NOTHING))
    if lost or not _holds(component, found.points).all():
        raise GuaranteeError(
            f"no whole numbers that satisfy the constraints were found for {lost or 'some'} of "
            f"{len(means)} groups; nothing was released. Remove a constraint, convert columns of "
            "whole numbers to floats, or release every digit of others (--digits all)."
        )
    values: dict[str, Floats | Wholes] = {}
    for j, name in enumerate(component.columns):
        column = found.points[:, j]
        values[name] = column.astype(np.int64) if name in component.limits else column
    proved = found.states == PROVED
    lacking = np.sqrt(found.costs[~proved]) - np.sqrt(found.leasts[~proved])
    return NearestWhole(values, proved, float(lacking.max(initial=0.0)))


def has_whole_point(component: Component, around: Floats) -> bool:
    """Return whether the search finds any point with whole numbers where required."""
    found = Lattice(component, np.ones(len(around))).nearest(around[None, :])
    return bool(found.states[0] != NOTHING)


def _rounded(component: Component, means: Floats, scales: Floats) -> Points:
    """Return the rounded means, proved nearest where they satisfy everything."""
    is_whole = [name in component.limits for name in component.columns]
    points = np.where(is_whole, half_away_from_zero(means), means)
    inside = _holds(component, points) & component.polyhedron.holds(points, scales, _ROUNDING)
    costs = np.square((points - means) / scales).sum(axis=1)
    states = np.where(inside, PROVED, NOTHING).astype(np.int8)
    return Points(points, costs, costs.copy(), states)


def _holds(component: Component, points: Floats) -> Mask:
    """Check the constraints among whole numbers exactly, independently of the search."""
    is_whole = [name in component.limits for name in component.columns]
    whole = points[:, is_whole].astype(np.int64)
    largest = int(np.abs(whole).max(initial=1))
    inside: Mask = (whole == points[:, is_whole]).all(axis=1)
    inside &= (np.abs(whole) <= LARGEST_WHOLE).all(axis=1)
    for rows, compare in ((component.equal, np.not_equal), (component.below, np.greater)):
        for row in filter(component.is_whole, rows):
            coefficients = [c for c, kept in zip(row.coefficients, is_whole, strict=True) if kept]
            # Python's own whole numbers if sums could exceed 64 bits.
            kind = object if largest * sum(map(abs, coefficients)) > _LARGEST_PRODUCT else np.int64
            totals = whole.astype(kind) @ np.array(coefficients, dtype=kind)
            inside &= ~compare(totals, int(row.side)).astype(bool)
    return inside
