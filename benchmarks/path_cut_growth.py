"""Does the path cut grow linearly in n and in k?"""

import numpy as np

from benchmarks.harness import best_of, publish
from microagg import cut_path

COLUMNS = 10


def main() -> None:
    X = np.random.default_rng(0).normal(size=(1_000_000, COLUMNS))
    cut_path(X[:1000], np.arange(1000), 5)
    rows = []
    for n, k in ((250_000, 5), (500_000, 5), (1_000_000, 5), (250_000, 10), (250_000, 20)):
        part, order = X[:n], np.arange(n)
        (time,) = best_of(3, lambda part=part, order=order, k=k: cut_path(part, order, k))
        rows.append((n, k, time, 1e9 * time / (n * k)))
    publish(
        "path_cut_growth",
        f"Path cut of n x {COLUMNS} records",
        ("n", "k", "seconds", "nanoseconds / (n k)"),
        rows,
    )


if __name__ == "__main__":
    main()
