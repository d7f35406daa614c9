"""Manifests for tests, without a release behind them."""

from typing import Any

from microagg.plans.manifest import Manifest

_DEFAULTS: dict[str, Any] = {
    "microagg_version": "0.1.0",
    "libraries": {"numpy": "2.0.0"},
    "input": {},
    "plan": {"k": 5},
    "command": "",
    "method": "mdav",
    "guarantee": "k to 2k-1 records in every group",
    "options": {},
    "random_state": None,
    "k": 5,
    "scale": "standardise",
    "quasi_identifiers": ["a"],
    "assumed_quasi_identifiers": [],
    "sensitive": [],
    "strata": [],
    "weights": None,
    "unchanged": [],
    "identifiers": [],
    "columns": {},
    "promise": "k-anonymity",
    "interrupted": False,
    "timed_out": False,
    "n_records": 40,
    "n_groups": 8,
    "min_group": 5,
    "max_group": 5,
    "group_sizes": {"5": 8},
    "smallest_class": 5,
    "n_classes": 8,
    "information_loss": 20.0,
    "grouping_loss": 20.0,
    "sse": 8.0,
    "sst": 40.0,
    "bound": None,
    "lower_bound": None,
    "gap": None,
    "proved_optimal": False,
    "constraints": None,
    "missing_values": None,
    "strata_found": None,
    "blocks": [["a"]],
    "new_combinations": None,
    "draw": None,
    "key": None,
    "dropped": [],
    "verified": True,
    "seconds": 0.5,
}
DRAW = {
    "n_centers": 9,
    "expected_sizes": [4.5] * 9,
    "realised_sizes": [4] * 9,
    "n_expected_below_k": 4,
    "n_realised_below_k": 3,
    "fuzziness": {},
    "doubt": 1.0,
}


def manifest(**changes: Any) -> Manifest:
    """Return a manifest of a plain release, but for the changes."""
    return Manifest.model_validate(_DEFAULTS | changes)
