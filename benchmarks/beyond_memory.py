"""What do datasets beyond memory take, and do CPU and loss per record stay in line as they grow?

`python -m benchmarks.beyond_memory normal 1000000 3000000 10000000` protects so many records of ten
normal columns from Parquet to Parquet, and the first number of them in memory, too; with `mixed`,
records of three numbers and two nominal columns in 1,000 strata, with missing values.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.harness import publish_as_it_grows
from benchmarks.page import PAGE, measured_so_far, system, with_part

COMMAND = "make beyond"
TABLES = ("beyond_normal", "beyond_mixed")
K, MEMORY = 5, "2GB"
ROWS_PER_FILE = 250_000
ASKED = ("-k", str(K), "--effort", "fast", "--seed", "1", "--bound", "none", "--quiet")
HEADER = ("records", "where", "CPU (s)", "CPU per record (µs)", "wall (s)", "peak (MB)", "IL")
INTRO = """## Datasets beyond memory

Each table in this part is from one run of `make beyond`, or of `python -m benchmarks.beyond_memory`
for one of them, the last with {system}. k = 5, `--effort fast`, from Parquet files of
250,000 rows to Parquet files. CPU is that of the whole run, checks and hashes included; the peak is
the resident set of the process. IL is the information loss in per cent.
"""


def normal(size: int, rng: np.random.Generator) -> pa.Table:
    """Ten independent normal columns."""
    return pa.table({f"x{j}": rng.normal(size=size) for j in range(10)})


def mixed(size: int, rng: np.random.Generator) -> pa.Table:
    """Three skewed or rounded numbers and two nominal columns, each missing here and there."""
    branches = np.array([f"branch {code}" for code in range(20)])
    statuses = np.array(["single", "married", "widowed", "divorced"])
    districts = np.array([f"district {code:03}" for code in range(1000)])
    columns = {
        "age": (rng.integers(0, 100, size), 0.01),
        "income": (np.round(rng.lognormal(10.0, 0.8, size), 2), 0.05),
        "hours": (np.round(rng.gamma(9.0, 4.0, size), 1), 0.02),
        "branch": (branches[rng.zipf(1.6, size) % 20], 0.02),
        "status": (statuses[rng.integers(0, 4, size)], 0.01),
        "district": (districts[rng.integers(0, 1000, size)], 0.0),
    }
    return pa.table(
        {
            name: pa.array(values, mask=rng.random(size) < share)
            for name, (values, share) in columns.items()
        }
    )


class Kind(NamedTuple):
    """What records there are, and how they are protected."""

    title: str
    records: Callable[[int, np.random.Generator], pa.Table]
    options: tuple[str, ...]
    note: str


KINDS = {
    "normal": Kind(
        "Ten normal columns",
        normal,
        (),
        "We know of no other system that states both loss and time above a million records. "
        "scclust (the R package) takes 104 s of CPU for 100,000 such records and loses 14.5 %. For "
        "a million records and k = 100, on 128 processors, A. V. Djeufack Nanfack and others give "
        "a loss of 2.6 % or 4.0 % by a measure of their own, and time as a ratio only "
        '("Achieving k-anonymity of a large-scale database in a distributed memory environment", '
        "preprint, 2024).",
    ),
    "mixed": Kind(
        "Three numbers and two nominal columns in 1,000 strata, with missing values",
        mixed,
        (
            "--quasi-identifier=age,income,hours,branch,status",
            "--strata=district",
            "--missing=value",
        ),
        "",
    ),
}


def write_dataset(kind: Kind, n: int, folder: Path) -> None:
    """Write so many records to files."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    for at, first in enumerate(range(0, n, ROWS_PER_FILE)):
        table = kind.records(min(ROWS_PER_FILE, n - first), rng)
        pq.write_table(table, folder / f"part-{at:04}.parquet")


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


def rows(kind: Kind, sizes: Sequence[int]) -> Iterator[tuple[object, ...]]:
    asked = (*ASKED, *kind.options)
    with tempfile.TemporaryDirectory(dir=os.environ.get("MICROAGG_SPACE")) as name:
        folder = Path(name)
        for n in sizes:
            source, target = folder / f"in{n}", folder / f"out{n}"
            write_dataset(kind, n, source)
            if n == sizes[0] and len(sizes) > 1:
                whole, safe = folder / "whole.parquet", folder / "safe.parquet"
                pq.write_table(pq.read_table(source), whole)
                yield row(n, "memory", safe, "protect", str(whole), "-o", str(safe), *asked)
            words = ("protect", str(source), "-o", str(target), "--memory", MEMORY, *asked)
            yield row(n, f"`--memory {MEMORY}`", target, *words)


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
    name, *sizes = sys.argv[1:]
    kind = KINDS[name]
    publish_as_it_grows(
        f"beyond_{name}", kind.title, HEADER, rows(kind, [*map(int, sizes)]), note=kind.note
    )
    part = "\n".join([INTRO.format(system=system()), *measured_so_far(TABLES)])
    PAGE.write_text(with_part(PAGE.read_text(), COMMAND, part))


if __name__ == "__main__":
    main()
