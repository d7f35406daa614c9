"""How a kernel is compiled: one place, so that every kernel keeps the same promises."""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def fingerprint(folder: Path) -> str:
    """Ten characters that change when any source file of the folder does."""
    digest = hashlib.sha256()
    for source in sorted(folder.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:10]


# Numba's cache checks the file of a function, but not the files of the kernels that were compiled
# into it. The name under which a kernel is cached therefore carries all sources.
_VERSION = fingerprint(Path(__file__).parent)


def kernel(function: Kernel) -> Kernel:
    """Compile `function` on its first call and keep the result on disk.

    No fastmath: sums that decide ties must round the same way everywhere. The lock of the
    interpreter is released, so that kernels run side by side in threads.
    """
    function.__qualname__ = f"{function.__name__}_{_VERSION}"
    try:
        compiled = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # no folder can be written to: compile anew in every process
        compiled = numba.njit(nogil=True, error_model="numpy")(function)
    return cast(Kernel, compiled)


def drop_stale_kernels(folder: Path) -> None:
    """Delete compiled kernels of other versions of the sources."""
    for compiled in folder.glob("__pycache__/*.nb?"):
        if _VERSION not in compiled.name:
            with suppress(OSError):
                compiled.unlink()


drop_stale_kernels(Path(__file__).parent)
