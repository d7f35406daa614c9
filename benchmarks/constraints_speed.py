"""How long does it take to satisfy constraints, in hundreds of thousands of groups?"""

import numpy as np

from benchmarks.harness import best_of, publish
from microagg.constraints.system import System

GROUPS = 200_000
ANY = (-(2**63), 2**63 - 1)
LETTERS = "abcdefghij"
EQUALITIES = ["a + b + c = d", "1.16*e + 1.07*f = g", "d + g + h = i + 2*j"]
BOUNDS = [f"{name} >= 0" for name in LETTERS[:4]]
TOTAL = ["net + tax = gross"]


def means_of(columns, rng) -> dict[str, np.ndarray]:
    return {name: rng.normal(50, 40, size=GROUPS) for name in columns}


def totals(rng) -> dict[str, np.ndarray]:
    """Means of three records each, whose totals add up."""
    net, tax = rng.integers(0, 100_000, size=(2, GROUPS, 3))
    return {"net": net.mean(axis=1), "tax": tax.mean(axis=1), "gross": (net + tax).mean(axis=1)}


def main() -> None:
    rng = np.random.default_rng(0)
    letters, sums = means_of(LETTERS, rng), totals(rng)
    cases = (
        ("3 equalities", EQUALITIES, letters, ()),
        ("3 equalities, 4 bounds", EQUALITIES + BOUNDS, letters, ()),
        ("a total that holds", TOTAL, sums, ()),
        ("a total in whole numbers", TOTAL, sums, tuple(sums)),
        ("part <= total in whole numbers", ["a <= b"], letters, ("a", "b")),
        ("part <= total, part whole", ["a <= b"], letters, ("a",)),
        ("decimals in whole numbers", ["1.16*e + 1.07*f = g"], letters, ("e", "f", "g")),
    )
    rows = []
    for what, texts, means, whole in cases:
        system = System.of(texts, list(means), integers=dict.fromkeys(whole, ANY))
        scales = {name: float(values.std()) for name, values in means.items()}
        few = {name: values[:100] for name, values in means.items()}
        system.nearest(few, scales)  # compiles
        points = np.column_stack([means[name] for name in system.columns])
        matrix = rng.normal(size=(len(system.columns), len(texts)))
        found = []
        ours, plain = best_of(
            3,
            lambda system=system, means=means, scales=scales, found=found: found.append(
                system.nearest(means, scales)
            ),
            lambda points=points, matrix=matrix: points @ matrix,
        )
        last = found[-1]
        rows.append(
            (what, len(system.columns), len(whole), last.moved, last.unproved, ours, ours / plain)
        )
    publish(
        "constraints_speed",
        f"Constraints in {GROUPS:,} groups",
        ("what", "columns", "whole", "groups moved", "not proved", "seconds", "products"),
        rows,
        note="Best of 3. The last column is relative to NumPy's product of the means with the "
        "matrix of the constraints: the time it takes just to evaluate them.",
    )


if __name__ == "__main__":
    main()
