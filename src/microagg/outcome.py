"""Records -> groups -> what each group releases, and what that costs and promises."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.aggregates.released import Released, released_columns
from microagg.constraints.equalities import Equalities
from microagg.constraints.system import System
from microagg.errors import GuaranteeError
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
    """Groups, what they release and promise, and their errors in the space they were compared in.

    `violations` counts the records that violate each constraint; `added_loss` is what satisfying
    the constraints adds to the information loss, in per cent. `interrupted` says
    whether the search for groups was ended from the keyboard, `timed_out` whether by the clock.
    """

    labels: Labels
    released: Released
    errors: Errors
    violations: dict[str, int]
    added_loss: float
    promise: str
    interrupted: bool
    timed_out: bool


def group_and_aggregate(
    method: Method, estimator: Any, records: Records, system: System | None, *, scale: str
) -> Outcome:
    """Group the records with the estimator, and aggregate every group within the constraints.

    Methods whose records draw release the centres that were drawn, others the means of groups.
    """
    scaled = scaling(records.columns, scale=scale)
    if method.draws and system is not None:
        estimator.set_params(constraints=_scaled_equalities(system, records, scaled))
    labels: Labels = estimator.fit(records.X).labels_
    errors = errors_of(method, estimator, records.X)
    points = _drawn_points(estimator, system, records, scaled) if method.draws else None
    units = dict(zip(records.columns, scaled.units.tolist(), strict=True))
    released = released_columns(records.columns, labels, points=points, system=system, units=units)
    violations, added = {}, 0.0
    if system is not None:
        violations = system.violations(records.columns, units)
        _check_satisfied(system.violations(released.columns, units))
        added = _added_error(method, estimator, records, released, scaled)
    added_loss = Errors(added, errors.sst).information_loss
    return Outcome(
        labels,
        released,
        errors,
        violations,
        added_loss,
        promise=_promise_of(method, estimator),
        interrupted=getattr(estimator, "interrupted_", False),
        timed_out=getattr(estimator, "timed_out_", False),
    )


def errors_of(method: Method, estimator: Any, X: Floats) -> Errors:
    """Return the squared errors of fitted groups: about drawn centres where records draw."""
    centers = _drawn_centers(estimator) if method.draws else None
    return squared_errors(X, estimator.labels_, centers)


def _drawn_centers(estimator: Any) -> Floats:
    """Return the centres that some record drew; those that none did come after them."""
    centers: Floats = estimator.centers_[: estimator.n_groups_]
    return centers


def _scaled_equalities(system: System, records: Records, scaled: Scaling) -> tuple[Floats, Floats]:
    """Return the equalities in the units of the matrix, but for those that hold constants.

    Constants do not move in the matrix; what has to be done about them is done afterwards.
    """
    A, b = system.equalities(tuple(records.columns))
    free = (A[:, scaled.units == 0] == 0).all(axis=1)
    return (A * scaled.units)[free], (b - A @ scaled.offsets)[free]


def _drawn_points(
    estimator: Any, system: System | None, records: Records, scaled: Scaling
) -> dict[str, Floats]:
    """Return the drawn centres in the units of the table, on the equalities there."""
    points = _drawn_centers(estimator) * scaled.units + scaled.offsets
    if system is not None:
        A, b = system.equalities(tuple(records.columns))
        points = Equalities.measured(A, b, scaled.units).project(points)
    return dict(zip(records.columns, points.T, strict=True))


def _check_satisfied(violations: Mapping[str, int]) -> None:
    """Refuse to go on if released values violate a constraint, whoever made them."""
    for text, count in violations.items():
        if count:
            raise GuaranteeError(
                f"constraint {text!r} does not hold in {count} of the records to be released; "
                "nothing was released. Change the units of its columns, or remove it."
            )


def _added_error(
    method: Method, estimator: Any, records: Records, released: Released, scaled: Scaling
) -> float:
    """Return the squared error that is added by what constraints made of the values."""
    if released.satisfied is None:
        return 0.0
    labels = estimator.labels_
    drawn = method.draws
    centers = _drawn_centers(estimator) if drawn else summarise(records.X, labels).centers
    errors = []
    for values in (released.satisfied.values, released.satisfied.plain):
        moved = centers.copy()
        for j, name in enumerate(records.columns):
            if name in values and scaled.units[j] > 0:
                moved[:, j] = (values[name] - scaled.offsets[j]) / scaled.units[j]
        errors.append(squared_error(records.X, labels, moved))
    return errors[0] - errors[1]


def _promise_of(method: Method, estimator: Any) -> str:
    """Return what the release promises of the records that share a released combination."""
    if not method.draws or estimator.strict_k:
        return K_ANONYMITY
    return NOTHING if n_expecting_fewer(estimator) else PROBABILISTIC


def n_expecting_fewer(estimator: Any) -> int:
    """Return how many centres of a draw expect fewer than k records."""
    enough = estimator.k * (1.0 - 1e-9)  # sums of memberships round
    return int(np.count_nonzero(estimator.expected_sizes_ < enough))
