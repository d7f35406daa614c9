"""How a kernel is compiled: one place, so that every kernel keeps the same promises."""

from collections.abc import Callable
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
