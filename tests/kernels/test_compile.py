"""Compiled kernels are stored on disk, where they may be damaged."""

import ast
import importlib
import inspect
import os
import pkgutil
import subprocess
import sys
import textwrap
from typing import get_args, get_origin

import numpy as np
import pytest
from numba.core.errors import NumbaError

from microagg import kernels
from microagg.kernels.compile import Kernel, kernel

SCRIPT = """
import numpy as np
from microagg.kernels.paths.cuts import label_windows
labels = np.empty(4, dtype=np.intp)
label_windows(np.arange(4), np.array([0, 0, 2, 0, 2], dtype=np.int32), labels)
print(labels.tolist())
"""


def run(folder):
    return subprocess.run(
        [sys.executable, "-W", "always", "-c", SCRIPT],
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suffix", "damage"),
    [
        (".nbi", lambda _: b""),
        (".nbc", lambda stored: stored[: len(stored) // 2]),
        (".nbc", lambda stored: bytes([*stored[:-2000], stored[-2000] ^ 1, *stored[-1999:]])),
    ],
    ids=["no index", "half of it", "one bit"],
)
def test_what_is_damaged_is_compiled_again_and_said(tmp_path, suffix, damage):
    assert "damaged" not in run(tmp_path).stderr
    stored = list(tmp_path.rglob(f"*{suffix}"))
    assert stored
    for file in stored:
        file.write_bytes(damage(file.read_bytes()))
    again = run(tmp_path)
    assert again.stdout == "[1, 1, 0, 0]\n"
    assert "DamagedCacheWarning: compiled code that microagg had stored was damaged" in again.stderr
    assert "damaged" not in run(tmp_path).stderr


@pytest.mark.parametrize("threads", ["0", "-3", "four", "1.5", ""])
@pytest.mark.parametrize(
    ("variable", "module"),
    [("NUMBA_NUM_THREADS", "kernels.compile"), ("POLARS_MAX_THREADS", "files.room")],
)
def test_a_number_of_threads_that_a_library_refuses_is_one_sentence(variable, module, threads):
    done = subprocess.run(
        [sys.executable, "-c", f"import microagg.{module}"],
        env={**os.environ, variable: threads},
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"{variable} must be a whole number of at least 1; got {threads!r}." in done.stderr
    assert "RuntimeWarning" not in done.stderr


@kernel
def allocating(values):
    return np.zeros(values.shape[0]).shape[0]


@kernel
def returning_a_view(values):
    return values[1:]


SCALARS = {None, int, float, bool}


@pytest.fixture(scope="module")
def every_kernel():
    """Those that only other kernels call, too."""
    names = [found.name for found in pkgutil.walk_packages(kernels.__path__, "microagg.kernels.")]
    modules = [importlib.import_module(name) for name in names]
    found = {id(own): own for module in modules for own in vars(module).values()}
    return [own for own in found.values() if isinstance(own, Kernel)]


def returns_an_array(kernel):
    returned = inspect.signature(kernel.py_func).return_annotation
    if get_origin(returned) is tuple:
        return not set(get_args(returned)) <= SCALARS
    return returned not in SCALARS


def tree_of(kernel):
    return ast.parse(textwrap.dedent(inspect.getsource(kernel.py_func)))


def called_by(kernel):
    """The kernels that the source of one names in a call."""
    calls = (node.func for node in ast.walk(tree_of(kernel)) if isinstance(node, ast.Call))
    names = {call.id for call in calls if isinstance(call, ast.Name)}
    found = (kernel.py_func.__globals__.get(name) for name in names)
    return [other for other in found if isinstance(other, Kernel)]


# What kernels may call besides each other: functions of single numbers.
PLAIN = {"range", "len", "abs", "min", "max", "int", "float", "divmod", "bool"}
OF_NUMBERS = {"sqrt", "exp", "log", "rint", "floor", "ceil", "abs", "isnan", "isfinite"}


def may_allocate(call, kernels):
    """Whether a call in the source of a kernel is of anything but numbers."""
    called = call.func
    if isinstance(called, ast.Name):
        return called.id not in PLAIN | kernels
    if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
        is_type = called.attr.strip("0123456789") in {"uint", "int", "float", "intp", "finfo"}
        known = called.attr in OF_NUMBERS or is_type
        return not (called.value.id in {"np", "math"} and known)
    return True


def test_kernels_that_borrow_make_and_return_no_arrays(every_kernel):
    """Nobody would release them: numba does not count references there."""
    returning = [own for own in every_kernel if returns_an_array(own)]
    assert len(returning) > 5
    assert not any(own.borrows for own in returning)
    names = {own.py_func.__name__ for own in every_kernel}
    borrowing = [own for own in every_kernel if own.borrows]
    assert len(borrowing) > 200
    for own in borrowing:
        for other in called_by(own):
            assert other not in returning, f"{own.__name__} calls {other.__name__}"
        for call in ast.walk(tree_of(own)):
            if isinstance(call, ast.Call):
                assert not may_allocate(call, names), f"{own.__name__}: {ast.unparse(call)}"


@pytest.mark.parametrize("refused", [allocating, returning_a_view])
def test_kernels_that_borrow_cannot_allocate_or_return_arrays(refused):
    with pytest.raises(NumbaError):
        refused(np.ones(3))
