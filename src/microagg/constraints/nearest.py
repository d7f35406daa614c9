"""The nearest points of one component, with or without whole numbers and constant columns."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from microagg.constraints.component import Component
from microagg.constraints.feasibility import feasible
from microagg.constraints.integers import NearestWhole, nearest_whole
from microagg.constraints.projection import project
from microagg.core.arrays import Floats, Mask
from microagg.core.errors import GuaranteeError
from microagg.core.progress import report

TASK = "satisfying constraints"
# Groups processed at once: few enough to stay in the cache and to report progress.
_BATCH = 1 << 14
# If scales differ too much for floats to decide what is nearest, small ones are enlarged.
_LEAST_SCALES = (1e-6, 1e-4, 1e-2, 1.0)


def nearest_points(component: Component, means: Floats, scales: Floats) -> NearestWhole:
    """Return the nearest values of all columns that satisfy the constraints of the component.

    Columns of scale 0 stay as they are if the others can satisfy the constraints. If they cannot,
    they move as if their scale were the size of their values.
    """
    constant = scales == 0
    if constant.any():
        found = _beside_constants(component, means, scales)
        if found is not None:
            return found
        sizes = np.abs(means).max(axis=0, initial=0.0)
        scales = np.where(constant, np.where(sizes > 0, sizes, 1.0), scales)
    if component.limits:
        return nearest_whole(component, means, scales)
    moved, inside = _projected(component, means, scales)
    proved = inside.copy()
    for least in _LEAST_SCALES:
        if (left := np.flatnonzero(~inside)).size:
            wider = np.maximum(scales, least * scales.max())
            moved[left], inside[left] = project(means[left], wider, component.polyhedron)
    if missed := int(np.count_nonzero(~inside)):
        raise GuaranteeError(
            f"no values that satisfy the constraints were found for {missed} of {len(means)} "
            "groups; nothing was released. Remove a constraint."
        )
    distances = np.sqrt(np.square((moved - means)[~proved] / scales).sum(axis=1))
    return replace(
        _of_columns(component, moved), proved=proved, excess=float(distances.max(initial=0.0))
    )


def _beside_constants(component: Component, means: Floats, scales: Floats) -> NearestWhole | None:
    """Return the nearest values that leave columns of scale 0 unchanged, or None."""
    if not component.limits:
        moved, inside = _projected(component, means, scales)
        return _of_columns(component, moved) if inside.all() else None
    constants = {
        name: Fraction(values[0])
        for name, values, scale in zip(component.columns, means.T, scales, strict=True)
        if scale == 0 and len(values) and (values == values[0]).all()
    }
    left = component.fixed(constants)
    some_vary = len(constants) < np.count_nonzero(scales == 0)
    if left is None or some_vary or not feasible(left):
        return None
    others = scales > 0
    if left.columns:
        found = nearest_points(left, means[:, others], scales[others])
    else:
        found = NearestWhole({}, np.ones(len(means), dtype=bool), 0.0)
    values = dict(found.values)
    for name in constants:
        column = means[:, component.columns.index(name)]
        values[name] = column.astype(np.int64) if name in component.limits else column
    return replace(found, values=values)


def _projected(component: Component, means: Floats, scales: Floats) -> tuple[Floats, Mask]:
    moved, inside = np.empty_like(means), np.empty(len(means), dtype=bool)
    for start in range(0, len(means), _BATCH):
        at = slice(start, start + _BATCH)
        moved[at], inside[at] = project(means[at], scales, component.polyhedron)
        report(TASK, min(start + _BATCH, len(means)), len(means))
    return moved, inside


def _of_columns(component: Component, points: Floats) -> NearestWhole:
    values = dict(zip(component.columns, points.T, strict=True))
    return NearestWhole(values, np.ones(len(points), dtype=bool), 0.0)
