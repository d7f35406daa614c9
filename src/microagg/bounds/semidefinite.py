"""The semidefinite bound: the search for its multipliers, by alternating directions.

The relaxation asks for a matrix Z of least cost whose rows are what rows of a partition's matrix
can be (`project_rows`), and which is symmetric and positive semidefinite. Two copies of Z, one for
each demand, take turns at coming nearer to the other, and the multiplier U of their difference
tends to -S + K, the multipliers of `microagg.bounds.proof`. Cuts are added where Z violates them.
None of this has to be exact, so it is done in single precision: a bound comes from the proof alone.

Records may differ in scale by orders of magnitude. In units a_i a_j for each pair, with a^4 the
mean error in the record's group, one penalty suits all; a scaled Z is semidefinite if Z is.
"""

import math
import time
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from microagg.bounds.choices import tight_task
from microagg.bounds.fast import Shares
from microagg.bounds.proof import (
    Cuts,
    Listed,
    RegionProof,
    half_squares,
    half_squares_of,
    prove,
)
from microagg.bounds.sets import find_sets, no_sets
from microagg.core.arrays import Floats, Labels, Rows
from microagg.core.parallel import one_thread_each, side_by_side
from microagg.core.progress import report
from microagg.core.validation import check_jobs
from microagg.kernels.basics.group_sums import summarise
from microagg.kernels.bounds.semidefinite import (
    Pairs,
    find_cuts,
    move_multipliers,
    move_set_multipliers,
    project_rows,
)

# Penalty on the difference between both copies, for each unit of k, with the mean error per record
# as the unit; and the length of the multiplier's steps.
_PENALTY, _STEP = 5.0, 1.6
# Steps from one proof to the next, which are also those between searches for cuts, and steps before
# the first cuts.
_STEPS_PER_PROOF, _STEPS_BEFORE_CUTS = 20, 40
# Records in a cut besides the first; cuts found for each record; excess that counts, times 1/k.
_OTHERS_IN_CUT, _CUTS_PER_RECORD, _LEAST_EXCESS = 4, 10, 0.05
# Step of the multipliers of cuts: 1 would be right for a cut alone, but they overlap.
_CUT_STEP = 0.125
# Scales and costs are kept within these limits, in units of the mean error per record.
_LEAST_SCALE, _LARGEST_SCALE, _LARGEST_COST = 1e-3, 1e4, 1e8
# The search ends when this many proofs raise the bound by less than this share of the gap.
_PROOFS, _LEAST_GAIN = 5, 0.01
# Relative gap that counts as none.
_REACHED = 5e-8


class Start(NamedTuple):
    """Where the search starts: the groups of a partition, and the prices of the fast bound."""

    labels: Labels
    prices: Floats


class BoundSetting(NamedTuple):
    """What the steps of all regions share: the penalty, and pairs across regions.

    `least` is where a row's multiplier meets records that are not listed.
    """

    k: int
    penalty: float
    scales: Floats
    pairs: Pairs
    least: Floats


class Region:
    """The state of the search in one region; all matrices are in scaled units."""

    def __init__(self, X: Floats, rows: Rows, start: Start, scales: Floats, unit: float) -> None:
        self.rows, self.scales, self.unit = rows, scales[rows], unit
        pair_scales = np.multiply.outer(self.scales, self.scales)
        with np.errstate(over="ignore"):
            costs = np.minimum(half_squares(X[rows], X[rows]) / unit, _LARGEST_COST)
        self.costs = (costs / pair_scales).astype(np.float32)
        labels, prices = start.labels[rows], start.prices[rows] / unit
        Z = (labels[:, None] == labels) / np.bincount(start.labels)[labels]
        self.Z = (Z * pair_scales).astype(np.float32)
        self.U = (np.subtract.outer(prices, prices) / pair_scales).astype(np.float32)
        self.proposed = self.U
        self.cuts = Cuts(np.empty((0, 1 + _OTHERS_IN_CUT), dtype=np.intp), np.empty(0))
        self.sets = no_sets()

    def advance(self, setting: BoundSetting, out_pairs: Floats, *, propose: bool) -> None:
        """Project the rows, then the matrix, and move the multipliers."""
        weight = np.float32(1.0 / setting.penalty)
        V = self.Z - (self.costs + self.U) * weight
        Y = np.empty_like(V)
        project_rows(
            *(V, self.rows, setting.scales, setting.pairs, setting.least, setting.k),
            *(Y, out_pairs),
        )
        step = _CUT_STEP * setting.penalty
        move_multipliers(*(self.cuts.of, Y, self.scales, step), self.cuts.multipliers, self.costs)
        move_set_multipliers(
            *(self.sets.terms(setting.k), Y, self.scales, step, self.sets.multipliers, self.costs)
        )
        np.multiply(self.U, weight, out=V)
        V += Y
        self.Z = nearest_semidefinite(V)
        if propose:
            V -= self.Z
            V *= np.float32(setting.penalty)
            self.proposed = V
        Y -= self.Z
        Y *= np.float32(_STEP * setting.penalty)
        self.U += Y

    def find_cuts(self, k: int) -> None:
        """Add cuts and sets that Z violates, and drop those without effect."""
        Z = self.Z / np.multiply.outer(self.scales, self.scales)
        found = np.empty((_CUTS_PER_RECORD * len(Z), 1 + _OTHERS_IN_CUT), dtype=np.intp)
        count = find_cuts(Z, _LEAST_EXCESS / k, found, np.empty(len(found)))
        used = self.cuts.multipliers > 0.0
        both = np.concatenate([self.cuts.of[used], found[:count]])
        multipliers = np.zeros(len(both))
        multipliers[: np.count_nonzero(used)] = self.cuts.multipliers[used]
        first = np.sort(np.unique(both, axis=0, return_index=True)[1])
        self.cuts = Cuts(both[first], multipliers[first])
        self.sets = find_sets(Z, k, self.sets)

    def proof(self) -> RegionProof:
        """Return the proposed multipliers in the units of the costs."""
        U = self.proposed.astype(np.float64)
        factor = factor_of(-0.5 * (U + U.T))
        factor *= (self.scales * math.sqrt(self.unit))[:, None]
        U *= np.multiply.outer(self.unit * self.scales, self.scales)
        cuts = self.cuts._replace(multipliers=self.cuts.multipliers * self.unit)
        sets = self.sets._replace(multipliers=self.sets.multipliers * self.unit)
        return RegionProof(self.rows, factor, U, cuts, sets)


def nearest_semidefinite(M: Any) -> Any:
    """Return the positive semidefinite matrix nearest to a square one."""
    from scipy.linalg import eigh

    symmetric = 0.5 * (M + M.T)
    # Its transpose is itself, in the order of columns that needs no copy.
    values, vectors = eigh(symmetric.copy().T, driver="evd", overwrite_a=True, check_finite=False)
    n_below = int(np.searchsorted(values, 0.0))
    if 2 * n_below >= len(M):
        above = vectors[:, n_below:]
        return (above * values[n_below:]) @ above.T
    below = vectors[:, :n_below]
    symmetric -= (below * values[:n_below]) @ below.T
    return symmetric


def factor_of(S: Floats) -> Floats:
    """Return F with F F' near to S, which is positive semidefinite up to rounding.

    What has to be added to the diagonal of S lowers the bound by n/k times as much.
    """
    shift = 1e-9 * float(np.abs(np.diagonal(S)).max()) + 1e-300
    while True:
        try:
            factor = np.linalg.cholesky(S + shift * np.eye(len(S)))
        except np.linalg.LinAlgError:
            shift *= 4.0
        else:
            return np.asarray(factor, dtype=np.float64)


class Relaxation:
    """The search in progress, and the best bound so far."""

    def __init__(
        self,
        X: Floats,
        k: int,
        start: Start,
        regions: list[Rows],
        listed: Listed,
        deadline: float = math.inf,
    ) -> None:
        self.X, self.k, self.listed, self.deadline = X, k, listed, deadline
        groups = summarise(X, start.labels)
        self.target, self.unit = groups.sse, groups.sse / len(X)
        self.bound = 0.0
        self.bounds: list[float] = []
        self.n_steps, self.step_seconds, self.proof_seconds = 0, 0.0, 0.0
        self.penalty = _PENALTY * k
        if self._reached():
            return
        errors = np.square(X - groups.centers[groups.labels]).sum(axis=1)
        means = (np.bincount(groups.labels, weights=errors) / groups.sizes)[groups.labels]
        self.scales = np.clip(means / self.unit, _LEAST_SCALE, _LARGEST_SCALE) ** 0.25
        self.regions = [Region(X, rows, start, self.scales, self.unit) for rows in regions]
        starts = np.repeat(np.arange(len(X)), np.diff(listed.begins))
        self.pair_scales = self.scales[starts] * self.scales[listed.ends]
        with np.errstate(over="ignore"):
            costs = half_squares_of(X, starts, listed.ends) / self.unit
        np.minimum(costs, _LARGEST_COST, out=costs)
        self.pair_costs = costs / self.pair_scales
        self.pair_Z = np.zeros(len(starts))
        self.pair_U = listed.asymmetric / self.unit / self.pair_scales

    def _reached(self) -> bool:
        return self.bound >= self.target * (1.0 - _REACHED)

    def advance(self) -> bool:
        """Take a few steps and prove a bound; False at the end."""
        if self._reached() or self._is_late() or self._is_stuck():
            return False
        # One region leaves it to linear algebra to use several threads.
        with nullcontext() if len(self.regions) == 1 else one_thread_each():
            proposed = self._steps()
        began = time.monotonic()
        self._prove(proposed)
        self.proof_seconds = time.monotonic() - began
        if self.n_steps >= _STEPS_BEFORE_CUTS:
            for region in self.regions:
                region.find_cuts(self.k)
        return True

    def _steps(self) -> Floats:
        """Take steps until the next proof; return its multipliers of pairs across regions."""
        while True:
            began = time.monotonic()
            is_last = (self.n_steps + 1) % _STEPS_PER_PROOF == 0 or self._is_late()
            proposed = self._step(propose=is_last)
            self.step_seconds = time.monotonic() - began
            done = (self.n_steps - 1) % _STEPS_PER_PROOF + 1
            report(tight_task(self.target, self.bound), done, _STEPS_PER_PROOF)
            if is_last:
                return proposed

    def _is_late(self) -> bool:
        """Whether there is no time for more than another step and its proof."""
        return time.monotonic() + 2 * self.step_seconds + self.proof_seconds >= self.deadline

    def _is_stuck(self) -> bool:
        if self.n_steps < _STEPS_BEFORE_CUTS or len(self.bounds) <= _PROOFS:
            return False
        return self.bound - max(self.bounds[:-_PROOFS]) < _LEAST_GAIN * (self.target - self.bound)

    def _step(self, *, propose: bool) -> Floats:
        """Move all regions, then the pairs across them; return the multipliers of the latter."""
        self.n_steps += 1
        goal = self.pair_Z - (self.pair_costs + self.pair_U) / self.penalty
        pairs = Pairs(self.listed.begins, self.listed.ends, goal)
        least = -self.listed.others / (self.unit * self.penalty * self.scales**2)
        setting = BoundSetting(self.k, self.penalty, self.scales, pairs, least)
        Y = np.empty_like(goal)
        side_by_side(
            lambda region: region.advance(setting, Y, propose=propose),
            self.regions,
            n_jobs=check_jobs(-1),
            task=tight_task(self.target, self.bound),
            progress=lambda: (self.n_steps % _STEPS_PER_PROOF, _STEPS_PER_PROOF),
            needs_threads=True,
        )
        self.pair_Z = 0.5 * (Y + Y[self.listed.mirrors])
        apart = self.penalty * (Y - self.pair_Z)
        proposed: Floats = self.pair_U + apart
        self.pair_U += _STEP * apart
        return proposed

    def _prove(self, pair_U: Floats) -> None:
        listed = self.listed._replace(asymmetric=pair_U * self.pair_scales * self.unit)
        proof = prove(self.X, self.k, (own.proof() for own in self.regions), listed)
        self.bounds.append(proof.bound)
        self.bound = max(self.bound, min(proof.bound, self.target))
        self.proved_listed = listed

    def shares(self) -> Shares:
        """Return shares of records that sum to at most the error of any group they are in.

        Those of the last proof without its sets: these say nothing about a group alone.
        """
        if not self.bounds:
            return Shares(np.zeros(len(self.X)), 0.0)
        without = (own.proof()._replace(sets=no_sets()) for own in self.regions)
        return prove(self.X, self.k, without, self.proved_listed).shares
