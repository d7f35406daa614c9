"""Distance linkage of a sample with all released records of a dataset, part by part.

How many released records are nearer to a record than its own, and how many as near, are sums over
any parts of them. In every part the records' own points take part, but count for none.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from microagg.core.arrays import Floats, Hashes, Rows
from microagg.kernels.attacks.distance_linkage import MixedPoints, make_box_tree, rank_own_points
from microagg.measures.risk.linkage import CANDIDATES, DistanceLinkage, linkage_of
from microagg.scale.measures.bases import Bases
from microagg.scale.measures.pairing import PAIRED, Paired
from microagg.scale.storage.hashing import mixed
from microagg.scale.storage.work import WorkFolder
from microagg.scale.tasks.opened import COPIES, part_bytes
from microagg.scale.tasks.passes import Passes
from microagg.tables.pairs import MISSING_DISTANCE, Pair, PairedColumn

LINKING = "linking"


@dataclass(frozen=True, eq=False)
class Linking:
    """The sampled records as points before and after, and how codes are apart.

    `missing` are the scaled columns in which values are missing somewhere.
    """

    bases: Bases
    missing: frozenset[str]
    before: MixedPoints
    after: MixedPoints
    apart: Floats


def link(
    passes: Passes, paired: Paired, pair: Pair, bases: Bases, missing: frozenset[str]
) -> DistanceLinkage:
    """Link the records of the sample with all released records."""
    before = _points(pair.columns, bases, missing, "before")
    after = _points(pair.columns, bases, missing, "after")
    passes.work.keep(LINKING, Linking(bases, missing, before, after, pair.code_distances))
    n_runs, n = len(paired.after.runs), pair.n_records
    width = 8 * (before.numbers.shape[1] + before.codes.shape[1])
    each = part_bytes(paired.after, len(pair.columns)) + n * width * COPIES
    passes.run(LINKING, partial(_link_run), n_runs, bytes_each=each)
    less, equal = np.zeros(n, dtype=np.intp), np.zeros(n, dtype=np.intp)
    for own in passes.results(LINKING, n_runs):
        less += own[0]
        equal += own[1]
    return linkage_of(less, equal, CANDIDATES, paired.n_records)


def _points(
    columns: dict[str, PairedColumn], bases: Bases, missing: frozenset[str], side: str
) -> MixedPoints:
    """Return one side of records as points, as `Pair` has them, but coded alike in every part."""
    numbers: list[Floats] = []
    codes: list[Rows] = []
    n = 0
    for name, column in columns.items():
        base, values = bases.columns[name], column.before if side == "before" else column.after
        n = len(values.numbers)
        if not base.is_scaled:
            codes.append(base.codes(column, values))
            continue
        numbers.append(base.scaled(values, column.step))
        if name in missing:
            numbers.append(MISSING_DISTANCE * ~values.is_present)
    return MixedPoints(
        np.column_stack(numbers) if numbers else np.empty((n, 0)),
        np.column_stack(codes) if codes else np.empty((n, 0), dtype=np.int64),
    )


def _link_run(work: WorkFolder, run: int) -> tuple[Rows, Rows]:
    """Task: count the released records of a run that are nearer than each sampled record's own."""
    paired: Paired = work.facts(PAIRED)
    linking: Linking = work.facts(LINKING)
    n, enough = len(linking.before.numbers), max(CANDIDATES)
    less, equal = np.zeros(n, dtype=np.intp), np.zeros(n, dtype=np.intp)
    for _, table in paired.after.read(run, paired.columns[1]):
        frame = paired.typed(table, 1)
        columns = linking.bases.paired(frame, frame)
        part = _points(columns, linking.bases, linking.missing, "after")
        every = MixedPoints(
            np.concatenate((linking.after.numbers, part.numbers)),
            np.concatenate((linking.after.codes, part.codes)),
        )
        _, first, of = np.unique(_row_hashes(every), return_index=True, return_inverse=True)
        of = of.reshape(-1)
        sizes = np.bincount(of[n:], minlength=len(first))
        points = MixedPoints(every.numbers[first], every.codes[first])
        tree = make_box_tree(points, sizes, linking.apart)
        rows = np.flatnonzero(less < enough)
        order = rows[np.argsort(tree.places[of[rows]], kind="stable")]
        nearer, as_near = np.zeros(n, dtype=np.intp), np.zeros(n, dtype=np.intp)
        rank_own_points(tree, linking.before, order, of[:n], enough, nearer, as_near)
        less += nearer
        equal += as_near
    return np.minimum(less, enough), equal


def _row_hashes(points: MixedPoints) -> Hashes:
    """Return a number for every row, equal for equal points."""
    found = np.zeros(len(points.numbers), dtype=np.uint64)
    for column in (points.numbers + 0.0).T:
        found = mixed((found ^ column.copy().view(np.uint64)).view(np.int64), 3)
    for column in points.codes.T:
        found = mixed((found ^ column.astype(np.uint64)).view(np.int64), 3)
    return found
