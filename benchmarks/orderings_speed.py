"""How long do the walks through many records take?"""

import numpy as np

from benchmarks.harness import publish, seconds
from microagg import orderings
from microagg.partitions import CBFS, MD

COLUMNS = 10


def main() -> None:
    rng = np.random.default_rng(0)
    small = rng.normal(size=(500, COLUMNS))
    tasks = {
        "npn": orderings.npn,
        "tsp": orderings.tsp,
        "by_groups (CBFS, k = 5)": lambda X: orderings.by_groups(X, CBFS(k=5).fit_predict(X)),
        "md": MD(k=5).fit,
    }
    rows = []
    for name, task in tasks.items():
        task(small)
        times = [
            seconds(lambda n=n, task=task: task(rng.normal(size=(n, COLUMNS))))
            for n in (25_000, 50_000, 100_000)
        ]
        rows.append((name, *times))
    publish(
        "orderings_speed",
        f"Orderings and MD on n x {COLUMNS} normal records",
        ("what", "n = 25,000 (s)", "n = 50,000 (s)", "n = 100,000 (s)"),
        rows,
    )


if __name__ == "__main__":
    main()
