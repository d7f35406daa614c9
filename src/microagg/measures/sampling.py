"""Which records a costly measure uses: all of them, or a seeded sample of very many."""

import numpy as np

from microagg.core.arrays import Floats, Rows

# Up to this many records, nothing is sampled.
MOST_RECORDS = 100_000
_FEWEST = 1_000


def sampled_rows(n_records: int, most: int, seed: int) -> Rows:
    """Return the rows to use, in order: all, or `most` of them drawn without replacement.

    >>> sampled_rows(3, 5, seed=0)
    array([0, 1, 2])
    >>> len(set(sampled_rows(1000, 10, seed=0)))
    10
    """
    if n_records <= most:
        return np.arange(n_records)
    return np.sort(np.random.default_rng(seed).choice(n_records, most, replace=False))


def affordable(n_records: int) -> int:
    """Return how many records to compare with all others at the cost of 100,000, at most.

    >>> affordable(1000), affordable(1_000_000)
    (1000, 10000)
    """
    if n_records <= MOST_RECORDS:
        return n_records
    return max(_FEWEST, MOST_RECORDS**2 // n_records)


def standard_error(outcomes: Floats, n_records: int) -> float:
    """Return the standard error of the mean of a sample of outcomes from `n_records`.

    s / sqrt(m) * sqrt(1 - m / n) for m of n drawn without replacement: 0 if all were drawn.
    """
    m = len(outcomes)
    if m < 2 or m >= n_records:
        return 0.0
    return float(outcomes.std(ddof=1) * np.sqrt((1.0 - m / n_records) / m))
