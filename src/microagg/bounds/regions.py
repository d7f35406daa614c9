"""Regions of records for the semidefinite bound, and the pairs that lie across their borders."""

import math

import numpy as np

from microagg.bounds.proof import Listed
from microagg.core.arrays import Floats, Labels, Rows
from microagg.core.memory import need_room
from microagg.core.validation import check_jobs
from microagg.kernels.basics.group_sums import summarise
from microagg.orderings.neighbours import nearest_records

_TASK = "bound"
# Neighbours of each record that are listed if they lie in another region, for each unit of k.
_LISTED = 6
_ROUNDINGS = 64.0 * np.finfo(np.float64).eps
# Seconds of a step of the search, for n records in regions of m, divided by n m^2; steps that must
# be possible in regions of the size chosen, or else of the least size; sizes.
_STEP_SECONDS = 1.5e-10
_STEPS, _FEWEST_STEPS = 100, 40
_LEAST_REGION, _LARGEST_REGION = 400, 5_000
# Bytes for each pair within a region: that stay, that a proof takes, which comes one region after
# another, and that a step takes, in as many regions at once as there are threads. And bytes for
# each neighbour that may lie in another region.
_BYTES, _BYTES_FOR_PROOF, _BYTES_FOR_STEP, _BYTES_LISTED = 16, 96, 32, 200


def region_size(n: int, k: int, seconds: float) -> int:
    """Return the most records that a region may have, for time and memory; 0 if none would do.

    Larger regions give a better bound, if there is time for enough steps.
    """
    most = min(n, _LARGEST_REGION)
    if math.isfinite(seconds):
        if n * min(n, _LEAST_REGION) ** 2 * _STEP_SECONDS * _FEWEST_STEPS > seconds:
            return 0
        most = min(most, int(math.sqrt(seconds / (n * _STEP_SECONDS * _STEPS))))
    most = max(most, min(n, _LEAST_REGION))
    while most >= min(n, _LEAST_REGION):
        try:
            need_room(_room(n, k, most))
        except MemoryError:
            most //= 2
        else:
            return most
    return 0


def _room(n: int, k: int, most: int) -> int:
    """Return the bytes that n records in regions of at most `most` take."""
    n_regions = -(-n // most)
    at_work = max(_BYTES_FOR_PROOF, _BYTES_FOR_STEP * min(n_regions, check_jobs(-1)))
    across = _BYTES_LISTED * min(_LISTED * k, n - 1) * n if n_regions > 1 else 0
    return _BYTES * n * most + at_work * most * most + across


def split_records(X: Floats, labels: Labels, most: int) -> list[Rows]:
    """Split the records into regions of at most `most` each, without dividing groups if possible.

    Groups are split into halves by their means, in the column in which these differ most.
    """
    groups = summarise(X, labels)
    means = groups.centers
    regions, open_parts = [], [np.arange(len(means))]
    while open_parts:
        part = open_parts.pop()
        sizes = groups.sizes[part]
        if sizes.sum() <= most or len(part) == 1:
            regions.append(np.flatnonzero(np.isin(groups.labels, part)))
            continue
        widest = np.argmax((means[part] * np.sqrt(sizes)[:, None]).var(axis=0))
        ordered = part[np.argsort(means[part, widest], kind="stable")]
        until = np.cumsum(groups.sizes[ordered])
        half = int(np.clip(np.searchsorted(until, until[-1] / 2), 1, len(part) - 1))
        open_parts += [ordered[half:], ordered[:half]]
    return regions


def no_pairs(n: int) -> Listed:
    """Return the pairs across regions where there is one region only: none."""
    nothing = np.empty(0, dtype=np.intp)
    begins = np.zeros(n + 1, dtype=np.intp)
    return Listed(begins, nothing, nothing, np.empty(0), np.full(n, np.inf))


def list_pairs(X: Floats, k: int, regions: list[Rows], prices: Floats) -> Listed:
    """List near pairs of records of different regions, both ways, and what all others cost.

    Records are near if |x_i - x_j|^2 / 2 - m_j is small: with the price as another column that is a
    distance, so that one search finds the nearest and thereby a limit for all that are not listed.
    """
    n = len(X)
    region = np.empty(n, dtype=np.intp)
    for place, rows in enumerate(regions):
        region[rows] = place
    highest = float(prices.max())
    lifted = np.column_stack([X, np.sqrt(2.0 * (highest - prices))])
    width = min(_LISTED * k, n - 1)
    near = nearest_records(X, lifted, width, n_jobs=check_jobs(-1), task=_TASK)
    farthest = 0.5 * near.distances[:, -1]
    sizes = farthest + 2.0 * np.abs(prices).max() + abs(highest)
    others = farthest - highest + prices - float(_ROUNDINGS) * (X.shape[1] + 8) * sizes
    if width == n - 1:
        others[:] = np.inf
    starts, ends = np.repeat(np.arange(n), width), near.rows.ravel()
    across = region[starts] != region[ends]
    low, high = np.minimum(starts, ends)[across], np.maximum(starts, ends)[across]
    low, high = np.divmod(np.unique(low * n + high), n)
    starts, ends = np.concatenate([low, high]), np.concatenate([high, low])
    order = np.lexsort((ends, starts))
    places = np.empty(len(order), dtype=np.intp)
    places[order] = np.arange(len(order))
    mirrors = places[(order + len(low)) % max(len(order), 1)]
    begins = np.zeros(n + 1, dtype=np.intp)
    np.cumsum(np.bincount(starts, minlength=n), out=begins[1:])
    starts, ends = starts[order], ends[order]
    return Listed(begins, ends.astype(np.intp), mirrors, prices[starts] - prices[ends], others)
