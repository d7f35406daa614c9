"""How long do the searches take: RepOrdMic and ICSM, next to the papers' times and as n grows?"""

import numpy as np

from benchmarks.harness import benchmark_table, publish, standardise, wall_and_cpu
from microagg.core.parallel import one_thread_each, side_by_side
from microagg.orderings.walks import farthest_from_mean
from microagg.partitions import HAC, ICSM, MDAV, RepOrdMic
from microagg.partitions.reporder import repeat_ordering
from microagg.partitions.search.starts import kmeans_starts

# Seconds and rounds of all 200 starts, table 3 of the paper on RepOrdMic.
REPORDER = {
    "tarragona": {3: (5.4, 2525), 5: (4.6, 2755), 10: (5.0, 2988)},
    "census": {3: (7.3, 2368), 5: (6.6, 2504), 10: (5.7, 2527)},
    "eia": {3: (51.3, 1643), 5: (36.8, 1811), 10: (25.9, 1922)},
}
# Seconds in table 2 of the paper on ICSM.
ICSM_SECONDS = {
    "tarragona": {3: 1, 5: 1, 10: 1},
    "census": {3: 2, 5: 2, 10: 3},
    "eia": {3: 6, 5: 8, 10: 26},
}
STARTS = 200
THREADS = 2
SIZES = (5_000, 10_000, 20_000, 40_000, 80_000)
COLUMNS, K, GROWTH_STARTS = 10, 5, 10
# Many starts take as long as so many single ones; what they add is seen from fewer sizes.
SIZES_OF_MANY_STARTS = SIZES[:3]


def reporder_beside_paper() -> None:
    rows = []
    for table, cells in REPORDER.items():
        X = standardise(benchmark_table(table))
        entry = farthest_from_mean(X)
        starts = kmeans_starts(X, STARTS, np.random.default_rng(0))
        with one_thread_each():
            labels = side_by_side(lambda start: start(), starts, n_jobs=THREADS, task="k-means")
        repeat_ordering(X, labels[-1], 3, entry)  # compiles
        for k, (printed, printed_rounds) in cells.items():
            results = []

            def search(X=X, k=k, entry=entry, labels=labels, results=results) -> None:
                results += side_by_side(
                    lambda start: repeat_ordering(X, start, k, entry),
                    labels,
                    n_jobs=THREADS,
                    task="starts",
                )

            wall, cpu = wall_and_cpu(search)
            rounds = sum(len(errors) for _, errors in results)
            rows.append((table, k, printed, wall, cpu, printed / wall, printed_rounds, rounds))
    publish(
        "reporder_speed",
        f"RepOrdMic, {STARTS} starts",
        (
            *("data", "k", "printed (s)", "ours, wall (s)", "ours, CPU (s)", "printed / wall"),
            *("printed rounds", "our rounds"),
        ),
        rows,
        note=f"Without k-means, as in the paper; ours on {THREADS} threads. The paper used a "
        "1.6 GHz Core i5 and C++.",
    )


def one_search_beside_papers() -> None:
    rows = []
    for table, cells in ICSM_SECONDS.items():
        X = standardise(benchmark_table(table))
        ICSM(k=3).fit(X[:100])  # compiles
        for k, printed in cells.items():
            wall, cpu = min(wall_and_cpu(lambda X=X, k=k: ICSM(k=k).fit(X)) for _ in range(3))
            rows.append(("ICSM from MDAV", table, k, printed, wall, cpu, printed / wall))
    X = standardise(benchmark_table("census"))
    HAC(k=3, priority=True).fit(X)
    wall, cpu = min(wall_and_cpu(lambda: HAC(k=3, priority=True).fit(X)) for _ in range(3))
    rows.append(("HAC with priority", "census", 3, 5470, wall, cpu, 5470 / wall))
    publish(
        "icsm_speed",
        "One search of ICSM and HAC",
        (
            *("what", "data", "k", "printed (s)"),
            *("ours, wall (s)", "ours, CPU (s)", "printed / wall"),
        ),
        rows,
        note="Ours on one thread, best of 3. The paper on ICSM used a 2.5 GHz Core i7.",
    )


def growth() -> None:
    models = {
        "MDAV": MDAV(k=K),
        "ICSM": ICSM(k=K, n_jobs=1),
        "RepOrdMic, 1 start": RepOrdMic(k=K, initial="mdav"),
        f"RepOrdMic, {GROWTH_STARTS} starts": RepOrdMic(
            k=K, n_starts=GROWTH_STARTS, random_state=0, n_jobs=THREADS
        ),
    }
    rng = np.random.default_rng(0)
    small = rng.normal(size=(500, COLUMNS))
    tables = {n: rng.normal(size=(n, COLUMNS)) for n in SIZES}
    rows = []
    for name, model in models.items():
        model.fit(small)  # compiles
        before = None
        for n in SIZES_OF_MANY_STARTS if "starts" in name else SIZES:
            X = tables[n]
            wall, cpu = wall_and_cpu(lambda model=model, X=X: model.fit(X))
            power = np.log2(cpu / before) if before else ""
            loss = 100 * model.sse_ / float(((X - X.mean(axis=0)) ** 2).sum())
            rows.append((name, n, wall, cpu, power, loss))
            before = cpu
    publish(
        "search_growth",
        f"Searches on n x {COLUMNS} normal records, k = {K}",
        ("what", "n", "wall (s)", "CPU (s)", "power of n", "IL"),
        rows,
        note="ICSM and one start of RepOrdMic start from MDAV; many starts from k-means, which is "
        f"included, on {THREADS} threads. The power of n compares CPU time with the row above.",
    )


def main() -> None:
    if benchmark_table("eia") is None:
        print("MICROAGG_DATA names no folder with eia.csv: not compared with the papers")
    else:
        reporder_beside_paper()
        one_search_beside_papers()
    growth()


if __name__ == "__main__":
    main()
