"""The optimum, by trying every partition, in exact arithmetic."""

from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np


def exact_sse(X, rows) -> Fraction:
    total = Fraction(0)
    for column in X.T:
        values = [Fraction(float(column[row])) for row in rows]
        total += sum(v * v for v in values) - sum(values) ** 2 / len(values)
    return total


def optimal_sse(X, k) -> Fraction:
    """Smallest SSE of all partitions into groups of k to 2k-1 records."""
    sse = cache(lambda rows: exact_sse(X, rows))

    @cache
    def best(rest):
        if not rest:
            return Fraction(0)
        costs = [
            sse((rest[0], *others)) + tail
            for size in range(k, min(2 * k, len(rest) + 1))
            for others in combinations(rest[1:], size - 1)
            if (tail := best(tuple(row for row in rest[1:] if row not in others))) is not None
        ]
        return min(costs, default=None)

    return best(tuple(range(len(X))))


def tiny_tables(n_tables, seed, largest=9):
    """Few records of few columns: scattered, on a grid (ties), with duplicates, heavy-tailed."""
    rng = np.random.default_rng(seed)
    kinds = [
        lambda n, d: rng.normal(size=(n, d)),
        lambda n, d: rng.integers(0, 3, size=(n, d)).astype(float),
        lambda n, d: rng.normal(size=(3, d))[rng.integers(0, 3, size=n)],
        lambda n, d: np.exp(4.0 * rng.normal(size=(n, d))),
        lambda n, d: 1e6 + rng.integers(0, 50, size=(n, d)) / 8.0,
    ]
    for i in range(n_tables):
        n, d = int(rng.integers(2, largest + 1)), int(rng.integers(1, 4))
        yield kinds[i % len(kinds)](n, d), int(rng.integers(1, min(n, 5) + 1))
