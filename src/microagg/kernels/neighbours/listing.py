"""Lists of nearest neighbours: found among all records, or sorted from a few candidates."""

import numpy as np

from microagg.core.arrays import Floats, Mask, Rows
from microagg.kernels.basics.distances import squared_distance
from microagg.kernels.basics.smallest import comes_before
from microagg.kernels.compile import allocating_kernel, inner_kernel, kernel
from microagg.kernels.neighbours.blocks import Blocks, nearest

# Distances that differ by less than this share may be in the wrong order.
CLEARLY = 1e-9
# Smaller squared distances may lose digits.
SMALLEST = 1e-280


@allocating_kernel
def list_nearest(
    points: Floats, rows: Rows, blocks: Blocks, out_distances: Floats, out_rows: Rows
) -> None:
    """List the records nearest to the points in the given rows, without the row itself.

    `blocks` may have more columns than `points`; a point is zero in those.
    """
    width = out_rows.shape[1]
    point = np.zeros(blocks.values.shape[1])
    distances = np.empty(width + 1)
    found = np.empty(width + 1, dtype=np.intp)
    for i in rows:
        for j in range(points.shape[1]):  # a slice takes numba two seconds longer to compile
            point[j] = points[i, j]
        nearest(blocks, point, distances, found)
        write_others(i, distances, found, out_distances[i], out_rows[i])


@allocating_kernel
def order_listed(
    points: Floats,
    some: Rows,
    listed: Rows,
    members: Rows,
    begins: Rows,
    sizes: Rows,
    slack: float,
    out_distances: Floats,
    out_rows: Rows,
    out_certain: Mask,
) -> None:
    """List the nearest records of `some` distinct records, from the candidates listed for them.

    The rows equal to distinct record g, at `points[g]`, are `members[begins[g] : begins[g] +
    sizes[g]]`, in ascending order. One that is not listed is no nearer than the farthest one that
    is, minus the slack; if it could still be among the nearest, the row is not certain.
    """
    wanted = out_rows.shape[1] + 1  # the record itself is one of them
    distances = np.empty(wanted)
    found = np.empty(wanted, dtype=np.intp)
    all_listed = listed.shape[1] >= points.shape[0] - 1
    for g in some:
        count = 0
        farthest = 0.0
        for slot in range(-1, listed.shape[1]):
            other = g if slot < 0 else listed[g, slot]
            distance = squared_distance(points[other], points[g])
            farthest = max(farthest, distance)
            for at in range(begins[other], begins[other] + min(sizes[other], wanted)):
                count = insert(distance, members[at], count, distances, found)
        certain = all_listed
        if count == wanted and farthest > SMALLEST and not all_listed:
            reach = (np.sqrt(farthest) - slack) * (1.0 - CLEARLY)
            certain = np.sqrt(distances[wanted - 1]) < reach
        for at in range(begins[g], begins[g] + sizes[g]):
            row = members[at]
            out_certain[row] = certain
            if certain:
                write_others(row, distances, found, out_distances[row], out_rows[row])


@kernel
def lists_within(
    near: Rows, rows: Rows, region_of: Rows, region: int, place: Rows, out_near: Rows
) -> None:
    """Write the neighbours of each row that lie in its region, by their place there.

    The rows are those of the region, in the order of their places. Missing neighbours are filled
    with the row itself, which searches ignore.
    """
    for i in range(rows.shape[0]):
        slot = 0
        for other in near[rows[i]]:
            if region_of[other] == region and other != rows[i]:
                out_near[i, slot] = place[other]
                slot += 1
        for rest in range(slot, out_near.shape[1]):
            out_near[i, rest] = i


@inner_kernel
def write_others(
    row: int, distances: Floats, found: Rows, out_distances: Floats, out_rows: Rows
) -> None:
    """Copy a list with one entry too many, without the row itself or else the last entry."""
    slot = 0
    for at in range(found.shape[0]):
        if found[at] != row and slot < out_rows.shape[0]:
            out_rows[slot] = found[at]
            out_distances[slot] = distances[at]
            slot += 1


@inner_kernel
def insert(distance: float, row: int, count: int, distances: Floats, rows: Rows) -> int:
    """Insert into a short sorted list, dropping the last if it is full; return the new count."""
    if count == rows.shape[0]:
        if not comes_before(distance, row, distances[count - 1], rows[count - 1]):
            return count
        count -= 1
    at = count
    while at > 0 and comes_before(distance, row, distances[at - 1], rows[at - 1]):
        distances[at], rows[at] = distances[at - 1], rows[at - 1]
        at -= 1
    distances[at], rows[at] = distance, row
    return count + 1
