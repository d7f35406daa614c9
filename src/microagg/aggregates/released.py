"""The released value of every group in every column, within the constraints."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.aggregates.choices import Aggregate, Missing
from microagg.aggregates.digits import EVERY_DIGIT, Digits
from microagg.aggregates.mean import group_means, in_type, means_in_type
from microagg.aggregates.median import group_medians
from microagg.aggregates.mode import group_modes
from microagg.aggregates.rounded import rounded_aggregates
from microagg.aggregates.values import SAME_SHARE, Values
from microagg.constraints.system import Satisfied, System
from microagg.core.arrays import Floats, Labels


def group_values(
    values: Values,
    labels: Labels,
    how: Aggregate,
    missing: Missing,
    weights: Floats | None = None,
    digits: Digits = EVERY_DIGIT,
    *,
    name: str,
    overall: float | None = None,
) -> Values:
    """Return what every group releases of a column, in the column's own type, with its digits.

    Missing values do not count. A group with more missing values than present ones releases a
    missing value. With imputation it releases the aggregate of those present, or, if there are
    none, that of all records, or `overall` if these are a part of a table. `name` is the column's,
    for error messages.
    """
    if values.missing is None:
        return Values(_aggregated(values.numbers, labels, how, weights, digits, name))
    present = ~values.missing
    n_groups = int(labels.max()) + 1
    if not present.any():
        if missing is Missing.IMPUTE and overall is not None:
            return Values(np.full(n_groups, overall, dtype=values.numbers.dtype))
        return Values(np.zeros(n_groups, dtype=values.numbers.dtype), np.ones(n_groups, np.bool_))
    own = None if weights is None else weights[present]
    found, compact = np.unique(labels[present], return_inverse=True)
    compact = compact.reshape(-1)
    numbers = np.zeros(n_groups, dtype=values.numbers.dtype)
    if missing is Missing.IMPUTE and overall is not None:
        numbers[:] = overall
    elif missing is Missing.IMPUTE:
        everyone = np.zeros(len(compact), dtype=np.intp)
        numbers[:] = _aggregated(values.present, everyone, how, own, digits, name)[0]
    numbers[found] = _aggregated(values.present, compact, how, own, digits, name)
    if missing is Missing.IMPUTE:
        return Values(numbers)
    counts = np.ones(len(labels)) if weights is None else weights
    absent = np.bincount(labels, weights=counts * values.missing)
    total = np.bincount(labels, weights=counts)
    return Values.of(numbers, absent > total * (0.5 + SAME_SHARE))


def _aggregated(
    numbers: NDArray[Any],
    labels: Labels,
    how: Aggregate,
    weights: Floats | None,
    digits: Digits,
    name: str,
) -> NDArray[Any]:
    if how is Aggregate.MODE:
        return group_modes(numbers, labels, weights)
    if digits.rounds(numbers.dtype):
        return rounded_aggregates(numbers, labels, how, weights, digits, name=name)
    if how is Aggregate.MEAN:
        return means_in_type(numbers, labels, weights, name=name)
    middle = group_medians(numbers, labels, weights, lower=how is Aggregate.LOWER_MEDIAN)
    return in_type(middle, dtype=numbers.dtype, name=name)


def satisfied_means(
    system: System,
    values: Mapping[str, Values],
    labels: Labels,
    units: Mapping[str, float],
    *,
    weights: Floats | None = None,
    points: Mapping[str, Floats] | None = None,
    overall: Mapping[str, float] | None = None,
) -> Satisfied:
    """Return values of every group, nearest to its means in `units`, that satisfy the system.

    `points`, if given, replace the means. `overall` are the means of a whole table of which these
    records are a part, for groups in which all values are missing. Columns of 32-bit floats that
    are released with every digit get values that fit them: they are rounded first, and the other
    columns compensate.
    """
    centers = points
    if centers is None:
        means = overall or {}
        centers = {
            name: _centers(values[name], labels, weights, means.get(name))
            for name in system.columns
        }
    types = {name: values[name].numbers.dtype for name in system.columns}
    found = system.nearest({name: centers[name] for name in system.columns}, units)
    free = [name for name in system.columns if name not in system.steps.digits]
    narrow = [name for name in free if types[name] == np.float32]
    if not narrow:
        return found
    chosen = found.values
    rounded = {name: _narrowed(chosen[name], *system.bounds(name)) for name in narrow}
    if len(narrow) < len(system.columns):
        held = {**units, **dict.fromkeys(narrow, 0.0)}
        chosen = system.nearest({**chosen, **rounded}, held).values
        rounded = {name: _narrowed(chosen[name], *system.bounds(name)) for name in narrow}
    return replace(found, values={**chosen, **rounded})


def _centers(
    values: Values, labels: Labels, weights: Floats | None, overall: float | None
) -> Floats:
    """Return the means of the values present; a group without any gets the mean of all."""
    if values.missing is None:
        return group_means(values.numbers, labels, weights)
    present = ~values.missing
    own = None if weights is None else weights[present]
    if overall is None:
        everyone = np.zeros(int(present.sum()), dtype=np.intp)
        overall = group_means(values.present, everyone, own)[0]
    centers = np.full(int(labels.max()) + 1, overall, dtype=np.float64)
    if not present.any():
        return centers
    found, compact = np.unique(labels[present], return_inverse=True)
    centers[found] = group_means(values.present, compact.reshape(-1), own)
    return centers


def _narrowed(values: NDArray[Any], low: float, high: float) -> Floats:
    """Return the nearest 32-bit floats within the bounds, in 64 bits."""
    with np.errstate(over="ignore"):
        least, most = np.float32(low), np.float32(high)
    least = np.nextafter(least, np.float32(np.inf)) if float(least) < low else least
    most = np.nextafter(most, np.float32(-np.inf)) if float(most) > high else most
    return np.clip(values.astype(np.float32), least, most).astype(np.float64)
