"""Is the optimal cut of one column faster than the package microagg1d? Sorting included."""

import subprocess
import sys

import numpy as np
from microagg1d import univariate_microaggregation

from benchmarks.harness import best_of, peak_memory, publish
from microagg.kernels.basics.group_sums import summarise
from microagg.partitions import Univariate

N = 5_000_000
LARGE = 20_000_000


def error(values, labels) -> float:
    _, compact = np.unique(labels, return_inverse=True)
    return summarise(values[:, None], compact).sse


def main() -> None:
    values = np.random.default_rng(0).integers(-N // 2, N // 2, N)
    real = values.astype(np.float64)
    univariate_microaggregation(real[:1000], 2)
    for k in (2, 10, 50):
        univariate_microaggregation(real[:1000], k)
    for integer in (False, True):
        Univariate(k=2, integer=integer).fit(values[:100_000])
    rows = []
    for k in (2, 10, 50):
        peer, ours, integer = best_of(
            3,
            lambda k=k: univariate_microaggregation(real, k),
            lambda k=k: Univariate(k=k).fit(real),
            lambda k=k: Univariate(k=k, integer=True).fit(values),
        )
        peer_error = error(real, univariate_microaggregation(real, k))
        our_error = Univariate(k=k).fit(real).sse_
        rows.append((k, peer, ours, peer / ours, integer, peer_error / our_error))
    publish(
        "univariate_speed",
        f"Univariate optimum of {N:,} uniform integers, sorting included",
        (
            "k",
            "microagg1d (s)",
            "microagg (s)",
            "times faster",
            "integer=True (s)",
            "SSE of microagg1d / ours",
        ),
        rows,
    )
    large = subprocess.run(
        [sys.executable, "-m", "benchmarks.univariate_speed", "large"],
        check=True,
        capture_output=True,
        text=True,
    )
    time, gigabytes = map(float, large.stdout.split())
    publish(
        "univariate_memory",
        f"Univariate optimum of {LARGE:,} uniform integers, k = 10, in a separate process",
        ("seconds", "peak memory (GB)"),
        [(time, gigabytes)],
    )


def measure_large() -> None:
    values = np.random.default_rng(0).integers(-LARGE // 2, LARGE // 2, LARGE)
    Univariate(k=10).fit(values[:100_000])
    (time,) = best_of(1, lambda: Univariate(k=10).fit(values))
    print(time, peak_memory())


if __name__ == "__main__":
    measure_large() if sys.argv[1:] == ["large"] else main()
