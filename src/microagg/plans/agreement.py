"""Whether the options of a plan suit its method; the method itself is not loaded."""

from typing import TYPE_CHECKING

from microagg.bounds.choices import AUTO, NONE
from microagg.core.errors import ParameterError
from microagg.core.registry import NOT_OPTIONS, Method
from microagg.core.validation import did_you_mean
from microagg.tables.scaling import UNSCALED

if TYPE_CHECKING:
    from microagg.plans.plan import Plan

# Parameters of a method that are not among its options here, and how to give them instead.
_ARGUMENTS = {
    "constraints": "give it as --constraint, or constraints=[...] to protect",
    "effort": "give it as --effort, or effort=... to protect",
    "initial_centers": "centres are in scaled units; give them to the class of the method",
    "strict_k": "give it as --strict-k, or strict_k=True to protect",
    "time_budget": "give it as --time-budget, or time_budget=... to protect",
}


def check_agreement(plan: "Plan", method: Method) -> None:
    """Refuse options that the method does not have, or that contradict each other."""
    _check_options(plan, method)
    _check_work(plan, method)
    if plan.strict_k and not method.draws:
        raise ParameterError(
            f"strict_k (--strict-k) is for methods whose records draw their values, such as 'fcm'; "
            f"{method.name!r} guarantees k anyway. Leave it out."
        )
    if plan.bound not in (AUTO, NONE) and method.draws and not plan.strict_k:
        raise ParameterError(
            f"a bound (--bound) is for groups of at least k; {method.name!r} draws and does not "
            "guarantee k. Use strict_k (--strict-k), or leave the bound out."
        )


def _check_options(plan: "Plan", method: Method) -> None:
    known = [name for name in method.options if name not in NOT_OPTIONS]
    for name in plan.method_options:
        if name in method.options and name in NOT_OPTIONS:
            raise ParameterError(f"{name} is not an option of a method: {_ARGUMENTS[name]}.")
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


def _check_work(plan: "Plan", method: Method) -> None:
    if plan.effort != "balanced" and "effort" not in method.options:
        raise ParameterError(
            f"effort (--effort) is for 'auto'; how much work {method.name!r} does depends on its "
            "options. Leave it out."
        )
    takes_time = "time_budget" in method.options or plan.bound == "tight"
    if plan.time_budget is not None and not takes_time:
        raise ParameterError(
            "time_budget (--time-budget) is for the methods 'auto' and 'icsm' and for a tight "
            f"bound; {method.name!r} runs to its end. Leave it out."
        )
