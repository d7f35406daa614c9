"""How do loss, CPU time and memory of `auto` compare with exact MDAV on a million records?

`python -m benchmarks.large_tables [N ...]` measures tables of so many records instead, each method
in a process of its own; with several, the growth of CPU time per record as well.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import NamedTuple

from benchmarks.auto_cells import compile_all
from benchmarks.datasets import REPORTING_SEED, normal_records
from benchmarks.harness import peak_memory, publish_as_it_grows, wall_and_cpu
from microagg import information_loss
from microagg.partitions import MDAV, Auto

N, COLUMNS, K = 1_000_000, 10, 5
MDAV_EXACT, FAST, BALANCED = "mdav", "fast", "balanced"
# More records than this would take MDAV, whose time grows with their square, hours.
MOST_FOR_MDAV = 1_000_000


class Measured(NamedTuple):
    """What one method took, and what it lost."""

    loss: float
    wall: float
    cpu: float
    memory: float


def measure(n: int, what: str) -> Measured:
    """Group the records in this process."""
    compile_all()
    X = normal_records(n, COLUMNS, REPORTING_SEED)
    method = MDAV(K) if what == MDAV_EXACT else Auto(K, effort=what, random_state=0)
    wall, cpu = wall_and_cpu(lambda: method.fit(X))
    return Measured(information_loss(X, method.labels_), wall, cpu, peak_memory())


def in_a_process(n: int, what: str) -> Measured:
    """Group the records in a new process, whose memory is its own."""
    command = [sys.executable, "-m", "benchmarks.large_tables", "--measure", str(n), what]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Measured(*json.loads(done.stdout))


def rows(tables: list[int]) -> Iterator[tuple[object, ...]]:
    first: dict[str, float] = {}  # CPU seconds per record
    for n in tables:
        mdav = None
        for what in (MDAV_EXACT, FAST, BALANCED):
            if what == MDAV_EXACT and n > MOST_FOR_MDAV:
                continue
            found = in_a_process(n, what)
            mdav = found if what == MDAV_EXACT else mdav
            per_record = found.cpu / n
            growth = per_record / first.setdefault(what, per_record)
            yield (
                f"{n:,}",
                what if what == MDAV_EXACT else f'auto, effort="{what}"',
                f"{found.loss:.4f}",
                f"{100 * (1 - found.loss / mdav.loss):.1f} %" if mdav else "",
                f"{found.wall:.0f}",
                f"{found.cpu:.0f}",
                f"{found.cpu / mdav.cpu:.2f}" if mdav else "",
                f"{1e6 * per_record:.0f}",
                f"{growth:.2f}",
                f"{found.memory:.2f}",
            )


def main(tables: list[int] | None = None) -> None:
    publish_as_it_grows(
        "quality_million",
        f"`auto` and exact `mdav` on large tables, {COLUMNS} normal columns, k = {K}",
        (
            *("records", "method", "IL", "below MDAV", "seconds", "CPU seconds"),
            *("of MDAV's CPU", "CPU per record (µs)", "growth", "peak memory (GB)"),
        ),
        rows(tables or [N]),
        note="Target for a million records: fast at least 9 % below MDAV in at most 1.2 times its "
        "CPU time and 1.2 GB; balanced at least 14 % below in at most 8 times its CPU time. "
        "CPU time per record grows by at most 1.3 from one to three million.",
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(int(sys.argv[2]), sys.argv[3])))
    else:
        main([int(argument.replace(",", "").replace("_", "")) for argument in sys.argv[1:]])
