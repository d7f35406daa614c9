"""Lists of the records nearest to each of many records."""

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.kernels.compile import kernel
from microagg.kernels.neighbours.blocks import Blocks, nearest


@kernel
def list_neighbours(X: Floats, blocks: Blocks, first: int, out_neighbours: Rows) -> None:
    """Nearest other records of the rows from `first` on, nearest first."""
    count = out_neighbours.shape[1]
    distances = np.empty(count + 1)
    rows = np.empty(count + 1, dtype=np.intp)
    for i in range(out_neighbours.shape[0]):
        nearest(blocks, X[first + i], distances, rows)
        found = 0
        for row in rows:
            if row != first + i and found < count:
                out_neighbours[i, found] = row
                found += 1


@kernel
def list_nearest(
    points: Floats, rows: Rows, blocks: Blocks, out_distances: Floats, out_rows: Rows
) -> None:
    """The records nearest to the points of the given rows, nearest first, the row itself left out.

    `blocks` may hold more columns than `points` has; a point is at zero in those.
    """
    width = out_rows.shape[1]
    point = np.zeros(blocks.values.shape[1])
    distances = np.empty(width + 1)
    found = np.empty(width + 1, dtype=np.intp)
    for i in rows:
        point[: points.shape[1]] = points[i]
        nearest(blocks, point, distances, found)
        slot = 0
        for at in range(width + 1):
            if found[at] != i and slot < width:
                out_rows[i, slot] = found[at]
                out_distances[i, slot] = distances[at]
                slot += 1
