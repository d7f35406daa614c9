"""Groups that are too far from the table merge with their nearest, the farthest first."""

import numpy as np

from microagg.core.arrays import Floats
from microagg.kernels.annealing.arrangement import Arrangement, span_of
from microagg.kernels.annealing.repairing import merge
from microagg.kernels.basics.distances import squared_distance
from microagg.kernels.compile import allocating_kernel, inner_kernel, kernel
from microagg.kernels.rules.rules import ORDERED, Rules, equal_distance, ordered_distance

# Distances are rounded, so that ties are ties.
_DIGITS = 1e12


@kernel
def measure_groups(arrangement: Arrangement, rules: Rules, out_distances: Floats) -> None:
    """The distance of each group to the table by the first rule; -1 for a group not in use."""
    for group in range(arrangement.sizes.shape[0]):
        out_distances[group] = -1.0
        if arrangement.sizes[group] > 0:
            out_distances[group] = distance_to_table(arrangement, rules, group)


@allocating_kernel
def merge_farthest(
    arrangement: Arrangement, rules: Rules, distances: Floats, limit: float, most: int
) -> int:
    """Merge the group farthest from the table with the one of the nearest mean, time and again.

    Ends when all groups are within the limit, or after `most` mergers; returns how many were made.
    `distances` are brought up to date. Ties go to the group of the lower number.
    """
    for made in range(most):
        group = int(np.argmax(distances))
        if distances[group] <= limit:
            return made
        partner = group_of_nearest_mean(arrangement, group)
        if partner < 0:
            return made
        merge(arrangement, group, partner)
        for one in (group, partner):
            distances[one] = -1.0
            if arrangement.sizes[one] > 0:
                distances[one] = distance_to_table(arrangement, rules, one)
    return most


@inner_kernel
def distance_to_table(arrangement: Arrangement, rules: Rules, group: int) -> float:
    """How far the codes of a group are from those of the table, by the first rule."""
    buffer, first, stop = span_of(arrangement, group)
    rows = arrangement.members[buffer, first:stop]
    if rules.kinds[0] == ORDERED:
        distance = ordered_distance(rules, 0, rows, rows.shape[0])
    else:
        distance = equal_distance(rules, 0, rows, rows.shape[0])
    return np.rint(distance * _DIGITS) / _DIGITS


@inner_kernel
def group_of_nearest_mean(arrangement: Arrangement, group: int) -> int:
    """The other group whose mean is nearest; -1 if there is none."""
    best, nearest = np.inf, -1
    for other in range(arrangement.sizes.shape[0]):
        if other != group and arrangement.sizes[other] > 0:
            apart = squared_distance(arrangement.centers[group], arrangement.centers[other])
            if nearest < 0 or apart < best:
                best, nearest = apart, other
    return nearest
