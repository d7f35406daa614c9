"""The manifest of a release: what was done, without any record's values, ready for json.dumps."""

from collections.abc import Sized
from typing import Any

import numpy as np

from microagg.bounds.choice import Bound
from microagg.core.registry import Method
from microagg.measures.utility.information_loss import Errors
from microagg.release.grouping import Grouped
from microagg.release.records import Records
from microagg.release.released import Outcome, n_expecting_fewer
from microagg.release.verification import Classes
from microagg.tables.roles import Roles

# Parameters that are no options: they stand elsewhere in the manifest.
_ELSEWHERE = ("k", "constraints", "initial_centers", "strict_k")


def request_facts(
    method: Method, estimator: Any, scale: str, roles: Roles, *, n_records: int
) -> dict[str, Any]:
    """Say what was asked for, with all that was left to a default or to chance."""
    options = {
        name: value for name, value in estimator.get_params().items() if name not in _ELSEWHERE
    }
    seed = options.pop("random_state", None)
    return {
        "method": method.name,
        "guarantee": method.guarantee.value,
        "options": {name: plain(value, n_records) for name, value in options.items()},
        "random_state": seed if estimator.has_chance() else None,
        "k": int(estimator.k),
        "scale": scale,
        "quasi_identifiers": list(roles.quasi_identifiers),
        "assumed_quasi_identifiers": list(roles.assumed),
        "sensitive": list(roles.sensitive),
        "strata": list(roles.strata),
        "weights": roles.weights,
        "unchanged": list(roles.unchanged),
    }


def group_facts(grouped: Grouped, errors: Errors, classes: Classes) -> dict[str, Any]:
    """Say how the groups came out, what they cost, and what the finished table keeps."""
    sizes = np.concatenate([np.bincount(labels) for labels in grouped.labels])
    histogram = np.bincount(sizes)
    return {
        "n_records": len(grouped.labels[0]),
        "n_groups": len(sizes),
        "min_group": int(sizes.min()),
        "max_group": int(sizes.max()),
        "group_sizes": {str(size): int(histogram[size]) for size in np.flatnonzero(histogram)},
        "smallest_class": classes.smallest,
        "n_classes": classes.count,
        "information_loss": errors.information_loss,
        "sse": errors.sse,
        "sst": errors.sst,
    }


def bound_facts(bound: Bound, errors: Errors) -> dict[str, Any]:
    """Say how far from the best possible the groups can be; None where nobody asked."""
    lower = None if bound.sse is None else Errors(bound.sse, errors.sst).information_loss
    return {
        "bound": bound.tightness,
        "lower_bound": lower,
        "gap": bound.gap(errors.sse),
        "proved_optimal": bound.proves_optimal(errors.sse),
    }


def constraint_facts(outcome: Outcome) -> dict[str, Any] | None:
    """Say how many violated which constraint, and what it took to satisfy all; None without any."""
    found = outcome.constrained
    if found is None:
        return None
    return {
        "records_in_violation": dict(found.violations),
        "groups_moved": sum(block.moved for block in found.satisfied),
        "groups_not_proved_nearest": sum(block.unproved for block in found.satisfied),
        "farther_than_nearest_by_at_most": max(block.excess for block in found.satisfied),
        "added_information_loss": Errors(found.added, outcome.errors.sst).information_loss,
    }


def column_facts(records: Records) -> dict[str, dict[str, Any]]:
    """Say what each quasi-identifier was taken for, and how much of it was missing."""
    return {
        name: {
            "type": str(column.type),
            "aggregate": str(column.aggregate),
            "weight": column.weight,
            "missing": column.values.n_missing,
        }
        for name, column in records.columns.items()
    }


def missing_facts(records: Records, outcome: Outcome) -> dict[str, Any] | None:
    """Say how many values were missing before and after; None if none was."""
    before = records.n_missing
    if not before:
        return None
    after = {name: outcome.released[name].n_missing for name in before}
    return {"treatment": str(records.missing), "before": before, "after": after}


def strata_facts(records: Records) -> dict[str, Any] | None:
    """Say how many strata there are and how small they get; None without any."""
    if records.strata is None:
        return None
    sizes = np.bincount(records.strata.of_record)
    return {
        "columns": list(records.roles.strata),
        "count": int(np.count_nonzero(sizes)),
        "smallest": int(sizes[sizes > 0].min()),
        "merged": records.strata.n_merged,
    }


def combination_facts(outcome: Outcome) -> dict[str, int] | None:
    """Say how many combinations of categories are new; None with fewer than two such columns."""
    found = outcome.new_combinations
    if found is None:
        return None
    return {"combinations": found.combinations, "records": found.records}


def draw_facts(estimator: Any) -> dict[str, Any]:
    """Say what each centre of a drawn release expected and got."""
    expected, realised = estimator.expected_sizes_, estimator.sizes_
    return {
        "n_centers": len(expected),
        "expected_sizes": expected.tolist(),
        "realised_sizes": [int(size) for size in realised],
        "n_expected_below_k": n_expecting_fewer(estimator),
        "n_realised_below_k": int(estimator.n_below_k_),
        "fuzziness": {
            name: float(getattr(estimator, f"{name}_"))
            for name in ("m1", "m2", "lambda1", "lambda2")
            if hasattr(estimator, f"{name}_")
        },
        "doubt": float(estimator.doubt_),
    }


def plain(value: object, n_records: int) -> object:
    """Return what JSON can hold; of arrays and other objects, only what kind they are."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    if not isinstance(value, Sized) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return type(value).__name__
    if len(value) == n_records:
        return f"labels of {n_records:,} records"
    if isinstance(value, (list, tuple)) and all(isinstance(entry, str) for entry in value):
        return list(value)
    return f"{len(value):,} values"
