"""The linear program over groups: a cover of every record by known groups, at least cost."""

from typing import Any, NamedTuple

import numpy as np

from microagg.core.arrays import Floats, Mask, Rows
from microagg.kernels.bounds.pricing import Cuts, group_errors, violated_triples

# By how much a triple must be violated to become a cut; how many cuts at a time, and per record.
_LEAST_EXCESS, _MOST_CUTS, _CUTS_PER_RECORD = 1e-3, 300, 4
_MOST_TRIPLES = 200_000
# Weights that count as zero.
_TINY = 1e-7


class Duals(NamedTuple):
    """The duals of the records, and those of the cuts, which are zero or less."""

    records: Floats
    cuts: Floats

    def toward(self, other: "Duals", share: float) -> "Duals":
        """Return the point a share of the way to other duals, which may lack the newest cuts."""
        known = np.zeros_like(self.cuts)
        known[: len(other.cuts)] = other.cuts
        return Duals(
            (1.0 - share) * self.records + share * other.records,
            (1.0 - share) * self.cuts + share * known,
        )


class Solution(NamedTuple):
    """An optimum of the present program: over the known groups, not all groups."""

    value: float
    weights: Floats
    duals: Duals


class Master:
    """Groups known so far, and cuts: triples of which at most one group may hold two records."""

    def __init__(self, X: Floats, groups: Rows, unit: float) -> None:
        self.X = X
        self.unit = unit
        self.groups = groups[:0]
        self.errors = np.empty(0)
        self.triples = np.empty((0, 3), dtype=np.intp)
        self.add(groups)

    def add(self, groups: Rows) -> None:
        """Add groups that are not known yet."""
        # Descending, so that the padding of -1 stays at the end.
        both = np.concatenate([self.groups, -np.sort(-groups, axis=1)])
        _, first = np.unique(both, axis=0, return_index=True)
        new = both[np.sort(first[first >= len(self.groups)])]
        errors = np.empty(len(new))
        group_errors(self.X, new, errors)
        self.groups = np.concatenate([self.groups, new])
        self.errors = np.concatenate([self.errors, errors])

    def reduced_costs(self, duals: Duals) -> Floats:
        """Return by how much each known group costs more than its members pay."""
        members, broken = self._matrices()
        costs: Floats = self.errors - members.T @ duals.records - broken.T @ duals.cuts
        return costs

    def forget(self, costly: Mask) -> None:
        """Drop groups; the search finds them again should they matter."""
        self.groups, self.errors = self.groups[~costly], self.errors[~costly]

    def _matrices(self) -> tuple[Any, Any]:
        """Return which record is in which group, and which group holds two records of which cut."""
        from scipy.sparse import csc_array, csr_array

        n = len(self.X)
        inside = self.groups >= 0
        ends = np.concatenate([[0], np.cumsum(inside.sum(axis=1))])
        rows = self.groups[inside]
        members = csc_array((np.ones(len(rows)), rows, ends), shape=(n, len(self.groups)))
        corners = self.triples.ravel()
        starts = np.arange(0, len(corners) + 1, 3)
        cuts = csr_array((np.ones(len(corners)), corners, starts), shape=(len(self.triples), n))
        held = csc_array(cuts @ members)
        held.data = (held.data >= 2.0).astype(np.float64)
        held.eliminate_zeros()
        return members, held

    def solve(self, seconds: float) -> Solution | None:
        """Solve the program; None if that does not end in time."""
        from scipy.optimize import linprog

        members, broken = self._matrices()
        found = linprog(
            self.errors / self.unit,
            A_ub=broken if len(self.triples) else None,
            b_ub=np.ones(len(self.triples)) if len(self.triples) else None,
            A_eq=members,
            b_eq=np.ones(len(self.X)),
            method="highs-ds",
            options={"time_limit": max(seconds, 0.01)},
        )
        if found.status != 0:
            return None
        cuts = np.minimum(found.ineqlin.marginals, 0.0) if len(self.triples) else np.empty(0)
        duals = Duals(self.unit * found.eqlin.marginals, self.unit * cuts)
        return Solution(self.unit * found.fun, found.x, duals)

    def cut(self, weights: Floats) -> bool:
        """Add the most violated cuts; False if there are none."""
        partial = (weights > _TINY) & (weights < 1.0 - _TINY)
        groups, weights = self.groups[partial], weights[partial]
        if len(groups) == 0:
            return False
        inside = groups >= 0
        order = np.argsort(groups[inside], kind="stable")
        of = np.repeat(np.arange(len(groups)), inside.sum(axis=1))[order]
        triples = np.empty((_MOST_TRIPLES, 3), dtype=np.intp)
        excess = np.empty(_MOST_TRIPLES)
        begins = _begins(groups[inside], len(self.X))
        count = violated_triples(groups, weights, begins, of, _LEAST_EXCESS, triples, excess)
        chosen = self._most_violated(triples[:count], excess[:count])
        self.triples = np.concatenate([self.triples, chosen])
        return len(chosen) > 0

    def _most_violated(self, triples: Rows, excess: Floats) -> Rows:
        """Return the most violated triples, a few for each record, without known ones."""
        used = np.zeros(len(self.X), dtype=np.intp)
        known = set(map(tuple, self.triples.tolist()))
        chosen: list[Rows] = []
        for at in np.argsort(-excess, kind="stable"):
            triple = triples[at]
            if len(chosen) == _MOST_CUTS:
                break
            if used[triple].max() < _CUTS_PER_RECORD and tuple(triple.tolist()) not in known:
                used[triple] += 1
                chosen.append(triple)
        return np.array(chosen, dtype=np.intp).reshape(-1, 3)

    def penalties(self, duals: Duals) -> Cuts:
        """Return the cuts in the layout that the search reads."""
        corners = self.triples.ravel()
        order = np.argsort(corners, kind="stable")
        held = np.zeros(len(self.triples), dtype=np.intp)
        return Cuts(_begins(corners, len(self.X)), order // 3, -duals.cuts, held)


def _begins(rows: Rows, n: int) -> Rows:
    """Where the entries of each row begin once they are sorted by row."""
    begins = np.zeros(n + 1, dtype=np.intp)
    np.cumsum(np.bincount(rows, minlength=n), out=begins[1:])
    return begins
