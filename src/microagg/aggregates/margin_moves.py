"""A choice of one candidate for each group, and moves that bring totals nearer to their targets."""

from dataclasses import dataclass

import numpy as np

from microagg.aggregates.candidates import Candidates
from microagg.core.arrays import Floats, Rows

# Smaller gains are rounding error; a record counts as 1.
_NOTHING = 1e-9
# Changes that are tried in one search for two that help together.
_FEWEST_TRIED, _MOST_TRIED = 4, 256
# Categories of candidates looked at in one such search, and in all.
_WORK_IN_SEARCH, _WORK = 20_000_000, 200_000_000


@dataclass(frozen=True, eq=False)
class MarginProblem:
    """Groups with candidates, counted from 0; the weight of an average record is 1.

    `base` is what totals exceed their targets by before any group has released anything. A choice
    may lose at most `limit`; `rate` is what a unit of loss is worth in records of deviation.
    """

    groups: Rows
    margins: Rows
    losses: Floats
    sizes: Floats
    base: Floats
    limit: float
    rate: float = 0.0

    @classmethod
    def of(cls, candidates: Candidates, others: Rows, limit: float) -> "MarginProblem":
        """Return the problem; `others` has the margins of groups without candidates."""
        numbers, groups = np.unique(candidates.groups, return_inverse=True)
        unit, sizes = float(candidates.weights.mean()), candidates.sizes
        alone = np.ones(len(sizes), dtype=np.bool_)
        alone[numbers] = False
        released = np.bincount(
            others[alone].reshape(-1),
            weights=np.repeat(sizes[alone], others.shape[1]),
            minlength=candidates.n_margins,
        )
        base = (released - candidates.targets()) / unit
        margins, losses = candidates.margins, candidates.losses
        own = sizes[numbers] / unit
        return cls(groups.reshape(-1), margins, losses, own, base, limit)

    def excess(self, chosen: Rows) -> Floats:
        """Return by how much the total of each category exceeds its target."""
        margins = self.margins[chosen]
        added = np.bincount(
            margins.reshape(-1),
            weights=np.repeat(self.sizes, margins.shape[1]),
            minlength=len(self.base),
        )
        return self.base + added

    def deviation(self, chosen: Rows) -> float:
        """Return the sum of the absolute deviations of all totals."""
        return float(np.abs(self.excess(chosen)).sum())

    def loss(self, chosen: Rows) -> float:
        """Return what the choice loses."""
        return float(self.losses[chosen].sum())


class _Search:
    """A choice while it is being improved."""

    def __init__(self, problem: MarginProblem, chosen: Rows) -> None:
        self.problem, self.chosen = problem, chosen.copy()
        self.excess, self.loss = problem.excess(chosen), problem.loss(chosen)
        counts = np.bincount(problem.groups)
        self.open = np.flatnonzero(counts[problem.groups] > 1)
        self.own_sizes = problem.sizes[problem.groups[self.open]]
        self.work_of_gains = max(1, len(self.open) * problem.margins.shape[1])
        self.work = 0

    def gains(self) -> tuple[Floats, Floats]:
        """Return what each open candidate would add to the merit, and to the loss, if chosen."""
        problem, now = self.problem, self.chosen[self.problem.groups[self.open]]
        added = np.zeros(len(self.open))
        self.work += self.work_of_gains
        for column in problem.margins.T:
            to, away = column[self.open], column[now]
            change = np.abs(self.excess[to] + self.own_sizes) - np.abs(self.excess[to])
            change += np.abs(self.excess[away] - self.own_sizes) - np.abs(self.excess[away])
            added += np.where(to == away, 0.0, change)
        lost = problem.losses[self.open] - problem.losses[now]
        added += problem.rate * lost
        added[now == self.open] = np.inf
        return added, lost

    def choose(self, candidate: int) -> int:
        """Choose a candidate; return the one that its group had."""
        problem, group = self.problem, self.problem.groups[candidate]
        before, size = int(self.chosen[group]), problem.sizes[group]
        self.excess[problem.margins[before]] -= size
        self.excess[problem.margins[candidate]] += size
        self.loss += float(problem.losses[candidate] - problem.losses[before])
        self.chosen[group] = candidate
        return before

    @property
    def merit(self) -> float:
        """The deviation, and the loss at its rate; the lower the better."""
        return float(np.abs(self.excess).sum()) + self.problem.rate * self.loss

    def fits(self, lost: float) -> bool:
        """Whether this much more loss is within the limit."""
        return self.loss + lost <= self.problem.limit * (1.0 + 1e-12)


def improve(problem: MarginProblem, chosen: Rows, least: Rows) -> Rows:
    """Return a choice that no change of one group improves, and few changes of two do.

    `least` are the candidates that lose least: groups return to them if too much is lost.
    """
    search = _Search(problem, _within_limit(problem, chosen, least))
    while _single_moves(search) or (search.work < _WORK and _double_move(search)):
        pass
    return search.chosen


def _within_limit(problem: MarginProblem, chosen: Rows, least: Rows) -> Rows:
    extra = problem.losses[chosen] - problem.losses[least]
    order = np.argsort(-extra, kind="stable")
    saved = np.concatenate([[0.0], np.cumsum(extra[order])])
    enough = problem.loss(chosen) - saved <= problem.limit
    found = chosen.copy()
    back = order[: int(np.argmax(enough)) if enough.any() else len(order)]
    found[back] = least[back]
    return found


def _single_moves(search: _Search) -> bool:
    """Change groups, best first, as long as each change still helps; say whether any did."""
    added, lost = search.gains()
    helping = np.flatnonzero(added < -_NOTHING)
    found = False
    for at in helping[np.argsort(added[helping], kind="stable")]:
        if not search.fits(lost[at]):
            continue
        before = search.merit
        group = search.problem.groups[search.open[at]]
        previous, loss = search.chosen[group], search.loss
        search.choose(int(search.open[at]))
        if search.merit < before - _NOTHING and search.fits(0.0):
            found = True
        else:
            search.choose(int(previous))
            search.loss = loss
    return found


def _double_move(search: _Search) -> bool:
    """Change two groups that help together, if such are found among the least harmful changes."""
    added, _ = search.gains()
    finite = np.flatnonzero(np.isfinite(added))
    most = int(np.clip(_WORK_IN_SEARCH // search.work_of_gains, _FEWEST_TRIED, _MOST_TRIED))
    if len(finite) > most:
        finite = finite[np.argpartition(added[finite], most - 1)[:most]]
    for at in finite[np.lexsort((finite, added[finite]))]:
        loss = search.loss
        previous = search.choose(int(search.open[at]))
        then, lost = search.gains()
        then[search.problem.groups[search.open] == search.problem.groups[search.open[at]]] = np.inf
        then[search.loss + lost > search.problem.limit * (1.0 + 1e-12)] = np.inf
        best = int(then.argmin()) if len(then) else 0
        if len(then) and then[best] + added[at] < -_NOTHING:
            search.choose(int(search.open[best]))
            return True
        search.choose(previous)
        search.loss = loss
    return False
