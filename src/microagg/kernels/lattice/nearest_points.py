"""Loops that find the nearest point of a lattice, inside linear limits.

A point is R z with z in whole numbers and R upper triangular, so that the last entries of z decide
the last entries of the point: entries are chosen from the last to the first, each from the nearest
choice outwards (Schnorr and Euchner 1994), as long as a point better than the best so far is still
possible. Two sums of squares are lower bounds of the final cost:

- from the target itself, plus `rest`, which no choice changes;
- from `pull`, the nearest point of the polyhedron that the limits leave when z need not be whole,
  plus `least`, its own squared distance: the angle at `pull` between the target and any point
  within the limits is never acute.

The first entry of z has a closed form: the choice nearest to the target within the limits.
"""

import numpy as np

from microagg.core.arrays import Floats, Rows, States, Wholes
from microagg.kernels.compile import allocating_kernel, kernel

NOTHING, FOUND, PROVED = 0, 1, 2
_FAR = 1 << 62


@kernel
def closest_points(
    R: Floats,
    targets: Floats,
    pulls: Floats,
    rests: Floats,
    leasts: Floats,
    W: Wholes,
    rooms: Wholes,
    budget: int,
    out_points: Wholes,
    out_costs: Floats,
    out_states: States,
) -> None:
    """Find for every row the z that minimises |R z - target|^2 + rest with W z <= room.

    The state says whether any z was found, and whether it is proved to be the best; a row may take
    `budget` steps. The first radius contains a point unless a limit interferes; then radii grow.
    """
    k = R.shape[0]
    first = 0.0
    for i in range(k):
        first += R[i, i] * R[i, i] / 4
    first *= 1 + 1e-9
    for row in range(targets.shape[0]):
        radius = first
        limit = leasts[row] + radius
        best = np.inf
        left = budget
        out_states[row] = NOTHING
        while left > 0:
            best, left = search_within(
                R, targets[row], pulls[row], rests[row], leasts[row], W, rooms[row],
                limit, best, left, out_points[row],
            )  # fmt: skip
            if best == np.inf:
                radius *= 4
                limit = leasts[row] + radius
            elif left > 0 and best <= limit:
                out_states[row] = PROVED
                break
            else:
                out_states[row] = FOUND
                limit = best
        out_costs[row] = best


@allocating_kernel
def search_within(
    R: Floats,
    target: Floats,
    pull: Floats,
    rest: float,
    least: float,
    W: Wholes,
    room: Wholes,
    limit: float,
    best: float,
    left: int,
    out_point: Wholes,
) -> tuple[float, int]:
    """Search all z with bounds up to `limit`; returns the best cost and the remaining steps."""
    k = R.shape[0]
    z = np.zeros(k, dtype=np.int64)
    turn = np.zeros(k, dtype=np.int64)  # distance from the current choice to the next
    center = np.zeros(k)
    pulled = np.zeros(k)
    cost = np.zeros(k + 1)
    bound = np.zeros(k + 1)
    cost[k] = rest
    bound[k] = least
    level = k - 1
    fresh = True
    while level < k and left > 0:
        left -= 1
        if fresh:
            center[level] = coordinate(R, target, z, level)
            pulled[level] = coordinate(R, pull, z, level)
        if level == 0:
            if nearest_within(W, room, z, center[0]):
                total = cost[1] + (R[0, 0] * (z[0] - center[0])) ** 2
                if total < best:
                    best = total
                    out_point[:] = z
            level = 1
            fresh = False
            continue
        if fresh:
            z[level] = np.int64(np.floor(pulled[level] + 0.5))
            turn[level] = 1 if pulled[level] > z[level] else -1
        else:
            z[level] += turn[level]
            turn[level] = -turn[level] - (1 if turn[level] > 0 else -1)
        enough = min(limit, best)
        bound[level] = bound[level + 1] + (R[level, level] * (z[level] - pulled[level])) ** 2
        cost[level] = cost[level + 1] + (R[level, level] * (z[level] - center[level])) ** 2
        if bound[level] > enough:
            level += 1
            fresh = False
        elif cost[level] > enough:
            fresh = False
        else:
            level -= 1
            fresh = True
    return best, left


@allocating_kernel
def points_within(
    R: Floats, centers: Floats, radii: Floats, out_points: Wholes, out_counts: Rows
) -> None:
    """List for every row all z with |R (z - center)|^2 <= radius, or as many as fit."""
    k = R.shape[0]
    z = np.zeros(k, dtype=np.int64)
    turn = np.zeros(k, dtype=np.int64)
    middle = np.zeros(k)
    cost = np.zeros(k + 1)
    origin = np.zeros(k)
    for row in range(centers.shape[0]):
        for i in range(k):
            origin[i] = 0.0
            for j in range(i, k):
                origin[i] += R[i, j] * centers[row, j]
        out_counts[row] = 0
        level = k - 1
        fresh = True
        while level < k and out_counts[row] < out_points.shape[1]:
            if fresh:
                middle[level] = coordinate(R, origin, z, level)
                z[level] = np.int64(np.floor(middle[level] + 0.5))
                turn[level] = 1 if middle[level] > z[level] else -1
            else:
                z[level] += turn[level]
                turn[level] = -turn[level] - (1 if turn[level] > 0 else -1)
            cost[level] = cost[level + 1] + (R[level, level] * (z[level] - middle[level])) ** 2
            fresh = False
            if cost[level] > radii[row]:
                level += 1
            elif level > 0:
                level -= 1
                fresh = True
            else:
                out_points[row, out_counts[row]] = z
                out_counts[row] += 1


@kernel
def coordinate(R: Floats, point: Floats, z: Wholes, level: int) -> float:
    """The value of entry `level` of z that leads to the point, given the entries after it."""
    left = point[level]
    for j in range(level + 1, R.shape[0]):
        left -= R[level, j] * z[j]
    return float(left / R[level, level])


@kernel
def nearest_within(W: Wholes, room: Wholes, z: Wholes, center: float) -> bool:
    """Set z[0] to the choice nearest to `center` with W z <= room; False if there is none."""
    low = -_FAR
    high = _FAR
    for i in range(W.shape[0]):
        left = room[i]
        for j in range(1, z.shape[0]):
            left -= W[i, j] * z[j]
        if W[i, 0] > 0:
            high = min(high, left // W[i, 0])
        elif W[i, 0] < 0:
            low = max(low, -(left // -W[i, 0]))
        elif left < 0:
            return False
    if low > high:
        return False
    z[0] = np.int64(np.floor(center + 0.5))
    if z[0] < low:
        z[0] = low
    elif z[0] > high:
        z[0] = high
    return True
