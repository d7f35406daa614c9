"""integer-univariate-2020, table 3: our TSP columns beside the printed ones."""

import numpy as np

from benchmarks.harness import benchmark_table, publish
from microagg import cut_path
from microagg.kernels.groups import summarise
from microagg.orderings.tsp import short_tours

PRINTED = {
    ("tarragona", 2): 10147342,
    ("tarragona", 3): 17767942,
    ("tarragona", 4): 23777988,
    ("tarragona", 5): 26913057,
    ("tarragona", 10): 40565215,
    ("census", 2): 4297367,
    ("census", 3): 7417415,
    ("census", 4): 10054660,
    ("census", 5): 12179645,
    ("census", 10): 22312807,
    ("eia", 2): 1112718,
    ("eia", 3): 2142621,
    ("eia", 4): 3366535,
    ("eia", 5): 4806187,
    ("eia", 10): 12221582,
}
TOURS = 3


def main() -> None:
    rows = []
    orders = {}
    for (name, k), printed in PRINTED.items():
        if (table := benchmark_table(name)) is None:
            print(f"MICROAGG_DATA names no folder with {name}.csv: not measured")
            continue
        X = (table - table.mean(axis=0)) / table.std(axis=0, ddof=1)
        whole = (np.sign(X) * np.floor(np.abs(X) * 100 + 0.5)).astype(np.int64)
        if name not in orders:
            orders[name] = [
                order
                for tour in short_tours(X, TOURS)
                for order in (tour, np.concatenate((tour[:1], tour[:0:-1])))
            ]
        best = {
            closed: min(
                summarise(whole, cut_path(whole, order, k, integer=True, tour=closed)).sse
                for order in orders[name]
            )
            for closed in (False, True)
        }
        opened, closed = (int(best[closed]) for closed in (False, True))
        change = [f"{100 * (ours / printed - 1):+.1f} %" for ours in (opened, closed)]
        rows.append((name, k, printed, opened, change[0], closed, change[1]))
    publish(
        "tsp_table",
        f"SSE of IMHMI along TSP orderings, best of {TOURS} tours",
        ("table", "k", "printed", "open", "against printed", "closed", "against printed "),
        rows,
    )


if __name__ == "__main__":
    main()
