"""What all rows of a study have in common: how the table was described."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from microagg.core.words import judged_words, listed_names
from microagg.plans.plan import Plan
from microagg.release.records import Records
from microagg.requirements.base import GroupRequirement
from microagg.requirements.units import KUnits
from microagg.tables.roles import Roles


def lacking_categories(records: Records) -> dict[str, bool]:
    """Return by option whether it has no effect, because the records have too few categories."""
    n_categorical = sum(column.type.is_categorical for column in records.columns.values())
    return {"valid_combinations": n_categorical < 2, "keep_margins": n_categorical < 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySetting:
    """The columns by role, their blocks, and the options that change the figures of every row.

    `unused` are the options of the plan that have no effect on the study; `judged` says what
    columns are taken for, and why, where nobody stated it.
    """

    roles: Roles
    blocks: tuple[tuple[str, ...], ...] = ()
    constraints: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    small_strata: str = "error"
    unused: tuple[str, ...] = ()
    judged: tuple[str, ...] = ()
    scale: str = "standardise"

    @classmethod
    def of(cls, records: Records, plan: Plan, unused: tuple[str, ...] = ()) -> "StudySetting":
        """Return the setting of a study of these records."""
        return cls(
            roles=records.roles,
            blocks=tuple(block.names for block in records.blocks),
            constraints=tuple(constraint.text for constraint in plan.constraints),
            requirements=tuple(
                requirement.wording.asked
                for requirement in plan.requirements
                if isinstance(requirement, GroupRequirement) and not isinstance(requirement, KUnits)
            ),
            small_strata=plan.small_strata,
            scale=plan.scale,
            unused=unused,
            judged=tuple(
                judged_words(name, own.type, own.why)
                for name, own in records.judged.items()
                if own.why
            ),
        )

    def rows(self) -> Iterator[tuple[str, str]]:
        """Return rows for a summary: types, strata, weights, blocks and constraints, if any."""
        roles = self.roles
        if self.judged:
            yield "judged", "; ".join(self.judged)
        if roles.unit is not None:
            yield "units", f"{listed_names([roles.unit])}: at least k of them in every group"
        if self.requirements:
            yield "required", "; ".join(self.requirements)
        if roles.strata:
            merged = "; small ones merged at each k" if self.small_strata == "merge" else ""
            yield "strata", f"by {listed_names(roles.strata)}{merged}"
        if roles.weights is not None:
            yield "weights", f"{listed_names([roles.weights])}, in the losses"
        if len(self.blocks) > 1:
            yield "blocks", "; ".join(listed_names(block) for block in self.blocks)
        if self.constraints:
            yield "constraints", "; ".join(self.constraints)

    def notes(self) -> Iterator[str]:
        """Return what a reader of the figures alone must know."""
        if len(self.blocks) > 1:
            yield "blocks: k holds within each block of columns only"
        if self.unused:
            yield f"not used: {', '.join(self.unused)} (without effect here)"

    def as_dict(self) -> dict[str, Any]:
        """Return the setting as plain values, ready for json.dumps."""
        return {
            "quasi_identifiers": list(self.roles.quasi_identifiers),
            "assumed_quasi_identifiers": list(self.roles.assumed),
            "judged": list(self.judged),
            "unit": self.roles.unit,
            "requirements": list(self.requirements),
            "strata": list(self.roles.strata),
            "small_strata": self.small_strata,
            "weights": self.roles.weights,
            "blocks": [list(block) for block in self.blocks],
            "constraints": list(self.constraints),
            "not_used": list(self.unused),
        }
