"""What do datasets beyond memory take, and do CPU and loss per record stay in line as they grow?

`python -m benchmarks.beyond_memory 1000000 3000000 10000000` protects so many records of ten
normal columns, k = 5, effort fast, from Parquet to Parquet, and the first number of them in memory.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.harness import publish_as_it_grows

COLUMNS, K, MEMORY = 10, 5, "2GB"
ROWS_PER_FILE = 250_000
HEADER = ("records", "where", "CPU (s)", "CPU per record (µs)", "wall (s)", "peak (MB)", "loss (%)")


def write_dataset(n: int, folder: Path) -> None:
    """Write normal columns to files."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    for at, first in enumerate(range(0, n, ROWS_PER_FILE)):
        size = min(ROWS_PER_FILE, n - first)
        columns = {f"x{j}": rng.normal(size=size) for j in range(COLUMNS)}
        pq.write_table(pa.table(columns), folder / f"part-{at:04}.parquet")


def measured(*words: str) -> tuple[float, float, float]:
    """CPU and wall seconds, and peak resident set in MB, of a run of the command line."""
    code = (
        "import resource, sys, subprocess; subprocess.run(sys.argv[1:], check=True); "
        "used = resource.getrusage(resource.RUSAGE_CHILDREN); "
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1000)"
    )
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, sys.executable, "-m", "microagg", *words],
        check=True,
        capture_output=True,
        text=True,
    )
    cpu, peak = map(float, done.stdout.split()[-2:])
    return cpu, time.perf_counter() - began, peak


def rows(sizes: Sequence[int]) -> Iterator[tuple[object, ...]]:
    asked = ("-k", str(K), "--effort", "fast", "--seed", "1", "--bound", "none", "--quiet")
    with tempfile.TemporaryDirectory(dir=os.environ.get("MICROAGG_SPACE")) as name:
        folder = Path(name)
        for n in sizes:
            source, target = folder / f"in{n}", folder / f"out{n}"
            write_dataset(n, source)
            if n == sizes[0]:
                whole, safe = folder / "whole.parquet", folder / "safe.parquet"
                pq.write_table(pq.read_table(source), whole)
                yield row(n, "memory", safe, "protect", str(whole), "-o", str(safe), *asked)
            words = ("protect", str(source), "-o", str(target), "--memory", MEMORY, *asked)
            yield row(n, f"--memory {MEMORY}", target, *words)


def row(n: int, where: str, target: Path, *words: str) -> tuple[object, ...]:
    cpu, wall, peak = measured(*words)
    loss = json.loads(Path(f"{target}.manifest.json").read_text())["information_loss"]
    return (
        f"{n:,}",
        where,
        f"{cpu:.0f}",
        f"{1e6 * cpu / n:.0f}",
        f"{wall:.0f}",
        f"{peak:.0f}",
        f"{loss:.2f}",
    )


def main() -> None:
    sizes = [int(word) for word in sys.argv[1:]] or [1_000_000, 3_000_000]
    publish_as_it_grows("beyond_memory", "Datasets beyond memory", HEADER, rows(sizes))


if __name__ == "__main__":
    main()
