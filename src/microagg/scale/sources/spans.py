"""How files are cut: into runs that a task reads, and runs into parts that memory holds.

Where they are cut depends on the files alone, so that sums round alike however much memory there
is and whoever does the work.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

Batches = Iterator[Any]

# Rows of a part, and bytes that so many rows may take.
PART_ROWS, PART_BYTES = 131_072, 64 << 20


class Run(NamedTuple):
    """Consecutive row groups, batches or bytes of a file, and how many rows they hold."""

    where: tuple[int, int]
    n_rows: int


Runs = tuple[Run, ...]


class Part(NamedTuple):
    """Rows of a file that are in memory together; `run` is the one of the dataset they are in."""

    file: int
    run: int
    first: int  # row of the file
    n_rows: int


def runs_of(sizes: Sequence[int]) -> Runs:
    """Return runs of row groups or batches; one with very many rows is a run of its own.

    >>> runs_of([60_000, 60_000, 60_000, 500_000])
    (Run(where=(0, 3), n_rows=180000), Run(where=(3, 4), n_rows=500000))
    """
    runs, first, n_rows = [], 0, 0
    for at, size in enumerate(sizes):
        if n_rows and n_rows + size > 2 * PART_ROWS:
            runs.append(Run((first, at), n_rows))
            first, n_rows = at, 0
        n_rows += size
    if n_rows:
        runs.append(Run((first, len(sizes)), n_rows))
    return tuple(runs)


def part_sizes(n_rows: int, bytes_per_row: float) -> list[int]:
    """Return how many rows each part of a run holds.

    >>> part_sizes(300_000, 100.0)
    [100000, 100000, 100000]
    """
    most = int(max(1_000, min(PART_ROWS, PART_BYTES // max(1.0, bytes_per_row))))
    n_parts = max(1, -(-n_rows // most))
    ends = [n_rows * at // n_parts for at in range(n_parts + 1)]
    return [stop - start for start, stop in pairwise(ends)]
