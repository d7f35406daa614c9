"""How every benchmark measures and reports."""

import gc
import json
import os
import platform
import resource
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results"
TABLES = ("tarragona", "census", "eia")

published: list[str] = []  # the sections of this run, in order


def benchmark_table(name: str) -> np.ndarray | None:
    """Values of a table in the folder named by MICROAGG_DATA, if there is one."""
    path = Path(os.environ.get("MICROAGG_DATA", "")) / f"{name}.csv"
    return np.loadtxt(path, delimiter=",", skiprows=1) if path.is_file() else None


def standardise(X: np.ndarray) -> np.ndarray:
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)


def seconds(function: Callable[[], object]) -> float:
    gc.disable()  # as timeit does: a collection may be due to garbage made earlier
    try:
        start = time.perf_counter()
        function()
        return time.perf_counter() - start
    finally:
        gc.enable()


def wall_and_cpu(function: Callable[[], object]) -> tuple[float, float]:
    """Elapsed seconds, and CPU seconds of all threads, which mean more on a busy machine."""
    before = time.process_time()
    wall = seconds(function)
    return wall, time.process_time() - before


def best_of(repeats: int, *functions: Callable[[], object]) -> list[float]:
    """Best time of each function, measured alternately: a busy moment affects all of them."""
    times = [[seconds(function) for function in functions] for _ in range(repeats)]
    return [min(column) for column in zip(*times, strict=True)]


def publish(
    name: str,
    title: str,
    header: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    note: str = "",
) -> None:
    """Print a Markdown section of a table and its note, and write it with its JSON."""
    section = _write(name, title, header, rows, note)
    print(f"\n{section}", flush=True)
    published.append(section)


def publish_as_it_grows(
    name: str,
    title: str,
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    note: str = "",
) -> None:
    """Publish rows that take minutes: each is printed and written as soon as it is ready."""
    so_far = []
    for row in rows:
        so_far.append(row)
        print(_line(row), flush=True)
        _write(name, title, header, so_far, note)
    publish(name, title, header, so_far, note=note)


def _write(
    name: str, title: str, header: Sequence[str], rows: Sequence[Sequence[object]], note: str
) -> str:
    lines = [_line(header), "|" + "---|" * len(header), *map(_line, rows)]
    section = f"### {title}\n\n" + (f"{note}\n\n" if note else "") + "\n".join(lines) + "\n"
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(section)
    record = {
        "benchmark": name,
        "title": title,
        "note": note,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "rows": [dict(zip(header, row, strict=True)) for row in rows],
    }
    (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=2) + "\n")
    return section


def _line(row: Sequence[object]) -> str:
    return "| " + " | ".join(map(_cell, row)) + " |"


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def peak_memory() -> float:
    """Return the peak memory of this process so far, in GB.

    Not from `getrusage`: on Linux that starts with the peak of the parent process.
    """
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = [row for row in status.read_text().splitlines() if row.startswith("VmHWM")]
        return int(line.split()[1]) * 1024 / 1e9
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
