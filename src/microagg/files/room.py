"""Room in memory for polars to read a file, asked for before it begins.

polars ends the process where memory runs out; and where a thread cannot be started, which takes
memory as well, it may wait for it forever.
"""

from functools import cache

import polars as pl

from microagg.core.memory import need_room
from microagg.core.threads import check_threads

check_threads("POLARS_MAX_THREADS")  # 0 makes polars panic, as a damaged file does

# A stack, and what allocators reserve for a thread.
_PER_THREAD = 8 << 20
# Threads of three kinds for each one that computes, and a few others.
_KINDS, _OTHERS = 3, 4
# A table takes more than once the room of its file or text, and for a moment so do both.
_PER_BYTE = 2


def need_room_to_read(n_bytes: int) -> None:
    """Raise `MemoryError` unless there is room for the threads of polars and this many bytes."""
    _need_room_for_threads()
    need_room(_PER_BYTE * n_bytes)


@cache  # threads stay
def _need_room_for_threads() -> None:
    need_room(_PER_THREAD * (_KINDS * pl.thread_pool_size() + _OTHERS))
