"""Is our MDAV faster than a plain scan? The scan is what a careful programmer writes first."""

import numpy as np
from numba import njit

from benchmarks.harness import best_of, publish
from microagg.partitions import MDAV

K = 5
COLUMNS = 10


@njit(nogil=True)
def plain_scan(X, k):
    """MDAV on one thread: every query scans all remaining records."""
    n, d = X.shape
    left_values, rows, left = X.copy(), np.arange(n), n
    labels, group = np.full(n, -1), 0
    distances, chosen = np.empty(k), np.empty(k, dtype=np.intp)
    ends = np.empty((2, d))
    point = np.empty(d)
    while left >= 3 * k:
        point[:] = 0.0
        for i in range(left):
            for j in range(d):
                point[j] += left_values[i, j]
        point /= left
        for end in range(2):
            best, farthest = -1.0, 0
            for i in range(left):
                distance = 0.0
                for j in range(d):
                    gap = left_values[i, j] - point[j]
                    distance += gap * gap
                if distance > best or (distance == best and rows[i] < rows[farthest]):
                    best, farthest = distance, i
            ends[end] = left_values[farthest]
            point[:] = ends[end]
        for end in range(2):
            distances[:] = np.inf
            for i in range(left):
                distance = 0.0
                for j in range(d):
                    gap = left_values[i, j] - ends[end, j]
                    distance += gap * gap
                if distance < distances[k - 1]:
                    at = k - 1
                    while at > 0 and distances[at - 1] > distance:
                        distances[at], chosen[at] = distances[at - 1], chosen[at - 1]
                        at -= 1
                    distances[at], chosen[at] = distance, i
            chosen.sort()
            for at in range(k - 1, -1, -1):
                labels[rows[chosen[at]]] = group
                left -= 1
                left_values[chosen[at]] = left_values[left]
                rows[chosen[at]] = rows[left]
            group += 1
    return labels


def main() -> None:
    rng = np.random.default_rng(0)
    plain_scan(rng.normal(size=(100, COLUMNS)), K)
    MDAV(k=K).fit(rng.normal(size=(100, COLUMNS)))
    rows = []
    for n, repeats in ((1_000, 200), (10_000, 10), (100_000, 3)):
        X = rng.normal(size=(n, COLUMNS))
        scan, ours = best_of(repeats, lambda X=X: plain_scan(X, K), lambda X=X: MDAV(k=K).fit(X))
        rows.append((n, scan, ours, scan / ours))
    publish(
        "mdav_speed",
        f"MDAV on n x {COLUMNS} normal records, k = {K}",
        ("n", "plain scan (s)", "microagg (s)", "times faster"),
        rows,
    )


if __name__ == "__main__":
    main()
