"""The sample that figures come from which cannot be added up: the same rows in every run."""

import numpy as np

from microagg.core.arrays import Wholes
from microagg.scale.sources.listing import FILE_ROWS, Listing
from microagg.scale.storage.hashing import mixed

# With the seed of this sample, rows get other numbers than elsewhere.
_SEED = 2
_ROWS_AT_A_TIME = 1 << 20


def drawn_rows(listing: Listing, most: int) -> Wholes:
    """Return the numbers of the rows with the lowest hashes, at most so many, in order.

    They depend on the numbers of the rows in their files alone.
    """
    n_rows = listing.n_rows
    limit = np.uint64(2**64 - 1)
    if n_rows > most:  # many more than enough are hardly ever below this
        share = most / n_rows
        limit = np.uint64(min(1.0, share + 10.0 * np.sqrt(share / n_rows)) * (2**64 - 1025))
    rows, hashes = [], []
    for at, file in enumerate(listing.files):
        for first in range(0, file.n_rows, _ROWS_AT_A_TIME):
            stop = min(file.n_rows, first + _ROWS_AT_A_TIME)
            own = np.arange(first, stop, dtype=np.int64) + at * FILE_ROWS
            found = mixed(own, _SEED)
            low = found <= limit
            rows.append(own[low])
            hashes.append(found[low])
    every, order = np.concatenate(rows), np.argsort(np.concatenate(hashes), kind="stable")
    return np.sort(every[order[:most]])
