"""Candidate centres of each record: the nearest ones."""

import numpy as np

from microagg.core.arrays import Floats, Rows
from microagg.kernels.compile import allocating_kernel, inner_kernel
from microagg.kernels.neighbours.blocks import Blocks, bound_from_below, measure_block, nearest


@allocating_kernel
def list_preferred(
    X: Floats, rows: Rows, lifted: Blocks, first_slot: int, out_centre: Rows
) -> None:
    """List the centres that the given rows prefer, in the slots from `first_slot` on."""
    width = out_centre.shape[1] - first_slot
    point = np.zeros(X.shape[1] + 1)
    distances = np.empty(width)
    found = np.empty(width, dtype=np.intp)
    for i in rows:
        point[:-1] = X[i]
        nearest(lifted, point, distances, found)
        out_centre[i, first_slot:] = found


@allocating_kernel
def offer_centres(
    records: Blocks,
    centres: Floats,
    begin: int,
    stop: int,
    count: int,
    first_listed: int,
    used: Rows,
    out_centre: Rows,
) -> None:
    """Make each centre a candidate of the `count` records nearest to it, unless it is one already.

    An outlying centre is near no records but its own; otherwise it could neither take nor give any.
    used[i] is the next free slot of record i, below `first_listed`.
    """
    distances = np.empty(count)
    rows = np.empty(count, dtype=np.intp)
    for g in range(begin, stop):
        nearest(records, centres[g], distances, rows)
        for i in rows:
            if used[i] < first_listed and not (out_centre[i, first_listed:] == g).any():
                out_centre[i, used[i]] = g
                used[i] += 1


@inner_kernel
def holds_nearer(blocks: Blocks, point: Floats, limit: float, but: int) -> bool:
    """Whether a record other than `but` is nearer to `point` than this squared distance."""
    bound_from_below(blocks, point)
    for block in range(blocks.bounds.shape[0]):
        if blocks.bounds[block] >= limit:
            continue
        count = blocks.counts[block]
        measure_block(blocks.values, block, count, point, blocks.distances)
        for slot in range(count):
            if blocks.distances[slot] < limit and blocks.rows[block, slot] != but:
                return True
    return False
