"""Records -> groups -> what each group releases, and what that costs and promises."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.aggregates.released import Released, released_columns
from microagg.constraints.system import System
from microagg.kernels.groups import squared_error, summarise
from microagg.registry import Method
from microagg.tables.encoding import Scaling, scaling
from microagg.tables.records import Records
from microagg.utility.information_loss import Errors, squared_errors

Labels = NDArray[np.intp]
Floats = NDArray[np.float64]

K_ANONYMITY = "k-anonymity"
PROBABILISTIC = "probabilistic k-anonymity"
NOTHING = "none"


@dataclass(frozen=True)
class Outcome:
    """Groups, what they release, and their squared errors in the space they were compared in.

    `violations` counts the records that violate each constraint; `added_loss` is what satisfying
    the constraints adds to the information loss, in per cent.
    """

    labels: Labels
    released: Released
    errors: Errors
    violations: dict[str, int]
    added_loss: float


def group_and_aggregate(
    method: Method, estimator: Any, records: Records, system: System | None, *, scale: str
) -> Outcome:
    """Group the records with the estimator, and aggregate every group within the constraints.

    Methods whose records draw release the centres that were drawn, others the means of groups.
    """
    scaled = scaling(records.columns, scale=scale) if method.draws or system else None
    if method.draws and system is not None and scaled is not None:
        A, b = system.equalities(tuple(records.columns))
        estimator.set_params(constraints=(A * scaled.units, b - A @ scaled.offsets))
    labels: Labels = estimator.fit(records.X).labels_
    centers = estimator.centers_[: estimator.n_groups_] if method.draws else None
    errors = squared_errors(records.X, labels, centers)
    points, units = None, {}
    if scaled is not None:
        units = dict(zip(records.columns, scaled.units.tolist(), strict=True))
        if centers is not None:
            in_table = centers * scaled.units + scaled.offsets
            points = dict(zip(records.columns, in_table.T, strict=True))
    released = released_columns(records.columns, labels, points=points, system=system, units=units)
    violations, added = {}, 0.0
    if system is not None and scaled is not None:
        violations = system.violations(records.columns)
        added = _added_error(records, labels, centers, released, scaled) - errors.sse
    added_loss = Errors(max(added, 0.0), errors.sst).information_loss
    return Outcome(labels, released, errors, violations, added_loss)


def _added_error(
    records: Records, labels: Labels, centers: Floats | None, released: Released, scaled: Scaling
) -> float:
    """Return the squared error about what constraints made of the centres."""
    moved = (summarise(records.X, labels).centers if centers is None else centers).copy()
    values = released.satisfied.values if released.satisfied else {}
    for j, name in enumerate(records.columns):
        if name in values and scaled.units[j] > 0:
            moved[:, j] = (values[name] - scaled.offsets[j]) / scaled.units[j]
    return squared_error(records.X, labels, moved)


def promise_of(method: Method, estimator: Any) -> str:
    """Return what the release promises of the records that share a released combination."""
    if not method.draws or estimator.strict_k:
        return K_ANONYMITY
    return NOTHING if n_expecting_fewer(estimator) else PROBABILISTIC


def n_expecting_fewer(estimator: Any) -> int:
    """Return how many centres of a draw expect fewer than k records."""
    enough = estimator.k * (1.0 - 1e-9)  # sums of memberships round
    return int(np.count_nonzero(estimator.expected_sizes_ < enough))
