"""Regions: parts of a large table that are improved in parallel, different in every round."""

import numpy as np

from microagg.core.arrays import Floats, Labels

# Larger tables are cut into regions: two, then four, then more. The fewer there are, the fewer
# records lie at a border, where some of their neighbours are missing; with many columns most do.
_ONE_REGION, _HALF, _LARGEST = 5_000, 10_000, 50_000


def size_limit(n_records: int, k: int) -> int:
    """Largest number of records in a region of groups of k, with enough groups to choose from.

    >>> [size_limit(n, k=5) for n in (5_000, 16_000, 100_000, 1_000_000)]
    [5000, 8010, 25000, 50000]
    """
    half = n_records // 2 + 2 * k  # halves of whole groups differ a little
    return max(_ONE_REGION, 50 * k, min(half, _HALF), min(n_records // 4, _LARGEST))


def split_into_regions(
    centers: Floats, sizes: Labels, rng: np.random.Generator, most: int
) -> list[Labels]:
    """Return the groups of each region: nearby groups of at most `most` records in all.

    Regions are halved at the median along a random direction, until they are small enough. Other
    rounds have other directions, so that no group stays at a border.
    """
    pending = [np.arange(len(sizes))]
    regions = []
    while pending:
        groups = pending.pop()
        if sizes[groups].sum() <= most or len(groups) < 2:
            regions.append(np.sort(groups))
            continue
        spread = centers[groups] - centers[groups].mean(axis=0)
        # Sums by einsum: rounding in a linear algebra library depends on its threads.
        along_random = np.einsum("ij,j->i", spread, rng.normal(size=centers.shape[1]))
        direction = np.einsum("ij,i->j", spread, along_random)
        along = groups[np.argsort(np.einsum("ij,j->i", spread, direction), kind="stable")]
        middle = int(np.searchsorted(sizes[along].cumsum(), sizes[groups].sum() / 2))
        middle = min(max(middle, 1), len(along) - 1)
        pending += [along[:middle], along[middle:]]
    return regions
