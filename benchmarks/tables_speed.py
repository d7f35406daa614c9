"""What do reading, encoding, aggregating and writing a large table cost, compared with grouping?"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.harness import peak_memory, publish

SIZES = (200_000, 1_000_000)
K, METHOD = 5, "mdav"
NUMERIC = 5
CATEGORIES = {"sex": 2, "status": 5, "region": 12}
# The functions of the stages, by what they do.
STAGES = {
    "read": "read_source",
    "encode": "open_records",
    "group": "group",
    "aggregate": "aggregate",
    "check": "finish",
}
STEPS = (*STAGES, "write")


def table(n: int) -> pl.DataFrame:
    """Numbers with three decimals, and categories as text."""
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {f"x{j}": rng.normal(size=n).round(3) for j in range(NUMERIC)}
    for name, count in CATEGORIES.items():
        columns[name] = np.array([f"{name} {code}" for code in range(count)])[
            rng.integers(count, size=n)
        ]
    return pl.DataFrame(columns)


def measure(source: str, target: str) -> None:
    """Protect a file as the command line does, and print the seconds of every step."""
    import microagg
    from microagg.release.release import Release

    files, stages = (
        import_module(f"microagg.release.{name}") for name in ("protect_file", "protect")
    )
    role = {"role": "quasi-identifier"}
    plan = microagg.Plan.of(
        k=K, method=METHOD, bound="none", columns=dict.fromkeys(CATEGORIES, role)
    )
    microagg.protect(table(1000), plan=plan)  # compiles
    taken: dict[str, float] = {}

    def timed(step: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            began = time.perf_counter()
            result = function(*args, **kwargs)
            taken[step] = time.perf_counter() - began
            return result

        return run

    for step, name in STAGES.items():
        home = files if hasattr(files, name) else stages
        setattr(home, name, timed(step, getattr(home, name)))
    Release._save = timed("write", Release._save)  # type: ignore[method-assign]
    microagg.protect_file(source, target, plan)
    print(json.dumps({step: taken[step] for step in STEPS} | {"memory": peak_memory()}))


def row(n: int) -> tuple[object, ...]:
    with tempfile.TemporaryDirectory() as folder:
        source, target = (str(Path(folder) / name) for name in ("in.csv", "out.csv"))
        table(n).write_csv(source)
        call = f"from benchmarks.tables_speed import measure; measure({source!r}, {target!r})"
        # One process for each: what it holds at most is its own.
        done = subprocess.run(
            [sys.executable, "-c", call], check=True, capture_output=True, text=True
        )
    found = json.loads(done.stdout)
    beside = sum(found[step] for step in STEPS if step != "group")
    share = f"{100 * beside / found['group']:.1f} %"
    return (f"{n:,}", *(found[step] for step in STEPS), share, f"{found['memory']:.2f}")


def main() -> None:
    sizes = os.environ.get("MICROAGG_ROWS")
    publish(
        "tables_speed",
        f"A table of {NUMERIC} numeric and {len(CATEGORIES)} nominal columns, `{METHOD}`, k = {K}",
        (
            *("records", *(f"{step} (s)" for step in STEPS)),
            *("all except grouping / grouping", "peak memory (GB)"),
        ),
        [row(int(n)) for n in (sizes.split(",") if sizes else SIZES)],
        note="From a CSV file to a CSV file, elapsed time without compiling. Checking is putting "
        "the values into the table and counting its combinations. Aim: everything except "
        "grouping takes less than a fifth of its time, within 2 GB for a million records.",
    )


if __name__ == "__main__":
    main()
