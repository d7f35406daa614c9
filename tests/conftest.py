"""Data that tests share: made here, or read from the folder of benchmark tables."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# How long an example takes depends on the machine, and on whether it compiles.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
settings.register_profile("quick", settings.get_profile("untimed"), max_examples=15)

# Without numba's compiler, a kernel is the function that it would compile: see `make coverage`.
if os.environ.get("NUMBA_DISABLE_JIT") == "1":
    from microagg.kernels.compile import Kernel

    Kernel.__call__ = lambda kernel, *args: kernel.py_func(*args)
    Kernel.is_uncompiled = lambda _kernel: False


@pytest.fixture(scope="session", autouse=True)
def _files_are_read_here():
    """Read SPSS, Stata and SAS files in this process, which is quicker than in one of their own.

    That the two answer the same is tested in tests/files/test_own_process.py.
    """
    from microagg.files import statistical_reader
    from microagg.files.own_process import read_here

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(statistical_reader, "read_apart", read_here)
        yield


@pytest.fixture(scope="session")
def benchmark_file() -> Callable[[str], Path]:
    """Path of a benchmark table; skips where there is none, fails in CI."""

    def find(name: str) -> Path:
        folder = os.environ.get("MICROAGG_DATA")
        if folder and (path := Path(folder) / f"{name}.csv").exists():
            return path
        message = f"benchmark table {name}.csv is not in the folder named by MICROAGG_DATA"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        return pytest.skip(message)

    return find


@pytest.fixture(scope="session")
def raw_table(benchmark_file) -> Callable[[str], np.ndarray]:
    """Values of a benchmark table."""
    return lambda name: np.loadtxt(benchmark_file(name), delimiter=",", skiprows=1)


@pytest.fixture(scope="session")
def standardised(raw_table) -> Callable[[str], np.ndarray]:
    """Values of a benchmark table with mean 0 and standard deviation 1 (ddof = 1)."""

    def scale(name: str) -> np.ndarray:
        X = raw_table(name)
        return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)

    return scale
