"""Records -> groups: block by block, and within each stratum on its own."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from microagg.bounds.choice import NONE, Bound, find_bound
from microagg.core.arrays import Labels
from microagg.core.progress import report
from microagg.core.registry import DEFAULT, Method
from microagg.kernels.basics.group_sums import summarise
from microagg.release.records import Records


@dataclass(frozen=True, eq=False)
class Part:
    """Records that were grouped on their own, by the columns of one block.

    `fitted` is the estimator that did it; its labels are those of `rows`.
    """

    block: int
    rows: Labels
    fitted: Any


@dataclass(frozen=True, eq=False)
class Grouped:
    """The groups of every block, and how they were found."""

    labels: tuple[Labels, ...]  # one for each block
    parts: tuple[Part, ...]

    @property
    def interrupted(self) -> bool:
        """Whether a search was ended from the keyboard."""
        return any(getattr(part.fitted, "interrupted_", False) for part in self.parts)

    @property
    def timed_out(self) -> bool:
        """Whether a search was ended by the clock."""
        return any(getattr(part.fitted, "timed_out_", False) for part in self.parts)


def group(estimator: Any, records: Records) -> Grouped:
    """Group the records of every stratum by the columns of every block."""
    n = len(records.frame)
    strata = [np.arange(n)] if records.strata is None else records.strata.rows()
    pieces = [(block, rows) for block in range(len(records.blocks)) for rows in strata]
    if len(pieces) == 1:
        fitted = estimator.fit(records.X)
        return Grouped((fitted.labels_,), (Part(0, strata[0], fitted),))
    return _in_pieces(estimator, records, pieces)


def _in_pieces(estimator: Any, records: Records, pieces: list[tuple[int, Labels]]) -> Grouped:
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
            clock.stop()  # the parts to come get no search, either
    labels = [summarise(np.zeros((n, 1)), own).labels for own in raw]
    return Grouped(tuple(labels), tuple(parts))


class _Clock:
    """Shares a time budget among the parts, by their records."""

    def __init__(self, estimator: Any, n_records: int) -> None:
        self.budget = estimator.get_params().get("time_budget")
        self.takes_one = "time_budget" in estimator.get_params()
        self.end = time.monotonic() + (self.budget or 0.0)
        self.left = n_records

    def share(self, estimator: Any, n_records: int) -> None:
        """Give the estimator of so many records its part of the time that is left."""
        if self.budget is not None:
            seconds = max(0.0, self.end - time.monotonic()) * n_records / self.left
            estimator.set_params(time_budget=seconds)
        self.left -= n_records

    def stop(self) -> None:
        """Leave no time."""
        if self.takes_one:
            self.budget, self.end = 0.0, time.monotonic()


def bound_of(
    asked: str, method: Method, records: Records, grouped: Grouped, *, k: int, budget: float | None
) -> Bound:
    """Return what no groups of k lose less than: the sum of what the parts cannot go below."""
    if asked == NONE:
        return Bound()
    total, tightness = 0.0, None
    n_records = sum(len(part.rows) for part in grouped.parts)
    for part in grouped.parts:
        X = records.blocks[part.block].X
        if len(part.rows) < len(X):
            X = np.ascontiguousarray(X[part.rows])
        found = find_bound(
            asked,
            X,
            part.fitted.labels_,
            k,
            searched=method.name == DEFAULT,
            time_budget=budget,
            share=len(X) / n_records,
        )
        if found.sse is None:
            return Bound()
        total += found.sse
        tightness = found.tightness
    # Sums round; a bound must not be rounded up.
    return Bound(tightness, total if len(grouped.parts) == 1 else total * (1.0 - 1e-12))
