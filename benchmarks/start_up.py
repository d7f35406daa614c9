"""How long does a user wait before anything happens?"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.harness import publish


def cpu_seconds(*command: str, **environment: str) -> tuple[float, float]:
    """CPU and wall seconds of a command that must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", *command],
        check=True,
        capture_output=True,
        env=os.environ | environment,
    )
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime), wall


def main() -> None:
    rows = [("microagg --help", *min(cpu_seconds("microagg", "--help") for _ in range(5)))]
    census = Path(os.environ.get("MICROAGG_DATA", "")) / "census.csv"
    with tempfile.TemporaryDirectory() as folder:
        if census.is_file():
            output = str(Path(folder) / "out.csv")
            protect = ("microagg", "protect", str(census), "-k", "3", "-o", output, "--force")
            cache = {"NUMBA_CACHE_DIR": str(Path(folder) / "cache")}
            for run, repeats in (("empty cache", 1), ("filled cache, best of 5", 5)):
                times = min(
                    cpu_seconds(*protect, "--method", "mdav", **cache) for _ in range(repeats)
                )
                rows.append((f"microagg protect census.csv, {run}", *times))
        else:
            print("MICROAGG_DATA names no folder with census.csv: protect is not measured")
    publish("start_up", "Start-up", ("command", "CPU (s)", "wall (s)"), rows)


if __name__ == "__main__":
    main()
