"""The linear relaxation of keeping margins: a choice to start from, and a lower bound."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from microagg.aggregates.margin_moves import MarginProblem
from microagg.core.arrays import Floats, Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Candidates in the program; of more, groups are sampled at equal intervals.
MOST_CANDIDATES = 10_000


class Prices(NamedTuple):
    """What one more record in each category is worth, and what a unit of loss is."""

    margins: Floats
    loss: float


def relaxed(problem: MarginProblem, least: Rows) -> tuple[Rows, Prices]:
    """Let groups be divided between their candidates; return the nearest choice, and the prices.

    `least` are the candidates that lose least. At most as many groups as there are categories are
    divided in the solution; these go to their largest part.
    """
    counts = np.bincount(problem.groups)
    open_groups = np.flatnonzero(counts > 1)
    every = -(-int(counts[open_groups].sum()) // MOST_CANDIDATES)
    sample = open_groups[:: max(1, every)]
    inside = np.flatnonzero(np.isin(problem.groups, sample))
    share = len(sample) / len(open_groups)
    found = _solve(problem, inside, sample, least, share)
    if found is None:
        return least, Prices(np.zeros(len(problem.base)), 0.0)
    parts, prices = found
    if every > 1:
        return _first_least(problem.groups, _costs(problem, prices)), prices
    chosen = least.copy()
    own = problem.groups[inside]
    chosen[np.unique(own)] = inside[_first_least(own, -parts)]
    return chosen, prices


def _solve(
    problem: MarginProblem, inside: Rows, sample: Rows, least: Rows, share: float
) -> "tuple[NDArray[Any], Prices] | None":
    """Solve the program of the candidates `inside`, all those of the `sample` of groups.

    The totals and the loss of a sample are to change by its share of what all groups change.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack

    own = np.searchsorted(sample, problem.groups[inside])
    m, n_margins, width = len(inside), len(problem.base), problem.margins.shape[1]
    columns = np.repeat(np.arange(m), width)
    sizes = np.repeat(problem.sizes[problem.groups[inside]], width)
    rows = np.concatenate([problem.margins[inside].reshape(-1), n_margins + own])
    entries = np.concatenate([sizes, np.ones(m)])
    shape = (n_margins + len(sample), m)
    chosen = csr_array((entries, (rows, np.concatenate([columns, np.arange(m)]))), shape=shape)
    over = csr_array(
        (np.full(n_margins, -1.0), (np.arange(n_margins), np.arange(n_margins))),
        shape=(shape[0], n_margins),
    )
    released = np.bincount(
        problem.margins[least[sample]].reshape(-1),
        weights=np.repeat(problem.sizes[sample], width),
        minlength=n_margins,
    )
    wanted = released - share * problem.excess(least)
    scale = problem.loss(least) or 1.0
    losses = problem.losses[inside] / scale
    spent = problem.losses[least[sample]].sum() + share * (problem.limit - problem.loss(least))
    slack = np.zeros(2 * n_margins)
    solved = linprog(
        np.concatenate([problem.rate * scale * losses, slack + 1.0]),
        A_ub=csr_array(np.concatenate([losses, slack])[None]),
        b_ub=[spent / scale * (1.0 + 1e-12)],
        A_eq=hstack([chosen, over, -over], format="csr"),
        b_eq=np.concatenate([wanted, np.ones(len(sample))]),
        method="highs-ds",
    )
    if solved.status != 0:
        return None
    margins = np.clip(solved.eqlin.marginals[:n_margins], -1.0, 1.0)
    # The marginal of the limit is negative: more room for loss means less deviation.
    return solved.x[:m], Prices(
        margins, max(0.0, problem.rate - float(solved.ineqlin.marginals[0]) / scale)
    )


def lower_bound(problem: MarginProblem, prices: Prices) -> float:
    """Return what no choice within the limit can deviate less than; right for any prices.

    For prices between -1 and 1, the sum of |excess| is at least minus their product with it, and a
    choice within the limit gains nothing from a price of loss above it. So the least of

        price of loss * (loss - limit) - prices * excess

    over all choices is a bound, and each group minimises its own part of it.
    """
    costs = _costs(problem, prices)
    best = costs[_first_least(problem.groups, costs)].sum()
    found = best - prices.loss * problem.limit - float(prices.margins @ problem.base)
    return max(0.0, float(found) - 1e-9 * float(np.abs(problem.base).sum()))


def _costs(problem: MarginProblem, prices: Prices) -> Floats:
    worth = prices.margins[problem.margins].sum(axis=1) * problem.sizes[problem.groups]
    costs: Floats = prices.loss * problem.losses - worth
    return costs


def _first_least(groups: Rows, values: Floats) -> Rows:
    """Return for each group the place of its least value; groups ascend."""
    order = np.lexsort((np.arange(len(values)), values, groups))
    firsts: Rows = order[np.flatnonzero(np.diff(groups[order], prepend=-1))]
    return firsts
