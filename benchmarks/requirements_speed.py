"""How much longer does `auto` take if groups must meet requirements, and what does it lose?"""

import numpy as np

from benchmarks.harness import publish_as_it_grows, wall_and_cpu
from microagg.partitions import Auto
from microagg.requirements import GroupRule

N, COLUMNS, K = 100_000, 10, 5
FEW = 6_000  # enough for every kernel: more than one region
EFFORTS = ("fast", "balanced")


def requirements(n: int) -> dict[str, list[GroupRule] | None]:
    """None at all; k units of 1 to 10 records, in any order; 3 of 20 sensitive values."""
    rng = np.random.default_rng(1)
    units = rng.permutation(np.repeat(np.arange(n), rng.integers(1, 11, size=n))[:n])
    return {
        "none": None,
        "k units": [GroupRule.distinct(units, K)],
        "distinct l = 3": [GroupRule.distinct(rng.integers(20, size=n), 3)],
    }


def measured():
    X = np.random.default_rng(0).normal(size=(N, COLUMNS))
    sst = float(((X - X.mean(axis=0)) ** 2).sum())
    for rules in requirements(FEW).values():  # compiles
        Auto(K, effort="fast", random_state=0).fit(X[:FEW], requirements=rules)
    for effort in EFFORTS:
        model = Auto(K, effort=effort, random_state=0)
        alone = None
        for name, rules in requirements(N).items():
            wall, cpu = wall_and_cpu(lambda m=model, r=rules: m.fit(X, requirements=r))
            alone = alone or (wall, cpu)
            loss = 100 * model.sse_ / sst
            yield effort, name, wall, cpu, wall / alone[0], cpu / alone[1], loss


def main() -> None:
    publish_as_it_grows(
        "requirements_speed",
        f"`auto` under requirements, {N} x {COLUMNS} normal records, k = {K}",
        (
            *("effort", "requirement", "wall (s)", "CPU (s)"),
            *("wall, times as long", "CPU, times as long", "IL"),
        ),
        measured(),
        note="Units have 1 to 10 records; there are 20 sensitive values. The ratios are to the "
        "same effort without a requirement, in the same run.",
    )


if __name__ == "__main__":
    main()
