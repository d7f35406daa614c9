"""Patterns of agreement: the columns on which two records agree, counted without storing pairs.

Records are given column by column, as codes that are equal where values agree. Bit j of a pattern
says that column j agrees.
"""

import numpy as np

from microagg.core.arrays import Codes, Counts, Patterns, Ranks
from microagg.kernels.compile import allocating_kernel, inner_kernel

# A pattern has 16 bits.
MOST_COLUMNS = 16
# Patterns that are computed at a time: they stay in the first-level cache.
_CHUNK = 4096


@inner_kernel
def patterns_of(query: Codes, released: Codes, first: int, out: Patterns) -> None:
    """Patterns of one record with the released ones from `first` on, as many as `out` holds.

    Column by column, so that many records are compared at once.
    """
    n = out.shape[0]
    out[:] = 0
    for j in range(released.shape[0]):
        code, others, bit = query[j], released[j, first : first + n], np.uint16(1 << j)
        for r in range(n):
            out[r] |= bit if others[r] == code else np.uint16(0)


@allocating_kernel
def tally_patterns(
    queries: Codes,
    query_counts: Counts,
    released: Codes,
    released_counts: Counts,
    out_counts: Counts,
) -> None:
    """Add to `out_counts` how many pairs of records have each pattern.

    Records are distinct, each with its count.
    """
    n = released.shape[1]
    chunk = np.empty(_CHUNK, dtype=np.uint16)
    for q in range(queries.shape[1]):
        for first in range(0, n, _CHUNK):
            patterns = chunk[: min(_CHUNK, n - first)]
            patterns_of(queries[:, q], released, first, patterns)
            for r in range(patterns.shape[0]):
                out_counts[patterns[r]] += query_counts[q] * released_counts[first + r]


@allocating_kernel
def count_better(
    queries: Codes,
    own_ranks: Ranks,
    released: Codes,
    released_counts: Counts,
    ranks: Ranks,
    out_better: Counts,
    out_equal: Counts,
) -> None:
    """Count, for every query, the released records whose pattern ranks above its own, or ties.

    `ranks` has a number for every pattern, the larger the better.
    """
    n = released.shape[1]
    chunk = np.empty(_CHUNK, dtype=np.uint16)
    for q in range(queries.shape[1]):
        better, equal, own = 0, 0, own_ranks[q]
        for first in range(0, n, _CHUNK):
            patterns = chunk[: min(_CHUNK, n - first)]
            patterns_of(queries[:, q], released, first, patterns)
            for r in range(patterns.shape[0]):
                rank, count = ranks[patterns[r]], released_counts[first + r]
                better += count * (rank > own)
                equal += count * (rank == own)
        out_better[q] = better
        out_equal[q] = equal
