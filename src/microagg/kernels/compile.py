"""How kernels are compiled: in one place, so that the same guarantees hold for all of them."""

import functools
import gc
import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar, cast

from microagg.core.errors import DamagedCacheWarning, warn
from microagg.core.memory import is_lack_of_memory, was_near_limit
from microagg.core.threads import check_threads

check_threads("NUMBA_NUM_THREADS")

import numba  # noqa: E402
from numba import types  # noqa: E402
from numba.extending import models, register_model  # noqa: E402

from microagg.kernels.checked_cache import check_stored  # noqa: E402

Function = TypeVar("Function", bound=Callable[..., Any])


def fingerprint(folder: Path) -> str:
    """Return ten characters that change when any source file in the folder does."""
    digest = hashlib.sha256()
    for source in sorted(folder.rglob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:10]


# Numba's cache checks the file of a function, but not the files of the kernels that were compiled
# into it. So the name under which a kernel is cached contains a hash of all sources.
_VERSION = fingerprint(Path(__file__).parent)
# Where compiled kernels are stored.
_FOLDERS: set[Path] = set()


def kernel(function: Function) -> Function:
    """Compile `function` on its first call and keep the result on disk.

    No fastmath: sums that decide ties must round the same way everywhere. The interpreter's lock is
    released, so that kernels run in parallel on threads.

    The kernel borrows the arrays that it is given: references to them are not counted. Numba would
    count one whenever a row is passed on, which took two fifths of the time of a search. So a
    kernel must not allocate, nor return an array, nor call a kernel that returns one: nobody would
    release it. Numba refuses most of this, and tests/kernels/test_compile.py the rest.
    """
    return _called_from_python(function, borrows=True)


def allocating_kernel(function: Function) -> Function:
    """Compile `function` like `kernel`, if it allocates or returns arrays."""
    return _called_from_python(function, borrows=False)


def inner_kernel(function: Function) -> Function:
    """Compile `function` like `kernel`, but for calls from other kernels only.

    It is compiled without the code that unpacks Python's arguments, which for a tuple of many
    arrays takes longer to compile than a small function. A test that calls it from Python gets a
    second version with that code.
    """
    return _called_from_kernels(function, borrows=True)


def allocating_inner_kernel(function: Function) -> Function:
    """Compile `function` like `inner_kernel`, if it allocates or returns arrays."""
    return _called_from_kernels(function, borrows=False)


def _called_from_python(function: Function, *, borrows: bool) -> Function:
    compiled = _jit(function, function.__name__, borrows=borrows)
    return cast(Function, Kernel(function, compiled, compiled, borrows))


def _called_from_kernels(function: Function, *, borrows: bool) -> Function:
    name = function.__name__
    from_kernels = _jit(function, f"{name}_inner", borrows=borrows, no_cpython_wrapper=True)
    from_python = _jit(function, name, borrows=borrows)
    return cast(Function, Kernel(function, from_python, from_kernels, borrows))


def _jit(function: Callable[..., Any], name: str, *, borrows: bool, **options: Any) -> Any:
    """Have numba compile a function when it is needed, and cache it under the given name."""
    function.__qualname__ = f"{name}_{_VERSION}"
    options |= {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    options["_nrt"] = not borrows
    try:
        compiled = numba.njit(cache=True, **options)(function)
        if hasattr(compiled, "stats"):  # not if NUMBA_DISABLE_JIT is set
            _FOLDERS.add(Path(compiled.stats.cache_path))
            check_stored(compiled)
        return compiled
    except RuntimeError:  # no writable folder: compile in every process
        return numba.njit(**options)(function)


class KernelType(types.Dispatcher):
    """The numba type of a kernel that another one calls.

    In numba every constant has its own type, and a function would be compiled again for each one
    passed to it. Here a constant has the type of any other number.
    """

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Return the types of arguments and result; compile the kernel for them if necessary."""
        return super().get_call_type(context, tuple(map(types.unliteral, args)), kws)


register_model(KernelType)(models.OpaqueModel)


class Kernel:
    """A compiled function, as Python and as other kernels call it; `py_func` is the source.

    `borrows` if it does not count references to arrays: see `kernel`.
    """

    def __init__(
        self, function: Callable[..., Any], from_python: Any, from_kernels: Any, borrows: bool
    ) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.borrows = borrows
        self._from_python = from_python
        self._from_kernels = from_kernels  # the type below does not keep it alive
        self._numba_type_ = KernelType(from_kernels)

    def __call__(self, *args: Any) -> Any:
        """Run the kernel."""
        if self._from_python.overloads:
            return self._from_python(*args)
        with collector_paused():
            try:
                return self._from_python(*args)
            except numba.core.errors.NumbaError:
                raise  # a mistake in a kernel
            except Exception as error:  # kernels raise nothing themselves
                if is_lack_of_memory(error) or was_near_limit() or not drop_compiled():
                    raise
                warn(
                    "compiled code that microagg had stored was damaged; it is compiled again, "
                    "which takes a moment.",
                    DamagedCacheWarning,
                )
                return self._from_python(*args)

    def is_uncompiled(self) -> bool:
        """Whether it has not been compiled yet, and the result can be shared on disk."""
        folder = self._from_python.stats.cache_path
        if folder is None or self._from_python.overloads:
            return False
        return not any(Path(folder).glob(f"*.{self.py_func.__qualname__}-*.nbi"))


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause garbage collection: compiling allocates much, with few reference cycles.

    Collecting takes a seventh of the time. Of several threads, the first to pause it resumes it.
    """
    paused = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if paused:
            gc.enable()


def drop_compiled() -> int:
    """Delete what is stored of all kernels, and return how many files there were."""
    found = {file for folder in _FOLDERS for file in folder.glob(f"*_{_VERSION}-*.nb?")}
    for file in found:
        with suppress(OSError):
            file.unlink()
    return len(found)


def drop_stale_kernels(folder: Path) -> None:
    """Delete compiled kernels of other versions of the sources."""
    for compiled in folder.rglob("__pycache__/*.nb?"):
        if _VERSION not in compiled.name:
            with suppress(OSError):
                compiled.unlink()


drop_stale_kernels(Path(__file__).parent)
