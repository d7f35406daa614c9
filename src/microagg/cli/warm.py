"""microagg warm: compile everything now, so that no later run has to."""

import sys
import time
from typing import Any

from microagg.cli.layout import bar, show
from microagg.cli.options import QUIET, takes
from microagg.core.words import counted


@takes((QUIET,))
def warm(*, given: dict[str, Any]) -> None:
    """Compile every method and measure now, which otherwise happens on first use.

    For container images, and wherever the first user should not wait. It takes a few minutes; what
    has been compiled is kept on disk, and is used by all later runs of this version.
    """
    from microagg.cli.warming import all_kernels, stored_in
    from microagg.cli.warming import warm as steps
    from microagg.core.errors import ParameterError
    from microagg.core.progress import report

    began = time.perf_counter()
    quiet = given["quiet"]
    folders = {stored_in(kernel) for kernel in all_kernels()}
    if None in folders:
        raise ParameterError(
            "what is compiled cannot be stored: there is no folder that can be written to. Set "
            "NUMBA_CACHE_DIR to one, here and where microagg runs later."
        )
    missing = sum(kernel.is_uncompiled() for kernel in all_kernels())
    lines = not quiet and not sys.stderr.isatty()
    with bar(quiet=quiet):
        for name, done, total in steps():
            report(f"compiling: {name}", done, total)
            if lines:
                show(f"{done + 1} of {total}: {name}", err=True)
    if not quiet:
        seconds = time.perf_counter() - began
        show(f"{counted(missing, 'function')} compiled in {seconds:.0f} s; all are stored.")
