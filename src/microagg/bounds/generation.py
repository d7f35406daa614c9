"""The bound by column generation: a linear program over groups, and a search for better ones.

A partition is a choice of groups that covers each record once. Let every record pay a dual, so that
no group costs less than its members pay: then the sum of the duals bounds every partition. A linear
program over the groups known so far proposes duals; the search in `kernels.bounds.pricing` finds
groups that cost less, and lowers the duals until none does. So each round yields a bound, whatever
the program proposed and wherever it is stopped, and groups that make the next proposal better.

Cuts close most of the remaining gap: of the groups that hold two or more of three given records, a
partition uses at most one. A cut's dual, zero or less, counts in the bound, and its amount in the
cost of those groups.
"""

import math
import time
from math import fsum

import numpy as np

from microagg.bounds.choices import tight_task
from microagg.bounds.fast import UNDERFLOW, Shares, list_for_bound
from microagg.bounds.master import Duals, Master, Solution
from microagg.core.arrays import Floats, Rows
from microagg.core.progress import paced, report
from microagg.kernels.basics.group_sums import summarise
from microagg.kernels.bounds.pricing import Found, Prices, SearchTree, settle_records
from microagg.orderings.neighbours import Neighbours

# Largest number of candidates for the groups of one record: the search keeps their distances.
_CANDIDATES = 4096
# Nodes of the search from one record: at first, and at most if more would raise the bound.
_FIRST_NODES, _MOST_NODES = 2_000, 512_000
# Searches get more nodes once unfinished ones cost more than this share of the gap.
_GIVEN_UP = 0.1
# Groups are sought this share of the way from the program's duals to the best ones so far.
_CAUTION, _LEAST_CAUTION, _MOST_CAUTION = 0.9, 0.3, 0.95
# Relative gap to the program's value at which cuts are added, and at which the search ends.
_NEARLY, _REACHED = 3e-4, 5e-8
# Groups kept in the program, for each record.
_KNOWN_PER_RECORD = 8
_ROUNDINGS = 64.0 * np.finfo(np.float64).eps


class Generation:
    """Column generation in progress: the program over known groups, and the best bound so far."""

    def __init__(
        self,
        X: Floats,
        k: int,
        labels: Rows,
        shares: Shares,
        deadline: float = math.inf,
        neighbours: Neighbours | None = None,
    ) -> None:
        self.X, self.k, self.deadline = X, k, deadline
        self.target = summarise(X, labels).sse
        self.bound = min(shares.bound, self.target)
        self.best = Duals(shares.values, np.empty(0))
        nearest = (neighbours or list_for_bound(X, k)).nearest(2 * k - 2)
        self.closeness = np.zeros((len(X), 2 * k - 1))
        np.cumsum(nearest.distances / 2.0, axis=1, out=self.closeness[:, 1:])
        groups = _first_groups(labels, nearest.rows, k)
        self.master = Master(X, groups, max(self.target, 1e-300) / len(X))
        # Outliers first: they have few groups, and later searches need not consider them.
        self.order = np.argsort(-self.closeness[:, k - 1], kind="stable")
        self.n_nodes = _FIRST_NODES
        self.caution = _CAUTION

    def advance(self) -> bool:
        """Solve the program once and search for groups or cuts; False at the end."""
        if self._done():
            return False
        solution = self.master.solve(self.deadline - time.monotonic())
        if solution is None or solution.value <= 0.0:
            return False
        gap = 1.0 - self.bound / solution.value
        if gap < _NEARLY and self.master.cut(solution.weights):
            return True
        if gap < _REACHED:
            return False
        return self._find_groups(solution)

    def _done(self) -> bool:
        reached = self.bound >= self.target * (1.0 - _REACHED)
        return reached or time.monotonic() >= self.deadline

    def _find_groups(self, solution: Solution) -> bool:
        """Search until a group is found that changes the program; False if there is none."""
        caution = self.caution
        while not self._done():
            before, n_known = self.bound, len(self.master.groups)
            groups, lost = self._price(solution.duals.toward(self.best, caution))
            self.master.add(groups)
            self._adapt(self.bound > before, lost > _GIVEN_UP * (solution.value - self.bound))
            costs = self.master.reduced_costs(solution.duals)
            if costs[n_known:].min(initial=0.0) < -_REACHED * self.master.unit:
                self._forget(costs, n_known)
                return True
            if caution == 0.0:
                weights = np.zeros(len(costs))  # groups found since then have none
                weights[: len(solution.weights)] = solution.weights
                return self.master.cut(weights) or self._search_longer(lost)
            caution = caution / 2 if caution > 0.1 else 0.0
        return False

    def _search_longer(self, lost: float) -> bool:
        """Give searches more nodes if what some left open still lowers the bound; else False."""
        if lost <= _REACHED * self.target or self.n_nodes == _MOST_NODES:
            return False
        self.n_nodes = min(4 * self.n_nodes, _MOST_NODES)
        return True

    def _adapt(self, better: bool, gave_up: bool) -> None:
        """Go further from the best duals after success; otherwise less far, or search longer."""
        if better:
            self.caution = max(_LEAST_CAUTION, self.caution - 0.1)
        elif self.caution < _MOST_CAUTION:
            self.caution = min(_MOST_CAUTION, (1.0 + self.caution) / 2)
        elif gave_up:
            self.n_nodes = min(4 * self.n_nodes, _MOST_NODES)

    def _forget(self, costs: Floats, n_known: int) -> None:
        """Keep the program small: drop the most expensive old and new groups.

        Groups that the program may use cost exactly what their members pay, and are kept.
        """
        known, new = costs[:n_known], costs[n_known:]
        limit = max(_smallest(known, _KNOWN_PER_RECORD * len(self.X)), 1e-6 * self.master.unit)
        self.master.forget(np.concatenate([known > limit, new > _smallest(new, len(self.X))]))

    def _price(self, duals: Duals) -> tuple[Rows, float]:
        """Lower the duals until no group costs less.

        Returns the groups that did, and by how much unfinished searches lowered the duals.
        """
        n, width = len(self.X), 2 * self.k - 1
        largest = float(np.abs(duals.records).max())
        slack = 1e-10 * self.master.unit + 1e-13 * largest
        values = duals.records.copy()
        cuts = self.master.penalties(duals)
        prices = Prices(values, np.zeros(n, dtype=np.bool_), self.closeness, cuts)
        tree, found = (
            _scratch(self.k, min(n, _CANDIDATES)),
            Found(np.full((20 * n, width), -1, dtype=np.intp), np.zeros(2, dtype=np.intp)),
        )
        lost, done = 0.0, 0
        for roots in paced(self.order):
            if (
                time.monotonic() >= self.deadline
            ):  # not all records are settled, so these duals prove nothing
                return found.groups[: found.counts[0]], math.inf
            lost += settle_records(self.X, self.k, roots, self.n_nodes, slack, prices, tree, found)
            done += len(roots)
            report(tight_task(self.target, self.bound), done, n)
        magnitude = n * largest + float(np.abs(values).sum() - duals.cuts.sum()) + 2 * self.target
        margin = float(_ROUNDINGS * (self.X.shape[1] + 4 * self.k) * magnitude)
        bound = fsum(values) + fsum(duals.cuts) - margin - slack * (n // self.k) - UNDERFLOW
        if bound > self.bound:
            self.bound, self.best = bound, Duals(values, duals.cuts)
        return found.groups[: found.counts[0]], lost


def _smallest(values: Floats, count: int) -> float:
    """Return the `count`-th smallest value, or infinity if there are no more than that."""
    return float(np.partition(values, count - 1)[count - 1]) if len(values) > count else math.inf


def _scratch(k: int, m: int) -> SearchTree:
    depth = 2 * k - 1
    return SearchTree(
        rows=np.empty(m, dtype=np.intp),
        apart=np.empty((m, m)),
        known=np.zeros(m, dtype=np.bool_),
        sums=np.empty((depth, m)),
        bounds=np.empty((depth, m)),
        path=np.empty(depth, dtype=np.intp),
        pairs=np.empty(depth),
        penalties=np.empty(depth),
    )


def _first_groups(labels: Rows, nearest: Rows, k: int) -> Rows:
    """Return the groups of the partition, and each record grouped with its k-1 nearest."""
    n, width = len(labels), 2 * k - 1
    order, sizes = np.argsort(labels, kind="stable"), np.bincount(labels)
    first = np.cumsum(sizes) - sizes
    given = np.full((len(sizes), width), -1, dtype=np.intp)
    given[labels[order], np.arange(n) - np.repeat(first, sizes)] = order
    stars = np.full((n, width), -1, dtype=np.intp)
    stars[:, 0] = np.arange(n)
    stars[:, 1:k] = nearest[:, : k - 1]
    return np.concatenate([given, stars])
