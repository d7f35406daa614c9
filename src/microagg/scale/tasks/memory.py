"""How much memory a run may take, and how many tasks at once that allows."""

import ctypes
import math
from collections.abc import Callable
from functools import cache

import pyarrow as pa

from microagg.core.errors import ParameterError
from microagg.core.sizes import bytes_in
from microagg.scale.storage.work import UnfinishedError

# What the libraries and compiled kernels take, and what a task takes beside its rows.
BASE, PER_TASK = 350 << 20, 40 << 20
# A task must fit in beside the libraries.
FLOOR = 450 * 10**6


def memory_limit(memory: object) -> int | None:
    """Return a size such as "4GB" or "500 MiB" in bytes; None stays None.

    >>> memory_limit("2GB"), memory_limit("1.5 GiB"), memory_limit(10**9)
    (2000000000, 1610612736, 1000000000)
    """
    if memory is None:
        return None
    size = bytes_in(memory, "memory")
    if size < FLOOR:
        raise ParameterError(
            f"memory must be at least {FLOOR / 1e6:.0f}MB, most of which the libraries take; got "
            f"{size / 1e6:.0f}MB. Give more."
        )
    return size


def tasks_at_once(memory: int | None, bytes_each: int, n_jobs: int) -> int:
    """Return how many tasks may run at once, at least one, if each takes so many bytes.

    >>> tasks_at_once(2 * 10**9, 500 * 10**6, 8), tasks_at_once(None, 10**9, 8)
    (3, 8)
    """
    if memory is None:
        return n_jobs
    if complaint := too_little(memory, bytes_each):
        raise UnfinishedError(complaint)
    return int(max(1, min(n_jobs, (memory - BASE) // (bytes_each + PER_TASK))))


def too_little(memory: int, bytes_each: int) -> str:
    """Say how much memory one task needs if that is more than there is."""
    each = bytes_each + PER_TASK
    if memory - BASE >= each:
        return ""
    return (
        f"memory of {memory / 1e6:.0f}MB is too little for this dataset: a task takes about "
        f"{each / 1e6:.0f}MB beside the {BASE / 1e6:.0f}MB of the libraries. Give "
        f"{math.ceil((BASE + each) / 1e6)}MB or more."
    )


def give_back() -> None:
    """Return memory that is free to the system, which libraries would keep for later."""
    pa.default_memory_pool().release_unused()
    if (trim := _trim()) is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    """Return the function of the C library that does it, if it has one."""
    try:
        trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
    return trim
