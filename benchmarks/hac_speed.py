"""How does the time of HAC grow with the table?"""

import tracemalloc

import numpy as np

from benchmarks.harness import publish, seconds
from microagg.kernels.agglomeration.linkage import LINKAGES
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
    """Megabytes of the largest table, and what HAC needs in addition."""
    X = np.random.default_rng(0).normal(size=(SIZES[-1], COLUMNS))
    tracemalloc.start()
    HAC(k=K, linkage="ward").fit(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return X.nbytes / 2**20, peak / 2**20


def main() -> None:
    growth()
    publish(
        "hac_memory",
        f"Memory of HAC on {SIZES[-1]:,} x {COLUMNS}",
        ("the table (MB)", "in addition, at most (MB)"),
        [peak_memory()],
    )


if __name__ == "__main__":
    main()
