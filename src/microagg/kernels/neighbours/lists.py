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
