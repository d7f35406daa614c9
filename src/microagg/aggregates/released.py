"""What is released: the value of every group in every column, within the constraints."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.aggregates.mean import group_means, released_means, released_points
from microagg.constraints.system import Satisfied, System

Labels = NDArray[np.intp]
Columns = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Released:
    """One value for each record in each column; `satisfied` says what constraints changed."""

    columns: dict[str, NDArray[Any]]
    satisfied: Satisfied | None


def released_columns(
    columns: Columns,
    labels: Labels,
    *,
    points: Columns | None = None,
    system: System | None = None,
    units: Mapping[str, float],
) -> Released:
    """Return what every record gets: the mean of its group, or the group's entry in `points`.

    Values have the types of their columns. Where a system of constraints speaks of a column, its
    values are those nearest to the means or points, in `units`, that satisfy the system.
    """
    satisfied = None
    chosen = dict(points or {})
    if system is not None:
        centers = {
            name: group_means(columns[name], labels) if points is None else points[name]
            for name in system.columns
        }
        satisfied = _satisfied(system, centers, columns, units)
        chosen |= satisfied.values
    released = {
        name: released_points(chosen[name], labels, like=values, name=name)
        if name in chosen
        else released_means(values, labels, name=name)
        for name, values in columns.items()
    }
    return Released(released, satisfied)


def _satisfied(
    system: System, centers: Columns, columns: Columns, units: Mapping[str, float]
) -> Satisfied:
    """Return the nearest values that satisfy the system, 32-bit floats as those can hold them.

    These are rounded first, and the other columns make up for it.
    """
    found = system.nearest(centers, units)
    narrow = [name for name in system.columns if columns[name].dtype == np.float32]
    if not narrow:
        return found
    values = found.values
    rounded = {name: _narrowed(values[name], *system.bounds(name)) for name in narrow}
    if len(narrow) < len(system.columns):
        held = {**units, **dict.fromkeys(narrow, 0.0)}
        values = system.nearest({**values, **rounded}, held).values
        rounded = {name: _narrowed(values[name], *system.bounds(name)) for name in narrow}
    return replace(found, values={**values, **rounded})


def _narrowed(values: NDArray[Any], low: float, high: float) -> NDArray[np.float64]:
    """Return the nearest 32-bit floats within the bounds, in 64 bits."""
    with np.errstate(over="ignore"):
        least, most = np.float32(low), np.float32(high)
    least = np.nextafter(least, np.float32(np.inf)) if float(least) < low else least
    most = np.nextafter(most, np.float32(-np.inf)) if float(most) > high else most
    return np.clip(values.astype(np.float32), least, most).astype(np.float64)
