"""What a dataset cannot have that a table can, refused before any data are read."""

from collections.abc import Iterator

from microagg.bounds.choices import AUTO, NONE
from microagg.core.errors import ParameterError
from microagg.core.registry import find
from microagg.plans.plan import Plan
from microagg.scale.sources.listing import Listing
from microagg.tables.roles import PUBLISH, STRATUM


def check_plan(plan: Plan) -> None:
    """Refuse a plan that asks for something that is not there for datasets."""
    for what in _not_there(plan):
        raise ParameterError(
            f"{what} not available for datasets beyond memory. Leave it out, or protect a table "
            "that fits in memory (microagg.protect, or microagg protect FILE without --memory)."
        )


def _not_there(plan: Plan) -> Iterator[str]:
    if find(plan.method).draws:
        yield f"method {plan.method!r}, whose records draw their values, is"
    if plan.hybrid:
        yield "hybrid (--hybrid) is"
    if plan.blocks:
        yield "blocks of columns (--block) are"
    if plan.keep_margins:
        yield "keeping the totals of categories (--keep-margins) is"
    if plan.shuffle:
        yield "a random order of the records (--shuffle) is"
    if plan.time_budget is not None:
        yield "a time budget (--time-budget), with which no two runs are alike, is"
    if plan.bound not in (AUTO, NONE):
        yield "a bound (--bound) is"
    if any(not isinstance(own, (bool, int, float, str)) for own in plan.method_options.values()):
        yield "an option of the method with a value for every record is"


def check_folders(plan: Plan, listing: Listing) -> None:
    """Refuse folders named by values of a column that is not published."""
    for name in listing.in_folders:
        role = plan.columns[name].role if name in plan.columns else None
        if role not in (STRATUM, PUBLISH):
            raise ParameterError(
                f"the folders are named by values of {name!r}, and the output has the same names. "
                f"Make it a stratum (--strata {name}, or strata=[{name!r}] in Python) or publish "
                f"it (--publish {name}, or publish=[{name!r}]); otherwise rename the folders."
            )
        if role == STRATUM and plan.small_strata == "merge":
            raise ParameterError(
                f"the folders are named by values of {name!r}, so its strata cannot be merged "
                "(--small-strata merge). Leave it out, or use coarser strata."
            )
