"""Third stage: groups, found separately for each block and within each stratum."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from microagg.bounds.choice import NONE, Bound, find_bound
from microagg.constraints.system import System
from microagg.core.arrays import Floats, Labels
from microagg.core.errors import InterruptedSearchWarning, warn
from microagg.core.progress import report
from microagg.core.registry import DEFAULT, Method, find
from microagg.core.validation import check_seed
from microagg.kernels.basics.group_sums import summarise
from microagg.measures.utility.information_loss import Errors, squared_errors
from microagg.plans.manifest import Promise
from microagg.plans.plan import Plan
from microagg.release.constrained import scaled_equalities
from microagg.release.records import Records


@dataclass(frozen=True, eq=False)
class Part:
    """Records that were grouped separately, by the columns of one block.

    `fitted` is the fitted estimator; its labels are those of `rows`.
    """

    block: int
    rows: Labels
    fitted: Any


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of every block, how they were found, and their errors about their means.

    `estimator` is the one that was asked for, `seed` the seed it used, or None if it uses no
    randomness.
    """

    method: Method
    estimator: Any
    labels: tuple[Labels, ...]  # one for each block
    parts: tuple[Part, ...]
    errors: Errors
    promise: Promise
    seed: int | None

    @property
    def interrupted(self) -> bool:
        """Whether a search was ended by Ctrl-C."""
        return any(getattr(part.fitted, "interrupted_", False) for part in self.parts)

    @property
    def timed_out(self) -> bool:
        """Whether a search was ended by the time budget."""
        return any(getattr(part.fitted, "timed_out_", False) for part in self.parts)

    @property
    def sizes(self) -> Labels:
        """The sizes of the groups of all blocks."""
        return np.concatenate([np.bincount(labels) for labels in self.labels])

    def labels_as_array(self) -> Labels:
        """Return the group of every record, read-only; with several blocks, a column for each."""
        labels = self.labels[0] if len(self.labels) == 1 else np.column_stack(self.labels)
        labels.flags.writeable = False
        return labels


def estimator_of(plan: Plan) -> Any:
    """Return the estimator for a plan; if it takes a seed, it gets a whole number."""
    method = find(plan.method)
    own = {
        "random_state": check_seed(plan.random_state),
        "strict_k": plan.strict_k,
        "effort": plan.effort,
        "time_budget": plan.time_budget,
    }
    options = {name: value for name, value in own.items() if name in method.options}
    return method.cls(k=plan.k, **options, **plan.method_options)


def group(records: Records, plan: Plan, systems: Sequence[System | None] = ()) -> Groups:
    """Group the records of every stratum by the columns of every block.

    Methods that draw take the equalities of the `systems` into account.
    """
    method, estimator = find(plan.method), estimator_of(plan)
    if method.draws and systems and systems[0] is not None:
        estimator.set_params(constraints=scaled_equalities(systems[0], records))
    labels, parts = _fit(estimator, records)
    return Groups(
        method,
        estimator,
        labels,
        parts,
        _errors(method, labels, parts, records),
        promise=_promise(method, parts[0].fitted, records),
        seed=estimator.random_state if estimator.has_chance() else None,
    )


def _fit(estimator: Any, records: Records) -> tuple[tuple[Labels, ...], tuple[Part, ...]]:
    n = len(records.frame)
    strata = [np.arange(n)] if records.strata is None else records.strata.rows()
    pieces = [(block, rows) for block in range(len(records.blocks)) for rows in strata]
    if len(pieces) == 1:
        fitted = estimator.fit(records.X)
        return (fitted.labels_,), (Part(0, strata[0], fitted),)
    return _in_pieces(estimator, records, pieces)


def _in_pieces(
    estimator: Any, records: Records, pieces: list[tuple[int, Labels]]
) -> tuple[tuple[Labels, ...], tuple[Part, ...]]:
    from sklearn.base import clone

    n = len(records.frame)
    raw = [np.empty(n, dtype=np.intp) for _ in records.blocks]
    firsts = [0] * len(raw)
    parts: list[Part] = []
    clock = _Clock(estimator, sum(len(rows) for _, rows in pieces))
    for done, (block, rows) in enumerate(pieces):
        report("grouping", done, len(pieces))
        fitted = clone(estimator)
        clock.share(fitted, len(rows))
        fitted.fit(np.ascontiguousarray(records.blocks[block].X[rows]))
        raw[block][rows] = fitted.labels_ + firsts[block]
        firsts[block] += fitted.n_groups_
        parts.append(Part(block, rows, fitted))
        if getattr(fitted, "interrupted_", False):
            clock.stop()  # the remaining parts are not searched, either
    labels = [summarise(np.zeros((n, 1)), own).labels for own in raw]
    return tuple(labels), tuple(parts)


class _Clock:
    """Divides a time budget among the parts, in proportion to their records."""

    def __init__(self, estimator: Any, n_records: int) -> None:
        self.budget = estimator.get_params().get("time_budget")
        self.takes_one = "time_budget" in estimator.get_params()
        self.end = time.monotonic() + (self.budget or 0.0)
        self.left = n_records

    def share(self, estimator: Any, n_records: int) -> None:
        """Give an estimator its share of the remaining time."""
        if self.budget is not None:
            seconds = max(0.0, self.end - time.monotonic()) * n_records / self.left
            estimator.set_params(time_budget=seconds)
        self.left -= n_records

    def stop(self) -> None:
        """Leave no time for the remaining parts."""
        if self.takes_one:
            self.budget, self.end = 0.0, time.monotonic()


def _errors(
    method: Method, labels: Sequence[Labels], parts: Sequence[Part], records: Records
) -> Errors:
    """Return the squared errors of all blocks; for methods that draw, about the drawn centres."""
    if method.draws:
        return squared_errors(records.X, labels[0], drawn_centers(parts[0].fitted))
    each = [
        squared_errors(block.X, own, weights=records.weights)
        for block, own in zip(records.blocks, labels, strict=True)
    ]
    return Errors(sum(error.sse for error in each), sum(error.sst for error in each))


def drawn_centers(estimator: Any) -> Floats:
    """Return the centres that were drawn; unused ones follow them."""
    centers: Floats = estimator.centers_[: estimator.n_groups_]
    return centers


def _promise(method: Method, estimator: Any, records: Records) -> Promise:
    if len(records.blocks) > 1:
        return Promise.BLOCKWISE
    if not method.draws or estimator.strict_k:
        return Promise.K_ANONYMITY
    return Promise.NOTHING if n_expecting_fewer(estimator) else Promise.PROBABILISTIC


def n_expecting_fewer(estimator: Any) -> int:
    """Return how many centres of a draw expect fewer than k records."""
    enough = estimator.k * (1.0 - 1e-9)  # sums of memberships round
    return int(np.count_nonzero(estimator.expected_sizes_ < enough))


def bound_of(asked: str, plan: Plan, records: Records, groups: Groups) -> Bound:
    """Return the bound, if it was asked for and not interrupted."""
    if asked == NONE or not groups.promise.is_verified:
        return Bound()  # groups of fewer than k may lose less than the bound
    try:
        return _sum_of_bounds(asked, plan, records, groups)
    except KeyboardInterrupt:
        warn(
            "interrupted while computing a bound: the groups are complete, but there is no bound.",
            InterruptedSearchWarning,
        )
        return Bound()


def _sum_of_bounds(asked: str, plan: Plan, records: Records, groups: Groups) -> Bound:
    """Return the sum of the bounds of all parts."""
    total, tightness = 0.0, None
    n_records = sum(len(part.rows) for part in groups.parts)
    for part in groups.parts:
        X = records.blocks[part.block].X
        if len(part.rows) < len(X):
            X = np.ascontiguousarray(X[part.rows])
        found = find_bound(
            asked,
            X,
            part.fitted.labels_,
            plan.k,
            searched=groups.method.name == DEFAULT,
            time_budget=plan.time_budget,
            share=len(X) / n_records,
        )
        if found.sse is None:
            return Bound()
        total += found.sse
        tightness = found.tightness
    # Sums round; a bound must not be rounded up.
    return Bound(tightness, total if len(groups.parts) == 1 else total * (1.0 - 1e-12))
