"""One combination of categories from each group, so that the totals of all categories are kept.

A category that is in the minority in every group would vanish if each released what loses least.
Here, among all choices that lose at most `EXTRA_LOSS` more than the least possible, the one is
sought whose totals deviate least from the original: the sum, over all columns and categories, of
|total released - total before|. Of nearly equal ones, the one that loses least.

Groups differ in size, so this is not a flow. The linear relaxation, in which a group may be divided
between its candidates, gives a choice to start from, and prices of categories and of loss, from
which a lower bound follows; the prices of a sample will do, if there are many groups. Moves of one
group, or of two, then improve the choice.
"""

from dataclasses import dataclass, replace

from microagg.aggregates.candidates import Candidates
from microagg.aggregates.margin_moves import MarginProblem, improve
from microagg.aggregates.margin_program import lower_bound, relaxed
from microagg.core.arrays import Rows
from microagg.core.progress import report

EXTRA_LOSS = 0.1
# What all of the extra loss is worth, just enough to prefer less of it: this share of the deviation
# of the choice that loses least, or this many records if that is more.
_WORTH_SHARE, _WORTH_RECORDS = 0.001, 0.1


@dataclass(frozen=True, eq=False)
class KeptMargins:
    """A candidate for each group, and how far the totals of categories are from the original.

    Deviations are sums over all categories, in the weight of records: that of the choice, that of
    the one that loses least, and one that no choice with so little extra loss can be below. Losses
    are shares of the variance of the columns, summed.
    """

    chosen: Rows
    deviation: float
    least_loss_deviation: float
    lower_bound: float
    loss: float
    least_loss: float


def keep_margins(candidates: Candidates, least: Rows, others: Rows) -> KeptMargins:
    """Choose a candidate for each group so that the totals of categories are kept.

    `least` are the candidates that lose least; `others` has the margins that groups without
    candidates release, a row for every group. The same input gives the same choice.
    """
    loss = float(candidates.losses[least].sum())
    problem = MarginProblem.of(candidates, others, (1.0 + EXTRA_LOSS) * loss)
    unit = float(candidates.weights.mean())
    before = problem.deviation(least)
    has_choice = len(candidates.groups) > len(least)
    if before <= 1e-9 * len(candidates.labels) or loss == 0.0 or not has_choice:
        return KeptMargins(least, before * unit, before * unit, before * unit, loss, loss)
    worth = max(_WORTH_RECORDS, _WORTH_SHARE * before)
    problem = replace(problem, rate=worth / (EXTRA_LOSS * loss))
    report("keeping margins", 0, 3)
    start, prices = relaxed(problem, least)
    bound = lower_bound(problem, prices)
    ends: list[Rows] = []
    for chosen in (start, least):
        report("keeping margins", 1 + len(ends), 3)
        ends.append(improve(problem, chosen, least))
    report("keeping margins", 3, 3)
    best = min(ends, key=lambda end: problem.deviation(end) + problem.rate * problem.loss(end))
    deviation = problem.deviation(best)
    return KeptMargins(
        best,
        deviation * unit,
        before * unit,
        min(bound, deviation) * unit,
        problem.loss(best),
        loss,
    )
