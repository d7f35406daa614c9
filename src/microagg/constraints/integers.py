"""The nearest point that satisfies constraints with whole numbers in columns that hold such.

The equalities leave the whole numbers a lattice, x0 + N z, found exactly; N is chosen short and
nearly orthogonal. For given whole numbers the other columns have a nearest point of their own, so
that the squared distance of a group is |R z - t|^2 plus a constant, and the nearest z is searched
for in every group, starting at the nearest point that need not be whole. Inequalities among whole
numbers limit the search. Those that hold other columns too are looked at afterwards: in groups
where they matter, all lattice points that could be nearest are tried one by one.

The search ends at a budget of steps. Groups that reached it have the best point that was found,
and how much farther than the nearest it can be is known from the point that need not be whole.

Time: the equalities once; then some steps for each group, for few columns, and up to the budget for
many. Memory O(n (columns + constraints)) for n groups.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import floor

import numpy as np
from numpy.typing import NDArray

from microagg.constraints.component import LARGEST_WHOLE, Component, whole_lattice
from microagg.constraints.equalities import rowwise, unit_rows
from microagg.constraints.exact import short_basis
from microagg.constraints.projection import project
from microagg.constraints.search import FOUND, NOTHING, PROVED, closest_points
from microagg.errors import GuaranteeError, ParameterError
from microagg.progress import paced, report

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]
Flags = NDArray[np.bool_]

TASK = "searching whole numbers that satisfy constraints"
# Steps of the search in one group, and points that are tried one by one.
BUDGET = 50_000
CANDIDATES = 5_000
# Products of coefficients and values stay below, so that 64 bits hold sums of them.
_LARGEST_PRODUCT = 2**61


@dataclass(frozen=True)
class Points:
    """The nearest points that were found, one per row, and their squared distances.

    `leasts` are the squared distances of points that need not be whole. `states` tells rows that
    are proved from those that are only found, and from those where nothing was.
    """

    whole: Wholes
    loose: Floats
    costs: Floats
    leasts: Floats
    states: NDArray[np.int8]


@dataclass(frozen=True)
class Candidate:
    """One point with whole numbers where they must be, and its squared distance."""

    point: Floats
    cost: float
    state: int


class Lattice:
    """What all groups share: the lattice of a component in the metric of `scales`."""

    def __init__(self, component: Component, scales: Floats) -> None:
        self.component, self.scales = component, scales
        is_whole = np.array([name in component.limits for name in component.columns])
        self.whole, self.loose = np.flatnonzero(is_whole), np.flatnonzero(~is_whole)
        solutions = whole_lattice(component)
        assert solutions is not None  # a component is feasible, or was refused before
        self.equal = component.polyhedron.equal
        # For whole numbers that miss the equalities by r, the other columns move by `pull @ r`.
        lengths, units = unit_rows(self.equal[:, self.loose] * scales[self.loose])
        safe = np.where(lengths > 0, lengths, 1.0)
        self.pull = np.linalg.pinv(units, rcond=1e-10) / np.where(lengths > 0, safe, np.inf)
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
        self.limits = [row for row in component.below if component.is_whole(row)]
        self.rows = _small([[row.coefficients[j] for j in self.whole] for row in self.limits], n)
        self.sides = np.array(
            [max(min(floor(row.side), 2**60), -(2**60)) for row in self.limits], dtype=np.int64
        )

    def _near_zero(self, origin: list[int], vectors: list[list[int]]) -> Wholes:
        """Return the point of the lattice nearest to zero, or one not far from it."""
        for _ in range(3):
            times = np.rint(self.coordinates @ np.array(origin, dtype=np.float64))
            for factor, vector in zip(times, vectors, strict=True):
                origin = [x - int(factor) * v for x, v in zip(origin, vector, strict=True)]
        return np.asarray(_small([origin], len(origin), LARGEST_WHOLE)[0])

    def nearest(self, means: Floats) -> Points:
        """Return the nearest point of every row of `means`."""
        polyhedron = self.component.polyhedron
        relaxed, reached = project(means, self.scales, polyhedron)
        leasts = np.square((relaxed - means) / self.scales).sum(axis=1)
        base = self._base(relaxed)
        whole, costs, states = self._search(means, relaxed, leasts, base)
        points = np.array(means)
        points[:, self.whole] = whole
        points, inside = self._complete(points)
        exact = self._squared_distances(points, means)
        mixed = len(self.limits) < len(self.component.below)
        # Inequalities that hold other columns too made the point dearer, or impossible.
        doubtful = mixed & (~inside | (exact > costs * (1 + 1e-9) + 1e-12)) & (states > NOTHING)
        costs = np.where(inside, exact, np.inf)
        states[~inside] = NOTHING
        for row in np.flatnonzero(doubtful | (states == NOTHING)):
            best = Candidate(points[row], float(costs[row]), int(states[row]))
            best = self._try_all(means[row], relaxed[row], float(leasts[row]), base[row], best)
            points[row], costs[row], states[row] = best.point, best.cost, best.state
            report(TASK, int(row), len(means))
        states[(states == PROVED) & ~reached] = FOUND
        found = np.rint(points[:, self.whole]).astype(np.int64)
        return Points(found, points[:, self.loose], costs, leasts, states)

    def _base(self, relaxed: Floats) -> Wholes:
        """Return for every row a point of the lattice beside it, from where z is small."""
        z = np.rint(rowwise(relaxed[:, self.whole] - self.origin, self.coordinates))
        base: Wholes = self.origin + z.astype(np.int64) @ self.basis.T
        largest = max(int(np.abs(base).max(initial=0)), 1)
        if max(largest, 1) * int(np.abs(self.rows).sum(axis=1).max(initial=1)) > _LARGEST_PRODUCT:
            raise _too_many_digits()
        return base

    def _search(
        self, means: Floats, relaxed: Floats, leasts: Floats, base: Wholes
    ) -> tuple[Wholes, Floats, NDArray[np.int8]]:
        targets, rests, pulls = self._targets(means, relaxed, base)
        rooms = self.sides - base @ self.rows.T
        n, k = targets.shape
        z = np.zeros((n, k), dtype=np.int64)
        costs, states = rests.copy(), np.zeros(n, dtype=np.int8)
        if k == 0:
            states[(rooms >= 0).all(axis=1)] = PROVED
            return base, costs, states
        limits = self.rows @ self.basis
        for rows in paced(np.arange(n)):
            at = slice(rows[0], rows[-1] + 1)
            closest_points(
                self.R, targets[at], pulls[at], rests[at], leasts[at], limits, rooms[at],
                BUDGET, z[at], costs[at], states[at],
            )  # fmt: skip
            report(TASK, int(rows[-1]) + 1, n)
        return base + z @ self.basis.T, costs, states

    def _targets(
        self, means: Floats, relaxed: Floats, base: Wholes
    ) -> tuple[Floats, Floats, Floats]:
        """Return t, what no z changes of the squared distance, and where the relaxed points are."""
        ahead = means[:, self.whole] - base
        at_base = np.array(means)
        at_base[:, self.whole] = base
        misses = self.component.polyhedron.equal_sides - rowwise(at_base, self.equal)
        wanted = np.hstack([ahead / self.scales[self.whole], rowwise(misses, self.pull)])
        targets = rowwise(wanted, self.Q.T)
        rests = np.square(wanted - rowwise(targets, self.Q)).sum(axis=1)
        pulls = rowwise(rowwise(relaxed[:, self.whole] - base, self.coordinates), self.R)
        return targets, rests, pulls

    def _complete(self, points: Floats) -> tuple[Floats, Flags]:
        """Move the other columns to where they are nearest, given the whole numbers."""
        only_loose = self.scales.copy()
        only_loose[self.whole] = 0.0
        return project(points, only_loose, self.component.polyhedron)

    def _squared_distances(self, points: Floats, means: Floats) -> Floats:
        squares: Floats = np.square((points - means) / self.scales).sum(axis=1)
        return squares

    def _try_all(
        self, mean: Floats, relaxed: Floats, least: float, base: Wholes, best: Candidate
    ) -> Candidate:
        """Try every z that could be nearer than `best`, in growing radii."""
        center = self.coordinates @ (relaxed[self.whole] - base)
        radius = float(np.square(np.diag(self.R)).sum()) / 4 * (1 + 1e-9)
        limit = min(best.cost, least + radius)
        while True:
            z = list(_within(self.R, center, limit - least, CANDIDATES + 1))
            steps = np.array(z, dtype=np.int64).reshape(len(z), len(self.R)) @ self.basis.T
            best = min(best, self._best_of(base + steps, mean), key=lambda found: found.cost)
            if len(z) > CANDIDATES or (not len(self.R) and best.cost == np.inf):
                return replace(best, state=FOUND if best.cost < np.inf else NOTHING)
            if best.cost <= limit:
                return replace(best, state=PROVED)
            radius *= 4
            limit = min(best.cost, max(limit, least + radius))

    def _best_of(self, whole: Wholes, mean: Floats) -> Candidate:
        """Return the nearest of some points of the lattice, with the other columns added."""
        whole = whole[(whole @ self.rows.T <= self.sides).all(axis=1)]
        if not len(whole):
            return Candidate(mean, np.inf, NOTHING)
        tried = np.tile(mean, (len(whole), 1))
        tried[:, self.whole] = whole
        tried, inside = self._complete(tried)
        distances = np.where(inside, self._squared_distances(tried, mean), np.inf)
        best = int(np.argmin(distances))
        return Candidate(tried[best], float(distances[best]), FOUND)


def _within(R: Floats, center: Floats, radius: float, most: int) -> Iterator[list[int]]:
    """Yield at most `most` whole z with |R (z - center)|^2 <= radius."""
    k = len(R)
    stack: list[tuple[float, list[int]]] = [(radius, [])]
    while stack and most > 0:
        left, last = stack.pop()
        level = k - 1 - len(last)
        if level < 0:
            most -= 1
            yield last
            continue
        shift = R[level, level + 1 :] @ (np.array(last) - center[level + 1 :]) / R[level, level]
        reach = np.sqrt(left) / abs(R[level, level])
        middle = center[level] - shift
        lowest, highest = int(np.ceil(middle - reach)), int(np.floor(middle + reach))
        for choice in range(max(lowest, highest - most), highest + 1):
            cost = (R[level, level] * (choice - middle)) ** 2
            stack.append((max(left - cost, 0.0), [choice, *last]))


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
        "constraints over columns of whole numbers must keep to numbers that 64 bits hold; the "
        "coefficients, or their products with the values, have too many digits. Round the "
        "coefficients, or convert the columns to floats."
    )


@dataclass(frozen=True)
class NearestWhole:
    """The values of a component, which rows are proved nearest, and what the others may lack."""

    values: dict[str, NDArray[np.float64] | NDArray[np.int64]]
    proved: Flags
    excess: float


def nearest_whole(component: Component, means: Floats, scales: Floats) -> NearestWhole:
    """Return the nearest points of a component that holds columns of whole numbers.

    No column has scale 0. Values beyond 2**53 are refused before.
    """
    lattice = Lattice(component, scales)
    found = lattice.nearest(means)
    if (lost := int(np.count_nonzero(found.states == NOTHING))) or not _holds(lattice, found.whole):
        raise GuaranteeError(
            f"no whole numbers that satisfy the constraints were found for {lost} of {len(means)} "
            "groups; nothing was released. Remove a constraint, or convert columns to floats."
        )
    values: dict[str, NDArray[np.float64] | NDArray[np.int64]] = {}
    for at, j in enumerate(lattice.whole):
        values[component.columns[j]] = found.whole[:, at]
    for at, j in enumerate(lattice.loose):
        values[component.columns[j]] = found.loose[:, at]
    proved = found.states == PROVED
    lacking = np.sqrt(found.costs[~proved]) - np.sqrt(found.leasts[~proved])
    return NearestWhole(values, proved, float(lacking.max(initial=0.0)))


def _holds(lattice: Lattice, whole: Wholes) -> bool:
    """Check the constraints among whole numbers exactly, apart from how they were found."""
    component = lattice.component
    largest = int(np.abs(whole).max(initial=1))
    for rows, allowed in ((component.equal, True), (component.below, False)):
        for row in filter(component.is_whole, rows):
            coefficients = [row.coefficients[j] for j in lattice.whole]
            # Without a limit where sums could leave 64 bits.
            wide = largest * sum(map(abs, coefficients)) > _LARGEST_PRODUCT
            numbers = whole.astype(object) if wide else whole
            total = numbers @ np.array(coefficients, dtype=object if wide else np.int64)
            side = int(row.side)
            if (total != side).any() if allowed else (total > side).any():
                return False
    return largest <= LARGEST_WHOLE
