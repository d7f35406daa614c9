"""Records -> groups: block by block, and within each stratum on its own."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.bounds.choice import NONE, Bound, find_bound
from microagg.core.registry import DEFAULT, Method
from microagg.kernels.groups import summarise
from microagg.release.parts import fit_parts
from microagg.release.records import Records

Labels = NDArray[np.intp]
Floats = NDArray[np.float64]


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
    n = len(records.frame)
    raw = [np.empty(n, dtype=np.intp) for _ in records.blocks]
    firsts = [0] * len(raw)
    parts: list[Part] = []
    matrices = [(records.blocks[block].X, rows) for block, rows in pieces]
    for (block, rows), fitted in zip(pieces, fit_parts(estimator, matrices), strict=True):
        raw[block][rows] = fitted.labels_ + firsts[block]
        firsts[block] += fitted.n_groups_
        parts.append(Part(block, rows, fitted))
    labels = [summarise(np.zeros((n, 1)), own).labels for own in raw]
    return Grouped(tuple(labels), tuple(parts))


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
            near=getattr(part.fitted, "near_", None),
        )
        if found.sse is None:
            return Bound()
        total += found.sse
        tightness = found.tightness
    # Sums round; a bound must not be rounded up.
    return Bound(tightness, total if len(grouped.parts) == 1 else total * (1.0 - 1e-12))
