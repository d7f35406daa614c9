"""What does a sweep over k save, compared with a separate search and bound for each k?"""

import numpy as np

import microagg
from benchmarks.harness import benchmark_table, publish, standardise, wall_and_cpu
from microagg.bounds import lower_bound
from microagg.partitions import Auto

KS = range(2, 21)
LARGE = (20_000, 5)
EFFORT, SEED = "fast", 0


def tables() -> dict[str, np.ndarray]:
    read = {name: benchmark_table(name) for name in ("tarragona", "census")}
    found = {name: standardise(X) for name, X in read.items() if X is not None}
    found[f"{LARGE[0]:,} x {LARGE[1]} normal"] = np.random.default_rng(0).normal(size=LARGE)
    return found


def separately(X: np.ndarray) -> tuple[list[float], float, float]:
    """Errors by k, and the CPU seconds of all searches and of all bounds."""
    errors, searching, bounding = [], 0.0, 0.0
    for k in KS:
        model = Auto(k, effort=EFFORT, random_state=SEED, n_jobs=1)
        searching += wall_and_cpu(lambda model=model: model.fit(X))[1]
        bounding += wall_and_cpu(lambda k=k: lower_bound(X, k))[1]
        errors.append(model.sse_)
    return errors, searching, bounding


def together(X: np.ndarray, bound: str) -> tuple[list[float], float]:
    """Errors by k, and the CPU seconds of the whole sweep."""
    found: list = []

    def run() -> None:
        found.extend(microagg.sweep(X, KS, effort=EFFORT, bound=bound, random_state=SEED, n_jobs=1))

    _, cpu = wall_and_cpu(run)
    return [row.sse for row in found], cpu


def main() -> None:
    rows = []
    for name, X in tables().items():
        few = X[:6000] if len(X) > 6000 else X[:300]
        Auto(3, effort=EFFORT).fit(few)  # compiles
        microagg.sweep(few, [3])
        alone, searching, bounding = separately(X)
        swept, cpu = together(X, "fast")
        _, without = together(X, "none")
        ratios = np.array(swept) / np.array(alone)
        rows.append(
            (
                *(name, searching, without, without / searching),
                *(searching + bounding, cpu, cpu / (searching + bounding)),
                *(f"{ratios.mean():.4f}", f"{ratios.max():.4f}"),
            )
        )
    publish(
        "sweep_speed",
        f"A sweep over k = {KS[0]} to {KS[-1]} against separate runs",
        (
            *("data", "searches (s)", "sweep, no bounds (s)", "ratio"),
            *("with bounds (s)", "sweep (s)", "ratio", "IL, mean ratio", "IL, worst ratio"),
        ),
        rows,
        note=f"Separate runs are `Auto(k, effort='{EFFORT}')` and `lower_bound` for each k. "
        "Processor seconds on one thread, without compiling. IL ratios compare the sweep with "
        "separate runs: below 1, the sweep lost less.",
    )


if __name__ == "__main__":
    main()
