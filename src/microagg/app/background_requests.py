"""What a desk asks for on its own: violations of constraints, shared categories."""

from microagg.app.answers import (
    Categories,
    CategoriesRequest,
    Column,
    Described,
    ViolationsRequest,
)
from microagg.app.state import Choices


def violations_request(now: Choices) -> ViolationsRequest:
    """Return what counts violations: of the plan, what they depend on."""
    asked = now.plan.as_dict()
    needed = ("constraints", "na", "dates", "missing", "columns")
    assert now.source is not None
    plan = {"k": 1, **{name: asked[name] for name in needed if name in asked}}
    return ViolationsRequest(source=now.source, plan=plan)


def categories_request(now: Choices, found: Described) -> CategoriesRequest | None:
    """Return what asks which categories enough units share, once a unit was chosen.

    None where there is none, or the description has counted by its values already.
    """
    unit = now.plan.unit_column
    if now.source is None or unit is None or unit in found.people:
        return None
    listed = tuple(own.name for own in found.columns if own.categories)
    if not listed or unit not in [own.name for own in found.columns]:
        return None
    return CategoriesRequest(source=now.source, na=now.plan.na, unit=unit, columns=listed)


def with_shared(found: Described, shared: Categories | None) -> Described:
    """Return a description that lists only shared categories: none until these are known."""
    columns = tuple(_with_shared(own, shared) if own.categories else own for own in found.columns)
    return found.model_copy(update={"columns": columns})


def _with_shared(column: Column, shared: Categories | None) -> Column:
    if shared is None:
        return column.model_copy(update={"categories": (), "n_rare": 0})
    known = shared.shared.get(column.name, ())
    kept = tuple(own for own in column.categories if own in known)
    n_rare = column.n_rare + len(column.categories) - len(kept)
    return column.model_copy(update={"categories": kept, "n_rare": n_rare})
