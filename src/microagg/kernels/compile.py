"""How a kernel is compiled: one place, so that every kernel keeps the same promises."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def kernel(function: Kernel) -> Kernel:
    """Compile `function` on its first call and keep the result on disk.

    No fastmath: sums that decide ties must round the same way everywhere. The lock of the
    interpreter is released, so that kernels run side by side in threads.
    """
    try:
        compiled = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # no folder can be written to: compile anew in every process
        compiled = numba.njit(nogil=True, error_model="numpy")(function)
    return cast(Kernel, compiled)


def drop_stale_kernels(folder: Path) -> None:
    """Delete compiled kernels older than any kernel's source.

    Numba checks the file of a function, not the files of the kernels that were compiled into it.
    """
    newest = max(source.stat().st_mtime for source in folder.glob("*.py"))
    for compiled in folder.glob("__pycache__/*.nb?"):
        with suppress(OSError):
            if compiled.stat().st_mtime < newest:
                compiled.unlink()


drop_stale_kernels(Path(__file__).parent)
