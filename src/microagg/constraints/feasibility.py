"""Whether the constraints can be satisfied at all, which is checked first."""

from fractions import Fraction

import numpy as np

from microagg.constraints.component import LARGEST_WHOLE, Component, WholePart, whole_linear
from microagg.constraints.exact import echelon, reduced
from microagg.constraints.integers import has_whole_point
from microagg.core.arrays import Floats

_INFEASIBLE = 2  # SciPy's status code
_LARGEST_SIDE = 1e9


def feasible(component: Component) -> bool:
    """Return whether any values satisfy all constraints, with whole numbers where required.

    Equalities, also in whole numbers, and inequalities that contradict them or each other in pairs
    are decided exactly. Other inequalities are decided by a linear program (HiGHS), within its
    tolerance of 1e-7. Whole numbers that satisfy inequalities are searched for; if none are found,
    a mixed-integer program decides. Constraints that none of these proves infeasible pass.
    """
    if not _pairwise(component) or WholePart(component).solutions() is None:
        return False
    # Equalities are solved; the widest limits of types leave room for their solutions.
    wide = all(row.side >= LARGEST_WHOLE for row in component.below)
    if not component.below or (wide and component.limits):
        return True
    relaxed = _solved(component, whole=False)
    if relaxed is None or not component.limits:
        return relaxed is not None
    return has_whole_point(component, relaxed) or _solved(component, whole=True) is not None


def _pairwise(component: Component) -> bool:
    """Return whether the equalities, with any two inequalities, can be satisfied."""
    n = len(component.columns)
    rows = [[*map(Fraction, row.coefficients), row.side] for row in component.equal]
    pivots = echelon(rows, n)
    if any(pivot < 0 for pivot, _ in pivots):
        return False
    sides: dict[tuple[int, ...], Fraction] = {}
    for row in component.below:
        left = whole_linear(reduced([*map(Fraction, row.coefficients), row.side], pivots))
        if not any(left.coefficients) and left.side < 0:
            return False
        sides[left.coefficients] = min(left.side, sides.get(left.coefficients, left.side))
    return all(
        side + sides.get(tuple(-c for c in key), -side) >= 0
        for key, side in sides.items()
        if any(key)
    )


def _solved(component: Component, *, whole: bool) -> Floats | None:
    """Return a feasible point, zeros if none was found, None if none exists."""
    from scipy.optimize import LinearConstraint, milp

    polyhedron = component.polyhedron
    rows = np.vstack([polyhedron.equal, polyhedron.below])
    high = np.concatenate([polyhedron.equal_sides, polyhedron.below_sides])
    low = np.where(np.arange(len(high)) < len(polyhedron.equal), high, -np.inf)
    widths = np.abs(rows).max(axis=1)
    # In units in which no side is so large that the solver treats it as infinite.
    unit = 1.0 if component.limits else max(1.0, np.abs(high / widths).max() / _LARGEST_SIDE)
    low, high = low / unit, high / unit
    # The widest limits of types would only cost the solver digits.
    used = np.isfinite(low) | (high < LARGEST_WHOLE) | (not component.limits)
    zeros = np.zeros(len(component.columns))
    if not used.any():
        return zeros
    found = milp(
        zeros,
        integrality=[int(whole and name in component.limits) for name in component.columns],
        bounds=(-np.inf, np.inf),
        constraints=LinearConstraint(
            (rows / widths[:, None])[used], (low / widths)[used], (high / widths)[used]
        ),
        options={"node_limit": 10_000},
    )
    if found.status == _INFEASIBLE:
        return None
    return zeros if found.x is None else np.asarray(found.x, dtype=np.float64) * unit
