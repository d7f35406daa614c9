"""Manifests of earlier schema versions, as they would be written now."""

from collections.abc import Mapping
from typing import Any

from microagg.aggregates.choices import Aggregate
from microagg.tables.columns import ColumnType


def as_of_now(found: Mapping[str, Any], version: int) -> Mapping[str, Any]:
    """Return what a manifest of a schema version says, in the words of the present one.

    Version 1 had no number, and older names in its plan, which plans still read.
    """
    return {**_with_choice_of_then(found), **_two_losses(found)} if version < 4 else found


def _two_losses(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the losses of a manifest from before version 4, which had that of the groups only."""
    losses = {"information_loss": None}
    if "information_loss" in found:
        losses["grouping_loss"] = found["information_loss"]
    if found.get("scale") != "standardise":
        return losses
    if isinstance(hybrid := found.get("hybrid"), Mapping) and not found.get("weights"):
        losses["information_loss"] = hybrid.get("information_loss")
    elif _releases_plain_means(found):
        losses["information_loss"] = found.get("information_loss")
    return losses


def _releases_plain_means(found: Mapping[str, Any]) -> bool:
    """Say whether every released value is known to be a mean that nothing moved or rounded."""
    columns = found.get("columns")
    if not isinstance(columns, Mapping) or found.get("missing_values") or found.get("constraints"):
        return False
    return all(
        isinstance(own, Mapping)
        and (own.get("type"), own.get("aggregate")) == (ColumnType.CONTINUOUS, Aggregate.MEAN)
        and str(own.get("stored")).lower() in ("float32", "float64")
        for own in columns.values()
    )


def _with_choice_of_then(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a manifest that says how categories were chosen, if there are any.

    Before manifests did, each column was chosen on its own unless the plan asked for more.
    """
    plan, columns = found.get("plan"), found.get("columns")
    if "categories" in found or not isinstance(plan, Mapping) or not isinstance(columns, Mapping):
        return found
    types = [own.get("type") for own in columns.values() if isinstance(own, Mapping)]
    if not any(kind.is_categorical for kind in ColumnType if kind in types):
        return found
    plan = {"valid_combinations": False, **plan}
    chosen = {"valid_combinations": plan["valid_combinations"]}
    return {**found, "plan": plan, "categories": chosen}
