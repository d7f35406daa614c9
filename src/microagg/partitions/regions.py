"""Regions: parts of a large table that are improved side by side, cut anew in every round."""

import numpy as np
from numpy.typing import NDArray

from microagg.partitions.base import Labels

Floats = NDArray[np.float64]

# Records in a region, at most, unless k is large: few enough for a processor's cache.
MOST_RECORDS = 5000


def size_limit(k: int) -> int:
    """Records in a region of groups of k, at most: there must be groups to choose from."""
    return max(MOST_RECORDS, 50 * k)


def split_into_regions(
    centers: Floats, sizes: Labels, rng: np.random.Generator, most: int
) -> list[Labels]:
    """Return the groups of each region: at most `most` records of groups that lie together.

    Halves again and again at the median along a random direction; other directions in another
    round, so that no group stays at a border.
    """
    pending = [np.arange(len(sizes))]
    regions = []
    while pending:
        groups = pending.pop()
        if sizes[groups].sum() <= most or len(groups) < 2:
            regions.append(groups)
            continue
        spread = centers[groups] - centers[groups].mean(axis=0)
        direction = spread.T @ (spread @ rng.normal(size=centers.shape[1]))
        along = groups[np.argsort(spread @ direction, kind="stable")]
        middle = int(np.searchsorted(sizes[along].cumsum(), sizes[groups].sum() / 2))
        middle = min(max(middle, 1), len(along) - 1)
        pending += [along[:middle], along[middle:]]
    return regions
