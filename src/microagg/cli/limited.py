"""Running within a limit on addresses (`ulimit -v`), where it counts what is reserved but unused.

Some libraries wait forever for memory that they do not get. So little is reserved under such
a limit, and one that is clearly too low is refused before they are loaded.
"""

import os
from collections.abc import Sequence
from contextlib import suppress

from microagg.core.errors import MicroaggError
from microagg.core.memory import limit, need_room

_MOST_ARENAS = -8  # M_ARENA_MAX of the C library
# Measured with all libraries loaded: what they take, and what each core adds.
_LIBRARIES, _PER_CORE = 640 << 20, 32 << 20
_LIGHT = ("methods", "-h", "--help", "--version")


def reserve_little() -> None:
    """Have libraries reserve little, if there is a limit; before any of them is loaded."""
    if limit() is None:
        return
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # 40 MB for each of the others
    with suppress(ImportError, OSError, AttributeError, MemoryError):
        import ctypes

        ctypes.CDLL(None).mallopt(_MOST_ARENAS, 1)  # 64 MB for each thread's own


def need_room_to_start(arguments: Sequence[str]) -> None:
    """Refuse a limit under which not even the libraries can be loaded.

    OpenBLAS, of which numpy and scipy each have one, asks for room until it gets it when it is
    loaded: so that happens under a limit before a table fills the room.
    """
    most = limit()
    if most is None or not arguments or any(word in arguments for word in _LIGHT):
        return
    needed = _LIBRARIES + _PER_CORE * (os.cpu_count() or 1)
    try:
        need_room(needed)
    except MemoryError:
        raise MicroaggError(
            f"there is not enough memory: the limit of this process (ulimit -v) is "
            f"{most / 1e6:,.0f} MB, and it needs {needed / 1e6:,.0f} MB before it reads anything. "
            "Raise the limit."
        ) from None
    import scipy.linalg  # noqa: F401
