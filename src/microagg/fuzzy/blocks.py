"""Blocks of records, so that the whole matrix of records by centres is never stored."""

from collections.abc import Callable, Iterator
from typing import TypeVar

from microagg.core.parallel import side_by_side
from microagg.core.progress import listening, report

Result = TypeVar("Result")

# Entries of a block, records times centres: 2 MB of weights stay in a processor's cache.
_ENTRIES = 2**18
# Blocks between two reports: a fraction of a second; this many results are kept at a time.
_BLOCKS_PER_CALL = 16


def in_blocks(
    work: Callable[[slice], Result], n_records: int, n_centers: int, *, n_jobs: int, task: str
) -> Iterator[tuple[slice, Result]]:
    """Yield each block of records with the result of `work` on it, in order.

    The blocks depend only on the numbers of records and centres, so sums over them are the same
    on any number of threads.
    """
    size = max(1, _ENTRIES // n_centers)
    blocks = [slice(at, min(at + size, n_records)) for at in range(0, n_records, size)]
    for first in range(0, len(blocks), _BLOCKS_PER_CALL):
        some = blocks[first : first + _BLOCKS_PER_CALL]
        with listening(None):
            # Blocks are too small to be worth sending to another process.
            results = side_by_side(work, some, n_jobs=n_jobs, task=task, needs_threads=True)
        yield from zip(some, results, strict=True)
        report(task, some[-1].stop, n_records)
