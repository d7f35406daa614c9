"""What does an iteration of fuzzy c-means cost, compared with the products and powers it needs?

The peer is NumPy: its two matrix products and its power, or exponential, over the n x c entries, in
blocks of the same size, and nothing else: no distances, no sums, no division. Both use one thread.
"""

import subprocess
import sys
from collections.abc import Callable

import numpy as np

from benchmarks.harness import best_of, peak_memory, publish
from microagg.core.parallel import one_thread_each
from microagg.fuzzy import EFCM, FCM
from microagg.fuzzy.centers import weighted_means
from microagg.fuzzy.fuzziness import Exponential, Fuzziness, Power

N, COLUMNS, CENTERS = 20_000, 10, 4_000
BLOCK = 2**18 // CENTERS
ITERATIONS = 2
EXPONENT, RATE = 5.0, 0.5
RULES: dict[str, Fuzziness] = {"fcm": Power(1 + 1 / EXPONENT), "efcm": Exponential(RATE)}


def table() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(N, COLUMNS))


def products_and_powers(name: str, X: np.ndarray, centers: np.ndarray) -> Callable[[], None]:
    """Return a function that does the work in NumPy; its inputs are prepared here."""
    squares = np.square(X[:BLOCK, None] - centers[None]).sum(axis=2)
    exponents = -RATE * squares
    products, weights = np.empty_like(squares), np.empty_like(squares)
    with_ones = np.column_stack([X, np.ones(N)])

    def run() -> None:
        for at in range(0, N, BLOCK):
            n = min(BLOCK, N - at)
            np.matmul(X[at : at + n], centers.T, out=products[:n])
            if name == "fcm":
                np.power(squares[:n], -EXPONENT, out=weights[:n])
            else:
                np.exp(exponents[:n], out=weights[:n])
            with_ones[at : at + n].T @ weights[:n]

    return run


def main() -> None:
    X = table()
    centers = 0.9 * X[:CENTERS]
    rows = []
    for name, fuzziness in RULES.items():
        weighted_means(X[:100], centers, fuzziness, n_jobs=1)
        with one_thread_each():
            ours, numpy = best_of(
                5,
                lambda f=fuzziness: weighted_means(X, centers, f, n_jobs=1),
                products_and_powers(name, X, centers),
            )
        measured = subprocess.run(
            [sys.executable, "-m", "benchmarks.fuzzy_speed", name],
            check=True,
            capture_output=True,
            text=True,
        )
        rows.append((name, ours, numpy, ours / numpy, float(measured.stdout)))
    publish(
        "fuzzy_speed",
        f"An iteration of fcm and efcm on {N:,} x {COLUMNS} normal records, {CENTERS:,} centres",
        ("method", "iteration (s)", "NumPy (s)", "ratio", "peak memory of a fit (GB)"),
        rows,
        note=(
            "NumPy: its two matrix products and its power, or exponential, alone. One thread each. "
            "Where the processor has AVX-512, NumPy's power and exponential take about a third of "
            "the time that they take otherwise (ratios of 1.1 and 1.5 with it switched off); ours "
            "do not use it, so that memberships are the same to the last digit everywhere. "
            f"The memory is that of a process which fits {ITERATIONS} iterations and draws, with "
            "`strict_k=True`."
        ),
    )


def measure_memory(name: str) -> None:
    {"fcm": FCM, "efcm": EFCM}[name](
        n_clusters=CENTERS, n_starts=1, max_iterations=ITERATIONS, strict_k=True, random_state=0
    ).fit(table())
    print(peak_memory())


if __name__ == "__main__":
    measure_memory(sys.argv[1]) if sys.argv[1:] else main()
