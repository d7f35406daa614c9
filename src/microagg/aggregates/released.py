"""What is released: the value of every group in every column, within the constraints."""

from collections.abc import Mapping
from dataclasses import dataclass
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
        satisfied = system.nearest(centers, units)
        chosen |= satisfied.values
    released = {
        name: released_points(chosen[name], labels, like=values, name=name)
        if name in chosen
        else released_means(values, labels, name=name)
        for name, values in columns.items()
    }
    return Released(released, satisfied)
