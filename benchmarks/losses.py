"""How much does each method lose on the literature's tables?"""

import numpy as np
from sklearn.datasets import load_diabetes

from benchmarks.harness import benchmark_table, publish
from microagg import information_loss, methods

KS = (3, 5, 10)


def tables() -> dict[str, np.ndarray]:
    found = {"diabetes": load_diabetes(scaled=False).data}
    for name in ("tarragona", "census", "eia"):
        if (table := benchmark_table(name)) is not None:
            found[name] = table
    return found


def main() -> None:
    data = {name: (X - X.mean(axis=0)) / X.std(axis=0, ddof=1) for name, X in tables().items()}
    header = ["method", *(f"{name} k={k}" for name in data for k in KS)]
    variants = [(name, {}) for name, method in methods().items() if not method.single_column]
    variants.append(("tsp-mhm", {"tour": True}))
    rows = []
    for name, options in variants:
        cls = methods()[name].cls
        losses = [
            information_loss(X, cls(k=k, **options).fit_predict(X))
            for X in data.values()
            for k in KS
        ]
        label = name + "".join(f" {option}={value}" for option, value in options.items())
        rows.append((label, *losses))
    publish("losses", "Information loss in per cent, columns standardised", header, rows)


if __name__ == "__main__":
    main()
