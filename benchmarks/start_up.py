"""How long does a user wait before anything happens?

Commands are taken in turns, best of five. What they take is also shown as a multiple of importing
scikit-learn's base classes, which nearly every program of the field does.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.harness import publish

ROUNDS = 5
NOTE = (
    "A file of 200 records and 5 columns, k = 3. With filled caches commands were taken in turns, "
    f"best of {ROUNDS}; the last column compares CPU times. With an empty cache, kernels are "
    "compiled first."
)


class Taken(NamedTuple):
    """What a command took."""

    cpu: float
    wall: float


def taken(*words: str, **environment: str) -> Taken:
    """CPU and wall seconds of a Python command that must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, *words], check=True, capture_output=True, env=os.environ | environment
    )
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Taken(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall)


def write_small_table(path: Path) -> None:
    numbers = np.random.default_rng(0).normal(50.0, 10.0, size=(200, 5)).round(1)
    np.savetxt(path, numbers, "%.1f", ",", header="a,b,c,d,e", comments="")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small = folder / "small.csv"
        write_small_table(small)
        module = ("-m", "microagg")
        protect = (*module, "protect", str(small), "-k", "3", "-o", str(folder / "out.csv"))
        default = (*protect, "--seed", "1", "--force")
        cache = {"NUMBA_CACHE_DIR": str(folder / "cache")}
        cold = taken(*default, **cache)
        warm = {
            "`import sklearn.base`": ("-c", "import sklearn.base"),
            "`microagg --help`": (*module, "--help"),
            "`microagg protect --method mdav`": (*protect, "--method", "mdav", "--force"),
            "`microagg protect`": default,
        }
        for words in warm.values():
            taken(*words, **cache)
        best = {
            what: min(times)
            for what, *times in zip(
                warm,
                *([taken(*words, **cache) for words in warm.values()] for _ in range(ROUNDS)),
                strict=True,
            )
        }
    unit = best["`import sklearn.base`"].cpu
    rows = [(what, *times, times.cpu / unit) for what, times in best.items()]
    rows.append(("`microagg protect`, empty cache", *cold, cold.cpu / unit))
    header = ("command", "CPU (s)", "wall (s)", "times `import sklearn.base`")
    publish("start_up", "Start-up", header, rows, note=NOTE)


if __name__ == "__main__":
    main()
