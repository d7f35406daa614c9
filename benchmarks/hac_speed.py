"""How does HAC grow with the table, and how long does census take?"""

import tracemalloc

import numpy as np

from benchmarks.harness import benchmark_table, best_of, publish, seconds
from microagg.kernels.linkage import LINKAGES
from microagg.partitions import HAC

K = 3
COLUMNS = 10
SIZES = (5_000, 10_000, 20_000)
VARIANTS = [
    {"linkage": linkage, "max_size": max_size, "priority": priority}
    for max_size in ("k", "2k-1")
    for priority in (False, True)
    for linkage in LINKAGES
]


def describe(options: dict[str, object]) -> str:
    priority = ", priority" if options["priority"] else ""
    return f"{options['linkage']}, max_size={options['max_size']}{priority}"


def growth() -> None:
    rng = np.random.default_rng(0)
    tables = [rng.normal(size=(n, COLUMNS)) for n in SIZES]
    rows = []
    for options in VARIANTS:
        HAC(k=K, **options).fit(tables[0])
        times = [seconds(lambda X=X, o=options: HAC(k=K, **o).fit(X)) for X in tables]
        rows.append((describe(options), *times, times[-1] / times[-2]))
    header = ("what", *(f"n = {n:,} (s)" for n in SIZES), "last / one before")
    publish("hac_growth", f"HAC on n x {COLUMNS} normal records, k = {K}", header, rows)


def peak_memory() -> tuple[float, float]:
    """Megabytes of the largest table, and what HAC takes beyond it."""
    X = np.random.default_rng(0).normal(size=(SIZES[-1], COLUMNS))
    tracemalloc.start()
    HAC(k=K, linkage="ward").fit(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return X.nbytes / 2**20, peak / 2**20


def census() -> None:
    table = benchmark_table("census")
    if table is None:
        return
    X = (table - table.mean(axis=0)) / table.std(axis=0, ddof=1)
    cells = [
        ("chapter 6", {"max_size": "2k-1"}, 192),
        ("7.1", {}, 233),
        ("7.2 complete", {"linkage": "complete"}, 271),
        ("7.2 centroid", {"linkage": "centroid"}, 20598),
        ("7.3 priority", {"priority": True}, 5470),
    ]
    rows = []
    for name, options, printed in cells:
        (ours,) = best_of(5, lambda o=options: HAC(k=K, **o).fit(X))
        rows.append((name, printed, ours, printed / ours))
    header = ("section of the thesis", "printed (s)", "microagg (s)", "times faster")
    publish("hac_census", f"HAC on census (1080 x 13), k = {K}", header, rows)


def main() -> None:
    growth()
    publish(
        "hac_memory",
        f"Memory of HAC on {SIZES[-1]:,} x {COLUMNS}",
        ("the table (MB)", "beyond it, at most (MB)"),
        [peak_memory()],
    )
    census()


if __name__ == "__main__":
    main()
