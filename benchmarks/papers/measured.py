"""Our side of the tables: each figure is computed once per run."""

from functools import cache

import numpy as np
from sklearn.datasets import load_diabetes

from benchmarks.harness import benchmark_table, standardise
from microagg import information_loss, methods


@cache
def records(table: str) -> np.ndarray:
    """Standardised records of a benchmark table."""
    if table == "diabetes":
        return standardise(load_diabetes(scaled=False).data)
    return standardise(benchmark_table(table))


@cache
def loss(method: str, table: str, k: int, **options: object) -> float:
    """Information loss of a method on a benchmark table."""
    return loss_of(method, records(table), k, **options)


def loss_of(method: str, X: np.ndarray, k: int, **options: object) -> float:
    """Information loss of a method in per cent; seed 0 if it uses randomness."""
    entry = methods()[method]
    chance = {"random_state": 0} if "random_state" in entry.options else {}
    return information_loss(X, entry.cls(k=k, **chance, **options).fit_predict(X))


def change(ours: float, printed: str | float) -> str:
    """How far ours is above or below the printed figure."""
    return f"{100 * (ours / float(printed) - 1):+z.1f} %"
