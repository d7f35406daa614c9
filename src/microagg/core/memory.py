"""Running out of memory: foreseen where it would end the process, and recognised in errors.

Libraries written in C and Rust end the process where memory runs out, and polars may wait forever
for a thread that could not be started. So the system is asked for the memory that they need before
they are called: asking takes microseconds, and a refusal is a `MemoryError`.
"""

import mmap
import re
import sys
from contextlib import suppress
from pathlib import Path

# What errors other than `MemoryError` say: those of the system, of threads, and of libraries that
# cannot be loaded.
_WORDS = ("cannot allocate memory", "can't start new thread", "failed to map segment")
# No library that may fail to load for lack of memory is larger than this.
_NEAR = 256 << 20


def need_room(n_bytes: int) -> None:
    """Raise `MemoryError` unless the process could hold this many more bytes at once."""
    if sys.platform == "win32" or n_bytes <= 0:  # it has no such limits
        return
    try:
        mmap.mmap(-1, n_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    except (OSError, OverflowError, ValueError):
        raise MemoryError(f"Unable to allocate {_in_units(n_bytes)}") from None


def _in_units(n_bytes: int) -> str:
    """Write a size as numpy does in its errors."""
    return f"{n_bytes / 2**30:.3g} GiB" if n_bytes >= 1 << 30 else f"{n_bytes / 2**20:.3g} MiB"


def is_lack_of_memory(error: BaseException | None) -> bool:
    """Whether an error, or what led to it, says that memory ran out."""
    while error is not None:
        said = str(error).lower()
        if isinstance(error, MemoryError) or any(words in said for words in _WORDS):
            return True
        error = error.__cause__ or error.__context__
    return False


def limit() -> int | None:
    """Return how many bytes of addresses this process may have (`ulimit -v`); None for any."""
    with suppress(ImportError, OSError):
        import resource

        found, _ = resource.getrlimit(resource.RLIMIT_AS)
        return None if found == resource.RLIM_INFINITY else found
    return None


def was_near_limit() -> bool:
    """Whether this process has come near its limit on addresses, if it has one.

    Whatever fails then most likely fails for lack of memory, whatever its error says.
    """
    most = limit()
    with suppress(OSError):
        peak = re.search(r"VmPeak:\s*([0-9]+) kB", Path("/proc/self/status").read_text())
        return most is not None and peak is not None and int(peak[1]) * 1024 + _NEAR > most
    return False
