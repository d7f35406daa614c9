"""The optimum, by trying every partition, in exact arithmetic."""

from fractions import Fraction
from functools import cache
from itertools import combinations
from math import lcm

import numpy as np


def exact_sse(X, rows) -> Fraction:
    total = Fraction(0)
    for column in X.T:
        values = [Fraction(float(column[row])) for row in rows]
        total += sum(v * v for v in values) - sum(values) ** 2 / len(values)
    return total


def optimal_sse(X, k) -> Fraction:
    """Smallest SSE of all partitions into groups of k to 2k-1 records.

    From exact distances: the SSE of a group is the sum over its pairs, divided by its size.
    """
    n = len(X)
    values = [[Fraction(value) for value in record] for record in X.tolist()]
    apart = {
        pair: sum((a - b) ** 2 for a, b in zip(*(values[row] for row in pair)))
        for pair in combinations(range(n), 2)
    }
    # Whole multiples of a common unit: integers are quicker than fractions.
    unit = lcm(*(value.denominator for value in apart.values()), 1)
    scale = lcm(*range(k, 2 * k))
    whole = {pair: int(value * unit) for pair, value in apart.items()}

    @cache
    def sse(rows):
        return scale // len(rows) * sum(whole[pair] for pair in combinations(rows, 2))

    @cache
    def best(rest):
        if not rest:
            return 0
        costs = []
        for size in range(k, min(2 * k, len(rest) + 1)):
            if 0 < len(rest) - size < k:
                continue
            for others in combinations(rest[1:], size - 1):
                left = tuple(row for row in rest[1:] if row not in others)
                costs.append(sse((rest[0], *others)) + best(left))
        return min(costs)

    return Fraction(best(tuple(range(n))), unit * scale)


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


def in_chunks(X, k):
    """Some partition: k records after another along the first column."""
    labels = np.empty(len(X), dtype=np.intp)
    labels[np.argsort(X[:, 0], kind="stable")] = np.minimum(np.arange(len(X)) // k, len(X) // k - 1)
    return labels
