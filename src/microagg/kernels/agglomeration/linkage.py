"""Distances between clusters: the linkages, and bounds on them from the centres alone.

No linkage is smaller than the distance between the centres, except single linkage, which is smaller
by the two radii at most. So the distances between centres, computed many at a time, leave few pairs
whose linkage must be computed.
"""

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.kernels.agglomeration.clusters import GONE, Clusters
from microagg.kernels.basics.distances import squared_distance
from microagg.kernels.compile import inner_kernel

SINGLE, COMPLETE, AVERAGE, CENTROID, WARD = range(5)
LINKAGES = {
    "single": SINGLE,
    "complete": COMPLETE,
    "average": AVERAGE,
    "centroid": CENTROID,
    "ward": WARD,
}

CHUNK = 256  # slots measured together: their running sums stay in the fastest cache


@inner_kernel
def key_of_pair(clusters: Clusters, slot: int, other: int, linkage: int, priority: bool) -> float:
    """The key that ranks a pair: its distance or, with `priority`, distance / joint size.

    Expects the squared distance between the centres in `squares`, as set by `measure_centers`.
    """
    size, other_size = clusters.sizes[slot], clusters.sizes[other]
    if linkage == CENTROID:
        distance = np.sqrt(clusters.squares[other])
    elif linkage == WARD:
        weight = 2.0 * size * other_size / (size + other_size)
        distance = np.sqrt(weight * clusters.squares[other])
    else:
        first = min(clusters.lowest[slot], clusters.lowest[other])
        second = max(clusters.lowest[slot], clusters.lowest[other])
        distance = distance_of_members(clusters.X, clusters.next_row, first, second, linkage)
        if linkage == AVERAGE:
            distance /= size * other_size
    return distance / (size + other_size) if priority else distance


@inner_kernel
def distance_of_members(X: Floats, next_row: Rows, first: int, second: int, linkage: int) -> float:
    """Smallest, largest or total distance between the members of two clusters."""
    result = np.inf if linkage == SINGLE else 0.0
    a = first
    while a >= 0:
        b = second
        while b >= 0:
            square = squared_distance(X[a], X[b])
            if linkage == SINGLE:
                result = min(result, square)
            elif linkage == COMPLETE:
                result = max(result, square)
            else:
                result += np.sqrt(square)
            b = next_row[b]
        a = next_row[a]
    return result if linkage == AVERAGE else np.sqrt(result)


@inner_kernel
def reach_of_key(key: float, size: int, other_size: int, linkage: int, priority: bool) -> float:
    """Distance between centres, minus radii, beyond which no pair of these sizes has this key."""
    reach = key * (size + other_size) if priority else key
    if linkage == WARD:
        reach /= np.sqrt(2.0 * size * other_size / (size + other_size))
    return reach * (1.0 + 1e-12)


@inner_kernel
def measure_radius(clusters: Clusters, slot: int) -> None:
    """Largest distance of a member from the centre."""
    center = clusters.centers[:, slot]
    widest = 0.0
    row = clusters.lowest[slot]
    while row >= 0:
        widest = max(widest, squared_distance(clusters.X[row], center))
        row = clusters.next_row[row]
    clusters.radii[slot] = np.sqrt(widest)


@inner_kernel
def measure_centers(clusters: Clusters, slot: int, start: int, stop: int, room: int) -> int:
    """Compute squared distances to the centres in some slots; return the nearest that fits."""
    centers, squares, sizes = clusters.centers, clusters.squares, clusters.sizes
    best = np.inf
    near = -1
    for begin in range(start, stop, CHUNK):
        end = min(begin + CHUNK, stop)
        first, last = np.uint64(begin), np.uint64(end)  # unsigned indices cannot be negative
        for i in range(first, last):
            squares[i] = 0.0
        for j in range(centers.shape[0]):
            value = centers[j, slot]
            for i in range(first, last):
                gap = centers[j, i] - value
                squares[i] += gap * gap
        for other in range(begin, end):
            if squares[other] < best and sizes[other] <= room and sizes[other] != GONE:
                best = squares[other]
                near = other
    return near
