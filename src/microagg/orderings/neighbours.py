"""The exact nearest neighbours of every record: listed once, for tours, searches and bounds."""

from dataclasses import dataclass

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.core.parallel import side_by_side, threads_available
from microagg.core.progress import paced, report
from microagg.kernels.neighbours.blocks import make_blocks
from microagg.kernels.neighbours.coded import list_nearest_coded
from microagg.kernels.neighbours.listing import list_nearest
from microagg.orderings.indicators import coded

_TASK = "finding neighbours"
# Parts of a table that are searched in parallel, at most, and rows in one, at least.
_PARTS, _LEAST_ROWS = 8, 2_000


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The nearest other records of every record, nearest first; ties go to the lower row.

    `distances` are squared. A shorter list is the beginning of a longer one.
    """

    distances: Floats
    rows: Rows

    def nearest(self, width: int) -> "Neighbours":
        """Return the first `width` neighbours of each list."""
        if width >= self.rows.shape[1]:
            return self
        distances, rows = self.distances[:, :width], self.rows[:, :width]
        return Neighbours(np.ascontiguousarray(distances), np.ascontiguousarray(rows))


def nearest_neighbours(X: Floats, width: int, *, n_jobs: int = 1, task: str = _TASK) -> Neighbours:
    """List `width` neighbours of every record, or as many as there are.

    Only differences between records matter: X and `without_offset(X)` have the same lists, bit for
    bit. Time O(n^2 d) at worst.

    >>> nearest_neighbours(np.array([[0.0], [1.0], [5.0]]), 1).rows.tolist()
    [[1], [0], [1]]
    """
    return nearest_records(X, X, min(width, len(X) - 1), n_jobs=n_jobs, task=task)


def nearest_records(
    points: Floats, records: Floats, width: int, *, n_jobs: int, task: str
) -> Neighbours:
    """List the records nearest to every point, except for the one in the same row.

    Points are the first columns of the records, which may have more; a point is zero in those.
    """
    n = len(points)
    out = Neighbours(np.empty((n, width)), np.empty((n, width), dtype=np.intp))
    fill_in(out, points, records, np.arange(n), n_jobs=n_jobs, task=task)
    return out


def fill_in(
    out: Neighbours, points: Floats, records: Floats, rows: Rows, *, n_jobs: int, task: str = _TASK
) -> None:
    """Fill in the records nearest to the points in the given rows.

    Points are the first columns of the records. Indicators of categories are compared as codes,
    which changes no distance.
    """
    at_once = threads_available(n_jobs)
    n_parts = 1 if at_once == 1 else max(1, min(_PARTS, -(-len(rows) // _LEAST_ROWS)))
    parts = np.array_split(rows, n_parts)
    done = np.zeros(n_parts, dtype=np.intp)

    shorter = coded(records)
    if shorter is not None:
        known = [first < points.shape[1] for first in shorter.firsts]
        records, points = shorter.values, np.where(known, shorter.values, 0.0)

    def fill(part: int) -> None:
        # Its own blocks: queries write to them.
        blocks = make_blocks(records, np.arange(len(records)))
        for some in paced(parts[part]):
            if shorter is None:
                list_nearest(points, some, blocks, out.distances, out.rows)
            else:
                list_nearest_coded(points, some, blocks, shorter.steps, out.distances, out.rows)
            done[part] += len(some)
            report(task, int(done.sum()), len(rows))

    side_by_side(
        fill,
        range(n_parts),
        n_jobs=at_once,
        task=task,
        progress=lambda: (int(done.sum()), len(rows)),
        needs_threads=True,  # the lists are larger than the table, so they are written in place
    )
