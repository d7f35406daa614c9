"""Whole numbers for one group by an integer program, where the search finds none."""

import numpy as np

from microagg.constraints.projection import Polyhedron
from microagg.core.arrays import Floats, Mask

_SECONDS = 1.0


def nearest_by_program(
    polyhedron: Polyhedron,
    is_whole: Mask,
    origin: Floats,
    mean: Floats,
    scales: Floats,
) -> Floats | None:
    """Return a point that satisfies the polyhedron, or None if none was found.

    Of all such points it minimises the sum of |v - mean| / scale, which approximates the distance.
    `origin` is a nearby point with whole numbers where `is_whole`: the program solves for the
    difference, so that large numbers cost no digits.
    """
    from scipy.optimize import LinearConstraint, milp

    d = len(mean)
    none, steps = np.zeros((len(polyhedron.equal), d)), np.diag(1.0 / scales)
    apart = (mean - origin) / scales
    rows = np.block(
        [
            [polyhedron.equal, none],
            [polyhedron.below, np.zeros((len(polyhedron.below), d))],
            [steps, -np.eye(d)],
            [-steps, -np.eye(d)],
        ]
    )
    equal = polyhedron.equal_sides - polyhedron.equal @ origin
    below = polyhedron.below_sides - polyhedron.below @ origin
    high = np.concatenate([equal, below, apart, -apart])
    low = np.concatenate([equal, np.full(len(high) - len(equal), -np.inf)])
    found = milp(
        np.concatenate([np.zeros(d), np.ones(d)]),
        integrality=np.concatenate([is_whole, np.zeros(d, dtype=bool)]).astype(int),
        bounds=(-np.inf, np.inf),
        constraints=LinearConstraint(rows, low, high),
        options={"time_limit": _SECONDS},
    )
    if found.x is None:
        return None
    added: Floats = np.where(is_whole, np.rint(found.x[:d]), found.x[:d])
    return origin + added
