"""The groups of a region: those of the search of `auto`, round by round, or of another method."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from microagg.core.arrays import Floats, Labels
from microagg.core.registry import DEFAULT
from microagg.kernels.basics.group_sums import summarise
from microagg.partitions.auto import EFFORTS_FOR_LARGE
from microagg.partitions.search.region import RegionEffort, search_region
from microagg.plans.plan import Plan
from microagg.release.grouping import estimator_of
from microagg.release.parts import fit_under

if TYPE_CHECKING:
    from microagg.requirements.coded import GroupRule

# Lists of neighbours grow with k; larger groups are searched for as in a small table.
_LARGEST_K = 50
# Under requirements a trial is a fixed amount of work, whatever k is.
_HOT = (1.0, 3e-3)
_UNDER_RULES = {
    "fast": RegionEffort(2, 2, 0.07, merges=False, temperatures=_HOT, growth=0.0),
    "balanced": RegionEffort(12, 4, 0.07, merges=True, temperatures=_HOT, growth=0.0),
    "best": RegionEffort(50, 8, 0.07, merges=True, temperatures=_HOT, growth=0.0),
}


def n_rounds(plan: Plan) -> int:
    """Return in how many rounds regions are grouped: one, unless the method is `auto`.

    The last round makes the steps that gain and that no region could make before.
    """
    return EFFORTS_FOR_LARGE[plan.effort].rounds + 1 if plan.method == DEFAULT else 1


def searched(
    plan: Plan,
    X: Floats,
    rules: "Sequence[GroupRule]",
    number: int,
    labels: Labels | None = None,
) -> Labels:
    """Return groups in a round, counted from 1: first ones, or none worse than the given ones."""
    if plan.method == DEFAULT and X.shape[1] > 1 and plan.k <= _LARGEST_K:
        effort = (_UNDER_RULES if rules else EFFORTS_FOR_LARGE)[plan.effort]
        own = effort.turn(number - 1) if number <= effort.rounds else effort.without_trials()
        seed = int(plan.random_state or 0)
        found = search_region(X, plan.k, own, seed, labels=labels, rules=rules)
    else:
        estimator = fit_under(estimator_of(plan), X, rules)
        if estimator.interrupted_:  # here the best groups so far are not a result
            raise KeyboardInterrupt
        found = estimator.labels_
    if labels is None:
        return found
    before, after = summarise(X, labels), summarise(X, found)
    return after.labels if after.sse < before.sse else before.labels
