"""Data that tests share: made here, or read from the folder of benchmark tables."""

import gc
import os
import shutil
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


def pytest_collection_finish():
    """Spare the garbage collector the thousands of tests that were collected, for good."""
    gc.collect()
    gc.freeze()


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


# Rooms whose tests are about what is done with groups, not about how good they are.
_ANY_GROUPS = {"cli", "files", "measures", "plans", "release", "report", "studies"}


@pytest.fixture(scope="module", autouse=True)
def _search_is_short(request):
    """Let the default effort do the work of `fast` where a better search would test nothing more.

    On the small tables there, that is a tenth of a second of work instead of a whole one.
    """
    if request.path.relative_to(Path(__file__).parent).parts[0] not in _ANY_GROUPS:
        yield
        return
    from microagg.partitions.auto import EFFORTS, EFFORTS_UNDER_RULES

    with pytest.MonkeyPatch.context() as patch:
        for efforts in (EFFORTS, EFFORTS_UNDER_RULES):
            patch.setitem(efforts, "balanced", efforts["fast"])
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


NO_CHROMIUM = "tests in a browser need chromium: install it, or name it with CHROMIUM"


def chromium_path() -> str | None:
    """Return the chromium of the system, if there is one."""
    names = (os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if name and (path := shutil.which(name))), None)


@pytest.fixture(scope="module")
def browser():
    """A headless chromium; without one, tests are skipped, but not in CI."""
    path = chromium_path()
    if path is None:
        if os.environ.get("CI") == "true":
            pytest.fail(NO_CHROMIUM)
        pytest.skip(NO_CHROMIUM)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # As root, which CI often is, chromium has no sandbox; it only sees pages of the app.
        options = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        chromium = playwright.chromium.launch(executable_path=path, args=options)
        yield chromium
        chromium.close()
