"""What a sweep runs over: strata and blocks, each on its own, combined at every k."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from microagg.bounds import gap
from microagg.bounds.choices import NONE
from microagg.core.arrays import Floats, Labels
from microagg.kernels.basics.group_sums import summarise
from microagg.measures.utility.information_loss import Errors
from microagg.partitions.auto import EFFORTS, Auto
from microagg.release.parts import fit_under
from microagg.studies.chains import MatrixSweep, compile_search, sweep_all
from microagg.studies.sweep_result import Sweep, SweepRow

if TYPE_CHECKING:
    from microagg.requirements.coded import GroupRule

RowsOfStrata = Sequence[Labels]


@dataclass(frozen=True, eq=False)
class Study:
    """What is swept: the matrix of every block, and the rows of every stratum at every k.

    `errors` returns those of the groups of all blocks.
    """

    matrices: Sequence[Floats]
    strata: Mapping[int, RowsOfStrata]
    weights: Floats | None
    errors: Callable[[Sequence[Labels]], Errors]
    rules: "Mapping[int, Sequence[GroupRule]]" = field(default_factory=dict)

    @property
    def ks(self) -> list[int]:
        """Every k, in ascending order."""
        return list(self.strata)

    @property
    def has_rules(self) -> bool:
        """Whether groups must meet rules besides k, at some k."""
        return any(self.rules.values())

    def parts(self) -> "list[SweepPart]":
        """Return what is swept on its own: a stratum, at every k at which it exists, in a block."""
        found: dict[bytes, tuple[Labels, list[int]]] = {}
        for k, strata in self.strata.items():
            for rows in strata:
                found.setdefault(rows.tobytes(), (rows, []))[1].append(k)
        return [
            SweepPart(block, rows, ks)
            for block in range(len(self.matrices))
            for rows, ks in found.values()
        ]

    def matrix_of(self, part: "SweepPart") -> Floats:
        """Return the records of a part."""
        X = self.matrices[part.block]
        return X if len(part.rows) == len(X) else np.ascontiguousarray(X[part.rows])

    def weights_of(self, part: "SweepPart") -> Floats | None:
        """Return the weights of a part."""
        return None if self.weights is None else self.weights[part.rows]

    def ruled(self, part: "SweepPart", effort: str) -> Callable[[int, int, int], Labels] | None:
        """Return a function that groups a part so that all rules are met, if there are any."""
        if not self.has_rules:
            return None
        X = self.matrix_of(part)

        def group(k: int, seed: int, n_jobs: int) -> Labels:
            own = [rule.within(part.rows) for rule in self.rules[k]]
            auto = Auto(k=k, effort=effort, random_state=seed % 2**32, n_jobs=n_jobs)
            return fit_under(auto, X, own).labels_

        return group


@dataclass(frozen=True, eq=False)
class SweepPart:
    """Records that are grouped separately, by the columns of one block, at some or all ks."""

    block: int
    rows: Labels
    ks: list[int]


@dataclass(frozen=True, eq=False)
class _Partition:
    """The groups of every block at one k, and their errors."""

    labels: Sequence[Labels]
    errors: Errors


def sweep_parts(study: Study, *, effort: str, bound: str, n_jobs: int, seed: int) -> Sweep:
    """Sweep over every part side by side, and combine the parts at every k."""
    work, parts = EFFORTS[effort], study.parts()
    compile_search(study.matrices[0], work, with_bounds=bound != NONE, under_rules=study.has_rules)
    began = time.perf_counter()
    rng = np.random.default_rng(seed)
    swept = [
        MatrixSweep(
            study.matrix_of(part),
            part.ks,
            work,
            rng.integers(2**63, size=len(part.ks)).tolist(),
            n_jobs,
            study.weights_of(part),
            study.ruled(part, effort),
        )
        for part in parts
    ]
    sweep_all(swept, bound=bound, n_jobs=n_jobs)
    rows = _rows(study, list(zip(parts, swept, strict=True)))
    seconds = time.perf_counter() - began
    return Sweep(rows=rows, seconds=seconds, seed=seed, effort=effort, bound=bound)


def _rows(study: Study, swept: Sequence[tuple[SweepPart, MatrixSweep]]) -> tuple[SweepRow, ...]:
    """Return a row for every k, the largest k first: none loses more than the one before.

    Of each part that is so already, but sums round.
    """
    rows: list[SweepRow] = []
    before: _Partition | None = None
    for place in reversed(range(len(study.ks))):
        k = study.ks[place]
        own = [(part, one) for part, one in swept if k in part.ks]
        found = _joined(k, study, own)
        is_feasible = before is not None and study.strata[k] is study.strata[study.ks[place + 1]]
        if before is not None and is_feasible and before.errors.sse < found.errors.sse:
            found = before
        rows.append(_row(k, found, [one for _, one in own]))
        before = found
    return tuple(rows[::-1])


def _joined(k: int, study: Study, swept: Sequence[tuple[SweepPart, MatrixSweep]]) -> _Partition:
    """Combine the groups of all parts at one k."""
    labels = []
    for block, X in enumerate(study.matrices):
        joined, first = np.empty(len(X), dtype=np.intp), 0
        for part, one in swept:
            if part.block == block:
                joined[part.rows] = one.found[k].labels + first
                first += len(one.found[k].sizes)
        labels.append(summarise(np.zeros((len(X), 1)), joined).labels)
    return _Partition(labels, study.errors(labels))


def _row(k: int, found: _Partition, swept: Sequence[MatrixSweep]) -> SweepRow:
    errors, bounds = found.errors, [one.bounds[k] for one in swept if k in one.bounds]
    bound = None
    if bounds:  # sums round; a bound must not be rounded up
        bound = bounds[0] if len(bounds) == 1 else sum(bounds) * (1.0 - 1e-12)
    sizes = np.concatenate([np.bincount(own) for own in found.labels])
    labels = found.labels[0] if len(found.labels) == 1 else np.column_stack(found.labels)
    labels.flags.writeable = False
    return SweepRow(
        k=k,
        information_loss=errors.information_loss,
        grouping_loss=errors.information_loss,
        lower_bound=None if bound is None else Errors(bound, errors.sst).information_loss,
        gap=None if bound is None else gap(errors.sse, bound),
        sse=errors.sse,
        n_groups=len(sizes),
        min_group=int(sizes.min()),
        max_group=int(sizes.max()),
        seconds=sum(one.seconds[k] for one in swept),
        labels=labels,
    )
