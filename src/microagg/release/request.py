"""What was asked for, checked before any data are read: the method, its options, the seed."""

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from microagg.aggregates.released import Missing
from microagg.bounds.choice import AUTO, BOUNDS, NONE
from microagg.constraints.grammar import Constraint, parse
from microagg.core.errors import DataError, ParameterError
from microagg.core.registry import GIVEN_OTHERWISE, Method, find
from microagg.core.validation import (
    SeedLike,
    check_choice,
    check_count,
    check_flag,
    check_mapping,
    check_number,
    check_seed,
    did_you_mean,
)
from microagg.release.records import Records
from microagg.tables.columns import ColumnType
from microagg.tables.scaling import LINEAR, SCALES, UNSCALED

# Why a parameter of a method is no option: what a table's owner does instead.
_ARGUMENTS = {
    "constraints": "give it as --constraint, or constraints=[...] to protect",
    "effort": "give it as --effort, or effort=... to protect",
    "initial_centers": "centres are in scaled units; give them to the class of the method",
    "strict_k": "give it as --strict-k, or strict_k=True to protect",
    "time_budget": "give it as --time-budget, or time_budget=... to protect",
}
EFFORT = "balanced"


def check_request(
    method: str,
    k: object,
    *,
    method_options: Mapping[str, Any] | None = None,
    scale: str,
    random_state: SeedLike = None,
    strict_k: bool = False,
    effort: str = EFFORT,
    time_budget: float | None = None,
    bound: str = AUTO,
) -> Any:
    """Return the estimator that was asked for, if the request makes sense without its data.

    If the method takes a seed, it gets a whole number.
    """
    found = find(method)
    k = check_count("k", k)
    check_choice("scale", scale, SCALES)
    options = _check_options(found, method_options)
    if options.get("integer") is True and scale != UNSCALED:
        raise ParameterError(
            "the option integer compares whole numbers; it needs the scale 'none' (--scale none, "
            "or scale='none' in Python)."
        )
    seed = check_seed(random_state)
    if "random_state" in found.options:
        options["random_state"] = _one_seed(seed, random_state, options.get("random_state"))
    if check_flag("strict_k", strict_k):
        if not found.draws:
            raise ParameterError(
                f"strict_k (--strict-k) is for methods whose records draw what they get, such as "
                f"'fcm'; {found.name!r} keeps k in any case. Leave it out."
            )
        options["strict_k"] = True
    options |= _check_work(found, effort, time_budget, bound)
    if bound not in (AUTO, NONE) and found.draws and not strict_k:
        raise ParameterError(
            f"a bound (--bound) is for groups of k or more; {found.name!r} draws and keeps no k. "
            "Use strict_k (--strict-k), or leave the bound out."
        )
    return found.cls(k=k, **options)


def _check_work(
    method: Method, effort: str, time_budget: float | None, bound: str
) -> dict[str, Any]:
    """Return how much work to do, as far as the method leaves a choice."""
    check_choice("bound", bound, BOUNDS)
    work: dict[str, Any] = {}
    if "effort" in method.options:
        from microagg.partitions.auto import EFFORTS

        work["effort"] = check_choice("effort", effort, EFFORTS)
    elif effort != EFFORT:
        raise ParameterError(
            f"effort (--effort) is for 'auto'; {method.name!r} does the work that its options say. "
            "Leave it out."
        )
    if time_budget is not None:
        check_number("time_budget", time_budget, low=0.0)
        if "time_budget" in method.options:
            work["time_budget"] = time_budget
        elif bound != "tight":
            raise ParameterError(
                "time_budget (--time-budget) is for the methods 'auto' and 'icsm' and for a tight "
                f"bound; {method.name!r} ends when it is done. Leave it out."
            )
    return work


def check_constraints(constraints: object) -> tuple[Constraint, ...]:
    """Return the constraints that the texts write; a single text is one constraint."""
    if isinstance(constraints, str):
        return (parse(constraints),)
    if constraints is None:
        return ()
    if not isinstance(constraints, Iterable) or isinstance(constraints, (bytes, Mapping)):
        raise ParameterError(
            "constraints must be a list of texts such as ['net + tax = gross']; got "
            f"{type(constraints).__name__}."
        )
    return tuple(parse(text) for text in constraints)


def _one_seed(seed: int, random_state: object, option: object) -> int:
    if option is None:
        return seed
    if random_state is not None:
        raise ParameterError(
            "the seed is given twice: as --seed (random_state in Python) and as the option "
            "random_state of the method. Remove one of them."
        )
    return check_seed(option)


def _check_options(method: Method, options: Mapping[str, Any] | None) -> dict[str, Any]:
    options = check_mapping("method_options", options)
    parameters = [name for name in inspect.signature(method.cls).parameters if name != "k"]
    known = [name for name in parameters if name not in GIVEN_OTHERWISE]
    for name in options:
        if name in parameters and name in GIVEN_OTHERWISE:
            raise ParameterError(f"{name} is no option here: {_ARGUMENTS[name]}.")
        if name not in known:
            listing = ", ".join(repr(option) for option in known)
            those = f"its options are {listing}" if known else "it takes no options"
            raise ParameterError(
                f"method {method.name!r} has no option {name!r}; {those}."
                f"{did_you_mean(name, known)}"
            )
    return options


def check_single_column(method: Method, records: Records) -> None:
    """Refuse a method for one column where records are compared by several."""
    if not method.single_column:
        return
    for block in records.blocks:
        if len(block.names) > 1:
            listing = ", ".join(repr(name) for name in block.names)
            raise ParameterError(
                f"method {method.name!r} takes exactly one quasi-identifier; got "
                f"{len(block.names)}: {listing}. Give the others another role, or use a method for "
                "several columns such as 'mdav'."
            )
        if block.X.shape[1] > 1:
            raise ParameterError(
                f"method {method.name!r} takes one column of numbers; {block.names[0]!r} has "
                "values without an order, or missing ones. Use another method, such as 'mdav'."
            )


def check_drawable(method: Method, records: Records, *, scale: str) -> None:
    """Refuse what methods whose records draw cannot do: they release centres, not aggregates."""
    if not method.draws:
        return
    unfit = {
        "strata": records.strata is not None,
        "weights": records.weights is not None,
        "blocks": len(records.blocks) > 1,
        "missing values": bool(records.n_missing),
        f"the scale {scale!r}": scale not in LINEAR,
        "quasi-identifiers that are no numbers": not all(
            column.type.is_number for column in records.columns.values()
        ),
        "medians": any(column.aggregate != "mean" for column in records.columns.values()),
        "column weights": any(column.weight != 1.0 for column in records.columns.values()),
    }
    if found := [what for what, is_there in unfit.items() if is_there]:
        raise ParameterError(
            f"method {method.name!r} draws centres of numbers; it does not work with "
            f"{', '.join(found)}. Use another method, such as 'auto'."
        )


def check_bound(bound: str, records: Records) -> str:
    """Return which bound to seek: none with weights, which no bound knows of."""
    if records.weights is None:
        return bound
    if bound in (AUTO, NONE):
        return NONE
    raise ParameterError(
        f"a bound (--bound {bound}) is for records without weights. Leave it out, or the weights."
    )


def check_constrained(columns: Iterable[str], records: Records) -> None:
    """Refuse constraints on what has no means of its own."""
    for name in columns:
        column = records.columns[name]
        if column.type not in (ColumnType.CONTINUOUS, ColumnType.INTEGER):
            raise ParameterError(
                f"constraints are on numbers; {name!r} is of the type {str(column.type)!r}. Remove "
                "the constraint, or change the type."
            )
        if column.aggregate != "mean":
            raise ParameterError(
                f"constraints start from means; {name!r} has the aggregate "
                f"{str(column.aggregate)!r}. Remove the constraint, or the aggregate."
            )
        if column.values.n_missing and records.missing is not Missing.IMPUTE:
            raise DataError(
                f"{name!r} is in a constraint, and values of it are missing, which satisfy none. "
                "Use --missing impute (missing='impute' in Python), or remove the constraint."
            )
