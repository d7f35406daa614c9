"""Whether the options of a plan suit its method, its columns and each other; no data are needed."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from microagg.aggregates.choices import Missing
from microagg.bounds.choices import AUTO, NONE
from microagg.core.errors import ParameterError
from microagg.core.registry import NOT_OPTIONS, Method
from microagg.core.words import did_you_mean, joined
from microagg.plans.columns import VALUES, ColumnPlan, keywords_about
from microagg.plans.fields import DEFAULT_EFFORT, PlanFields
from microagg.plans.options import options_of
from microagg.plans.units import ROWS
from microagg.requirements.base import About
from microagg.tables.columns import ColumnOptions, ColumnType
from microagg.tables.roles import QUASI_IDENTIFIER, SENSITIVE, UNIT, WEIGHT
from microagg.tables.scaling import UNSCALED

if TYPE_CHECKING:
    from microagg.plans.plan import Plan

_OPTIONS = tuple(options_of(PlanFields))
# Fields that choose the method, or that belong to the chosen one.
METHOD_FIELDS = ("method", "method_options", "strict_k")


def check_agreement(plan: "Plan", method: Method) -> None:
    """Refuse options that the method does not have, or that contradict each other."""
    _check_options(plan, method)
    _check_conditions(plan)
    _check_columns(plan)
    _check_roles(plan)
    _check_unit(plan)
    _check_requirements(plan, method)
    _check_blocks(plan)
    _check_hybrid(plan, method)
    if plan.bound not in (AUTO, NONE) and method.draws and not plan.strict_k:
        raise ParameterError(
            f"a bound (--bound) is for groups of at least k; {method.name!r} draws values at "
            "random and does not guarantee k. Use strict_k (--strict-k), or leave the bound out."
        )


def options_of_another_method(planned: Mapping[str, Any], method: Method) -> list[str]:
    """Return the fields of a plan that have no meaning once this method replaces its own.

    `planned` are all its fields, with those that override others.

    >>> from microagg.core.registry import find
    >>> options_of_another_method({"k": 5, "effort": "best", "strict_k": False}, find("mdav"))
    ['effort']
    """
    meaningless = {
        "method_options": True,
        "effort": "effort" not in method.options and planned.get("effort") != DEFAULT_EFFORT,
        "time_budget": "time_budget" not in method.options and planned.get("bound") != "tight",
        "strict_k": not method.draws,
    }
    return [name for name, is_so in meaningless.items() if is_so and planned.get(name)]


def _check_options(plan: "Plan", method: Method) -> None:
    known = [name for name in method.options if name not in NOT_OPTIONS]
    for name in plan.method_options:
        if name in method.options and name in NOT_OPTIONS:
            raise ParameterError(f"{name} is not an option of a method: {NOT_OPTIONS[name]}.")
        if name not in known:
            listing = ", ".join(repr(option) for option in known)
            those = f"its options are {listing}" if known else "it takes no options"
            raise ParameterError(
                f"method {method.name!r} has no option {name!r}; {those}."
                f"{did_you_mean(name, known)}"
            )
    if plan.method_options.get("integer") is True and plan.scale != UNSCALED:
        raise ParameterError(
            "the option integer compares whole numbers; it needs the scale 'none' (--scale none, "
            "or scale='none' in Python)."
        )


def _check_conditions(plan: "Plan") -> None:
    """Refuse options that have no meaning in this plan."""
    for own in _OPTIONS:
        only_if = own.only_if
        if only_if is None or getattr(plan, own.keyword) == own.default:
            continue
        if not only_if.condition(plan):
            why = only_if.otherwise.format(method=plan.method)
            raise ParameterError(f"{own.keyword} ({own.flag.name}) {why}")


def _check_columns(plan: "Plan") -> None:
    for name, column in plan.columns.items():
        if (options := column.options) is None:
            continue
        if column.role not in (None, QUASI_IDENTIFIER) and not _orders_values(column):
            others = joined(keywords_about(About.ORDERED_VALUES))
            raise ParameterError(
                f"column {name!r} is given the role {column.role}, but types, orders, "
                "aggregates, resolutions, digits and weights of columns are for quasi-identifiers "
                f"(types and orders for {others} as well). Remove one or the other."
            )
        if (kind := options.stated_type) is not None:
            options.check_for(kind, name)


def _orders_values(column: ColumnPlan) -> bool:
    """Whether its options are a type and an order that a requirement such as t-closeness needs."""
    said = column.options or ColumnOptions()
    is_just_that = said == ColumnOptions(said.type, said.order)
    is_needed = bool(column.required_about(About.ORDERED_VALUES))
    return column.role == SENSITIVE and is_needed and is_just_that


def _check_unit(plan: "Plan") -> None:
    units = plan.columns_as(UNIT)
    if len(units) > 1:
        listing = ", ".join(map(repr, units))
        raise ParameterError(
            f"only one column can say whom a record is about; got {listing}. Choose one unit, and "
            "drop the others as identifiers."
        )
    if ROWS in units:
        raise ParameterError(
            f"a column named {ROWS!r} cannot be the unit, as that name says that every record is "
            "about a different person. Rename the column."
        )
    if units and plan.unit == ROWS:
        raise ParameterError(
            f"the unit is given twice: as column {units[0]!r}, and as {ROWS!r} for records that "
            "are each about a different person. Remove one of them."
        )
    if units and plan.keep_key:
        raise ParameterError(
            "keep_key (--keep-key) cannot be used with a unit: a key leads back to every record of "
            f"the same {units[0]!r}, which together reveal more than each alone. Leave out the key."
        )


def _check_requirements(plan: "Plan", method: Method) -> None:
    asked = [name for name, column in plan.columns.items() if _requires(column)]
    if method.draws and (asked or plan.unit_column is not None):
        what = "a unit" if plan.unit_column is not None else "requirements on groups"
        raise ParameterError(
            f"method {method.name!r} draws values at random and cannot take {what} into account. "
            "Use another method, such as 'auto'."
        )
    if method.needs and not plan.asks_for(method.needs):
        raise ParameterError(
            f"method {method.name!r} groups for {method.needs}, which is not asked for. Name a "
            f"sensitive column for it ({method.needed_flag} COLUMN=VALUE), or use another method, "
            "such as 'auto'."
        )
    for name in asked:
        _check_values_of(name, plan)
        _check_contributions_of(name, plan.columns[name])


def _requires(column: ColumnPlan) -> bool:
    return column.is_about_values or column.is_about_contributions


def _check_values_of(name: str, plan: "Plan") -> None:
    column = plan.columns[name]
    if not (asked := column.required_about(*VALUES)) or column.role == SENSITIVE:
        return
    option = asked[0]
    now = f"has the role {column.role}" if column.role else "has no role"
    raise ParameterError(
        f"{option} (--{option.replace('_', '-')}) is for sensitive columns, which are published "
        f"unchanged; {name!r} {now}.{did_you_mean(name, plan.columns_as(SENSITIVE))} Make it "
        f"sensitive (--sensitive {name}, or sensitive=[{name!r}] in Python), or leave {option} out."
    )


def _check_contributions_of(name: str, column: ColumnPlan) -> None:
    if not (asked := column.required_about(About.CONTRIBUTIONS)):
        return
    option = asked[0]
    said = column.options or ColumnOptions()
    kind = said.stated_type
    if column.role not in (None, QUASI_IDENTIFIER):
        now = f"has the role {column.role}"
    elif kind not in (None, ColumnType.CONTINUOUS, ColumnType.INTEGER):
        now = f"is of the type {str(kind)!r}"
    elif said.aggregate not in (None, "mean"):
        now = f"has the aggregate {said.aggregate!r}"
    else:
        return
    raise ParameterError(
        f"{option} (--{option.replace('_', '-')}) is for quasi-identifiers that are released as "
        f"means; {name!r} {now}. Change that, or leave {option} out."
    )


def _check_roles(plan: "Plan") -> None:
    weights = plan.columns_as(WEIGHT)
    if len(weights) > 1:
        listing = ", ".join(map(repr, weights))
        raise ParameterError(f"only one column can contain weights; got {listing}. Choose one.")


def _check_blocks(plan: "Plan") -> None:
    taken: set[str] = set()
    for name in (name for block in plan.blocks for name in block):
        column = plan.columns.get(name)
        if column is not None and column.role not in (None, QUASI_IDENTIFIER):
            raise ParameterError(
                f"blocks consist of quasi-identifiers; {name!r} has the role {column.role}. Remove "
                "it from the block, or change its role."
            )
        if name in taken:
            raise ParameterError(
                f"column {name!r} can be in one block only; it is named twice. Remove one."
            )
        taken.add(name)


def _check_hybrid(plan: "Plan", method: Method) -> None:
    if not plan.hybrid:
        return
    unfit = {
        f"the method {method.name!r}": method.draws,
        "weights": bool(plan.columns_as(WEIGHT)),
        "a unit": plan.unit_column is not None,
        "requirements on groups": any(_requires(column) for column in plan.columns.values()),
        "missing values": plan.missing is not Missing.ERROR,
        "keep_margins (--keep-margins)": plan.keep_margins,
        "digits (--digits)": any(isinstance(own.digits, int) for own in plan.columns.values()),
        # What is drawn follows from the seed and the order, and so the order from what is released.
        "shuffle (--shuffle)": plan.shuffle,
    }
    if found := [what for what, is_there in unfit.items() if is_there]:
        raise ParameterError(
            "hybrid (--hybrid) replaces every record by a synthetic one, whose numbers no other "
            f"needs to share; it does not work with {' or with '.join(found)}. Leave out one or "
            "the other."
        )
    for constraint in plan.constraints:
        if constraint.relation != "=":
            raise ParameterError(
                f"constraint {constraint.text!r}: hybrid records (--hybrid) keep equalities, not "
                "inequalities, as they may lie outside the range of the original ones. Remove the "
                "constraint, or hybrid."
            )
